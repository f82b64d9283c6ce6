"""The fields of a sentence in JSON lines and in tables: one writer, and one reader of both.

`d2c parse --to json` writes a line for each sentence, `d2c corpus` a row of Parquet (`d2c.corpora.rows`).
FIELDS says what both hold. A field that stands there as `Sentence` has it needs no more than its line there,
with `plain`. The lines that `d2c parse --json` reads are such lines, too, with constraints in place of trees.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from itertools import chain, groupby
from operator import attrgetter
from typing import Any, NamedTuple, NoReturn, TypeVar

from d2c.base.counting import many
from d2c.base.errors import FormatError, Refuse, stop
from d2c.base.files import AnyPath, file_name, open_input
from d2c.parsing.sentence import Offsets, Sentence
from d2c.trees.ctree import CTree, Tokens, child_over, tree_of
from d2c.trees.formats.brackets import escape, format_bracket
from d2c.trees.formats.conllu import comment_of
from d2c.trees.formats.discbracket import format_discbracket, is_discbracket, parse_discbracket
from d2c.trees.formats.format import check_text, parse_all
from d2c.trees.spans import spans_of

_NO_LINE = "no JSON line as `d2c parse --to json` writes it"
_NO_ROW = "no row as `d2c corpus` writes it"
_NO_WORDS = "no JSON object with `tokens`, a list of words, and perhaps `tags`"
_TOP = "TOP"  # the wrapper of all trees, which JSON lines do not have

Number = TypeVar("Number", int, float)


def _nothing(_: Sentence) -> None:
    return None


class Field(NamedTuple):
    """A field of JSON lines, a column of tables, or both.

    json:   its value in JSON, left out where it is None
    arrow:  its type in tables, one of `d2c.corpora.rows.TYPES`; "" where it is no column
    column: its value there
    """

    name: str
    json: Callable[[Sentence], Any]
    arrow: str = ""
    column: Callable[[Sentence], Any] = _nothing


_PLAIN = {one.name: one for one in fields(Sentence) if "arrow" in one.metadata}
PLAIN = tuple(_PLAIN)  # the names of fields that stand everywhere as in `Sentence`


def _plain(name: str) -> Field:
    value, default = attrgetter(name), _PLAIN[name].default
    return Field(
        name,
        lambda sentence: None if (own := value(sentence)) == default else own,
        _PLAIN[name].metadata["arrow"],
        value,
    )


def _unless_failed(value: Callable[[Sentence], Any], otherwise: Any = None) -> Callable[[Sentence], Any]:
    """Return what gives a value of sentences that were parsed: it is None, or something else, of others."""
    return lambda sentence: otherwise if sentence.error else value(sentence) or otherwise


_tokens = _unless_failed(lambda sentence: [*sentence.tokens.forms], [])
_tags = _unless_failed(lambda sentence: [*sentence.tree.tokens.tags], [])


def _spans(sentence: Sentence) -> list[dict[str, Any]]:
    """Return a span for each node, the higher first."""
    return [span.to_dict() for span in spans_of(sentence.tree, None, sentence.confidences, sentence.source)]


def _alternatives(sentence: Sentence) -> list[dict[str, Any]]:
    return [
        {"tree": format_tree(ctree), "probability": None if share is None else round(share, 6)}
        for ctree, share in sentence.alternatives
    ]


def _heads(sentence: Sentence) -> Sequence[int]:
    return sentence.dtree.heads if sentence.dtree else ()


FIELDS = (  # in the order of JSON lines; docs/commands.md and docs/corpora.md say what each holds
    Field("document_id", _nothing, "string", attrgetter("document")),
    Field("sentence_id", _nothing, "string", attrgetter("id")),
    *map(_plain, _PLAIN),
    Field("error", lambda one: one.why or None, "string", lambda one: one.why or None),
    Field(
        "text",
        _unless_failed(attrgetter("text")),
        "string",
        lambda one: one.text or comment_of(one.tokens.comments, "text") or None,
    ),
    Field("start", _nothing, "int64", lambda one: one.offsets[0][0] if one.offsets else None),
    Field("end", _nothing, "int64", lambda one: one.offsets[-1][1] if one.offsets else None),
    Field("tokens", _tokens, "strings", _tokens),
    Field("tags", _tags, "strings", _tags),
    Field(
        "offsets",
        _unless_failed(lambda one: [[*pair] for pair in one.offsets or ()]),
        "ranges",
        _unless_failed(lambda one: [{"start": start, "end": end} for start, end in one.offsets or ()]),
    ),
    Field("comments", _unless_failed(lambda one: [*one.tokens.comments])),
    Field("heads", _nothing, "numbers", _unless_failed(_heads, [])),
    Field("bracket", _nothing, "string"),  # in the format of the table
    Field("spans", _unless_failed(_spans, []), "spans", _unless_failed(_spans, [])),
    Field("alternatives", _unless_failed(_alternatives)),
)


def to_json(sentence: Sentence) -> dict[str, Any]:
    """Return what a line holds of a sentence with a c-tree, or with an error.

    A span has its label, its first token and the one after its last, its head token; its tokens where it has
    gaps; its first character and the one after its last where the input was text; its confidence if known.
    """
    values = ((one.name, one.json(sentence)) for one in FIELDS)
    return {name: value for name, value in values if value is not None}


def format_json(sentence: Sentence) -> str:
    """Return one line, as of `to_json`."""
    return json.dumps(to_json(sentence), ensure_ascii=False) + "\n"


def format_tree(ctree: CTree) -> str:
    """Return brackets on one line; discbracket for a tree with gaps, and where brackets would be read so."""
    brackets = format_bracket(ctree) if ctree.is_continuous() else ""
    return brackets if brackets and not is_discbracket(brackets) else format_discbracket(ctree)


def read_json_lines(path: AnyPath, refuse: Refuse = stop) -> Iterator[Sentence]:
    """Yield the sentences of a file (`-`: standard input), one at a time. Raises FormatError."""
    with open_input(path) as stream:
        lines = ((number, line) for number, line in enumerate(stream, 1) if not line.isspace())
        yield from parse_all(lines, lambda line: (parse_json_line(line),), file_name(path), refuse)


def parse_json_line(line: str) -> Sentence:
    """Invert `format_json`, but for alternatives; the d-tree is not there. Raises ValueError.

    Its words have the comments. The c-tree has no head children where spans have no heads. Linear in the
    number of tokens of all spans.
    """
    with _shaped(_NO_LINE):
        return _sentence(json.loads(check_text(line), parse_constant=_no_number))


def sentence_of_row(row: dict[str, Any]) -> Sentence:
    """Return the sentence of a row of a table. Raises ValueError for what `d2c corpus` writes in no row.

    Its spans do not say which words are in gaps; then brackets say the tree, without confidences.
    """
    with _shaped(_NO_ROW):
        offsets = [(place["start"], place["end"]) for place in row["offsets"] or ()]
        shown = {name: value for name, value in row.items() if value is not None and name != "offsets"}
        shown |= {"offsets": offsets} if offsets else {}
        if row["error"] or not _numbers_words(row["bracket"], row["tokens"]):
            spans = [{name: one for name, one in span.items() if one is not None} for span in row["spans"]]
            return _sentence(shown | {"spans": spans})
        # Brackets write some words and tags otherwise: (, and what holds blanks.
        sentence, ctree = _words(shown), parse_discbracket(row["bracket"])
        if len(ctree.tokens) != len(sentence.tokens):
            raise ValueError("its brackets are not over its tokens")
        return replace(sentence, ctree=replace(ctree, tokens=sentence.tokens))


def read_given(line: str) -> tuple[tuple[str, ...], tuple[str, ...], Any, Any]:
    """Return the words of a line of input, their tags (empty: to be found), and what is required and
    forbidden, as it stands there. A line of `format_json` is one, too. Raises ValueError."""
    with _shaped(_NO_WORDS):
        shown = json.loads(line, parse_constant=_no_number)
        tokens = _tokens_of(shown, tagged=False)
        require, forbid = (shown.get(name) for name in ("require", "forbid"))
    if not all(one is None or isinstance(one, list) for one in (require, forbid)):
        raise ValueError('`require` and `forbid` are lists of spans: [[0, 3, "NP"], [4, 6]]')
    return tokens.forms, tokens.tags, require, forbid


@contextmanager
def _shaped(otherwise: str) -> Iterator[None]:
    """Raise ValueError for what lacks a field or has one of another kind."""
    try:
        yield
    except KeyError as error:
        raise ValueError(f"there is no {error.args[0]!r}") from None
    except (RecursionError, json.JSONDecodeError, TypeError, AttributeError):
        raise ValueError(otherwise) from None


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _strings(column: Any) -> tuple[str, ...]:
    """Return texts. Raises TypeError for anything else, and ValueError where no file can hold them."""
    if not isinstance(column, list) or not all(isinstance(text, str) for text in column):
        raise TypeError
    return tuple(map(check_text, column))


def _tokens_of(shown: dict[str, Any], tagged: bool) -> Tokens:
    """Return words with tags, which may be left out unless they must be `tagged`."""
    forms = _strings(shown["tokens"])
    tags = _strings(shown["tags"] if tagged else shown.get("tags") or [""] * len(forms))
    if len(tags) != len(forms):
        raise ValueError(f"{many(len(forms), 'token')} with {many(len(tags), 'tag')}")
    return Tokens(forms, tags)


def _sentence(shown: Any) -> Sentence:
    """Return the sentence of what a line holds."""
    if shown.get("error"):
        sentence = Sentence(Tokens((), ()), **_plain_of(shown))
        error = check_text(str(shown["error"]))
        return sentence.failed(FormatError(sentence.file, sentence.line, 0, error))
    sentence = _words(shown)
    return _with_tree(sentence, [_ReadSpan.of(span, len(sentence.tokens)) for span in shown["spans"]])


def _words(shown: dict[str, Any]) -> Sentence:
    """Return a sentence without its trees."""
    tokens = _tokens_of(shown, tagged=True)
    if not tokens.forms:
        raise ValueError("0 tokens with 0 tags")
    tokens = replace(tokens, comments=_strings(shown.get("comments", [])))
    (text,), offsets = _strings([shown.get("text", "")]), None
    if "offsets" in shown:
        offsets = _offsets(shown["offsets"], text, len(tokens))
    return Sentence(tokens, text=text if offsets else "", offsets=offsets, **_plain_of(shown))


def _plain_of(shown: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that stand in a line as in `Sentence`."""
    found = {name: shown[name] for name in _PLAIN if shown.get(name) is not None}
    for name, value in found.items():
        if type(value) is not type(_PLAIN[name].default):
            raise TypeError
        check_text(str(value))
    return found


class _ReadSpan(NamedTuple):
    label: str
    tokens: Sequence[int]
    head: int | None
    confidence: float | None

    @classmethod
    def of(cls, span: dict[str, Any], n: int) -> _ReadSpan:
        """Check a span. Raises ValueError unless it has some of n tokens, and its head is one of them."""
        (label,), start, end, head = _strings([span["label"]]), span["start"], span["end"], span.get("head")
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


def _with_tree(sentence: Sentence, spans: Sequence[_ReadSpan]) -> Sentence:
    """Return a sentence with the c-tree of spans, of which the higher come first where they have the same
    tokens."""
    tokens, spans = sentence.tokens, sorted(reversed(spans), key=lambda span: len(span.tokens))
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
    shares = None if confidences is None else tuple(map(float, confidences))
    return replace(sentence, ctree=ctree, confidences=shares)


def _offsets(shown: Any, text: str, n: int) -> Offsets:
    """Return where n words are in the text. Raises ValueError for what are no places of words in order."""
    offsets = tuple([(start, end) for start, end in shown])
    if not all(type(place) is int and 0 <= place < 1 << 63 for pair in offsets for place in pair):
        raise ValueError("its offsets are not pairs of numbers of characters")
    of_tokens = (one for one, _ in groupby(offsets))  # the words of a token have its characters
    flat = [0, *chain.from_iterable(of_tokens)]
    if len(offsets) != n or flat != sorted(flat) or (text and len(text) != flat[-1] - flat[1]):
        raise ValueError(f"its offsets are not those of {many(n, 'token')}, one after the other in its text")
    return offsets


def _numbers_words(bracket: str, tokens: Sequence[str]) -> bool:
    """Return whether brackets are discbracket; words such as `1=2` alone make others look like it."""
    leaves = (f" {i}={escape(token)})" for i, token in enumerate(tokens))
    return is_discbracket(bracket) and all(leaf in bracket for leaf in leaves)


def _of_all(name: str, column: Sequence[Number | None]) -> list[Number] | None:
    """Return what all spans have; None where none has it. Raises ValueError where only some have it."""
    found = [one for one in column if one is not None]
    if found and len(found) < len(column):
        raise ValueError(f"{len(column) - len(found)} of {len(column)} spans have no {name}, others have one")
    return found or None
