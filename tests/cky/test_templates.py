"""The feature templates against Figure 4 of "Transforming Dependencies into Phrase Structures"."""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator
from typing import NamedTuple

import numpy as np
import pytest

from d2c.cky.grammar import Grammar, Rule
from d2c.cky.search.scoring import BINS, MOST_WORDS, Scorer
from d2c.cky.search.skeleton import Observed, sites_of_steps, skeleton_of
from d2c.cky.search.templates import (
    BACKED_OFF,
    COLUMNS,
    CONTEXT,
    CONTEXT_LABELS,
    FIELDS,
    FIGURE_4,
    GROUPS,
    HEAD,
    LABELS,
    MODIFIER,
    MORPHOLOGY,
    PARENT,
    RULE,
    Group,
    Templates,
)
from d2c.trees.binarization import LEFT, RIGHT, UNARY
from tests.cky.parts import (
    Part,
    as_part,
    features_of,
    parts_of_steps,
    random_observed,
    random_steps,
    rich_grammar,
)
from tests.cky.test_chart import random_heads
from tests.partitions import check_templates, classes

# The figure, column by column and line by line: the "rule" of span features is A → B C, and its backoff A
NONTERM = ["(A, β1)", "(A, β1, tag(m))", "(A, β2)", "(A, β2, tag(h))"]
SPAN = [
    *("(rule, x_i)", "(rule, x_i-1)", "(rule, x_j)", "(rule, x_j+1)", "(rule, x_k)", "(rule, x_k+1)"),
    "(rule, bin(j-i))",
]
RULES = [
    *("(rule)", "(rule, x_h, tag(m))", "(rule, tag(h), x_m)", "(rule, tag(h), tag(m))"),
    *("(rule, x_h)", "(rule, tag(h))", "(rule, x_m)", "(rule, tag(m))"),
]
# Section 6: "four additional features templates conjoining the label with the non-terminals of a rule"
OF_LABELS = ["(rule, label(m))", "(A, β1, label(m))", "(A, β2, label(m))"]  # the first with A alone, too
LABEL, EVERY = frozenset(["label"]), frozenset(COLUMNS)
Column = list[tuple[Hashable, ...]]
ABSENT = ("β1", "(m)", "x_m", "x_k")  # what unary steps do not have


def as_printed(group: int, template: str) -> str:
    """A template in the figure's notation."""
    keys = {MODIFIER: ["A", "β1"], HEAD: ["A", "β2"], PARENT: ["A"]}
    names = list(keys.get(group, ["rule"]))
    for field in template.split():
        column, _, position = field.removesuffix("]").partition("[")
        names.append(f"x_{position}" if column == "word" else f"{column}({position})" if position else column)
    return f"({', '.join(names)})"


def listed(templates: Templates, unary: bool) -> list[str]:
    """The templates of the kernels' table."""
    parts, names = templates.parts[UNARY if unary else LEFT].tolist(), (*FIELDS, "")
    return [
        as_printed(group, " ".join(names[field] for field in templates.table[row]))
        for group in GROUPS
        for row in sorted(row for begin in parts for row in templates.split[begin[group] : begin[group + 1]])
    ]


def test_figure_4_is_listed_as_it_is_printed() -> None:
    titles = {
        title: [as_printed(group, template) for group, templates in groups.items() for template in templates]
        for title, groups in FIGURE_4.items()
    }
    assert titles == {"Nonterm Features": NONTERM, "Span Features": SPAN, "Rule Features": RULES}


@pytest.mark.parametrize("labels", [False, True])
def test_without_context_the_kernels_have_the_figure_alone(labels: bool) -> None:
    templates = Templates.of(LABEL if labels else frozenset(), context=False)
    figure = NONTERM + SPAN + RULES + OF_LABELS * labels
    assert sorted(listed(templates, unary=False)) == sorted(figure)
    of_unaries = [template for template in figure if not any(absent in template for absent in ABSENT)]
    assert sorted(listed(templates, unary=True)) == sorted(of_unaries)
    assert len(templates.table) == len(figure) + len(of_unaries) and not templates.words


def test_with_context_nothing_of_the_figure_is_lost() -> None:
    bare, full = Templates.of(LABEL, context=False), Templates.of(LABEL, context=True)
    beyond = {
        as_printed(group, template)
        for one in (CONTEXT, CONTEXT_LABELS)
        for group, templates in one.items()
        for template in templates
    }
    for unary in (False, True):
        more = set(listed(full, unary)) - set(listed(bare, unary))
        assert set(listed(bare, unary)) < set(listed(full, unary)) and more <= beyond
    assert full.words


@pytest.mark.parametrize("columns", [(), ("label",), ("morph",), COLUMNS])
def test_what_a_treebank_does_not_have_is_no_feature(columns: tuple[str, ...]) -> None:
    """What it has comes on top of the others, in the same order; beyond the figure's context alone."""
    plain, some = Templates.of(frozenset(), context=True), Templates.of(frozenset(columns), context=True)
    for unary in (False, True):
        names = listed(some, unary)
        named = {column for column in COLUMNS for name in names if f"{column}(" in name}
        assert named == set(columns)
        assert [name for name in names if not any(f"{one}(" in name for one in COLUMNS)] == listed(
            plain, unary
        )
    bare = Templates.of(frozenset(columns) & LABEL, context=False)
    assert Templates.of(frozenset(columns), context=False).table.tolist() == bare.table.tolist()


def test_spans_have_ten_lengths() -> None:
    assert len(BINS) + 1 == 10 and sorted(set(BINS.tolist())) == BINS.tolist()


class Case(NamedTuple):
    """A part with a rule, in its sentence; and the features that the kernels have for it."""

    observed: Observed
    part: Part
    rule: int
    slots: list[int]


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return rich_grammar(random.Random(0), 1.0)


def cases(grammar: Grammar, columns: frozenset[str], context: bool) -> Iterator[Case]:
    """Parts of random derivations, the rules drawn anew; two sentences are long."""
    rng = random.Random(0)
    templates = Templates.of(columns, context)
    scorer = Scorer(templates, grammar.keys, np.zeros(2, np.float32))
    of_kind = [np.flatnonzero(grammar.table.kind == kind).tolist() for kind in range(3)]
    for n in (45, 45, *[rng.randint(1, 9) for _ in range(60)]):
        heads = random_heads(rng, n)
        observed, kinds = random_observed(rng, heads), random_steps(rng, heads)
        flat = [kind for steps in kinds for kind in steps]
        begin = np.cumsum([0, *map(len, kinds)], dtype=np.int32)
        sites = sites_of_steps(skeleton_of(np.array(heads, np.int32)), np.array(flat, np.int32), begin)
        parts = parts_of_steps(heads, kinds)
        assert list(map(as_part, sites)) == parts  # (i, k, j), h and m are those of the words
        rules = np.array([rng.choice(of_kind[kind]) for kind in flat], np.int32)
        slots = features_of(observed, sites, rules, scorer, (1 << 62) - 1).tolist()
        for part, rule, of_part in zip(parts, rules.tolist(), slots, strict=True):
            yield Case(observed, part, rule, of_part[: of_part.index(-1)])


def field(case: Case, name: str) -> Hashable:
    """What a field of a template is in a part, by its name; 0 where there is none."""
    observed, part = case.observed, case.part
    if name == "level":
        return part.level
    if name == "bin(j-i)":
        return sum(part.j - part.i > bound for bound in BINS.tolist())
    column, _, position = name.removesuffix("]").partition("[")
    inner, outer = (part.inner_left, part.left) if part.side == LEFT else (part.inner_right, part.right)
    at = {
        **{"h": part.h, "m": part.m, "i": part.i, "i-1": part.i - 1, "j": part.j, "j+1": part.j + 1},
        **{"k": part.k, "k+1": part.k + 1, "g": int(observed["head"][part.h + 1]) - 1},
        **{"left": part.left, "right": part.right, "inner": inner, "outer": outer},
        **{"inner-left": part.inner_left, "inner-right": part.inner_right},
    }[position]
    return int(observed[column][at + 1])


def features(grammar: Grammar, chosen: list[Case], unary: bool, groups: list[Group]) -> dict[str, Column]:
    """Template → its features in these parts; those with a backoff come as two templates."""
    expected: dict[str, Column] = {}
    for group, name in ((group, name) for one in groups for group, names in one.items() for name in names):
        if applies(name, group, unary):
            for key in (RULE, PARENT) if group == BACKED_OFF else (group,):
                expected[as_printed(key, name)] = [
                    (key_of(grammar.rules[case.rule], key), *(field(case, one) for one in name.split()))
                    for case in chosen
                ]
    return expected


def key_of(rule: Rule, group: int) -> Hashable:
    """What templates of a group are conjoined with; all know which child is the head."""
    other = {MODIFIER: rule.modifier, HEAD: rule.head, PARENT: None}
    return rule if group == RULE else (rule.kind, rule.parent, other[group])


@pytest.mark.parametrize(("columns", "context"), [(frozenset(), False), (LABEL, True), (EVERY, True)])
@pytest.mark.parametrize("side", [LEFT, RIGHT, UNARY])
def test_the_kernels_compute_what_the_templates_say(
    grammar: Grammar, columns: frozenset[str], context: bool, side: int
) -> None:
    """On random parts; the backoff of a rule, in the figure for span features only, is its parent symbol."""
    groups = [*FIGURE_4.values(), *[LABELS] * ("label" in columns), *[CONTEXT] * context]
    groups += [CONTEXT_LABELS] * (context and "label" in columns) + [MORPHOLOGY] * (columns == EVERY)
    unary, every = side == UNARY, list(cases(grammar, columns, context))
    chosen = [case for case in every if case.part.side == side]
    own = {slot for case in chosen for slot in case.slots}
    assert own.isdisjoint(slot for case in every if case.part.side != side for slot in case.slots)
    expected = features(grammar, chosen, unary, groups)
    for same in ("(A, β2)", "(A, β2, tag(h))"):  # a rule without modifier is its parent and head child
        rule = expected[same.replace("A, β2", "rule")]
        assert (classes(expected[same]) == classes(rule)) == unary
    computed = list(zip(*(case.slots[: len(expected)] for case in chosen), strict=True))
    check_templates(expected, computed, alike=2 * unary)
    for case in chosen:  # a whole sentence has all its words besides
        n = len(case.observed) - 2
        whole = case.part.j - case.part.i == n - 1 and not case.observed["head"][case.part.h + 1]
        words = case.observed["word"][1:-1].tolist()[:MOST_WORDS]
        assert len(case.slots) - len(expected) == (len(words) if whole and context else 0)
        assert len(set(case.slots[len(expected) :])) == (len(set(words)) if whole and context else 0)


def applies(template: str, group: int, unary: bool) -> bool:
    """Unary steps have no m, no k and no side; attachments have no level."""
    positions = [name.removesuffix("]").partition("[")[2] for name in template.split()]
    if unary:
        return group != MODIFIER and not {"m", "k", "k+1", "inner", "outer"} & set(positions)
    return "level" not in template


def test_no_steps_are_no_sites() -> None:
    """Of a tree that has no derivation."""
    heads, none = np.array([2, 0], np.int32), np.zeros(0, np.int32)
    sites = getattr(sites_of_steps, "py_func", sites_of_steps)(
        skeleton_of(heads), none, np.zeros(3, np.int32)
    )
    assert len(sites) == 0
