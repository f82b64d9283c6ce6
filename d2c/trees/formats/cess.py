"""Brackets whose leaves have lemmas, as those of CESS-ECE, 3LB and AnCora (`.tbf`) have; read only.

    ( (S (sn.e-SUJ *0*) (grup.verb (vmip3s0 duerme dormir)) (Fpa -Fpa- -Fpa-) (sn (ncms000 gato gato)) ...))

A leaf is a tag, a word and its lemma. Empty elements have none (`_`); `-Fpa-` and `-Fpt-` stand for round
brackets. Files are in Latin-1 or UTF-8, and otherwise as in `brackets.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from d2c.base.files import AnyPath, lines_in_utf8_or_latin1
from d2c.trees.ctree import CTree
from d2c.trees.formats.bracket_lines import tree_lines
from d2c.trees.formats.brackets import bracket_trees
from d2c.trees.formats.format import CFormat, Malformed, Options, Reader
from d2c.trees.formats.historical import NO_LEMMA

_SEPARATOR = "\x1f"  # of word and lemma
_LEAF = re.compile(
    r"(\([ \t\r\n]*+[^ \t\r\n()]++[ \t\r\n]++[^ \t\r\n()]++)[ \t\r\n]++([^ \t\r\n()]++)(?=[ \t\r\n]*+\))"
)
_WORD_AND_LEMMA = re.compile(r"\([^ \t\r\n()]++[ \t]++[^ \t\r\n()]++([ \t]++[^ \t\r\n()]++)?+\)")
_BRACKETS = {"-Fpa-": "(", "-Fpt-": ")"}


def _items(path: AnyPath, options: Options) -> Iterator[tuple[int, str | Malformed]]:
    """Yield runs of lines that hold whole trees. Raises FormatError."""
    return tree_lines(lines_in_utf8_or_latin1(path, options.charset), options.outside)


def _trees(text: str, _options: Options) -> Iterator[CTree]:
    """Yield the trees of a text. Raises ValueError."""
    return map(_with_lemmas, bracket_trees(_LEAF.sub(rf"\1{_SEPARATOR}\2", text)))


def _with_lemmas(ctree: CTree) -> CTree:
    """Return the tree with its words cut from their lemmas."""
    parts = [form.partition(_SEPARATOR) for form in ctree.tokens.forms]
    forms = tuple([_BRACKETS.get(form, form) for form, _, _ in parts])
    lemmas = tuple([_BRACKETS.get(lemma, lemma) or NO_LEMMA for _, _, lemma in parts])
    return replace(ctree, tokens=replace(ctree.tokens, forms=forms, lemmas=lemmas))


def is_with_lemmas(text: str) -> bool:
    """Return whether most leaves of brackets have three parts."""
    lemmas = _WORD_AND_LEMMA.findall(text)
    return 2 * len([*filter(None, lemmas)]) > len(lemmas)


CESS = CFormat(
    "cess",
    (".tbf",),
    Reader(_items, _trees),
    holds=("traces", "indices", "lemmas"),
    named_as="brackets",
    looks_so=is_with_lemmas,
)
