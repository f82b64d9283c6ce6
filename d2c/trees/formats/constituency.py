"""CoNLL-U whose sentences have a c-tree in a comment, as Stanza reads and writes them.

    # constituency = (ROOT (S (NP (PRP They)) (VP (VBD slept))))
    1  They   they   PRON  PRP  Case=Nom    2  _  _  _
    2  slept  sleep  VERB  VBD  Tense=Past  0  _  _  _

The words are those of the rows, the tags those of the tree. What else the rows say stays as it is. For a tree
that was not read from CoNLL-U, the rows have its tags, and the heads that its head children give, if it has
head children. Marked head children are those that the heads induce.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import get_args

from d2c.base.files import AnyPath
from d2c.trees.cleaning import plain, unescape_label
from d2c.trees.conversion import to_dependencies
from d2c.trees.ctree import CTree, Tokens, comment_of
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import escape, format_bracket
from d2c.trees.formats.conllu import comments_in, format_conllu, read_conllu, tree_in
from d2c.trees.formats.format import Attribute, CFormat, Options, Writer, item_reader
from d2c.trees.formats.graphs import as_in_conllu
from d2c.trees.formats.treestrings import tree_over
from d2c.trees.heads import induce_heads

NAME = "constituency"
_COMMENT = re.compile(rf"^#[ \t]*{NAME}[ \t]*=", re.MULTILINE)
_NOT_HELD = ("gaps", "functions", "secondary edges")
_BLANKS_IN_WORD = re.compile(r"\(([^ ()]++) ([^ ()]++ [^()]++)\)")  # as Stanza writes Vietnamese


def _items(path: AnyPath, options: Options) -> Iterator[tuple[int, str]]:
    """Yield the text of each sentence, after the number of its first line."""
    return ((line, text) for line, (text, _) in read_conllu.items(path, options))


def _tree(text: str, options: Options) -> CTree | None:
    dtree = tree_in(text)
    if dtree is None:
        return None
    ctree = _over(dtree)
    options.left_out["comments"] += len(dtree.tokens.comments) - len(ctree.tokens.comments) - 1
    return induce_heads(ctree, dtree.heads) if options.marked and max(dtree.heads) >= 0 else ctree


def _over(dtree: DTree) -> CTree:
    """Return the tree in a comment, over the words of the rows. Raises ValueError where its own words are
    others."""
    tokens = dtree.tokens
    text = comment_of(tokens.comments, NAME)
    if text is None:
        raise ValueError(f"there is no comment `# {NAME} = ...` with its tree")
    text = _BLANKS_IN_WORD.sub(lambda leaf: f"({leaf[1]} {escape(leaf[2])})", text)
    ctree, forms = tree_over(text), tokens.forms
    leaves = ctree.tokens.forms
    if len(leaves) != len(forms):
        raise ValueError(f"its tree has {len(leaves)} words, not {len(forms)}")
    for number, (leaf, form) in enumerate(zip(leaves, forms, strict=True), 1):
        if leaf != form and plain(leaf) != plain(escape(form)):
            raise ValueError(f"word {number} of its tree is {leaf[:40]!r}, not {form[:40]!r}")
    pairs = zip(tokens.tags, ctree.tokens.tags, strict=True)
    tags = tuple([own if unescape_label(escape(own)) == tag else tag for own, tag in pairs])
    return replace(ctree, tokens=replace(tokens, tags=tags, comments=_others(tokens.comments)))


def format_constituency(ctree: CTree, _number: int = 1) -> str:
    """Return a sentence. Raises ValueError for gaps, empty names, labels that brackets do not give back, such
    as those with blanks, and what CoNLL-U cannot express."""
    if blank := next((label for label in ctree.labels if unescape_label(escape(label)) != label), ""):
        raise ValueError(f"the label {blank!r} has a blank or a bracket, which the comment cannot hold")
    tokens, n = as_in_conllu(ctree.tokens), len(ctree.tokens)
    dtree = tree_in(tokens.source)
    if dtree is None or len(dtree.tokens) != n:
        dtree = DTree(tokens, (-1,) * n)
    if ctree.head_children is not None and not _induces(dtree, ctree):
        heads, labels = to_dependencies(ctree).heads, dtree.labels or ("_",) * n
        kept = zip(labels, heads, dtree.heads, strict=True)
        dtree = replace(dtree, heads=heads, labels=tuple([a if new == old else "_" for a, new, old in kept]))
    written = replace(dtree, tokens=replace(tokens, tags=dtree.tokens.tags))
    return format_conllu(written, _comments(tokens, f"{NAME} = {format_bracket(ctree)}"))


def _induces(dtree: DTree, ctree: CTree) -> bool:
    """Return whether the heads of a d-tree induce the head children that a c-tree has."""
    if max(dtree.heads) < 0:
        return False
    try:
        return induce_heads(ctree, dtree.heads).head_children == ctree.head_children
    except ValueError:  # of heads that form no tree
        return False


def _comments(tokens: Tokens, tree: str) -> tuple[str, ...]:
    """Return the comments of a sentence with the one of its tree, where it stood or at the end."""
    read = comments_in(tokens.source)
    if len(read) != len(tokens.comments) + 1 or _others(read) != tokens.comments:
        return (*tokens.comments, tree)
    return tuple([comment if _others([comment]) else tree for comment in read])


def _others(comments: Iterable[str]) -> tuple[str, ...]:
    return tuple([comment for comment in comments if comment_of([comment], NAME) is None])


CONSTITUENCY = CFormat(
    NAME,
    (".trees.conllu",),
    item_reader(_items, _tree),
    Writer(format_constituency),
    holds=tuple([one for one in get_args(Attribute) if one not in _NOT_HELD]),
    named_as="conllu",
    looks_so=lambda start: _COMMENT.search(start) is not None,
)
