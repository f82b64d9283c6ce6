"""What graph formats have in common beside their trees: edge labels, columns, secondary edges, XML.

XML is a stream of elements, of which one is held at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast
from xml.etree.ElementTree import Element, ParseError, XMLPullParser
from xml.sax.saxutils import quoteattr

from d2c.trees.cleaning import is_punctuation
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.errors import FormatError, Refuse, stop
from d2c.trees.files import AnyPath, file_name, open_input
from d2c.trees.formats.chunks import parse_each
from d2c.trees.graphs import Name

HEAD = "HD"  # the edge label of head children in NEGRA and TIGER
_SIZE = 1 << 16  # characters of XML read at a time


@dataclass
class SecondaryEdges:
    """Counts the secondary edges that a reader leaves out."""

    count: int = 0


def head_ranks(tokens: Tokens, functions: Mapping[Name, str]) -> dict[Name, int]:
    """Ranks for `tree_of` by the edge labels of tokens and nodes: HD first, then the leftmost that is not
    punctuation."""
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


def known_column(values: Iterable[str]) -> tuple[str, ...] | None:
    """A column of the tokens, None where nothing of it is known."""
    column = tuple(values)
    return column if {*column} - {"--", ""} else None


def read_graphs(
    path: AnyPath, tag: str, tree_of_element: Callable[[Element], CTree | None], refuse: Refuse = stop
) -> Iterator[CTree]:
    """The trees of all elements with a tag; those that are None are left out. Raises FormatError."""

    def tree(element: Element) -> CTree | None:
        try:
            return tree_of_element(element)
        except (KeyError, ValueError) as error:
            missing = f"the attribute {error} is missing" if isinstance(error, KeyError) else str(error)
            name = element.get("id")
            raise ValueError(f"{name}: {missing}" if name else missing) from None

    return parse_each(((0, element) for element in _elements(path, tag)), tree, file_name(path), refuse)


def _elements(path: AnyPath, tag: str) -> Iterator[Element]:
    """Complete elements, each forgotten when the next one is asked for."""
    parser: XMLPullParser[Element] = XMLPullParser(("start", "end"))
    above: list[Element] = []
    with open_input(path, "latin-1") as stream:  # bytes: the file itself declares its encoding
        try:
            while text := stream.read(_SIZE):
                parser.feed(text.encode("latin-1"))
                for event, element in cast(Iterable[tuple[str, Element]], parser.read_events()):
                    if event == "start":
                        above.append(element)
                        continue
                    above.pop()
                    if element.tag == tag:
                        yield element
                    if element.tag == tag or tag not in [one.tag for one in above]:
                        element.clear()
                        if above:
                            above[-1].remove(element)
            parser.close()
        except ParseError as error:
            line = error.position[0]
            raise FormatError(
                file_name(path), line, 0, f"malformed XML ({error.msg.split(':')[0]})"
            ) from None


def attributes(values: dict[str, str]) -> str:
    """The attributes of an element as they are written."""
    return " ".join(f"{name}={quoteattr(value)}" for name, value in values.items())
