"""What a graph parser sees of each word of a sentence: its form, up to three more columns, and its pieces."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from d2c.dparsers.graph.encoder_file import UNSEEN
from d2c.trees.ctree import Tokens

_LETTERS = 1000  # of a word that are seen: an encoder may need a piece for each
_BLANK = "_"
_ASKING, _CALLING = "?？︖﹖⁇", "!！︕﹗‼"


class Columns(NamedTuple):
    """The columns of a sentence, under Stanza's names."""

    word: Sequence[str]
    upos: Sequence[str]
    xpos: Sequence[str]
    lemma: Sequence[str]


def columns(tokens: Tokens, joint: bool) -> Columns:
    """Return the columns that a graph parser sees; joint: whether it predicts tags, so that it sees none.

    Stanza's UPOS holds the morphology, since Stanza's own embedding of features takes only UD notation. For a
    joint network XPOS holds the shapes of words in place of tags, and UPOS the tags, which it learns.
    """
    blank = (_BLANK,) * len(tokens)
    forms = [form[:_LETTERS] or _BLANK for form in tokens.forms]  # a network over characters needs a letter
    if joint:
        return Columns(forms, tokens.tags or blank, [shape(form) for form in forms], blank)
    return Columns(forms, tokens.morphs or blank, tokens.tags, tokens.lemmas or blank)


def simplified(form: str) -> str:
    """Return a form as Stanza's networks see it: several question or exclamation marks become `?` or `!`."""
    if len(form) > 1 and form[0] in _ASKING + _CALLING and not form.strip(_ASKING + _CALLING):
        return "?" if form[0] in _ASKING else "!"
    return form


@lru_cache(1 << 16)
def shape(form: str) -> str:
    """Return which of a few shapes a word has: `x`, `Xx`, `X`, `XX`, `xX`, `0`, `x0`, `X0` or `.`."""
    letters = [c for c in form if c.isalpha()]
    if not letters:
        return "0" if any(map(str.isdigit, form)) else "."
    if any(map(str.isdigit, form)):
        return "X0" if letters[0].isupper() else "x0"
    upper = sum(map(str.isupper, letters))
    if upper == len(letters):
        return "X" if upper == 1 else "XX"
    if not upper:
        return "x"
    return "Xx" if letters[0].isupper() else "xX"


def pieces(tokenizer: Any, sentences: Sequence[Sequence[str]]) -> list[tuple[list[int], list[int]]]:
    """Return for each sentence its pieces, with the marks around them, and the place of the last piece of
    each word, with 0 for the root before these. A word without pieces is seen as UNSEEN.

    tokenizer: an object of the library `tokenizers`
    """
    found, again = _pieces(tokenizer, sentences), dict[int, list[str]]()
    for i, (_, last) in enumerate(found):
        if -1 in last:
            pairs = zip(sentences[i], last[1:], strict=True)
            again[i] = [UNSEEN if place < 0 else form for form, place in pairs]
    for i, one in zip(again, _pieces(tokenizer, [*again.values()]), strict=True):
        found[i] = one
    return found


def _pieces(tokenizer: Any, sentences: Sequence[Sequence[str]]) -> list[tuple[list[int], list[int]]]:
    """Return what `pieces` returns, with -1 for words without pieces."""
    found = list[tuple[list[int], list[int]]]()
    for words in sentences:
        one = tokenizer.encode(words, is_pretokenized=True)  # `encode_batch` uses threads, and is no faster
        last = [0] + [-1] * len(words)
        for place, word in enumerate(one.word_ids):
            if word is not None:
                last[word + 1] = place
        found.append((one.ids, last))
    return found
