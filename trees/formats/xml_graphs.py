"""Streams over the sentences of XML treebanks, which hold one sentence at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import cast
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from d2c.trees.ctree import CTree
from d2c.trees.errors import FormatError
from d2c.trees.files import file_name, open_input

_SIZE = 1 << 16


def read_graphs(
    path: str | os.PathLike[str], tag: str, tree_of_element: Callable[[Element], CTree | None]
) -> Iterator[CTree]:
    """The trees of all elements with a tag; those that are None are left out. Raises FormatError."""
    file, sentence = file_name(path), 0
    for element in _elements(path, tag):
        sentence += 1
        try:
            ctree = tree_of_element(element)
        except (KeyError, ValueError) as error:
            missing = f"the attribute {error} is missing" if isinstance(error, KeyError) else str(error)
            name = element.get("id")
            raise FormatError(file, 0, sentence, f"{name}: {missing}" if name else missing) from None
        if ctree is not None:
            yield ctree
    if not sentence:
        raise FormatError(file, 1, 0, "no sentence found in this file")


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
