"""The feature templates against Figure 4 of "Transforming Dependencies into Phrase Structures"."""

from __future__ import annotations

from d2c.cky.search.templates import (
    BEYOND,
    CONTEXT,
    FIGURE_4,
    HEAD,
    LABELS,
    MODIFIER,
    RULE,
    Templates,
)

# The figure, column by column and line by line: "rule" is A → B C, and its backoff A
NONTERM = ["(A, β1)", "(A, β1, tag(m))", "(A, β2)", "(A, β2, tag(h))"]
SPAN = [
    *("(rule, x_i)", "(rule, x_i-1)", "(rule, x_j)", "(rule, x_j+1)", "(rule, x_k)", "(rule, x_k+1)"),
    "(rule, bin(j-i))",
]
RULES = [
    *("(rule)", "(rule, x_h, tag(m))", "(rule, tag(h), x_m)", "(rule, tag(h), tag(m))"),
    *("(rule, x_h)", "(rule, tag(h))", "(rule, x_m)", "(rule, tag(m))"),
]


def as_printed(group: int, template: str) -> str:
    """A template in the figure's notation."""
    names = {RULE: ["rule"], MODIFIER: ["A", "β1"], HEAD: ["A", "β2"]}[group]
    for field in template.split():
        column, _, position = field.removesuffix("]").partition("[")
        names.append({"word": f"x_{position}", "tag": f"tag({position})"}.get(column, column))
    return f"({', '.join(names)})"


def test_figure_4_is_listed_as_it_is_printed() -> None:
    listed = {
        title: [as_printed(group, template) for group, templates in groups.items() for template in templates]
        for title, groups in FIGURE_4.items()
    }
    assert listed == {"Nonterm Features": NONTERM, "Span Features": SPAN, "Rule Features": RULES}


def test_the_table_has_what_is_asked_for() -> None:
    figure = {group: sum(len(one.get(group, ())) for one in FIGURE_4.values()) for group in range(3)}
    assert figure == {RULE: 15, MODIFIER: 2, HEAD: 2}
    bare, full = Templates.of(labels=False, context=False), Templates.of(labels=True, context=True)
    attachments = [int(row) for row in bare.begin[0]]
    assert attachments == [0, 18, 20, 22]  # three of tags beside the words of spans are beyond the figure
    assert len(BEYOND[RULE]) == 5 and not bare.words and full.words
    added = len(LABELS) + len(CONTEXT[RULE]) + 2  # the labels of h, and of what comes next
    assert full.begin[0, -1] - bare.begin[0, -1] == added
    unary = bare.begin[1, 1] - bare.begin[1, 0]
    assert unary == 8 + 4  # those of the figure without m and k; four beyond it
