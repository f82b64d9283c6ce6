"""Models: routes, d-parsers and taggers trained together."""

from d2c.dparsers.registry import DPARSERS, Row

# Of the house, but not of `d2c.dparsers`, which knows nothing of automata.
DPARSERS["transition"] = Row(
    "d2c.transition_parser:TransitionParser",
    own={"system": ("standard", "eager"), "search": ("greedy", "exact")},
)
