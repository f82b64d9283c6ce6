"""The labeler's templates against section 4.2 of "Parsing as Reduction", and its sequence of modifiers."""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
import pytest

from d2c.base.arrays import Longs
from d2c.learning.kernels import kernel
from d2c.reduction.labeler.backbones import Backbones
from d2c.reduction.labeler.features import (
    ARC,
    FIELDS,
    MORPHOLOGY,
    PAIR,
    PAIR_FIELDS,
    STACKED,
    LabelTemplates,
    arc_atoms,
    pair_atoms,
)
from d2c.reduction.labeler.labeler import Labeler
from d2c.reduction.labeler.learning import labels_score
from d2c.reduction.labeler.scores import (
    ACROSS_RIGHT,
    ALONE,
    FREE,
    NO_LABEL,
    ON_LEFT,
    START_LEFT,
    STOP_LEFT,
    pair_key,
    symbol_key,
)
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree, modifiers_of
from tests.cky.test_chart import random_heads
from tests.partitions import check_templates

# Python's functions, which kernels alone call otherwise; without numba's compiler they are these already
SYMBOL_KEY, PAIR_KEY = (getattr(one, "py_func", one) for one in (symbol_key, pair_key))
# "the POS triplet ⟨p_h, p_m, p_m'⟩, plus unilexical versions of this triplet, where each of the three POS is
# replaced by the word form"
TRIPLET = "p_h p_m p_m'"
UNILEXICAL = ["w_h p_m p_m'", "p_h w_m p_m'", "p_h p_m w_m'"]
BEYOND_PAIRS = ["p_h"]
# TurboParser's kinds: words and tags of both ends, of their neighbours, how far, what stands between; the
# siblings on either side, the grandparent; and the ends of the modifier's span
ARCS = [
    *("", "p_h", "p_m", "p_h p_m", "w_h", "w_m", "w_h p_m", "p_h w_m", "w_h w_m"),
    *("p_h p_m p_m-1", "p_h p_m p_m+1", "p_h p_m p_h-1", "p_h p_m p_h+1", "p_m p_m-1 p_m+1"),
    *("p_h p_m p_m-1 p_h-1", "p_h p_m p_m-1 p_h+1", "p_h p_m p_m+1 p_h-1", "p_h p_m p_m+1 p_h+1"),
    *("w_m-1 p_m", "w_m+1 p_m", "w_h-1 p_h", "w_h+1 p_h"),
    *("p_h p_m bin(h-m)", "w_m bin(h-m)", "p_h p_m valency", "p_h p_m number", "p_h p_m valency number"),
    *("w_h number", "w_m number", "p_h p_m modifiers_m"),
    *("p_h p_m p_inner", "p_h p_m p_outer", "p_h p_m p_inner p_outer", "p_h p_m w_inner", "p_h p_m w_outer"),
    *("p_h p_m p_near p_far", "p_m w_near", "p_m w_far", "p_h p_m p_g g>h", "p_h p_m w_g", "p_m p_g g>h"),
    *("p_h p_m w_i", "p_h p_m w_j", "p_h w_i", "p_h p_m p_i p_j", "p_h p_m p_i-1 p_j+1", "p_h p_m w_i-1"),
    *("p_h p_m w_j+1", "p_m p_i-1 p_i", "p_m p_j p_j+1", "p_m bin(j-i)", "p_h p_m between"),
]
OF_LABELS = [
    *("l_m", "l_m p_h p_m", "l_m w_m", "l_m w_h", "l_m l_h", "l_m l_inner l_outer", "l_m number"),
    "p_h p_m l_inner l_outer",
]
OF_MORPHOLOGY = [
    *("morph_h", "morph_m", "morph_h p_m", "p_h morph_m", "morph_h morph_m"),
    *("morph_m number", "morph_h morph_m bin(h-m)"),
]


def as_printed(row: Longs, fields: tuple[str, ...]) -> str:
    """A row of the kernels' table in the paper's notation."""
    names = " ".join((*fields, "")[field] for field in row).split()
    parts = [name.removesuffix("]").partition("[") for name in names]
    short = {"word": "w", "tag": "p", "label": "l"}
    return " ".join(f"{short.get(a, a)}_{b}" if b else a for a, _, b in parts)


def test_the_tables_are_the_papers() -> None:
    templates = LabelTemplates.new()
    pairs = [as_printed(row, PAIR_FIELDS) for row in templates.pair]
    assert sorted(pairs) == sorted([TRIPLET, *UNILEXICAL, *BEYOND_PAIRS])
    assert len(pairs) == len(list(chain(*PAIR.values())))
    arcs = [as_printed(row, FIELDS) for row in templates.arc]
    plain, labelled = len(ARCS), len(ARCS) + len(OF_LABELS)
    assert sorted(arcs[:plain]) == sorted(ARCS)
    assert sorted(arcs[plain:labelled]) == sorted(OF_LABELS)
    assert sorted(arcs[labelled:]) == sorted(OF_MORPHOLOGY)
    assert len(arcs) == len(list(chain(*ARC.values(), *STACKED.values(), *MORPHOLOGY.values())))


class Sentence(NamedTuple):
    """A d-tree, 1..n and 0 = root, with the numbers of what its tokens have; at 0 and n + 1 stands 0."""

    heads: list[int]
    words: list[int]
    tags: list[int]
    given: list[int]
    morphs: list[int]

    def side(self, h: int, m: int) -> list[int]:
        """The modifiers of h on the side of m, from the head outward."""
        own = [k for k, head in enumerate(self.heads[1:-1], 1) if head == h and (k > h) == (m > h)]
        return own if m > h else own[::-1]

    def below(self, m: int) -> list[int]:
        """m and what descends from it."""
        found = [m]
        for k in found:
            found += [child for child, head in enumerate(self.heads[1:-1], 1) if head == k]
        return found


def random_sentences(count: int, longest: int) -> tuple[list[Sentence], Backbones]:
    """Random d-trees, and their arcs as the kernels see them."""
    rng, sentences = random.Random(0), []
    for _ in range(count):
        n = rng.randint(1, longest)
        columns = [[0, *[rng.randint(1, most) for _ in range(n)], 0] for most in (9, 4, 5, 3)]
        sentences.append(Sentence([0, *random_heads(rng, n), 0], *columns))
    inside = [Sentence(*(column[1:-1] for column in sentence)) for sentence in sentences]
    flat = [[number for one in inside for number in one[column]] for column in range(5)]
    lengths = np.array([len(one.heads) for one in inside])
    return sentences, Backbones.of(lengths, np.array(flat[0]), flat[1:], np.zeros((0, 0), np.float32))


def fields(sentence: Sentence, m: int) -> dict[str, Hashable]:
    """What the fields of an arc's templates are, by name; 0 where there is none."""
    h = sentence.heads[m]
    own, other = sentence.side(h, m), sentence.side(h, 2 * h - m)
    place, span = own.index(m), sentence.below(m)
    tags = sentence.tags[min(h, m) + 1 : max(h, m)]
    g = sentence.heads[h]
    found: dict[str, Hashable] = {
        "between": frozenset(tags),
        "bin(h-m)": sum(bound < abs(h - m) for bound in (1, 2, 3, 4, 5, 7, 10, 15, 20, 30)),
        "bin(j-i)": sum(bound < max(span) - min(span) for bound in (1, 2, 3, 4, 5, 7, 10, 15, 20, 30)),
        "valency": (min(len(own), 7), min(len(other), 7)),
        "number": (min(place, 7), place + 1 == len(own), not other),
        "modifiers_m": (min(len(sentence.side(m, 0)), 3), min(len(sentence.side(m, m + 1)), 3)),
        "g>h": g > h,
    }
    at = {
        **{"h": h, "h-1": max(h - 1, 0), "h+1": h + 1, "m": m, "m-1": m - 1, "m+1": m + 1, "g": g},
        **{"inner": own[place - 1] if place else 0, "outer": (*own, 0)[place + 1]},
        **{"near": (other or [0])[0], "far": (other or [0])[-1]},
        **{"i": min(span), "i-1": min(span) - 1, "j": max(span), "j+1": max(span) + 1},
    }
    for name, column in {"w": sentence.words, "p": sentence.tags, "l": sentence.given}.items():
        found |= {f"{name}_{position}": column[token] for position, token in at.items()}
    return found | {"morph_h": sentence.morphs[h], "morph_m": sentence.morphs[m]}


@kernel
def arc_features(templates: LabelTemplates, arcs: Backbones, heads: Longs) -> Longs:
    """[modifiers, atoms] those of each arc; -1 behind the last."""
    rows = np.full((len(arcs.modifiers), len(templates.atoms)), -1, np.int64)
    for h in heads:
        for i in range(arcs.begin[h], arcs.begin[h + 1]):
            for number in range(arc_atoms(templates, arcs, h, i)):
                rows[i, number] = templates.atoms[number]
    return rows


@kernel
def pair_features(templates: LabelTemplates, arcs: Backbones, pairs: Longs) -> Longs:
    """[P, templates] of pairs, each h, m, m', kind."""
    rows = np.empty((len(pairs), len(templates.pair)), np.int64)
    for row in range(len(pairs)):
        pair_atoms(templates, arcs, pairs[row, 0], pairs[row, 1], pairs[row, 2], pairs[row, 3])
        for number in range(len(templates.pair)):  # a slice compiles much longer
            rows[row, number] = templates.atoms[number]
    return rows


def test_the_kernels_compute_what_the_templates_of_arcs_say() -> None:
    """All know on which side of its head the modifier is; each tag between goes with both tags, besides."""
    sentences, arcs = random_sentences(150, 9)
    rows = arc_features(LabelTemplates.new(), arcs, arcs.with_modifiers()).tolist()
    offsets = np.cumsum([0, *(len(sentence.heads) - 1 for sentence in sentences)]).tolist()
    of_position = dict(zip(arcs.modifiers.tolist(), rows, strict=True))
    where = [
        (sentence, m, fields(sentence, m), of_position[offset + m])
        for sentence, offset in zip(sentences, offsets, strict=False)
        for m in range(1, len(sentence.heads) - 1)
    ]
    names, between = ARCS + OF_LABELS + OF_MORPHOLOGY, set[tuple[Hashable, int]]()
    expected = {
        name: [
            (m > sentence.heads[m], *(found[one] for one in name.split())) for sentence, m, found, _ in where
        ]
        for name in names
    }
    check_templates(expected, list(zip(*(row[: len(names)] for *_, row in where), strict=True)))
    for sentence, m, found, row in where:
        tags, h = found["between"], sentence.heads[m]
        assert isinstance(tags, frozenset) and row[len(names) :].index(-1) == len(tags)
        ends = sentence.tags[h], sentence.tags[m], m > h
        in_order = dict.fromkeys(sentence.tags[min(h, m) + 1 : max(h, m)])
        between |= {((*ends, tag), atom) for tag, atom in zip(in_order, row[len(names) :], strict=False)}
    assert len(dict(between)) == len(between) == len({atom for _, atom in between})


@pytest.mark.parametrize(("column", "names"), [("predicted", OF_LABELS), ("morphs", OF_MORPHOLOGY)])
def test_what_is_not_there_has_no_features(column: str, names: list[str]) -> None:
    """Labels of the d-parser, morphology; the others are the same without."""
    _, arcs = random_sentences(20, 6)
    bare = arcs._replace(**{column: np.zeros_like(arcs.predicted)})
    templates, heads = LabelTemplates.new(), arcs.with_modifiers()
    full, less = (arc_features(templates, one, heads) for one in (arcs, bare))
    for row, shorter in zip(full.tolist(), less.tolist(), strict=True):
        own, others = set(row) - {-1}, set(shorter) - {-1}
        assert others < own and len(own - others) == len(names)


def test_the_kernels_compute_what_the_templates_of_pairs_say() -> None:
    rng = random.Random(1)
    _, arcs = random_sentences(30, 8)
    pairs = [[*rng.choices(range(len(arcs.tags)), k=3), rng.randrange(8)] for _ in range(400)]
    columns = {"w": arcs.words.tolist(), "p": arcs.tags.tolist()}
    expected = {
        name: [
            (kind, *(columns[one[0]][at[one[2:]]] for one in name.split()))
            for h, m, m2, kind in pairs
            for at in [{"h": h, "m": m, "m'": m2}]
        ]
        for name in (TRIPLET, *UNILEXICAL, *BEYOND_PAIRS)
    }
    check_templates(expected, pair_features(LabelTemplates.new(), arcs, np.array(pairs)).T.tolist())


def free_pairs(h: int, modifiers: list[int]) -> Iterator[tuple[int, int, int]]:
    """m, m' and the kind of all pairs of consecutive modifiers as they stand in the sentence; with 0 for the
    one that is not there before the innermost and behind the outermost of a side.

    On either side m is nearer to the head than m'; across the head m is on the left.
    """
    for m, m2 in pairwise([0, *sorted(modifiers), 0]):
        if 0 < m < h < m2:
            yield 0, m, START_LEFT
            yield m, m2, ACROSS_RIGHT
            yield 0, m2, START_LEFT + 1
        elif m and m2:
            yield (m2, m, ON_LEFT) if m2 < h else (m, m2, ON_LEFT + 1)
        elif m2:  # the first of all
            yield (m2, 0, STOP_LEFT) if m2 < h else (0, m2, START_LEFT + 1)
        elif m:  # the last of all
            yield (m, 0, STOP_LEFT + 1) if m > h else (0, m, START_LEFT)


@pytest.mark.parametrize("seed", range(4))
def test_a_free_score_is_that_of_arcs_and_consecutive_modifiers(seed: int) -> None:
    """Each feature with the label, and with its symbol; those of pairs with the pair of labels."""
    rng, tags = random.Random(seed), ("A", "B", "C")
    trained = [random_labelled(rng, tags) for _ in range(20)]
    labeler = Labeler("direct", constrained=False, epochs=1, table_bits=16, seed=seed).fit(trained)
    labeler.weights_ = np.random.default_rng(seed).normal(size=1 << 16).astype(np.float32)
    scorer, templates, labels = labeler._scorer(), LabelTemplates.new(), labeler._table
    mask, across = (1 << 16) - 1, 0
    for dtree in (random_labelled(rng, tags) for _ in range(30)):
        arcs = labeler._backbones([(dtree, None)])
        atoms = dict(
            zip(arcs.modifiers.tolist(), arc_features(templates, arcs, arcs.with_modifiers()), strict=True)
        )
        given = np.array([0, *(rng.randrange(len(labeler.labels_)) for _ in dtree.heads), 0])
        for h, modifiers in enumerate([[dtree.heads.index(0)], *modifiers_of(dtree.heads)]):
            slots: list[int] = []
            for m in (m + 1 for m in modifiers):
                for key in (given[m], SYMBOL_KEY(labels, given[m])):
                    slots += [(atom + key) & mask for atom in atoms[m].tolist() if atom >= 0]
            for m, m2, kind in free_pairs(h, [m + 1 for m in modifiers]):
                before, after = (given[one] if one else NO_LABEL for one in (m, m2))
                joins = int(kind // 2 == 0 and labels.numbers[before] == labels.numbers[after])
                key = PAIR_KEY(len(labels.symbols), before, after, joins if kind < 2 else ALONE)
                pair = pair_features(templates, arcs, np.array([[h, m, m2, kind]]))
                slots += ((pair[0] + key) & mask).tolist()
                across += kind == ACROSS_RIGHT
            found = labels_score(scorer, arcs, h, FREE, given, np.full_like(given, NO_LABEL))
            assert found == pytest.approx(labeler.weights_[slots].sum(), abs=1e-3)
    assert across > 5


def random_labelled(rng: random.Random, tags: tuple[str, ...]) -> DTree:
    """A d-tree with any labels."""
    n = rng.randint(1, 8)
    tokens = Tokens(tuple(rng.choice("vwxyz") for _ in range(n)), tuple(rng.choice(tags) for _ in range(n)))
    heads = tuple(random_heads(rng, n))
    return DTree(
        tokens, heads, labels=tuple(f"{rng.choice('XY')}#{rng.randint(1, 3)}" if h else "root" for h in heads)
    )
