"""The fields of a sentence in JSON lines and in tables: one writer, and one reader of both.

`d2c parse --to json` writes a line for each sentence, `d2c corpus` a row of Parquet (`d2c.corpora.rows`).
FIELDS says what both hold. A field that is written just as `Sentence` has it is declared only there, with
`plain`. The lines that `d2c parse --json` reads have the same form, with constraints in place of trees.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from difflib import get_close_matches
from itertools import chain, groupby
from operator import attrgetter
from typing import Any, NamedTuple

from d2c.base.counting import many
from d2c.base.errors import FormatError, Refuse, stop
from d2c.base.files import AnyPath, file_name
from d2c.parsing.sentence import Offsets, Sentence
from d2c.trees.ctree import CTree, Tokens, comment_of
from d2c.trees.formats.brackets import format_bracket
from d2c.trees.formats.discbracket import format_discbracket, is_discbracket
from d2c.trees.formats.format import AS_IT_IS, CFormat, Options, check_text, parse_all
from d2c.trees.formats.parsed import (
    PARSED_LINES,
    made_of,
    no_number,
    parsed_tree,
    parsed_words,
    shaped,
    strings,
)
from d2c.trees.spans import spans_of

_NO_WORDS = "no JSON object with `tokens`, a list of words, and perhaps `tags`"


def _nothing(_: Sentence) -> None:
    return None


class Field(NamedTuple):
    """A field of JSON lines, a column of tables, or both.

    json:   its value in JSON; if it is None, the field is left out
    arrow:  its type in tables, one of `d2c.corpora.rows.TYPES`; "" if it is no column
    column: its value in tables
    """

    name: str
    json: Callable[[Sentence], Any]
    arrow: str = ""
    column: Callable[[Sentence], Any] = _nothing


_PLAIN = {one.name: one for one in fields(Sentence) if "arrow" in one.metadata}
PLAIN = tuple(_PLAIN)  # the names of fields that are written everywhere as `Sentence` has them


def _plain(name: str) -> Field:
    value, default = attrgetter(name), _PLAIN[name].default
    return Field(
        name,
        lambda sentence: None if (own := value(sentence)) == default else own,
        _PLAIN[name].metadata["arrow"],
        value,
    )


def _unless_failed(value: Callable[[Sentence], Any], otherwise: Any = None) -> Callable[[Sentence], Any]:
    """Return a function that gives a value of a sentence, `otherwise` if it failed or the value is empty."""
    return lambda sentence: otherwise if sentence.error else value(sentence) or otherwise


_tokens = _unless_failed(lambda sentence: [*sentence.tokens.forms], [])
_tags = _unless_failed(lambda sentence: [*sentence.tree.tokens.tags], [])


def _spans(sentence: Sentence) -> list[dict[str, Any]]:
    """Return the spans of all nodes from left to right, the higher of two at the same token first."""
    return [span.to_dict() for span in spans_of(sentence.tree, None, sentence.confidences, sentence.source)]


def _alternatives(sentence: Sentence) -> list[dict[str, Any]]:
    return [
        {"tree": format_tree(ctree), "probability": None if share is None else round(share, 6)}
        for ctree, share in sentence.alternatives
    ]


def _bracket(sentence: Sentence) -> str | None:
    try:
        return format_tree(sentence.tree)
    except ValueError:  # for what brackets cannot hold, such as an empty tag
        return None


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
    Field("bracket", _unless_failed(_bracket), "string"),  # in tables all in one format
    Field("spans", _unless_failed(_spans, []), "spans", _unless_failed(_spans, [])),
    Field("alternatives", _unless_failed(_alternatives)),
)


_CONSTRAINTS = ("require", "forbid")
GIVEN = frozenset(one.name for one in FIELDS) | {*_CONSTRAINTS}  # what lines of input may hold


def to_json(sentence: Sentence) -> dict[str, Any]:
    """Return the fields of the JSON line for a sentence with a c-tree or an error.

    A span has its label, its first token and the one after its last, and its head token if known; if it has
    gaps, all its tokens; if the input was text, its first character and the one after its last; and its
    confidence if known.
    """
    values = ((one.name, one.json(sentence)) for one in FIELDS)
    return {name: value for name, value in values if value is not None}


def format_json(sentence: Sentence) -> str:
    """Return the line of a sentence, as `to_json` describes it."""
    return json.dumps(to_json(sentence), ensure_ascii=False) + "\n"


def format_tree(ctree: CTree) -> str:
    """Return brackets on one line; discbracket for gaps, and where brackets would be taken for it."""
    brackets = format_bracket(ctree) if ctree.is_continuous() else ""
    return brackets if brackets and not is_discbracket(brackets) else format_discbracket(ctree)


def read_json_lines(path: AnyPath, refuse: Refuse = stop) -> Iterator[Sentence]:
    """Yield the sentences of a file (`-`: standard input), one at a time. Raises FormatError."""
    return read_parsed(path, PARSED_LINES, AS_IT_IS, refuse)


def read_parsed(path: AnyPath, form: CFormat, options: Options, refuse: Refuse = stop) -> Iterator[Sentence]:
    """Yield the sentences of a file of one of the formats PARSED, as `read_json_lines` does."""
    items = form.read.items(path, options)
    return parse_all(items, lambda item: (made_of(item, form.name, _sentence),), file_name(path), refuse)


def read_given(line: str) -> tuple[tuple[str, ...], tuple[str, ...], Any, Any]:
    """Return the words of a line of input, their tags (empty if a tagger is to find them), and the required
    and forbidden spans as the line has them. A line of `format_json` can be read, too. Raises ValueError,
    also for a name close to `require` or `forbid`: other fields are ignored, and the spans would be lost."""
    with shaped(_NO_WORDS):
        shown = json.loads(line, parse_constant=no_number)
        tokens = parsed_words(shown, tagged=False)
        require, forbid = (shown.get(name) for name in _CONSTRAINTS)
    for name in shown.keys() - GIVEN:
        if meant := get_close_matches(name.lower(), _CONSTRAINTS, 1, 0.75):
            raise ValueError(f"unknown field {name!r:.40}; {meant[0]!r} is known")
    if not all(one is None or isinstance(one, list) for one in (require, forbid)):
        raise ValueError('`require` and `forbid` are lists of spans: [[0, 3, "NP"], [4, 6]]')
    return tokens.forms, tokens.tags, require, forbid


def _sentence(shown: dict[str, Any]) -> Sentence:
    """Return the sentence that the fields of a line or a row describe."""
    if shown.get("error"):
        sentence = Sentence(Tokens((), ()), **_plain_of(shown))
        error = check_text(str(shown["error"]))
        return sentence.failed(FormatError(sentence.file, sentence.line, 0, error))
    ctree, confidences = parsed_tree(shown)
    (text,), offsets = strings([shown.get("text", "")]), None
    if "offsets" in shown:
        offsets = _offsets(shown["offsets"], text, len(ctree.tokens))
    return Sentence(
        ctree.tokens,
        text=text if offsets else "",
        offsets=offsets,
        ctree=ctree,
        confidences=confidences,
        **_plain_of(shown),
    )


def _plain_of(shown: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of PLAIN that a line has. Raises TypeError for a value of another type."""
    found = {name: shown[name] for name in _PLAIN if shown.get(name) is not None}
    for name, value in found.items():
        if type(value) is not type(_PLAIN[name].default):
            raise TypeError
        check_text(str(value))
    return found


def _offsets(shown: Any, text: str, n: int) -> Offsets:
    """Return the offsets [n] of words in the text. Raises ValueError unless they fit n words in order."""
    offsets = tuple([(start, end) for start, end in shown])
    flat = [*chain.from_iterable(offsets)]
    if not {*map(type, flat)} <= {int} or (flat and not 0 <= min(flat) <= max(flat) < 1 << 63):
        raise ValueError("its offsets are not pairs of numbers of characters")
    of_tokens = (one for one, _ in groupby(offsets))  # words cut from one token share its offsets
    in_order = flat == sorted(flat) or (one := [*chain.from_iterable(of_tokens)]) == sorted(one)
    if len(offsets) != n or not in_order or (text and len(text) != flat[-1] - flat[0]):
        raise ValueError(f"its offsets are not those of {many(n, 'token')}, one after the other in its text")
    return offsets
