"""What a linear oracle sees of a configuration: templates over classes of trees and the tokens ahead.

The templates are of the kinds of Huang and Sagae (2010) and Zhang and Nivre (2011), as far as they are
functions of the classes (`d2c.automata.states`) of the three topmost trees and of the next AHEAD tokens, and
of nothing else: so the oracle is consistent (section 3 of Nederhof 2015), and a chart whose items are classes
has exactly its scores. Of the third tree only the head token is seen.

First the kind of the action is chosen (templates KINDS_SEEN), then which one of that kind (ACTIONS_SEEN), if
there are several. A feature is an atom conjoined with the number of a kind, or of an action in its kind.
"""

from __future__ import annotations

from functools import cache
from itertools import chain
from typing import NamedTuple

import numpy as np

from d2c.automata.states import (
    AHEAD,
    HEAD,
    L1,
    L1_LABEL,
    L2,
    L2_LABEL,
    LEFTS,
    LEVEL,
    R1,
    R1_LABEL,
    R2,
    R2_LABEL,
    RIGHTS,
    SYMBOL,
    Text,
)
from d2c.base.arrays import Longs
from d2c.learning.kernels import lean
from d2c.learning.templates import Rows, fields_of, look_up, names_in, rows

# s0, s1, s2: head tokens of the topmost trees; n0, ...: the next tokens; .l, .l2, .r, .r2: a tree's outermost
# left dependent, the next one inside, and the same on the right
_TREES = ("s0", "s1")
_DEPENDENTS = {".l": (L1, L1_LABEL), ".l2": (L2, L2_LABEL), ".r": (R1, R1_LABEL), ".r2": (R2, R2_LABEL)}
_NUMBERS = {"symbol": SYMBOL, "level": LEVEL, "lefts": LEFTS, "rights": RIGHTS}
_CLASS_OF = {tree: tuple(f"{name}[{tree}]" for name in _NUMBERS) for tree in _TREES}
POSITIONS = (
    "s0",
    "s1",
    "s2",
    *(f"n{i}" for i in range(AHEAD)),
    *(f"{tree}{dependent}" for tree in _TREES for dependent in _DEPENDENTS),
)
# distance: from s1 to s0, in a few classes
FIELDS = (
    *fields_of(("word", "tag"), POSITIONS),
    *(f"label[{tree}{dependent}]" for tree in _TREES for dependent in _DEPENDENTS),
    *chain.from_iterable(_CLASS_OF.values()),
    "distance",
    "morph[s0]",
    "morph[s1]",
    "morph[n0]",
)
_PLACES, _LABELS = (np.array(columns) for columns in zip(*_DEPENDENTS.values(), strict=True))
_COUNTED = np.array(list(_NUMBERS.values()))
KINDS_SEEN = names_in(
    # one token, or none
    "-, symbol[s0] symbol[s1], tag[s0], word[s0], word[s0] tag[s0], tag[s1], word[s1], word[s1] tag[s1], "
    "tag[s2], word[s2] tag[s2], tag[n0], word[n0], word[n0] tag[n0], tag[n1], word[n1] tag[n1], tag[n2], "
    "word[n2] tag[n2], "
    # two tokens
    "word[s0] tag[s0] word[s1] tag[s1], word[s0] tag[s0] tag[s1], tag[s0] word[s1] tag[s1], "
    "word[s0] word[s1], tag[s0] tag[s1], symbol[s0] tag[s0] symbol[s1] tag[s1], "
    "word[s0] tag[s0] word[n0] tag[n0], word[s0] tag[s0] tag[n0], tag[s0] word[n0] tag[n0], "
    "word[s0] word[n0], tag[s0] tag[n0], symbol[s0] tag[s0] tag[n0], word[s1] tag[s1] tag[n0], "
    "tag[s1] word[n0] tag[n0], word[s1] word[n0], tag[s1] tag[n0], tag[n0] tag[n1], word[n0] tag[n1], "
    "tag[n0] word[n1], tag[s0] tag[s2], tag[s1] tag[s2], "
    # three and four
    "tag[s0] tag[s1] tag[n0], word[s0] tag[s1] tag[n0], tag[s0] word[s1] tag[n0], "
    "tag[s0] tag[s1] word[n0], tag[s0] tag[n0] tag[n1], word[s0] tag[n0] tag[n1], tag[n0] tag[n1] tag[n2], "
    "tag[s0] tag[s1] tag[s2], tag[s0] tag[s1] tag[n0] tag[n1], tag[s0] tag[s1] tag[s2] tag[n0], "
    "tag[s0] tag[n0] tag[n1] tag[n2], tag[s0] tag[s1] word[s2], "
    # dependents
    "tag[s0] tag[s1] tag[s0.l], tag[s0] tag[s1] tag[s0.r], tag[s0] tag[s1] tag[s1.l], "
    "tag[s0] tag[s1] tag[s1.r], word[s0] tag[s1] tag[s1.r], tag[s0] word[s1] tag[s0.l], "
    "tag[s0] tag[n0] tag[s0.l], tag[s0] tag[n0] tag[s0.r], tag[s0] tag[s1] tag[n0] tag[s0.r], "
    "tag[s0] tag[s1] tag[n0] tag[s1.r], tag[s0] tag[s0.l] tag[s0.l2], tag[s0] tag[s0.r] tag[s0.r2], "
    "tag[s1] tag[s1.l] tag[s1.l2], tag[s1] tag[s1.r] tag[s1.r2], tag[s1] word[s1.r], tag[s0] word[s0.l], "
    "tag[s0] word[s0.r], tag[s1] word[s1.l], tag[s0] label[s0.l], tag[s0] label[s0.r], "
    "tag[s1] label[s1.l], tag[s1] label[s1.r], tag[s0] tag[s1] label[s0.l], tag[s0] tag[s1] label[s1.r], "
    "tag[s0] tag[n0] label[s0.r], word[s0] label[s0.l], word[s0] label[s0.r], word[s1] label[s1.r], "
    "word[s1] label[s1.l], "
    # numbers of dependents, and distance
    "tag[s0] lefts[s0], tag[s0] rights[s0], tag[s1] lefts[s1], tag[s1] rights[s1], word[s0] lefts[s0], "
    "word[s0] rights[s0], word[s1] lefts[s1], word[s1] rights[s1], tag[s0] tag[s1] rights[s1] lefts[s0], "
    "tag[s0] distance, tag[s1] distance, word[s0] distance, word[s1] distance, tag[s0] tag[s1] distance, "
    "tag[s0] tag[s1] tag[n0] distance"
)
ACTIONS_SEEN = names_in(
    "-, tag[s0], tag[s1], word[s0], word[s1], tag[s0] tag[s1], word[s0] tag[s1], tag[s0] word[s1], "
    "word[s0] word[s1], symbol[s0] tag[s0], symbol[s1] tag[s1], tag[s0] tag[s1] tag[n0], "
    "tag[s0] tag[s1] word[n0], tag[s0] tag[s1] tag[s2], tag[s1] tag[n0], word[s1] tag[n0], "
    "tag[s1] tag[n0] tag[n1], symbol[s0] symbol[s1], tag[s0] tag[s1] label[s0.l], "
    "tag[s0] tag[s1] label[s0.r], tag[s0] label[s0.l] label[s0.r], tag[s0] tag[s1] label[s1.l], "
    "tag[s0] tag[s1] label[s1.r], tag[s1] label[s1.l] label[s1.r], word[s0] label[s0.l], "
    "word[s0] label[s0.r], word[s1] label[s1.l], word[s1] label[s1.r], label[s0.l] label[s0.r], "
    "label[s1.l] label[s1.r], tag[s1] label[s1.r] label[s1.r2], tag[s0] label[s0.l] label[s0.l2], "
    "tag[s0] tag[s1] tag[s0.l], tag[s0] tag[s1] tag[s0.r], tag[s0] tag[s1] tag[s1.l], "
    "tag[s0] tag[s1] tag[s1.r], tag[s0] word[s0.l], tag[s0] word[s0.r], "
    "tag[s0] tag[s1] lefts[s0] rights[s0], tag[s0] tag[s1] lefts[s1] rights[s1], tag[s0] tag[s1] distance, "
    "tag[s1] distance"
)
# Where the treebank has morphology
KINDS_OF_MORPHS = names_in(
    "morph[s0], morph[s1], morph[n0], morph[s0] morph[s1], morph[s0] morph[n0], morph[s1] morph[n0], "
    "morph[s0] morph[s1] morph[n0], morph[s0] tag[s1], tag[s0] morph[s1]"
)
ACTIONS_OF_MORPHS = names_in(
    "morph[s0], morph[s1], morph[s0] morph[s1], morph[s0] tag[s1], tag[s0] morph[s1]"
)
_DISTANCES = np.searchsorted([1, 2, 3, 4, 5, 7, 10, 15, 20, 30], np.arange(32))


# Views: what a template sees of a configuration. Many configurations of a sentence share all but the last.
TOKENS, TOP, SECOND, ALL = range(4)  # s0, s1 and the next tokens; also the class of s0; or of s1; all
VIEWS = 4


def view_of(template: str) -> int:
    """Return the least view in which a template sees all its fields."""
    top, second = (
        any(field.startswith(_CLASS_OF[tree]) or f"[{tree}." in field for field in template.split())
        for tree in _TREES
    )
    if "[s2]" in template or (top and second):
        return ALL
    return TOP if top else SECOND if second else TOKENS


class OracleTemplates(NamedTuple):
    """The templates in use.

    table:  [T, WIDTH] as of `d2c.learning.templates.rows`: those of kinds, then those of actions
    order:  [T] the rows of kinds, by their views, then those of actions, by theirs
    begin:  [2, VIEWS + 1] where each view of kinds begins in `order`, and of actions
    """

    table: Rows
    order: Rows
    begin: Longs

    @staticmethod
    @cache
    def of(morphs: bool) -> OracleTemplates:
        """Return all templates, those of morphology only where there is some."""
        kinds = [*KINDS_SEEN, *KINDS_OF_MORPHS * morphs]
        actions = [*ACTIONS_SEEN, *ACTIONS_OF_MORPHS * morphs]
        views = np.array([view_of(template) for template in [*kinds, *actions]])
        views[len(kinds) :] += VIEWS
        begin = np.searchsorted(np.sort(views), np.arange(2 * VIEWS + 1))
        return OracleTemplates(
            rows([*kinds, *actions], FIELDS),
            np.argsort(views, kind="stable").astype(np.uint32),
            np.stack([begin[: VIEWS + 1], begin[VIEWS:]]),
        )


@lean
def see(
    text: Text, third: Longs, second: Longs, top: Longs, token: int, positions: Longs, numbers: Longs
) -> None:
    """Write what is seen of the three topmost trees: positions [POSITIONS] and numbers of fields [FIELDS].

    third, second, top: [ATTRIBUTES]; token: the next token, or the first position behind a sentence
    """
    positions[0], positions[1], positions[2] = top[HEAD], second[HEAD], third[HEAD]
    for i in range(AHEAD):
        positions[3 + i] = token + i
    _copy(top, second, _PLACES, positions, 3 + AHEAD)
    n = look_up(text.tags, positions, numbers, look_up(text.words, positions, numbers, 0))
    n = _copy(top, second, _COUNTED, numbers, _copy(top, second, _LABELS, numbers, n))
    numbers[n] = _DISTANCES[min(top[HEAD] - second[HEAD], 31)] if second[HEAD] else 0
    numbers[n + 1], numbers[n + 2] = text.morphs[top[HEAD]], text.morphs[second[HEAD]]
    numbers[n + 3] = text.morphs[token]


@lean
def _copy(top: Longs, second: Longs, columns: Longs, to: Longs, begin: int) -> int:
    """Write some attributes, [columns], of one tree, then of the other, from `begin` on; return where they
    end."""
    for i in range(len(columns)):
        to[begin + i] = top[columns[i]]
        to[begin + len(columns) + i] = second[columns[i]]
    return begin + 2 * len(columns)
