"""Penn historical treebanks (`.psd`): IcePaHC and its relatives; read only.

    ( (IP-MAT (NP-SBJ *con*) (VBDI sagði-segja) (NP-SBJ-1 (PRO-N hann-hann)) (. .-.)) (ID 1150.X.REL,.2))

They are bracket files (`brackets.py`) where
- an ID beside the tree is the comment `sent_id`; CODE and REF hold what is no text (see `conventions.py`);
- an empty element is a bare word, `0` or one that begins with `*`, under a phrase label (or under a tag);
- a word is `form-lemma` in treebanks with lemmas, as most words of the first sentences show; a hyphen inside
  a form is often `<dash/>`; the pieces of a split word keep the `$`;
- dash tags are part of the category (IP-MAT, NP-SBJ, N-D).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import chain

from d2c.base.files import AnyPath
from d2c.trees.cleaning import unwrap, without_tokens
from d2c.trees.conventions import PENN_HISTORICAL
from d2c.trees.ctree import CTree
from d2c.trees.formats.bracket_lines import BLANKS
from d2c.trees.formats.brackets import bracket_items, bracket_trees
from d2c.trees.formats.format import CFormat, Options, Reader, sampled

NO_LEMMA = "_"

_LEAF = re.compile(r"\(([^ \t\r\n()]++)[ \t\r\n]++([^ \t\r\n()]++)[ \t\r\n]*+\)")
_WORD = re.compile(r"(.+)-(.+)", re.DOTALL)  # cut at the last hyphen: `---` is a hyphen with its lemma
_DASH = re.compile(r"<dash/?>")
_NO_WORD = re.compile(r"\{|<(?!dash/?>)")

Item = tuple[str, bool]  # the text of some trees, and whether their words have lemmas


def _items(path: AnyPath, options: Options) -> Iterator[tuple[int, Item | ValueError]]:
    """Yield runs of lines that hold whole trees, each with whether words have lemmas. Raises FormatError."""
    first, rest = sampled(bracket_items(path, options))
    lemmas = _have_lemmas(text for _, text in first if isinstance(text, str))
    for line, text in chain(first, rest):
        yield line, (text, lemmas) if isinstance(text, str) else text


def _have_lemmas(texts: Iterable[str]) -> bool:
    """Return whether most of the words in some trees look like `form-lemma`."""
    leaves = chain.from_iterable(map(_LEAF.findall, texts))
    without, is_empty = PENN_HISTORICAL.not_text, PENN_HISTORICAL.is_empty
    words = [word for tag, word in leaves if tag not in without and not is_empty(word, tag)]
    return 2 * sum(1 for word in words if _WORD.fullmatch(word)) > len(words)


def _trees(item: Item, _options: Options) -> Iterator[CTree | None]:
    """Yield the trees of a text. Raises ValueError."""
    text, lemmas = item
    before, mark, after = text.rpartition("(ID ")
    identifier, _, rest = after.partition(")")
    alone = mark and rest.strip(BLANKS) == ")" and "(ID " not in before  # as nearly always
    if alone and not before.strip(BLANKS + "("):
        return  # nothing else is there
    for ctree in bracket_trees(before + rest if alone else text):
        named = _named(ctree, (f"sent_id = {identifier}",)) if alone else _without_id(ctree)
        yield _with_lemmas(named) if named and lemmas else named


def _named(ctree: CTree, comments: tuple[str, ...]) -> CTree:
    return replace(ctree, tokens=replace(ctree.tokens, comments=comments))


def _without_id(ctree: CTree) -> CTree | None:
    """Return a tree with the ID that stands beside it as a comment; None where there is nothing else."""
    tokens, n = ctree.tokens, len(ctree.tokens)
    if not ctree.labels or ctree.labels[-1]:
        return ctree
    ids = [kid for kid in ctree.children[-1] if kid < n and tokens.tags[kid] == "ID"]
    if not ids:
        return ctree
    kept = without_tokens(ctree, set(ids))
    return kept and unwrap(_named(kept, tuple([f"sent_id = {tokens.forms[i]}" for i in ids])), clean=False)


def _with_lemmas(ctree: CTree) -> CTree:
    """Return the tree with its words cut from their lemmas."""
    tokens = ctree.tokens
    forms, lemmas = zip(*map(_form_and_lemma, tokens.forms), strict=True)
    return replace(ctree, tokens=replace(tokens, forms=forms, lemmas=lemmas))


@lru_cache(maxsize=1 << 16)
def _form_and_lemma(word: str) -> tuple[str, str]:
    """Return a word and its lemma; empty elements, and what is no text, `{COM:x-y}`, stay whole."""
    match = None if _NO_WORD.match(word) or PENN_HISTORICAL.is_empty(word, "") else _WORD.fullmatch(word)
    form, lemma = match.groups() if match else (word, NO_LEMMA)
    return (_DASH.sub("-", form), _DASH.sub("-", lemma)) if "<" in word else (form, lemma)


read_historical = Reader(_items, _trees, convention="historical")
HISTORICAL = CFormat(
    "historical", (".psd",), read_historical, holds=("traces", "indices", "lemmas", "comments")
)
