"""Penn historical treebanks (`.psd`): IcePaHC and its relatives; read only.

    ( (IP-MAT (NP-SBJ *con*) (VBDI sagði-segja) (NP-SBJ-1 (PRO-N hann-hann)) (. .-.)) (ID 1150.X.REL,.2))

They are bracket files (`brackets.py`) where
- ID, CODE and REF hold what is not text; they go, with all below them. META (headings, speakers) stays;
- an empty element is a bare word, `0` or one that begins with `*`, under a phrase label (or under a tag); it
  goes with the nodes that it leaves empty;
- a word is `form-lemma`; a hyphen inside a form is often `<dash/>`; the pieces of a split word keep the `$`;
- dash tags are part of the category (IP-MAT, NP-SBJ, N-D); co-indices at the end of a label are not, and go.
The wrapper becomes TOP. Items in which no word is left are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from d2c.trees.cleaning import keep_tokens, unwrap, without_indices
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.formats.brackets import bracket_items, bracket_trees
from d2c.trees.formats.format import CFormat, Options, Reader
from d2c.trees.traces import fill_traces

NOT_TEXT = frozenset(("ID", "CODE", "REF"))
NO_LEMMA = "_"

_EMPTY = re.compile(r"0|(?!\*-\*$)\*.*|ICH\*.*", re.DOTALL)  # `*-*` is an asterisk with its lemma
_WORD = re.compile(r"(.+)-(.+)", re.DOTALL)  # cut at the last hyphen: `---` is a hyphen with its lemma
_DASH = re.compile(r"<dash/?>")


def _trees(text: str, options: Options) -> Iterator[CTree | None]:
    """Yield the trees of a text. Raises ValueError."""
    for item in filter(None, bracket_trees(text)):
        words = _text(item)
        if options.traces:
            kept = set(words)
            ctree = fill_traces(item, [i not in kept for i in range(len(item.tokens))])
        else:
            ctree = keep_tokens(item, words)
        yield _clean(ctree) if ctree else None


read_historical = Reader(bracket_items, _trees)
HISTORICAL = CFormat("historical", (".psd",), read_historical, holds=("traces", "lemmas"))


def _text(ctree: CTree) -> Sequence[int]:
    """Return indices of the tokens that are text."""
    n = len(ctree.tokens)
    dropped = [False] * (n + len(ctree.labels))
    for node in range(ctree.root, n - 1, -1):  # parents before children
        if dropped[node] or ctree.label(node) in NOT_TEXT:
            for kid in ctree.children[node - n]:
                dropped[kid] = True
    return [
        i
        for i, (form, tag) in enumerate(zip(ctree.tokens.forms, ctree.tokens.tags, strict=True))
        if not dropped[i] and tag not in NOT_TEXT and not _EMPTY.fullmatch(form)
    ]


def _clean(ctree: CTree) -> CTree:
    """Return the tree with forms cut from their lemmas, labels without indices, and its wrapper called
    TOP."""
    words = [_form_and_lemma(word) for word in ctree.tokens.forms]
    tokens = Tokens(
        tuple([form for form, _ in words]),
        tuple(map(without_indices, ctree.tokens.tags)),
        tuple([lemma for _, lemma in words]),
    )
    labels = tuple(map(without_indices, ctree.labels))
    ctree = unwrap(replace(ctree, tokens=tokens, labels=labels), clean=True)
    return replace(ctree, top="TOP") if ctree.top == "" else ctree


def _form_and_lemma(word: str) -> tuple[str, str]:
    match = _WORD.fullmatch(word)
    form, lemma = match.groups() if match else (word, NO_LEMMA)
    return (_DASH.sub("-", form), _DASH.sub("-", lemma)) if "<" in word else (form, lemma)
