"""What labels, tags and words mean by the convention of a treebank; no other module knows.

Which part of `NP-SBJ-1` is the category, what is an empty element, what is not text: two families of
treebanks answer differently, and files of all formats hold trees of both. The labels and tags of a file's
first trees tell its family, so that a tree is read in the same way whatever the format of its file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import compress
from sys import intern
from typing import Literal

from d2c.trees.cleaning import is_punctuation, unwrap, without_tokens
from d2c.trees.ctree import CTree, trusted_ctree, trusted_tokens

EMPTY_TAG = "-NONE-"
SAMPLE = 200  # sentences at the beginning of a file that tell its convention
ConventionName = Literal["penn", "historical"]
_MOST_KNOWN = 1 << 12  # labels

_EMPTY_PENN = re.compile(r"\*(?:T|U|PRO|ICH|RNR|EXP|PPA|0|\?)\*(?:-\d+)?|\*-\d+")  # as in (NP *PRO*-1)
_EMPTY_HISTORICAL = re.compile(r"0|(?!\*-\*$)\*.*|ICH\*.*", re.DOTALL)  # `*-*` is an asterisk with its lemma
_NUMERAL = "NUM"  # the tag under which 0 is a word

_WHOLE = "(?:R-SIMPX|P-SIMPX|EN-ADD)(?=[-=|]|$)"  # categories of TüBa
_CATEGORY = re.compile(rf"{_WHOLE}|.[^-=|]*", re.DOTALL)
_TAG_FUNCTION = re.compile(r"(?<=.)(?:-[A-Z]{1,8})+$")  # none is in MULTEXT-East's Vpitf-r3s
_FUNCTION = re.compile(r"-([^-=|]*[^-=|\d][^-=|]*)")  # no index
_PARTS = re.compile(r"-?=[^-=]*|-[^-=]*|[^-=]+")
_INDEX = re.compile(r"-?=[0-9A-Z]+|-(?:[0-9]+|NaN)")

# Labels that no treebank of Penn's family has; Chinese treebanks do have IP-ADV, IP-IMP and CP-ADV.
_HISTORICAL_CLAUSES = re.compile(
    r"(?:IP-(?:MAT|SUB|INF|PPL|SMC|REL|EMB)|CP-(?:THT|REL|QUE|FRL|DEG|CMP|EXL))(?=[-=]|$)"
)
_HISTORICAL_TAGS = re.compile(r"(?:NPR|WPRO|VB[DP]I|BE[DP]I?|HV[DP]|DO[DP])(?=-|$)")


def strip_function(label: str) -> str:
    """Return a phrase label of Penn's family without function tags, co-indices and second labels: NP of
    NP-SBJ-1 and NP=2, ADVP of ADVP|PRT; TüBa's R-SIMPX stays whole."""
    match = _CATEGORY.match(label)
    return match[0] if match else label


def functions_of(label: str) -> tuple[str, ...]:
    """Return the function tags of a phrase label, each once: LOC and PRD of PP-LOC-PRD-1."""
    whole = label.partition("|")[0]
    return tuple(dict.fromkeys(_FUNCTION.findall(whole, len(strip_function(whole)))))


def without_indices(label: str) -> str:
    """Return a label of the Penn historical treebanks without indices, but with its dash tags: IP-MAT-SPE of
    IP-MAT=1-SPE. A label that is nothing but an index stays."""
    fields: list[str] = _PARTS.findall(label) or [label]
    return fields[0] + "".join([field for field in fields[1:] if not _INDEX.fullmatch(field)])


def _tag_without_function(tag: str) -> str:
    return tag if tag.startswith("-") else _TAG_FUNCTION.sub("", tag)


def _is_trace(form: str, _tag: str) -> bool:
    """Return whether a form is that of an empty element, where a treebank of Penn's family lacks the tag."""
    return _EMPTY_PENN.fullmatch(form) is not None


def _is_gap(form: str, tag: str) -> bool:
    """Return whether a form is that of an empty element in a historical treebank, where `(NUM 0)` and `(. *)`
    are words."""
    if not _EMPTY_HISTORICAL.fullmatch(form):
        return False
    return not (form == "0" and tag.startswith(_NUMERAL)) and not (form == "*" and is_punctuation(tag))


class Known(dict[str, str]):
    """What labels mean, remembered: a call through `lru_cache` takes longer than all else in cleaning."""

    def __init__(self, meaning: Callable[[str], str]) -> None:
        super().__init__()
        self.meaning = meaning

    def __missing__(self, label: str) -> str:
        if len(self) >= _MOST_KNOWN:
            self.clear()
        means = self[label] = intern(self.meaning(label))
        return means


@dataclass(frozen=True)
class Convention:
    """The convention of a family of treebanks.

    category: phrase label → its category, without what counts as a function or an index
    tag:      part-of-speech tag → the tag without the same
    begins:   the first characters of empty elements that have no special tag
    by_form:  whether a token with such a first character is an empty element, by its form and tag
    not_text: the labels and tags of nodes below which there is no text of the sentence
    """

    name: ConventionName
    category: Known
    tag: Known
    begins: str
    by_form: Callable[[str, str], bool]
    not_text: frozenset[str] = frozenset()

    def is_empty(self, form: str, tag: str) -> bool:
        """Return whether a token is an empty element."""
        return tag == EMPTY_TAG or (form[:1] in self.begins and self.by_form(form, tag))

    def no_text(self, ctree: CTree) -> set[int]:
        """Return the tokens that are not text: empty elements, and tokens with or below `not_text` labels."""
        tokens, begins, by_form = ctree.tokens, self.begins, self.by_form
        columns = zip(tokens.forms, tokens.tags, strict=True)
        found = {
            i
            for i, (form, tag) in enumerate(columns)
            if tag == EMPTY_TAG
            or (form[:1] in begins and by_form(form, tag))  # as `is_empty`, without the cost of a call
        }
        if self.not_text and not self.not_text.isdisjoint((*ctree.labels, *tokens.tags)):
            n = len(tokens)
            below = [label in self.not_text for label in (*tokens.tags, *ctree.labels)]
            for node in range(ctree.root, n - 1, -1):  # parents before children
                if below[node]:
                    for kid in ctree.children[node - n]:
                        below[kid] = True
            found.update(compress(range(n), below))
        return found

    def without_functions(self, ctree: CTree) -> CTree:
        """Return a tree with categories as labels, with tags without functions, and with a wrapper called TOP
        if it had no label."""
        tokens, top = ctree.tokens, "TOP" if ctree.top == "" else ctree.top
        tokens = trusted_tokens(tokens.forms, tuple(map(self.tag.__getitem__, tokens.tags)), tokens)
        labels = tuple(map(self.category.__getitem__, ctree.labels))
        named = trusted_ctree(tokens, labels, ctree.children, ctree.head_children, top)
        return unwrap(named, clean=True) if top is None else named


PENN_TREEBANK = Convention("penn", Known(strip_function), Known(_tag_without_function), "*", _is_trace)
_WITHOUT_INDICES = Known(without_indices)
PENN_HISTORICAL = Convention(
    "historical",
    _WITHOUT_INDICES,
    _WITHOUT_INDICES,
    "*0I",
    _is_gap,
    not_text=frozenset(("ID", "CODE", "REF")),  # META (headings, speakers) is text
)
CONVENTIONS = {one.name: one for one in (PENN_TREEBANK, PENN_HISTORICAL)}


def convention_of(ctrees: Iterable[CTree]) -> Convention:
    """Return the convention of the treebank that some raw trees come from."""
    labels, tags = set[str](), set[str]()
    for ctree in ctrees:
        labels.update(ctree.labels)
        tags.update(ctree.tokens.tags)
    historical = any(map(_HISTORICAL_CLAUSES.match, labels)) or any(map(_HISTORICAL_TAGS.match, tags))
    return PENN_HISTORICAL if historical else PENN_TREEBANK


def remove_empty(ctree: CTree, convention: Convention = PENN_TREEBANK) -> CTree | None:
    """Remove empty elements, tokens that are not text, and nodes over nothing else; return None where no word
    is left."""
    forms, tags = ctree.tokens.forms, ctree.tokens.tags
    if not convention.not_text and EMPTY_TAG not in tags and "*" not in "".join(forms):
        return ctree  # most trees
    no_text = convention.no_text(ctree)
    return without_tokens(ctree, no_text) if no_text else ctree


def cleaned(ctree: CTree, convention: Convention = PENN_TREEBANK) -> CTree | None:
    """Return a raw tree as it is worked with: without empty elements, and without functions and indices as
    `Convention.without_functions` removes them; None where no word is left."""
    kept = remove_empty(ctree, convention)
    return kept and convention.without_functions(kept)
