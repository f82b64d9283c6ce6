"""Streams over the sentences of XML treebanks, which hold one sentence at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import cast
from xml.etree.ElementTree import Element, ParseError, XMLPullParser
from xml.sax.saxutils import quoteattr

from d2c.trees.ctree import CTree
from d2c.trees.errors import FormatError
from d2c.trees.files import file_name, open_input
from d2c.trees.formats.chunks import parse_each

_SIZE = 1 << 16


def read_graphs(
    path: str | os.PathLike[str], tag: str, tree_of_element: Callable[[Element], CTree | None]
) -> Iterator[CTree]:
    """The trees of all elements with a tag; those that are None are left out. Raises FormatError."""

    def tree(element: Element) -> CTree | None:
        try:
            return tree_of_element(element)
        except (KeyError, ValueError) as error:
            missing = f"the attribute {error} is missing" if isinstance(error, KeyError) else str(error)
            name = element.get("id")
            raise ValueError(f"{name}: {missing}" if name else missing) from None

    return parse_each(((0, element) for element in _elements(path, tag)), tree, file_name(path))


def _elements(path: str | os.PathLike[str], tag: str) -> Iterator[Element]:
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
