"""English treebanks in one convention, that of the Penn Treebank: its words, tags and phrases.

CRAFT and MASC follow later guidelines: noun phrases have inner ones (NML), and a hyphen is a word of its own
(HYPH), which no rule that cuts plain text could know. CRAFT has phrases for captions, headings, titles and
citations, MASC marks the ends of what was said. None of this is left here, except, on request, hyphens as
words and inner noun phrases as hidden nodes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import ceil
from pathlib import Path

from d2c.base.batches import batches
from d2c.base.errors import Faults, FormatError
from d2c.base.progress import log
from d2c.trees.cleaning import unwrap
from d2c.trees.conventions import functions_of, remove_empty, strip_function
from d2c.trees.ctree import CTree, Tokens, build_ctree
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import format_bracket
from d2c.trees.formats.reading import Read, Reading
from d2c.trees.refinement import HIDDEN
from treebanks.silver import gold_of, silver_trees

TREEBANKS = ("craft", "genia", "masc")
HELD_OUT = 40  # one block of so many in train selects among states; dev is for scores alone
BLOCK = 50  # consecutive sentences, which stay together

_INNER = "NML"  # its children go to the parent
_WRAPPERS = frozenset({"CAPTION", "HEADING", "TITLE"})  # dropped around a single child, otherwise fragments
_LABELS = {"CIT": "PRN"}
_TAGS = {"HYPH": ":", "AFX": "JJ", "NFP": ":", "XX": "FW", "-LSB-": "-LRB-", "-RSB-": "-RRB-"}
_NO_FUNCTIONS = frozenset({"UNF", "ETC"})  # of phrases that were not finished, and of lists
_MARKS = frozenset({"CODE", "SU"})  # tags of what was never said or written
_QUOTES = ('"', "“", "”")  # their tags say whether they open or close
_OF_ONE_WORD = frozenset({"ADJP", "QP", "UCP"})  # not wanted over a single word that was several tokens
_LEAF = re.compile(r"(\([^\s()]+ )((?!-[LR][RSC]B-)[^\s()]+)(?=\))")  # tag, word
_SHOUTED = 0.5  # of the recased trees are all in capitals
_PARTICIPLES = ("VBN", "VBG", "JJ", "AFX")


def to_penn(ctree: CTree, hyphens: bool = False, inner: bool = False) -> CTree | None:
    """Return the tree in the Penn Treebank's convention; None where it has no words.

    ctree:   continuous and cleaned; its head children are lost
    hyphens: hyphens stay words, as in spaCy's English pipelines
    inner:   noun phrases within noun phrases stay as hidden nodes (`d2c.trees.refinement`)
    """
    words = words_of(ctree.tokens, hyphens)
    if not words:
        return None
    n, forms, tags = len(ctree.tokens), ctree.tokens.forms, ctree.tokens.tags
    parents = ctree.parents()
    lowest = {number: _lowest(word, parents) for number, word in enumerate(words)}
    labels = [
        _label(label, kids, inner and node != ctree.root)
        for node, (label, kids) in enumerate(zip(ctree.labels, ctree.children, strict=True), n)
    ]
    places: dict[int, list[int]] = {}  # of each node of the old tree, the nodes of the new one in its place
    for number, word in enumerate(words):
        places[word[0]] = [number] if len(word) == 1 else []
    kept: list[str] = []
    children: list[list[int]] = []
    for node, kids in enumerate(ctree.children, n):
        inside = [new for kid in kids for new in places.get(kid, ())]
        joined = [number for number, at in lowest.items() if at == node and len(words[number]) > 1]
        inside += joined
        one_of_many = joined == inside and labels[node - n] in _OF_ONE_WORD and node != ctree.root
        is_root, single = node == ctree.root, len(inside) == 1 and inside[0] >= len(words)
        if not inside or labels[node - n] is None and (not is_root or single) or one_of_many:
            places[node] = inside
            continue
        places[node] = [len(words) + len(kept)]
        kept.append(labels[node - n] or ("NP" if ctree.labels[node - n] == _INNER else "FRAG"))
        children.append(inside)
    new_tags = [tags[word[0]] if hyphens else _tag(word, tags) for word in words]
    tokens = Tokens(tuple(_form(word, forms, tags) for word in words), tuple(new_tags))
    return build_ctree(tokens, kept, children, places[ctree.root][0], top=ctree.top)


def _label(label: str, kids: Sequence[int], inner: bool) -> str | None:
    """Return a node's new label; None where the node goes."""
    if label == _INNER:
        return HIDDEN + label if inner and len(kids) > 1 else None
    if label in _WRAPPERS and len(kids) == 1:
        return None
    return "FRAG" if label in _WRAPPERS else _LABELS.get(label, label)


def words_of(tokens: Tokens, hyphens: bool = False) -> list[list[int]]:
    """Return the tokens of each word. A hyphen and what it joins are one word, unless `hyphens` are to stay
    words; tokens with a tag of _MARKS belong to no word."""
    if hyphens:
        return [[i] for i, tag in enumerate(tokens.tags) if tag not in _MARKS]
    words: list[list[int]] = []
    joins = False  # whether the next token belongs to the last word
    for i, (form, tag) in enumerate(zip(tokens.forms, tokens.tags, strict=True)):
        if tag in _MARKS:
            joins = False
        elif tag == "HYPH" and words and words[-1][-1] == i - 1 and tokens.forms[i - 1][-1].isalnum():
            words[-1].append(i)
            joins = True
        elif joins and form[0].isalnum() and tag not in ("CC", "IN", "TO"):
            words[-1].append(i)
            joins = False
        else:
            words.append([i])
            joins = tag == "HYPH"
    return words


def _form(word: Sequence[int], forms: Sequence[str], tags: Sequence[str]) -> str:
    if len(word) == 1 and forms[word[0]] in _QUOTES:
        return tags[word[0]] if tags[word[0]] in ("``", "''") else forms[word[0]]
    return "".join(forms[i] for i in word)


def quoted(tokens: Tokens) -> Tokens:
    """Return words and tags alone, with the Penn Treebank's quotation marks."""
    forms = tuple(_form([i], tokens.forms, tokens.tags) for i in range(len(tokens)))
    return Tokens(forms, tokens.tags)


def _tag(word: Sequence[int], tags: Sequence[str]) -> str:
    """Return the Penn Treebank's tag of a word: mostly that of its last part, but `well-known` and
    `long-term` are JJ, `CAPAN-1` is NN (`5-10` is CD)."""
    own = [tags[i] for i in word if tags[i] != "HYPH"]
    if len(word) == 1 or not own:
        return _TAGS.get(tags[word[0]], tags[word[0]])
    if own[-1] in _PARTICIPLES or own[-1] == "NN" and own[0] in ("JJ", "CD"):
        return "JJ"
    if own[-1] in ("CD", "SYM") and own[0] != own[-1]:
        return "NN"
    return _TAGS.get(own[-1], own[-1])


def joined(dtree: DTree) -> DTree:
    """Return the d-tree over the words that hyphens make (`words_of`): a word has the head, label and lemma
    of its first token whose head is in another word."""
    forms, tags, words = dtree.tokens.forms, dtree.tokens.tags, words_of(dtree.tokens)
    place = {0: 0} | {i + 1: number for number, word in enumerate(words, 1) for i in word}
    above = [place.get(head, 0) for head in dtree.heads]
    tops = [next((i for i in own if above[i] != n), own[0]) for n, own in enumerate(words, 1)]
    lemmas, labels = [
        column and tuple([column[i] for i in tops]) for column in (dtree.tokens.lemmas, dtree.labels)
    ]
    heads = [above[i] if above[i] != n else 0 for n, i in enumerate(tops, 1)]
    columns = tuple(_form(w, forms, tags) for w in words), tuple(_tag(w, tags) for w in words)
    return DTree(Tokens(*columns, lemmas), tuple(heads), labels=labels)


def _lowest(word: Sequence[int], parents: Sequence[int]) -> int:
    """Return the lowest node over all tokens of a word; children have lower numbers than their parents."""

    def above(node: int) -> Iterator[int]:
        while node >= 0:
            yield node
            node = parents[node]

    return min(set.intersection(*({*above(token)} for token in word)))


def penn_trees(
    path: Path, hyphens: bool = False, inner: bool = False, functions: bool = False
) -> Iterator[CTree]:
    """Yield the trees of one of the treebanks' files in the Penn Treebank's convention, as of `to_penn`.

    functions: labels have their function tags (NP-SBJ)

    Trees that cannot be read or have no constituent are left out, and so are silver trees that contradict
    their d-trees.
    """
    left_out: list[FormatError] = []
    reading = Reading(raw=functions, faults=Faults(skipped=left_out.append))
    read = silver_trees if gold_of(path).is_file() else reading
    for ctree in filter(None, map(_with_functions, read(path))) if functions else read(path):
        converted = to_penn(ctree, hyphens, inner)
        if converted is not None and converted.labels:
            yield converted
    if left_out:
        log.info("%s: %d left out", path, len(left_out))


def _with_functions(ctree: CTree) -> CTree | None:
    """Return a raw tree of brackets without empty elements and indices; None where no word is left."""
    if (words := remove_empty(ctree)) is None:
        return None
    whole = unwrap(words, clean=True)
    return replace(whole, labels=tuple(map(_with_function, whole.labels)))


def _with_function(label: str) -> str:
    plain = strip_function(label)
    own = () if plain == _INNER else functions_of(label)
    return "-".join([plain, *(tag for tag in own if tag not in _NO_FUNCTIONS)])


def write_parts(
    shares: Mapping[Path, float],
    read: Read,
    directory: Path,
    seed: int,
    recased: float = 0.0,
    silver: Mapping[Path, float] | None = None,
) -> tuple[Path, Path]:
    """Write the trees of training files into train.mrg and dev.mrg, which share none; return both files.

    shares:  how often the trees of each file are in train: 0.5 is half of them, 2 all of them twice
    recased: the share of the trees in train that are added once more, without capitals or all in capitals
    silver:  shares of files of which no tree is held out: what a parser found is found again more easily

    The seed draws the order of the blocks of sentences.
    """
    drawn, held_out, train = random.Random(seed), list[list[str]](), list[list[str]]()
    for path, share in {**shares, **(silver or {})}.items():
        others = [[*block] for block in batches(map(format_bracket, read(path)), BLOCK)]
        drawn.shuffle(others)
        if path in shares:
            some = others[::HELD_OUT]
            held_out += some[: ceil(min(share, 1) * len(some))]
            others = [block for number, block in enumerate(others) if number % HELD_OUT]
        whole, rest = divmod(round(share * len(others)), len(others) or 1)  # 0 where all are held out
        train += others * whole + others[:rest]
    drawn.shuffle(train)
    parts = directory / "train.mrg", directory / "dev.mrg"
    with open(parts[0], "w", encoding="utf-8") as stream:
        for tree in chain.from_iterable(train):
            stream.write(f"{tree}\n")
            if drawn.random() < recased:
                stream.write(f"{_recased(tree, drawn.random() < _SHOUTED)}\n")
    with open(parts[1], "w", encoding="utf-8") as stream:
        stream.writelines(f"{tree}\n" for tree in chain.from_iterable(held_out))
    return parts


def _recased(tree: str, shouted: bool) -> str:
    return _LEAF.sub(lambda leaf: leaf[1] + (leaf[2].upper() if shouted else leaf[2].lower()), tree)
