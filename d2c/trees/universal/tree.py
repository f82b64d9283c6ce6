"""A basic UD tree with columns of CoNLL-U: words as they stand in the text, both tags, `SpaceAfter=No`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from d2c.trees.ctree import Tokens, comment_of
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import format_conllu, tag_columns
from d2c.trees.universal.rules import universal_rules
from d2c.trees.universal.texts import InText, in_text


@dataclass(frozen=True, slots=True)
class UniversalTree(DTree):
    """A basic UD tree, which prints as CoNLL-U: `heads`, `labels` (DEPREL) and more columns [n] of words."""

    @property
    def upos(self) -> tuple[str, ...]:
        """Return the universal tags."""
        return tuple(tag_columns(self.tokens)["UPOS"])

    @property
    def xpos(self) -> tuple[str, ...]:
        """Return the tags of the c-tree."""
        return self.tokens.tags

    @property
    def feats(self) -> tuple[str, ...] | None:
        """Return the features that the c-tree's words had; None where they had none: rules make none."""
        return self.tokens.morphs

    def __str__(self) -> str:
        """Return comments, rows and an empty line."""
        return format_conllu(self)


def universal_tokens(tokens: Tokens, text: str, relations: Sequence[str]) -> Tokens:
    """Return the tokens with lines of CoNLL-U that have both tags: the lines that were read, or new ones with
    the words as they stand in the text. A text in a comment takes precedence over the one given.

    Empty nodes and enhanced dependencies are dropped: they belong to other trees.
    """
    universal_tag = universal_rules().universal_tag
    known = comment_of(tokens.comments, "text")
    if text and known is None:
        tokens = replace(tokens, comments=(*tokens.comments, f"text = {' '.join(text.split())}"))
    read = [line.split("\t") for line in tokens.source.split("\n") if line and not line.startswith("#")]
    rows = [row for row in read if "." not in row[0]]
    if not rows:
        words = in_text(tokens.forms, known or text) or [InText(form, True) for form in tokens.forms]
        tokens = replace(tokens, forms=tuple([word.form for word in words]))
        rows = _rows(tokens, ["_" if word.spaced else "SpaceAfter=No" for word in words])
    plain = [row for row in rows if "-" not in row[0]]
    for row, tag, form, relation in zip(plain, tokens.tags, tokens.forms, relations, strict=True):
        row[3] = universal_tag(tag, form.lower(), relation) if row[3] in ("_", tag) else row[3]
        row[8] = "_"
    return replace(tokens, source="\n".join(map("\t".join, rows)))


def _rows(tokens: Tokens, misc: Sequence[str]) -> list[list[str]]:
    """Return the CoNLL-U rows of words; misc: [n] their last column."""
    nothing = ("_",) * len(tokens)
    ids = map(str, range(1, len(tokens) + 1))
    columns = tokens.forms, tokens.lemmas or nothing, nothing, tokens.tags, tokens.morphs or nothing
    return [[*row] for row in zip(ids, *columns, *[nothing] * 3, misc, strict=True)]
