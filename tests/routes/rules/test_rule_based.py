"""The conversion: by hand, whatever the d-tree, and the same after it was saved."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d2c.base.errors import ModelError
from d2c.routes.rules.rule_based import NO_RULE, RuleBased
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import format_bracket, parse_bracket, read_brackets
from d2c.trees.heads import load_head_rules
from d2c.trees.repair import CROSSING, CYCLE, Repairs
from d2c.trees.scores.brackets import bracket_scores
from tests.strategies import any_heads, ctrees, words

SAMPLE = Path(__file__).parents[3] / "data" / "sample"
CAT = "(TOP (S (NP (DT the) (NN cat)) (VP (VBD slept)) (. .)))"
SAW = "(TOP (S (NP (PRP they)) (VP (VBD saw) (NP (DT the) (NN cat)) (PP (IN with) (NP (NNS eyes)))) (. .)))"
PARTS = "(TOP (NP (NP (DT a) (NN part)) (PP (IN of) (NP (NN it)))))"


def learned(*brackets: str, **settings: Any) -> RuleBased:
    return RuleBased(**settings).fit(map(parse_bracket, brackets))


def converted(route: RuleBased, tags: str, *heads: int, labels: tuple[str, ...] | None = None) -> str:
    """The c-tree of words that are their tags in small letters."""
    forms = tuple(tags.lower().split())
    tokens = Tokens(forms, tuple(tags.split()))
    return format_bracket(route.decode(DTree(tokens, heads, labels=labels)))


def test_what_was_learned_is_made_again() -> None:
    for text in (CAT, SAW, PARTS):
        route, ctree = learned(text), parse_bracket(text)
        assert format_bracket(route.decode(route.encode(ctree))) == text


def test_rules_are_glued_to_projections_that_are_there() -> None:
    assert converted(learned(CAT, SAW), "PRP VBD IN NNS .", 2, 0, 2, 3, 2) == (
        "(TOP (S (NP (PRP prp)) (VP (VBD vbd) (PP (IN in) (NP (NNS nns)))) (. .)))"
    )
    two = "(TOP (NP (NP (DT dt) (NN nn)) (PP (IN in) (NP (NN nn))) (PP (IN in) (NP (NN nn)))))"
    assert converted(learned(PARTS), "DT NN IN NN IN NN", 2, 0, 2, 3, 2, 5) == two


def test_no_lower_than_the_dependent_before() -> None:
    """A prepositional phrase is part of the VP, but not where the full stop is in front of it."""
    route = learned(SAW, SAW, CAT)
    assert converted(route, "PRP VBD . IN NNS", 2, 0, 2, 2, 4) == (
        "(TOP (S (NP (PRP prp)) (VP (VBD vbd)) (. .) (PP (IN in) (NP (NNS nns)))))"
    )


def test_the_commonest_rule_is_taken() -> None:
    flat, low = "(TOP (X (A a) (B b) (C c)))", "(TOP (X (Y (A a) (B b)) (C c)))"
    rules = {"head_rules": "leftmost"}
    assert converted(learned(flat, flat, low, **rules), "A B", 0, 1) == "(TOP (X (A a) (B b)))"
    assert converted(learned(flat, low, low, **rules), "A B C", 0, 1, 1) == "(TOP (X (Y (A a) (B b)) (C c)))"
    assert converted(learned(flat, low, **rules), "A B C", 0, 1, 1) == "(TOP (X (A a) (B b) (C c)))"


def test_the_arc_to_its_own_head_says_the_lowest_projection() -> None:
    """Of an N its dependents alone would make an NP; on the right of an N it is an NML."""
    route = RuleBased("leftmost").fit(
        map(parse_bracket, 2 * ["(TOP (NP (N n) (D d)))"] + ["(TOP (NP (N n) (NML (N n) (D d))))"])
    )
    assert converted(route, "N D", 0, 1) == "(TOP (NP (N n) (D d)))"
    assert converted(route, "N N D", 0, 1, 2) == "(TOP (NP (N n) (NML (N n) (D d))))"


def test_back_off_to_fewer_tags() -> None:
    route = learned(CAT)
    assert converted(route, "DT XX VBD", 2, 3, 0) == "(TOP (S (NP (DT dt) (XX xx)) (VP (VBD vbd))))"
    assert converted(route, "DT NN XX", 2, 3, 0) == "(TOP (S (NP (DT dt) (NN nn)) (VP (XX xx))))"


def test_labels_are_seen_where_asked_for() -> None:
    bracket = "(TOP (X (Y (A a) (B b)) (B b)))"
    ctree = parse_bracket(bracket)
    dtree = DTree(ctree.tokens, (0, 1, 1), labels=("root", "near", "far"))
    for labels, expected in ((True, bracket), (False, "(TOP (Y (A a) (B b) (B b)))")):
        route = RuleBased("leftmost", labels).fit([ctree], dtrees=[dtree])
        assert format_bracket(route.decode(dtree)) == expected
    own = RuleBased("leftmost", True).fit([ctree])  # its symbols are the labels
    assert format_bracket(own.decode(own.encode(ctree))) == bracket


def test_where_there_is_no_rule() -> None:
    repairs = Repairs()
    [ctree] = RuleBased().decode_all([DTree(words(3), (0, 1, 1))], repairs)
    assert format_bracket(ctree) == "(TOP (X (DT w0) (NN w1) (. w2)))"
    assert (repairs.counts[NO_RULE], repairs.sentences, repairs.tokens) == (2, 1, 3)


def test_repairs_are_counted() -> None:
    route, repairs = learned(CAT), Repairs()
    route.decode(DTree(words(4), (2, 1, 4, 3)), repairs)
    assert repairs.counts[CYCLE] == 2
    route.decode(DTree(words(4), (3, 0, 2, 1)), repairs)
    assert repairs.counts[CROSSING] == 2 and repairs.tokens == 8


@given(ctrees(gaps=False))
def test_rules_of_different_arcs_make_the_tree_again(ctree: CTree) -> None:
    """Where every word has a tag of its own, every piece is the commonest of its arc."""
    tags = tuple(f"T{i}" for i in range(len(ctree.tokens)))
    gold = replace(ctree, tokens=replace(ctree.tokens, tags=tags))
    route = RuleBased().fit([gold])
    assert route.decode(route.encode(gold)) == gold


@given(ctrees(gaps=False), any_heads())
def test_rules_for_any_convention(ctree: CTree, heads: tuple[int, ...]) -> None:
    """The d-tree need not be one of the c-tree's: something is learned, and decoding works."""
    dtree = DTree(ctree.tokens, (heads * len(ctree.tokens))[: len(ctree.tokens)])
    route = RuleBased().fit([ctree], dtrees=[dtree])
    assert route.decode(dtree).tokens == ctree.tokens


@given(st.lists(ctrees(), max_size=3), any_heads())
def test_any_d_tree_becomes_a_c_tree(treebank: list[CTree], heads: tuple[int, ...]) -> None:
    route, tokens = RuleBased().fit(treebank), words(len(heads))
    ctree = route.decode(DTree(tokens, heads))
    assert ctree.tokens == tokens and ctree.yields()[-1] == tuple(range(len(heads)))
    assert route.gaps_ or ctree.is_continuous()


def test_long_sentences() -> None:
    """Linear, and nothing recurses: a chain of words, a head with all others, and both by turns."""
    route, n = learned(CAT, SAW, PARTS), 5_000
    for heads in (range(n), [0] + [1] * (n - 1), [0, *(max(1, i - i % 2) for i in range(1, n))]):
        ctree = route.decode(DTree(words(n), tuple(heads)))
        assert len(ctree.tokens) == n


def test_saved_is_loaded(tmp_path: Path) -> None:
    treebank = list(read_brackets(SAMPLE / "train.mrg", clean=True))[:100]
    route = RuleBased(labels=True).fit(treebank)
    dtrees = list(map(route.encode, treebank))
    route.save(tmp_path)
    loaded = RuleBased.load(tmp_path)
    assert loaded.tables_ == route.tables_
    assert list(loaded.decode_all(dtrees)) == list(route.decode_all(dtrees))
    RuleBased(labels=True).fit(treebank).save(tmp_path / "again")
    assert (tmp_path / "again" / "rules.json").read_bytes() == (tmp_path / "rules.json").read_bytes()


@pytest.mark.parametrize(
    "change",
    [
        {"head_rules": 3},
        {"labels": None},
        {"gaps": "no"},
        {"top": []},
        {"default": ""},
        {"attachments": 3},
        {"attachments": [[["NN", "DT", None, "left"], [[]]]]},
        {"attachments": [[["NN", "DT", None, "left"], ["NP"]], 7]},
        {"attachments": [[["NN", "DT", None, "left", "x"], [["NP"]]]]},
        {"attachments": [[["NN", "DT", None], [["NP"]]]]},
        {"attachments": [[["NN", 1, None, "left"], [["NP"]]]]},
        {"attachments": [[["NN", "DT", None, "left"], [["NP"] * 51]]]},
        {"bases": [[["NN", "DT", None, "left"], ""]]},
        {"bases": [[["NN", "DT", None, "left"], 3]]},
        {"tops": [[["NN", "DT", None, "left"], ["NP", ""], []]]},
        {"tops": [[["NN", "DT", None, "left"], ["NP"]]]},
        {"tops": {"a": 1}},
    ],
    ids=str,
)
def test_broken_files(change: dict[str, object], tmp_path: Path) -> None:
    learned(CAT).save(tmp_path)
    file = tmp_path / "rules.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(ModelError, match="is broken") as error:
        RuleBased.load(tmp_path)
    assert "\n" not in str(error.value)


def test_missing_parts(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        RuleBased.load(tmp_path)
    learned(CAT).save(tmp_path)
    said = json.loads((tmp_path / "rules.json").read_text())
    for name in said.keys() - {"format", "lone"}:
        (tmp_path / "rules.json").write_text(json.dumps({key: said[key] for key in said if key != name}))
        with pytest.raises(ModelError, match="is broken"):
            RuleBased.load(tmp_path)


def test_the_bundled_sample() -> None:
    """No weights, nothing random: the figures are the same everywhere."""
    train, dev = (list(read_brackets(SAMPLE / f"{part}.mrg", clean=True)) for part in ("train", "dev"))
    route = RuleBased().fit(train)
    rules = load_head_rules("collins")
    scores = bracket_scores(dev, list(route.decode_all(map(route.encode, map(rules.apply, dev)))))
    assert (round(scores.precision, 2), round(scores.recall, 2)) == (94.89, 95.33)
