"""XML as a stream of elements, of which few are held at a time; how attributes are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set
from xml.etree.ElementTree import Element, SubElement
from xml.parsers.expat import ErrorString, ExpatError, ParserCreate

from d2c.base.errors import NOT_XML, FormatError, shortened
from d2c.base.files import AnyPath, file_name, open_input
from d2c.trees.ctree import CTree
from d2c.trees.formats.format import Malformed, Options, Reader, tree_reader

DOCUMENT = "newdoc id"  # an attribute, named as the comment in CoNLL-U
_SIZE = 1 << 16  # bytes of XML read at a time
_REFERENCE = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z_:\x80-\xff][^;\s<&\"']{0,40})")
_LONGEST_TEXT = 40  # characters of a message
_LONGEST = 12  # bytes of the references that need no declaration, in UTF-16


def element_reader(
    tag: str,
    parse: Callable[[Element, Options], CTree | None],
    without_text: Set[str],
    with_text: Set[str] = frozenset(),
    document: str = "",
) -> Reader[CTree]:
    """Return a reader of the trees of all elements with a tag.

    without_text: elements in which there is no text, only other elements
    with_text:    elements with either text, which they keep, or other elements
    document:     the element whose text names a document: the DOCUMENT of the next tree's element
    """

    def items(path: AnyPath, options: Options) -> Iterator[tuple[int, Element | Malformed]]:
        collector = _Collector(tag, without_text, options.charset, with_text, document)
        return ((0, item) for item in _elements(path, collector))

    def tree(element: Element, options: Options) -> CTree | None:
        try:
            return parse(element, options)
        except (KeyError, ValueError) as error:
            missing = f"the attribute {error} is missing" if isinstance(error, KeyError) else str(error)
            name = element.get("id")
            raise ValueError(f"{name}: {missing}" if name else missing) from None

    return tree_reader(items, tree)


def _elements(path: AnyPath, collector: _Collector) -> Iterator[Element | Malformed]:
    """Yield complete elements, with few of them held at a time, or what is wrong with one of them."""
    with open_input(path) as stream:
        more, fault = True, ""
        while more:
            data = stream.buffer.read(_SIZE)  # the file itself declares its encoding
            while b"&" in data[-_LONGEST:] and (rest := stream.buffer.read(_LONGEST)):
                data += rest
            more = bool(data)
            try:
                collector.parser.Parse(data, not more)
            except ExpatError as error:
                left = collector.open_elements if not more else []
                what = f"the file ends before </{left[-1].tag}>" if left else ErrorString(error.code)
                fault = f"malformed XML ({what})"
            except (LookupError, ValueError) as error:  # for an unknown encoding; from `_Collector`
                fault = f"this XML is not read: {error}"
            if collector.external and (reference := _REFERENCE.search(data.replace(b"\0", b""))):
                entity = reference[1].decode("latin-1")
                message = (
                    f"its DTD, which is not read, may declare the entity {entity!r}; write what it stands for"
                )
                raise FormatError(file_name(path), 0, 0, f"this XML is not read: {message}")
            yield from collector.complete
            collector.complete.clear()
            if fault:
                raise FormatError(file_name(path), collector.parser.CurrentLineNumber, 0, fault)


class _Collector:
    """Collects elements with a tag as they become complete. Only some of the elements keep their text, and
    these hold nothing else. Linear time.

    In elements without text, letters and digits are a fault (other signs are not: PCC has a stray `+`).
    Entities that a file declares are refused: some grow to gigabytes when they are expanded.

    external: whether there is a DTD in another file; expat drops references to its entities from attributes
    """

    def __init__(
        self, tag: str, without_text: Set[str], encoding: str | None, with_text: Set[str], document: str
    ) -> None:
        self.tag, self.without_text = tag, without_text
        self.with_text, self.document = with_text, document
        self.pieces: list[str] = []  # of the text of the innermost open element
        self.named = ""  # the name of a document, until the next element with the tag
        self.open_elements: list[Element] = []
        self.outermost: Element | None = None  # of the open elements with the tag
        self.fault: Malformed | None = None  # in the outermost
        self.complete: list[Element | Malformed] = []
        self.external = False
        self.parser = ParserCreate(encoding)
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.buffer_text = True  # all text between two tags at once
        self.parser.EntityDeclHandler = self._entity
        self.parser.StartDoctypeDeclHandler = self._doctype

    def _start(self, tag: str, values: dict[str, str]) -> None:
        if self.pieces:
            self._close_text(self.open_elements[-1], whole=False)
        if self.outermost is not None:
            element = SubElement(self.open_elements[-1], tag, values)
        else:
            element = Element(tag, values)
            if tag == self.tag:
                self.outermost = element
        self.open_elements.append(element)
        if self.named and self.outermost is not None:
            self.outermost.set(DOCUMENT, self.named)
            self.named = ""

    def _end(self, tag: str) -> None:
        if self.pieces:
            self._close_text(self.open_elements[-1], whole=True)
        element = self.open_elements.pop()
        if element is self.outermost:
            self.complete.append(self.fault or element)
            self.outermost = self.fault = None

    def _text(self, text: str) -> None:
        tag = self.open_elements[-1].tag
        if (tag in self.with_text and self.outermost is not None) or tag == self.document:
            self.pieces.append(text)
        elif tag in self.without_text and any(map(str.isalnum, text)):
            self._refuse(text, "words are attributes")

    def _close_text(self, element: Element, whole: bool) -> None:
        text = "".join(self.pieces)
        self.pieces.clear()
        if whole and len(element) == 0:
            element.text = text
            self.named = text_of(element) if element.tag == self.document else self.named
        elif not text.isspace():
            self._refuse(text, f"there are others in <{element.tag}>")

    def _refuse(self, text: str, why: str) -> None:
        lines = text.lstrip().count("\n")  # from the text to the next tag, where the parser is
        message = f"the text {shortened(text.strip(), _LONGEST_TEXT)!r} stands between elements; {why}"
        fault = Malformed(message, self.parser.CurrentLineNumber - lines)
        if self.outermost is None:
            self.complete.append(fault)
        else:
            self.fault = self.fault or fault

    def _doctype(self, name: str, system: str | None, *_: object) -> None:
        self.external = system is not None

    def _entity(self, name: str, *_: object) -> None:
        raise ValueError(f"it declares the entity {name!r}; write what it stands for")


def attributes(values: dict[str, str]) -> str:
    """Return the attributes of an element as they are written. Raises ValueError for what XML cannot hold."""
    from xml.sax.saxutils import quoteattr  # only here: it needs urllib, and so ssl

    return " ".join([f"{name}={quoteattr(check_xml(value))}" for name, value in values.items()])


def check_xml(text: str) -> str:
    """Return the text. Raises ValueError for control and other characters that XML 1.0 cannot hold."""
    if match := NOT_XML.search(text):
        raise ValueError(f"XML cannot hold the character {match[0]!a}")
    return text


def text_of(element: Element | None) -> str:
    """Return the text of an element that keeps it, with single spaces for blanks; "" for None."""
    return " ".join((element.text or "").split()) if element is not None else ""


def comments_of(element: Element, sentence: str) -> tuple[str, ...]:
    """Return the comments of a sentence: the name of a new document, and its id, in the named attribute."""
    names = {DOCUMENT: DOCUMENT, "sent_id": sentence}
    return tuple([f"{key} = {element.attrib[name]}" for key, name in names.items() if name in element.attrib])


def named(element: Element, name: str) -> str:
    """Return an attribute that must say something. Raises KeyError where it is missing, ValueError where
    empty."""
    if not element.attrib[name]:
        raise ValueError(f"the attribute {name!r} is empty")
    return element.attrib[name]
