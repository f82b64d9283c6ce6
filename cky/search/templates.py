"""The feature templates of PAD: Figure 4, and those beyond it, as tables (section 4.1).

A part is ((i, k), m, β1) and ((k + 1, j), h, β2) to ((i, j), h, A), or its mirror image. Templates are in
groups by what they are conjoined with: the rule and, as its backoff, its parent A; the rule alone; (A, β)
for the dependent's β; (A, β) for the head child's; A alone. In the figure's own words: `word[h] tag[m]`
in the group RULE is (rule, x_h, tag(m)), `tag[m]` in the group MODIFIER is (A, β1, tag(m)), and a template
without fields is the rule, or the pair, itself. Every one is also conjoined with the side of the dependent
(LEFT, RIGHT, or UNARY), which the figure's are not. Words that training sees once stand as their classes
(`d2c.learning.words`).

Unary steps have the same templates, except those with m, k, inner or outer, which they lack, and those of
the group MODIFIER; only they have templates with `level`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from d2c.base.arrays import Ints
from d2c.learning.templates import Rows, fields_of, names_in, rows
from d2c.trees.binarization import LEFT, RIGHT, UNARY

GROUPS = BACKED_OFF, RULE, MODIFIER, HEAD, PARENT = range(5)


class Positions(NamedTuple):
    """The tokens that templates see of a site, each by its position in the sentence.

    g:                       head of h
    left, right:             the dependents of h that come next on either side
    inner_left, inner_right: those that h took last on either side, before the step
    inner, outer:            on the side of m, the dependent that h took last, and the one that comes next
    """

    h: int
    m: int
    i: int
    before_i: int
    j: int
    after_j: int
    k: int
    after_k: int
    g: int
    left: int
    right: int
    inner_left: int
    inner_right: int
    inner: int
    outer: int


_WRITTEN = {"before_i": "i-1", "after_j": "j+1", "after_k": "k+1"}  # in templates; elsewhere _ becomes -
POSITIONS = tuple(_WRITTEN.get(name, name.replace("_", "-")) for name in Positions._fields)
# level: how many unary steps were before
FIELDS = ("level", "bin(j-i)", *fields_of(("word", "tag", "label"), POSITIONS), "morph[h]", "morph[m]")
COLUMNS = "label", "morph"  # that some d-trees and treebanks lack
_OF_ATTACHMENTS = {f"[{position}]" for position in ("m", "k", "k+1", "inner", "outer")}
# For each kind of step: what marks a template that sees more than the arc (of a unary step: than the cell)
_BEYOND = {
    LEFT: ("bin(j-i)", *(f"[{position}]" for position in ("j", "j+1", "right", "inner-right"))),
    RIGHT: ("bin(j-i)", *(f"[{position}]" for position in ("i", "i-1", "left", "inner-left"))),
    UNARY: ("level",),
}

Group = dict[int, tuple[str, ...]]


FIGURE_4: dict[str, Group] = {
    "Nonterm Features": {MODIFIER: ("", "tag[m]"), HEAD: ("", "tag[h]")},
    "Span Features": {
        BACKED_OFF: names_in("word[i], word[i-1], word[j], word[j+1], word[k], word[k+1], bin(j-i)")
    },
    "Rule Features": {
        RULE: names_in("-, word[h] tag[m], tag[h] word[m], tag[h] tag[m], word[h], tag[h], word[m], tag[m]")
    },
}
# The four of section 6, for Chinese, "conjoining the label with the non-terminals of a rule": label[m] with
# the rule, with A, with (A, β1), with (A, β2)
LABELS: Group = {BACKED_OFF: ("label[m]",), MODIFIER: ("label[m]",), HEAD: ("label[m]",)}
# Beyond the paper: the backoff of rule features; tags around the span and the split, unary steps, and the
# d-tree around the part
CONTEXT: Group = {
    PARENT: FIGURE_4["Rule Features"][RULE],
    BACKED_OFF: names_in(
        "tag[i-1] tag[i], tag[j] tag[j+1], tag[k] tag[k+1], level, level tag[h], "
        "tag[h] tag[g], tag[h] tag[left], tag[h] tag[right], tag[left] tag[right], "
        "tag[inner-left] tag[inner-right], tag[inner-left] tag[left], tag[inner-right] tag[right], "
        "tag[m] tag[outer], tag[m] tag[inner], tag[m] tag[inner] tag[outer], "
        "word[g] tag[h], word[left], word[right], "
        "word[m] word[inner], word[k] word[k+1], word[h] word[m]"
    ),
}
CONTEXT_LABELS: Group = {BACKED_OFF: ("label[left] label[right]", "label[h]")}
# Morphology as the figure has tags, and that of both words
MORPHOLOGY: Group = {
    MODIFIER: ("morph[m]",),
    HEAD: ("morph[h]",),
    BACKED_OFF: ("morph[h] morph[m]",),
}


class Templates(NamedTuple):
    """The templates in use.

    table: [T, WIDTH] as of `d2c.learning.templates.rows`: those of attachments, then those of unary steps
    words: whether a site over a whole sentence has an atom for each of its words (the first MOST_WORDS), in
           the group PARENT
    split: rows of the table, those of attachments twice: for LEFT, RIGHT and UNARY steps the templates that
           see the arc alone (of unary steps: the cell), group by group, then the others
    parts: [3, 2, groups + 1] where in `split` each group of these begins
    """

    table: Rows
    words: bool
    split: Rows
    parts: Ints

    @staticmethod
    @cache
    def of(columns: frozenset[str], context: bool) -> Templates:
        """Return the templates of the figure, and of d-labels; with `context` also those beyond the paper.

        columns: which of COLUMNS there are; templates of the others are left out
        """
        chosen = [*FIGURE_4.values(), LABELS, *[CONTEXT, CONTEXT_LABELS, MORPHOLOGY] * context]
        absent = [f"{column}[" for column in COLUMNS if column not in columns]
        names: list[str] = []
        begin = np.zeros((2, len(GROUPS) + 1), np.int32)
        for unary in range(2):
            begin[unary, 0] = len(names)
            for group in GROUPS:
                every = [template for one in chosen for template in one.get(group, ())]
                known = [template for template in every if not any(column in template for column in absent)]
                names += [template for template in known if _fits(template, group, bool(unary))]
                begin[unary, group + 1] = len(names)
        return Templates(rows(names, FIELDS), context, *_split(names, begin))


def _split(names: Sequence[str], begin: Ints) -> tuple[Rows, Ints]:
    """Return `split` and `parts` of these templates.

    begin: [2, groups + 1] where each group begins, of attachments and of unary steps
    """
    split, parts = list[int](), np.zeros((3, 2, len(GROUPS) + 1), np.int32)
    for side, beyond in _BEYOND.items():
        for part in range(2):
            parts[side, part, 0] = len(split)
            bounds = begin[int(side == UNARY)]
            for group in GROUPS:
                rows_of_group = range(bounds[group], bounds[group + 1])
                split += [row for row in rows_of_group if any(map(names[row].__contains__, beyond)) == part]
                parts[side, part, group + 1] = len(split)
    return np.array(split, np.uint32), parts


def _fits(template: str, group: int, unary: bool) -> bool:
    """Return whether steps of this kind, unary ones or attachments, have a template."""
    if unary:
        return group != MODIFIER and not any(position in template for position in _OF_ATTACHMENTS)
    return "level" not in template
