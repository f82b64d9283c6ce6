"""Korean treebanks whose leaves are words of several morphemes: Sejong's, KAIST's, Penn's; read only.

    ; 나는 간다.
    (S (NP_SBJ 나/NP + 는/JX) (VP 가/VV + ㄴ다/EF + ./SF))

A leaf becomes a node over one word, whose tag is that of its morphemes, `NP+JX`, and whose morphology is the
leaf, `나/NP+는/JX`. The word is its morphemes joined (가 and ㄴ다 are 간다), or the one in the text above,
if that has as many words as the tree and no leaf is empty: there 이것 and 이 are 이게. The text is a comment.
"""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from d2c.base.files import AnyPath, open_input
from d2c.trees.conventions import EMPTY_TAG
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.formats.bracket_lines import tree_lines
from d2c.trees.formats.brackets import bracket_trees
from d2c.trees.formats.format import CFormat, Malformed, Options, Reader

_PLUS = re.compile(r"(?<=\w)(?:[ \t\r\n]+\+[ \t\r\n]*|\+[ \t\r\n]+)")  # behind a tag
_BRACKET = re.compile(r"(?<=[ \t+(])([()])(?=/[A-Za-z])")  # that is a morpheme
_ESCAPED = {"(": "-LRB-", ")": "-RRB-"}
# Unicode's syllables: an open syllable stands before those that add a final consonant to it.
_FIRST_SYLLABLE, _SYLLABLES, _FINALS, _FINAL = 0xAC00, 11172, 28, 0x11A7
_LETTERS = {letter: i for i, letter in enumerate("ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ", 1)}
_MORPHEME = re.compile(r"(.+?)/([A-Za-z]\w*)(?:\+(?=.)|$)")
_LEAF = re.compile(r"[\x80-\xff]/[A-Za-z]{1,5}[ \t]*\+[ \t]*[^ \t\r\n+]+/[A-Za-z]")  # in bytes


def _items(path: AnyPath, options: Options) -> Iterator[tuple[int, tuple[str, str] | Malformed]]:
    """Yield runs of lines that hold whole trees, each with the line of text above it, "" for none."""
    texts: deque[tuple[int, str]] = deque()  # after the numbers of their lines

    def lines(stream: Iterator[str]) -> Iterator[str]:
        for number, line in enumerate(stream, 1):
            if line.startswith(";"):
                texts.append((number, line.lstrip("; \t").rstrip()))
                yield "\n"
            else:
                escaped = _BRACKET.sub(lambda one: _ESCAPED[one[1]], line)
                yield escaped

    with open_input(path, options.charset) as stream:
        for start, run in tree_lines(lines(stream), options.outside):
            if isinstance(run, Malformed):
                yield start, run
                continue
            text = ""
            while texts and texts[0][0] < start:
                options.left_out["comments"] += text != ""
                _, text = texts.popleft()
            yield start, (text, _PLUS.sub("+", run))
    options.left_out["comments"] += sum(text != "" for _, text in texts)


def _trees(item: tuple[str, str], options: Options) -> Iterator[CTree]:
    """Yield the trees of a run of lines. Raises ValueError."""
    text, run = item
    ctrees = list(filter(None, bracket_trees(run)))
    options.left_out["comments"] += text != "" and len(ctrees) != 1
    for tree in ctrees:
        yield _with_words(tree, text if len(ctrees) == 1 else "")


def _with_words(tree: CTree, text: str) -> CTree:
    """Return the tree with a node above each word, labelled as the leaf was tagged."""
    n, leaves = len(tree.tokens), list(map(_leaf, tree.tokens.forms))
    in_text = text.split()
    if len(in_text) == n and all(tag != EMPTY_TAG for _, tag in leaves):
        forms = tuple(in_text)
    else:
        forms = tuple([form for form, _ in leaves])
    tags = tuple([tag for _, tag in leaves])
    columns = tree.tokens.forms, tags
    tokens = Tokens(
        forms,
        tags,
        morphs=tuple(["--" if tag == EMPTY_TAG else form for form, tag in zip(*columns, strict=True)]),
        comments=(f"text = {' '.join(in_text)}",) if in_text else (),
    )
    children = tuple([(i,) for i in range(n)]) + tuple(
        [tuple([n + kid for kid in kids]) for kids in tree.children]
    )
    return replace(tree, tokens=tokens, labels=(*tree.tokens.tags, *tree.labels), children=children)


@lru_cache(maxsize=1 << 14)
def _leaf(leaf: str) -> tuple[str, str]:
    """Return word and tag of a leaf. Raises ValueError for a leaf without tags."""
    morphemes, end = list[tuple[str, str]](), 0
    while morpheme := _MORPHEME.match(leaf, end):
        morphemes.append((morpheme[1], morpheme[2]))
        end = morpheme.end()
    if "+".join([f"{form}/{tag}" for form, tag in morphemes]) == leaf:
        return _joined([form for form, _ in morphemes]), "+".join([tag for _, tag in morphemes])
    if leaf.startswith("*"):
        return leaf, EMPTY_TAG
    raise ValueError(f"the leaf {leaf!r} is not of morphemes with tags, 나/NP + 는/JX")


def _joined(morphemes: list[str]) -> str:
    """Return the word of morphemes. A consonant that begins a morpheme closes an open syllable before it."""
    word, *others = morphemes
    for one in others:
        syllable = ord(word[-1]) - _FIRST_SYLLABLE
        if syllable in range(0, _SYLLABLES, _FINALS) and one[0] in _LETTERS:
            one = chr(_FINAL + _LETTERS[one[0]]) + one[1:]
        word = unicodedata.normalize("NFC", word + one)
    return word


SEJONG = CFormat(
    "sejong",
    (".sejong",),
    Reader(_items, _trees),
    holds=("traces", "indices", "morphology", "comments"),
    named_as="brackets",
    looks_so=lambda start: _LEAF.search(start) is not None,
)
