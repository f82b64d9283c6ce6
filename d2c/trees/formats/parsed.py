"""What d2c has parsed, as a treebank: JSON lines of `d2c parse --to json`, Parquet of `d2c corpus`.

    {"tokens": ["She", "slept"], "tags": ["PRP", "VBD"], "spans": [{"label": "S", "start": 0, "end": 2}, ...]}

A row of a table is like a line, but its offsets are written differently, and its spans do not say which words
are in gaps; where there are gaps, its brackets say the tree. The wrapper of all trees is TOP. Comments are
those of the line, and all texts and numbers besides the tree: `text`, `file`, `line`, ... Linear time except
for the sorting of spans; trees with gaps take time in the sum of the tokens of their nodes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeVar

from d2c.base.counting import many
from d2c.base.errors import FormatError, needs
from d2c.base.files import AnyPath, followed, open_input
from d2c.base.tables import opened_parquet
from d2c.trees.conversion import to_dependencies
from d2c.trees.ctree import NO_CTREE, CTree, Tokens, comment_of, tree_of, trusted_ctree
from d2c.trees.formats.brackets import escape
from d2c.trees.formats.discbracket import is_discbracket, parse_discbracket
from d2c.trees.formats.format import Attribute, CFormat, Items, Options, Reader, check_text, item_reader
from d2c.trees.formats.jsonfiles import outer_keys
from d2c.trees.formats.treestrings import tree_over

Shown = dict[str, Any]  # the fields of a sentence, by their names in JSON lines
Made = TypeVar("Made")
Value = TypeVar("Value")

_TOP = "TOP"
_ROWS = 1000  # of a table that are read at once
_COLUMNS = ["file", "text", "tokens", "offsets", "tags", "bracket", "spans", "error"]  # of every table
_BARE = ["file", "tokens", "tags", "bracket", "error"]  # the columns that bare trees need
_MORE = ["heads"]  # what a table may have besides texts and numbers
_BESIDE = ("start", "end", "bracket")  # texts and numbers that repeat the tree or the places of words
_CALLED = {"sentence_id": "sent_id"}  # in comments
_WITH_FIELDS, _OF_SPANS = ("offsets", "spans"), ("label", "start", "end", "head", "confidence", "tokens")
_OF_TREES = ("tokens", "tags", "spans", "comments", "offsets", "heads", "alternatives")
_KEYS = {"tokens", "spans", "error"}  # one of them is near the beginning of each line


def _lines(path: AnyPath, options: Options) -> Iterator[tuple[int, str]]:
    with open_input(path, options.charset) as stream:
        yield from ((number, line) for number, line in enumerate(stream, 1) if not line.isspace())


def _rows(path: AnyPath, options: Options) -> Iterator[tuple[int, Shown]]:
    """Yield the rows of a table. In these a list of structs is a list for each field of the structs:
    {"start": [0, 4], "end": [3, 8]}."""
    arrow = needs("pyarrow")
    simple = arrow.types.is_string, arrow.types.is_integer
    try:
        with opened_parquet(Path(path)) as opened:
            kinds = {column.name: column.type for column in opened.schema_arrow}
            if missing := [name for name in _COLUMNS if name not in kinds]:
                raise FormatError(
                    str(path), 0, 0, f"is not a table of `d2c corpus`: it has no column {missing[0]!r}"
                )
            also = [name for name, kind in kinds.items() if any(one(kind) for one in simple)]
            wanted = _BARE if options.bare else [*_COLUMNS, *_MORE, *also]
            read = [name for name in kinds if name in wanted]
            size, rows, done = Path(path).stat().st_size, max(opened.metadata.num_rows, 1), 0
            with followed(path, lambda: size * done // rows):
                for batch in opened.iter_batches(_ROWS, columns=read):
                    done += len(batch)
                    columns = [
                        _in_fields(column) if name in _WITH_FIELDS else column.to_pylist()
                        for name, column in zip(read, batch.columns, strict=True)
                    ]
                    yield from ((0, dict(zip(read, row, strict=True))) for row in zip(*columns, strict=True))
    except (AttributeError, TypeError):
        raise FormatError(
            str(path), 0, 0, "is not a table of `d2c corpus`: its columns have other types"
        ) from None


def _in_fields(column: Any) -> Iterator[Shown]:
    """Yield for each row of a column with lists of structs a list for each field: several times as fast."""
    structs, end = column.flatten(), 0
    named = zip(structs.type, structs.flatten(), strict=True)
    fields = {field.name: values.to_pylist() for field, values in named}
    for length in column.value_lengths().to_pylist():
        begin, end = end, end + (length or 0)
        yield {name: values[begin:end] for name, values in fields.items()}


def _shown_in_line(line: str) -> Shown:
    shown: Shown = json.loads(check_text(line), parse_constant=no_number)
    shown.pop("bracket", None)  # which only tables have
    return shown


def _shown_in_row(row: Shown) -> Shown:
    if not row["error"] and not row["bracket"]:
        raise TypeError
    shown = {name: value for name, value in row.items() if value is not None}
    if "offsets" not in row:  # a bare tree
        return shown
    if offsets := [*zip(row["offsets"]["start"], row["offsets"]["end"], strict=True)]:
        return shown | {"offsets": offsets}
    del shown["offsets"]
    return shown


_SHOWN: dict[str, tuple[str, Callable[[Any], Shown]]] = {  # by format: message for other items; their fields
    "json": ("no JSON line as `d2c parse --to json` writes it", _shown_in_line),
    "parquet": ("no row as `d2c corpus` writes it", _shown_in_row),
}
PARSED = tuple(_SHOWN)


def made_of(item: Any, format_name: str, make: Callable[[Shown], Made]) -> Made:
    """Return what `make` makes of a JSON line or of a row of a table. Raises ValueError for a line or row as
    d2c does not write it."""
    otherwise, shown = _SHOWN[format_name]
    with shaped(otherwise):
        return make(shown(item))


@contextmanager
def shaped(otherwise: str) -> Iterator[None]:
    """Raise ValueError where a field is missing or of another kind; otherwise: the message for the latter."""
    try:
        yield
    except KeyError as error:
        raise ValueError(f"there is no {error.args[0]!r}") from None
    except (RecursionError, json.JSONDecodeError, TypeError, AttributeError):
        raise ValueError(otherwise) from None


def no_number(name: str) -> NoReturn:
    """Raise ValueError for NaN and Infinity, which are no JSON."""
    raise ValueError(f"{name} is no number")


def strings(column: Any) -> tuple[str, ...]:
    """Return the strings of a list. Raises TypeError for anything else, and ValueError where no file can hold
    them."""
    if not isinstance(column, list):
        raise TypeError
    check_text("".join(column))
    return tuple(column)


def parsed_words(shown: Shown, tagged: bool) -> Tokens:
    """Return words with tags and comments; tags may be missing, unless `tagged`."""
    forms = strings(shown["tokens"])
    tags = strings(shown["tags"] if tagged else shown.get("tags") or [""] * len(forms))
    if len(tags) != len(forms):
        raise ValueError(f"{many(len(forms), 'token')} with {many(len(tags), 'tag')}")
    return Tokens(forms, tags, comments=strings(shown.get("comments", [])))


def parsed_tree(shown: Shown) -> tuple[CTree, tuple[float, ...] | None]:
    """Return a sentence's c-tree, and [K] how sure the parser is of each node; None where it does not say.

    The tree has no head children where spans have no heads. Of spans over the same tokens the first is the
    highest.
    """
    tokens, bracket = parsed_words(shown, tagged=True), shown.get("bracket")
    if not tokens.forms:
        raise ValueError("0 tokens with 0 tags")
    if bracket and _numbers_words(bracket, tokens.forms):
        # Brackets write some words and tags otherwise: (, and what holds blanks.
        return _over(tokens, parse_discbracket(bracket)), None
    if bracket and "spans" not in shown:
        return _over(tokens, tree_over(bracket)), None
    spans = _Spans.of(shown["spans"])
    ctree, order = _nested(tokens, spans) or _over_tokens(tokens, spans)
    if not order:  # a word alone: no node lacks its head child
        ctree = replace(ctree, head_children=())
    shares = spans.confidences
    return ctree, None if shares is None else tuple([float(shares[k]) for k in order])


def _over(tokens: Tokens, ctree: CTree) -> CTree:
    """Return a tree over a sentence's own tokens. Raises ValueError where it is over more or fewer."""
    if len(ctree.tokens) != len(tokens):
        raise ValueError("its brackets are not over its tokens")
    return trusted_ctree(tokens, ctree.labels, ctree.children, ctree.head_children, ctree.top)


class _Spans(NamedTuple):
    """Spans as columns [K].

    tokens: all tokens of spans with gaps, None for other spans; or []
    heads, confidences: None where no span has one
    """

    labels: tuple[str, ...]
    starts: list[int]
    ends: list[int]
    tokens: list[list[int] | None]
    heads: list[int] | None
    confidences: list[float] | None

    @classmethod
    def of(cls, spans: list[Shown] | Shown) -> _Spans:
        """Check spans, given as a list or as columns."""
        if not isinstance(spans, dict):
            spans = {name: [span.get(name) for span in spans] for name in _OF_SPANS}
        labels, starts, ends, heads, confidences, tokens = [spans.get(name, []) for name in _OF_SPANS]
        heads, confidences = _of_all("head", heads), _of_all("confidence", confidences)
        for confidence in confidences or ():
            if not 0 <= confidence <= 1:
                raise ValueError(f"the confidence {confidence} is not between 0 and 1")
        return cls(strings(labels), starts, ends, tokens, heads, confidences)


def _of_all(name: str, column: list[Value | None]) -> list[Value] | None:
    """Return a column that all spans have; None where none has it. Raises ValueError where only some have
    it."""
    if lacking := column.count(None):
        if lacking < len(column):
            raise ValueError(f"{lacking} of {len(column)} spans have no {name}, others have one")
        return None
    return column or None  # type: ignore[return-value]


def _nested(tokens: Tokens, spans: _Spans) -> tuple[CTree, list[int]] | None:
    """Return the c-tree of spans without gaps, and [K] the number of each node's span; None where the spans
    make no tree, or their heads do not fit."""
    n, starts, ends, heads = len(tokens), spans.starts, spans.ends, spans.heads
    if any(spans.tokens) or min(starts, default=0) < 0 or max(ends, default=0) > n:
        return None
    sizes = [end - start for start, end in zip(starts, ends, strict=True)]
    order = sorted(reversed(range(len(sizes))), key=sizes.__getitem__)
    highest, end_of = list(range(n)), list(range(1, n + 1))  # the node so far that begins with each token
    children, head_children = list[tuple[int, ...]](), list[int]()
    for k in order:
        at, end, kids = starts[k], ends[k], list[int]()
        while at < end:
            kid = highest[at]
            kids.append(kid)
            at = end_of[kid]
        if at != end or not kids:
            return None
        highest[starts[k]] = len(end_of)
        end_of.append(end)
        children.append(tuple(kids))
    below = [*chain.from_iterable(children)]
    if not len(below) == len({*below}) == n + len(order) - 1:
        return None
    headed = dict(enumerate(range(n)))  # the highest node so far with each head
    pairs = zip([heads[k] for k in order], children, strict=True) if heads else ()
    for node, (head, nodes) in enumerate(pairs, n):
        head_children.append(headed.get(head, -1))
        if head_children[-1] not in nodes:
            return None
        headed[head] = node
    labels, marked = tuple([spans.labels[k] for k in order]), tuple(head_children) if heads else None
    return trusted_ctree(tokens, labels, tuple(children), marked, _TOP), order


def _over_tokens(tokens: Tokens, spans: _Spans) -> tuple[CTree, list[int]]:
    """Return the same as `_nested` for any spans. Raises ValueError where the spans make no tree, or their
    heads do not fit."""
    below, heads = [_tokens_of(spans, k, len(tokens)) for k in range(len(spans.labels))], spans.heads
    order = sorted(reversed(range(len(below))), key=lambda k: len(below[k]))
    headed = [heads[k] for k in order] if heads else None
    ctree = tree_of(tokens, [(spans.labels[k], below[k]) for k in order], _TOP, headed)
    if heads:
        for k, head in zip(order, ctree.lexical_heads()[len(tokens) :], strict=True):
            if head != heads[k]:
                what = f"the head {heads[k]} of the span {spans.labels[k]!r}"
                raise ValueError(f"{what} is the head of none of its parts")
    return ctree, order


def _tokens_of(spans: _Spans, k: int, n: int) -> Sequence[int]:
    """Return the tokens of a span. Raises ValueError unless they are some of n tokens, in order, and its head
    is one of them."""
    label, start, end = spans.labels[k], spans.starts[k], spans.ends[k]
    within = 0 <= start < end <= n  # before there is a list of so many tokens
    tokens = [*(spans.tokens[k] or range(start, end))] if within else [start]
    if not within or tokens != sorted({*tokens}) or (tokens[0], tokens[-1] + 1) != (start, end):
        raise ValueError(
            f"the span {label!r} of {start} to {end} is not some of {many(n, 'token')} in their order"
        )
    if spans.heads and spans.heads[k] not in tokens:
        raise ValueError(f"the head {spans.heads[k]} of the span {label!r} is none of its tokens")
    return tokens


def _numbers_words(bracket: str, tokens: Sequence[str]) -> bool:
    """Return whether brackets are discbracket over these words; words like `1=2` alone only look like it."""
    leaves = (f" {i}={escape(token)})" for i, token in enumerate(tokens))
    return " 0=" in bracket and all(leaf in bracket for leaf in leaves) and is_discbracket(bracket)


def _ctree(shown: Shown, options: Options) -> CTree:
    """Return a sentence's tree, with its other fields as comments; NO_CTREE where it was not parsed."""
    ctree, confidences = (NO_CTREE, None) if shown.get("error") else parsed_tree(shown)
    comments, left_out = [*strings(shown.get("comments", []))], options.left_out
    for name, value in shown.items():
        called = _CALLED.get(name, name)
        if type(value) in (str, int):
            if name not in _BESIDE and comment_of(comments, called) is None:
                comments.append(" ".join(f"{called} = {value}".split()))
        elif name not in _OF_TREES and value is not None:
            left_out["JSON fields"] += 1
    left_out["confidences"] += len(confidences or ())
    left_out["text offsets"] += len(shown.get("offsets", ()))
    left_out["alternatives"] += len(shown.get("alternatives", ()))
    heads = ctree.head_children
    if shown.get("heads") and (heads is None or to_dependencies(ctree).heads != (*shown["heads"],)):
        left_out["dependencies"] += len(shown["heads"])
    heads = None if options.clean and not options.marked else heads
    said = replace(ctree.tokens, comments=strings(comments))
    return trusted_ctree(said, ctree.labels, ctree.children, heads, ctree.top)


def _looks_so(start: str) -> bool:
    """Return whether JSON may be lines of `d2c parse`; a long line may show none of its keys."""
    keys = outer_keys(start)
    return not keys or not _KEYS.isdisjoint(keys) or "\n" not in start.strip()


def _reader(name: str, items: Callable[[AnyPath, Options], Items]) -> Reader[CTree]:
    return item_reader(items, lambda item, options: made_of(item, name, lambda shown: _ctree(shown, options)))


_HELD: tuple[Attribute, ...] = ("gaps", "heads", "comments", "escapes", "blanks")
PARSED_LINES = CFormat("json", (".json", ".jsonl"), _reader("json", _lines), holds=_HELD, looks_so=_looks_so)
PARSED_ROWS = CFormat("parquet", (".parquet",), _reader("parquet", _rows), holds=_HELD)
