"""JSON lines, as `d2c parse --to json` writes them: a line for each sentence."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby
from typing import Any, NamedTuple, TypeVar

from d2c.base.counting import many
from d2c.base.errors import Refuse, stop
from d2c.base.files import AnyPath, file_name, open_input
from d2c.parsing.asked import no_number, strings
from d2c.parsing.parsed import NO_CTREE, Parsed
from d2c.trees.ctree import CTree, Tokens, child_over, tree_of
from d2c.trees.formats.brackets import format_bracket
from d2c.trees.formats.checks import check_text
from d2c.trees.formats.discbracket import format_discbracket, is_discbracket
from d2c.trees.formats.format import parse_each
from d2c.trees.spans import Source, spans_of

_NO_LINE = "no JSON line as `d2c parse --to json` writes it"
_TOP = "TOP"  # the wrapper of all trees, which JSON lines do not have

Number = TypeVar("Number", int, float)


def format_json(parsed: Parsed) -> str:
    """Return one line: tokens, tags, where the sentence begins, and a span for each node, the higher first.

    A span has its label, its first token and the one after its last, its head token; its tokens where it has
    gaps; its first character and the one after its last where the input was text; its confidence if known.
    Its file where there are several, its text where it was cut into words, and alternatives where some were
    wanted.
    There is nothing of all this, but an error, where the sentence could not be parsed.
    """
    sentence = parsed.sentence
    shown: dict[str, Any] = {"file": sentence.file} if sentence.file else {}
    if parsed.error:
        shown |= error_to_json(sentence.line, parsed.error)
    else:
        assert parsed.ctree is not None
        shown["line"] = sentence.line
        shown |= {"text": sentence.text} if sentence.text else {}
        shown |= tree_to_json(parsed.ctree, parsed.confidences, sentence.offsets, sentence.tokens.comments)
        shown |= alternatives_to_json(parsed.alternatives)
    return json.dumps(shown, ensure_ascii=False) + "\n"


def tree_to_json(
    ctree: CTree,
    confidences: Sequence[float] | None,
    offsets: Sequence[tuple[int, int]] | None = None,
    comments: Sequence[str] = (),
) -> dict[str, Any]:
    """Return what a line holds of a c-tree, as JSON holds it; arguments as of `Source` and `spans_of`."""
    shown: dict[str, Any] = {"tokens": [*ctree.tokens.forms], "tags": [*ctree.tokens.tags]}
    if offsets:
        shown["offsets"] = [[*pair] for pair in offsets]
    if comments:
        shown["comments"] = [*comments]
    spans = spans_of(ctree, confidences=confidences, source=Source(ctree.tokens.forms, offsets))
    return shown | {"spans": [span.to_dict() for span in spans]}


def alternatives_to_json(alternatives: Iterable[tuple[CTree, float | None]]) -> dict[str, Any]:
    """Return what a line holds of the best c-trees of a sentence, where there are some."""
    rows = [
        {"tree": format_tree(ctree), "probability": None if share is None else round(share, 6)}
        for ctree, share in alternatives
    ]
    return {"alternatives": rows} if rows else {}


def format_tree(ctree: CTree) -> str:
    """Return brackets on one line; discbracket for a tree with gaps, and where brackets would be read so."""
    brackets = format_bracket(ctree) if ctree.is_continuous() else ""
    return brackets if brackets and not is_discbracket(brackets) else format_discbracket(ctree)


def error_to_json(line: int, error: str) -> dict[str, Any]:
    """Return what a line holds of a sentence that could not be parsed."""
    return {"line": line, "error": error, "tokens": [], "tags": [], "spans": []}


class ReadSentence(NamedTuple):
    """What a line says of a sentence.

    ctree:       its words with the comments; NO_CTREE where it could not be parsed; without head children
                 where spans have no heads
    confidences: how sure the parser was of each node [K], if the line says so
    error:       why it could not be parsed
    source:      its words and where they are in the text, if there was one; file: that it was in
    """

    ctree: CTree
    confidences: tuple[float, ...] | None = None
    error: str = ""
    source: Source | None = None
    file: str = ""


def read_json_lines(path: AnyPath, refuse: Refuse = stop) -> Iterator[ReadSentence]:
    """Yield the sentences of a file (`-`: standard input), one at a time. Raises FormatError."""
    with open_input(path) as stream:
        lines = ((number, line) for number, line in enumerate(stream, 1) if not line.isspace())
        yield from parse_each(lines, parse_json_line, file_name(path), refuse)


def parse_json_line(line: str) -> ReadSentence:
    """Invert `format_json`, but for the sentence's line. Raises ValueError."""
    try:
        shown = json.loads(check_text(line), parse_constant=no_number)
    except (RecursionError, json.JSONDecodeError):
        raise ValueError(_NO_LINE) from None
    return read_shown(shown)


def read_shown(shown: Any) -> ReadSentence:
    """Return what a line holds, as JSON has it. Raises ValueError.

    Linear in the number of tokens of all spans.
    """
    try:
        file = check_text(str(shown.get("file", "")))
        if shown.get("error"):
            return ReadSentence(NO_CTREE, error=check_text(str(shown["error"])), file=file)
        forms, tags = strings(shown["tokens"]), strings(shown["tags"])
        if not forms or len(forms) != len(tags):
            raise ValueError(f"{many(len(forms), 'token')} with {many(len(tags), 'tag')}")
        tokens = Tokens(forms, tags, comments=strings(shown.get("comments", [])))
        built = _built(tokens, [_ReadSpan.of(span, len(tokens)) for span in shown["spans"]])
        return built._replace(source=_source(shown, forms), file=file)
    except KeyError as error:
        raise ValueError(f"there is no {error.args[0]!r}") from None
    except (TypeError, AttributeError):
        raise ValueError(_NO_LINE) from None


class _ReadSpan(NamedTuple):
    label: str
    tokens: Sequence[int]
    head: int | None
    confidence: float | None

    @classmethod
    def of(cls, span: dict[str, Any], n: int) -> _ReadSpan:
        """Check a span. Raises ValueError unless it has some of n tokens, and its head is one of them."""
        (label,), start, end, head = strings([span["label"]]), span["start"], span["end"], span.get("head")
        within = 0 <= start < end <= n  # before there is a list of so many tokens
        tokens = [*(span.get("tokens") or range(start, end))] if within else [start]
        if not within or tokens != sorted({*tokens}) or (tokens[0], tokens[-1] + 1) != (start, end):
            raise ValueError(
                f"the span {label!r} of {start} to {end} is not some of {many(n, 'token')} in their order"
            )
        if head is not None and head not in tokens:
            raise ValueError(f"the head {head} of the span {label!r} is none of its tokens")
        confidence = span.get("confidence")
        if confidence is not None and not 0 <= confidence <= 1:
            raise ValueError(f"the confidence {confidence} is not between 0 and 1")
        return cls(label, tokens, head, confidence)


def _built(tokens: Tokens, spans: Sequence[_ReadSpan]) -> ReadSentence:
    """Return the c-tree of spans, of which the higher come first where they have the same tokens."""
    spans = sorted(reversed(spans), key=lambda span: len(span.tokens))
    ctree = tree_of(tokens, [(span.label, span.tokens) for span in spans], _TOP)
    heads = _of_all("head", [span.head for span in spans])
    if heads is None and not spans:  # a word alone: no node lacks its head child
        ctree = replace(ctree, head_children=())
    if heads is not None:
        ctree = replace(ctree, head_children=child_over(ctree, heads))
        for span, head in zip(spans, ctree.lexical_heads()[len(tokens) :], strict=True):
            if head != span.head:
                message = f"the head {span.head} of the span {span.label!r} is the head of none of its parts"
                raise ValueError(message)
    confidences = _of_all("confidence", [span.confidence for span in spans])
    return ReadSentence(ctree, None if confidences is None else tuple(map(float, confidences)))


def _source(shown: dict[str, Any], forms: tuple[str, ...]) -> Source | None:
    """Return where words are in the text. Raises ValueError where offsets are not those of words in order."""
    if "offsets" not in shown:
        return None
    offsets = [(start, end) for start, end in shown["offsets"]]
    if not all(type(place) is int and 0 <= place < 1 << 63 for pair in offsets for place in pair):
        raise ValueError("its offsets are not pairs of numbers of characters")
    of_tokens = (one for one, _ in groupby(offsets))  # the words of a token have its characters
    flat = [0, *chain.from_iterable(of_tokens)]
    (text,) = strings([shown.get("text", "")])
    if len(offsets) != len(forms) or flat != sorted(flat) or (text and len(text) != flat[-1] - flat[1]):
        raise ValueError(
            f"its offsets are not those of {many(len(forms), 'token')}, one after the other in its text"
        )
    return Source(forms, offsets, text)


def _of_all(name: str, column: Sequence[Number | None]) -> list[Number] | None:
    """Return what all spans have; None where none has it. Raises ValueError where only some have it."""
    found = [one for one in column if one is not None]
    if found and len(found) < len(column):
        raise ValueError(f"{len(column) - len(found)} of {len(column)} spans have no {name}, others have one")
    return found or None
