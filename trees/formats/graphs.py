"""What graph formats have in common beside their trees: edge labels, columns, secondary edges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from d2c.trees.ctree import CTree, Tokens
from d2c.trees.graphs import Name
from d2c.trees.punctuation import is_punctuation

HEAD = "HD"  # the edge label of head children in NEGRA and TIGER


class SecondaryEdges:
    """Counts the secondary edges that a reader leaves out."""

    def __init__(self) -> None:
        self.count = 0


def head_ranks(tokens: Tokens, functions: Mapping[Name, str]) -> dict[Name, int]:
    """Ranks for `tree_of` by the edge labels of tokens and nodes: HD first, punctuation last."""
    marks = {name for name, form in enumerate(tokens.forms) if is_punctuation(form)}
    return {
        name: 0 if function.upper() == HEAD else 1 + (name in marks) for name, function in functions.items()
    }


def is_head(ctree: CTree) -> list[bool]:
    """Whether each token and node is its parent's head child; none is where head children are not known."""
    found = [False] * (len(ctree.tokens) + len(ctree.labels))
    for head in ctree.head_children or ():
        found[head] = True
    return found


def known_column(values: Iterable[str], unknown: Sequence[str] = ("--", "")) -> tuple[str, ...] | None:
    """A column of the tokens, None where nothing of it is known."""
    column = tuple(values)
    return None if all(value in unknown for value in column) else column
