"""The registry of routes: each row makes an estimator that learns, is saved and is loaded."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from functools import partial
from itertools import islice
from pathlib import Path

import pytest

from d2c.base.errors import ModelError
from d2c.cky.settings import ChartSettings
from d2c.models.model import load_route
from d2c.protocols.abilities import RouteAbilities
from d2c.routes.combined import Combined
from d2c.routes.registry import ROUTES, RouteSettings, make_route, route_class
from d2c.routes.rules.rule_based import RuleBased
from d2c.trees.constraints import SpanConstraints
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import parse_bracket, read_brackets
from d2c.trees.lone import LoneNodes
from d2c.trees.repair import Repairs
from tests.conftest import SAMPLE

ROOT = Path(__file__).parents[2]
TREES = list(islice(read_brackets(SAMPLE, clean=True), 12))
ABILITIES = [one.name for one in fields(RouteAbilities)]
CAN = {
    "reduction": {"confidences", "k_best", "k_best_arcs"},
    "labeler": {"confidences", "k_best", "own_labels", "packed_arcs"},
    "cky": {"confidences", "oracle", "k_best", "conventions", "packed_arcs"},
    "rules": set(),
    "combined": {"confidences", "k_best", "own_labels"},
}


@pytest.mark.parametrize("name", ROUTES)
def test_each_route_is_made_learns_is_saved_and_loaded(name: str, tmp_path: Path) -> None:
    route = make_route(name, RouteSettings(seed=3))
    assert type(route) is route_class(name)
    assert route.fit(TREES, TREES[:2]) is route and not route.gaps_
    dtrees = [route.encode(ctree) for ctree in TREES]
    ctrees = list(route.decode_all(dtrees))
    assert [ctree.tokens for ctree in ctrees] == [ctree.tokens for ctree in TREES]
    route.save(tmp_path / "route")
    (tmp_path / "model.json").write_text(json.dumps({"format": 2, "route": name, "dparser": "gold"}))
    assert list(load_route(tmp_path).decode_all(dtrees)) == ctrees


@pytest.mark.parametrize("name", ROUTES)
def test_what_a_route_can_do(name: str) -> None:
    route = make_route(name)
    assert {ability for ability in ABILITIES if getattr(route.abilities, ability)} == CAN[name]


@pytest.mark.parametrize("name", ROUTES)
def test_what_a_route_cannot_do_has_a_default(name: str) -> None:
    """A method without the ability refuses in one line, or gives what every route has."""
    route = make_route(name).fit(TREES)
    dtrees = list(map(route.encode, TREES))
    ctrees = list(route.decode_all(dtrees))
    for refused, method, arguments in (
        (not route.abilities.oracle, route.oracle, (TREES[0], dtrees[0])),
        (not route.abilities.conventions, route.fit_grammar, (TREES,)),
        (not route.abilities.packed_arcs, route.fit_arcs, (TREES, dtrees)),
    ):
        if refused:
            with pytest.raises(ModelError, match=rf"^this route \({type(route).__name__}\) "):
                method(*arguments)  # type: ignore[operator]
    if not route.abilities.confidences:
        assert list(route.confidences_all(dtrees)) == [(ctree, None) for ctree in ctrees]
    if not route.abilities.k_best:
        assert list(route.decode_k_best(dtrees[0], 2)) == [(None, ctrees[0])]
    if not route.abilities.own_labels:
        assert route.relabel(dtrees) == dtrees


@pytest.mark.parametrize("name", ROUTES)
def test_d_trees_must_be_those_of_the_c_trees(name: str) -> None:
    dtrees = list(map(make_route("reduction").encode, TREES))
    for wrong, message in (
        (dtrees[:-2], "^12 c-trees, but 10 d-trees: sentence 11 lacks one$"),
        ([*dtrees, dtrees[0]], "^12 c-trees, but 13 d-trees: sentence 13 lacks one$"),
        ([*dtrees[1:], dtrees[0]], "^sentence .* has a c-tree of .* tokens, but a d-tree of "),
    ):
        with pytest.raises(ValueError, match=message):
            make_route(name).fit(TREES, dtrees=iter(wrong))
        if make_route(name).abilities.conventions:
            with pytest.raises(ValueError, match=message):
                make_route(name).fit(TREES, TREES, dtrees=dtrees, dev_dtrees=iter(wrong))
            with pytest.raises(ValueError, match=message):
                make_route(name).fit_grammar(TREES, iter(wrong))


@pytest.mark.parametrize("name", ROUTES)
def test_a_route_that_is_not_trained_says_so(name: str) -> None:
    route, dtree = make_route(name), make_route("reduction").encode(TREES[0])
    if name in ("reduction", "rules"):  # they decode by labels alone, or glue
        assert route.decode(dtree).tokens == TREES[0].tokens
        return
    for ask in (route.decode, route.confidences, partial(route.decode_k_best, k=2)):
        with pytest.raises(ModelError, match="is not trained yet$"):
            ask(dtree)


@pytest.mark.parametrize("name", ROUTES)
def test_an_empty_sentence_has_no_c_tree(name: str) -> None:
    route, empty = make_route(name).fit(TREES), DTree(Tokens((), ()), ())
    for ask in (route.decode, route.confidences, partial(route.decode_k_best, k=2)):
        with pytest.raises(ValueError, match="^a sentence without words has no c-tree$"):
            ask(empty)


def test_a_second_fit_forgets_the_first() -> None:
    gaps = CTree(Tokens(("a", "b", "c"), ("A", "B", "C")), ("X", "S"), ((0, 2), (1, 3)))
    route = make_route("reduction", RouteSettings(head_rules="leftmost")).fit([gaps])
    assert route.gaps_ and not route.fit(TREES).gaps_


def test_settings_come_to_where_they_are_used(tmp_path: Path) -> None:
    of_chart = {"pruning": "1", "gamma": 0.8, "penalty": 0.5, "binarization": "markovized"}
    of_chart |= {"symbols": "vertical", "max_unaries": 1, "grammar": "closed", "table_bits": 12}
    settings = RouteSettings(
        **{"encoding": "delta", "head_rules": "leftmost", "checkpoints": tmp_path, "seed": 7},
    ).changed(**of_chart, chart_epochs=2, constrained=False)
    reduction, chart, combined = (make_route(name, settings) for name in ("reduction", "cky", "combined"))
    for part in (reduction, combined.labeler):  # type: ignore[attr-defined]
        assert (part.encoding, part.head_rules, part.seed) == ("delta", "leftmost", 7)  # type: ignore[union-attr]
    for part in (make_route("labeler", settings), combined.labeler):  # type: ignore[attr-defined]
        assert not part.constrained and not part.fit(TREES).labeler_.settings.constrained
    used = [chart, combined.chart]  # type: ignore[attr-defined]
    for part, labels in zip(used, (False, True), strict=True):
        assert part.settings.labels is labels
        assert (part.settings.head_rules, part.settings.seed, part.settings.epochs) == ("leftmost", 7, 2)
        assert {name: getattr(part.settings, name) for name in of_chart} == of_chart
        assert part.checkpoints == tmp_path


def test_the_defaults_are_those_of_the_chart() -> None:
    assert make_route("cky").settings == ChartSettings()  # type: ignore[attr-defined]
    assert make_route("cky", RouteSettings(labels=True)).settings.labels  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "setting", [{"gamma": 1.5}, {"gamma": float("nan")}, {"penalty": -1.0}, {"penalty": float("inf")}]
)
def test_settings_of_the_chart_have_ranges(setting: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="^(gamma|penalty) is .*, not at least 0"):
        ChartSettings(**setting)


def test_unknown_routes(tmp_path: Path) -> None:
    known = ", ".join(ROUTES)
    for ask in (make_route, route_class):
        with pytest.raises(ModelError, match=f"^unknown route 'chart'; known are {known}$"):
            ask("chart")
    (tmp_path / "model.json").write_text('{"format": 2, "route": "chart", "dparser": "gold"}')
    with pytest.raises(ModelError, match="has the route 'chart', which this version of d2c does not know$"):
        load_route(tmp_path)
    (tmp_path / "model.json").write_text('{"format": 2, "dparser": "gold"}')
    with pytest.raises(ModelError, match=r"model.json: is broken \(.*route.*\); train the model again$"):
        load_route(tmp_path)


def test_a_route_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    leftmost = replace(RouteSettings(), head_rules="leftmost")
    row = replace(ROUTES["reduction"], new=lambda made, settings: made(head_rules=settings.head_rules))
    monkeypatch.setitem(ROUTES, "other", row)
    assert make_route("other", leftmost).head_rules == "leftmost"  # type: ignore[attr-defined]


def test_no_route_is_asked_for_by_its_name() -> None:
    """But in the registry, in the name of a file, and where the command line says its default."""
    names = re.compile(rf"""["']({"|".join(ROUTES)})["']""")
    found = {
        (path.relative_to(ROOT / "d2c").as_posix(), name)
        for path in (ROOT / "d2c").rglob("*.py")
        for name in names.findall(path.read_text(encoding="utf-8"))
    }
    rows = {("routes/registry.py", name) for name in ROUTES} | {("routes/rules/rule_based.py", "rules")}
    defaults = {("training/spec.py", "reduction"), ("commands/train.py", "reduction")}
    others = {("routes/rules/rule_based.py", "rules"), ("commands/info.py", "rules")}  # of grammars
    assert found == rows | defaults | others


@pytest.mark.parametrize("name", ROUTES)
def test_each_route_keeps_which_nodes_stand_alone(name: str, tmp_path: Path) -> None:
    """Nodes over punctuation alone, and copies, are those of training trees, also once it was saved."""
    starred = parse_bracket("(TOP (S (NP (NP (NN dog))) (VP (VBZ barks) (NP (SYM *))) (. .)))")
    trained = make_route(name).fit([*TREES, starred])
    trained.save(tmp_path)
    for route in (trained, route_class(name).load(tmp_path)):
        parts = [route.chart, route.labeler] if isinstance(route, Combined) else [route]
        for part in parts:
            assert part.lone_ == LoneNodes(frozenset({("NP", "*")}), frozenset({"NP"}))


def test_whatever_a_route_decodes_lacks_such_nodes() -> None:
    class Inventing(RuleBased):
        def _decode_all(self, dtrees: Iterable[DTree], repairs: Repairs) -> Iterator[CTree]:
            return (parse_bracket("(TOP (S (NP (NP (NN a))) (NP (. !))))") for _ in dtrees)

    dtree = DTree(Tokens(("a", "!"), ("NN", ".")), (0, 1))
    route = Inventing()
    assert len(route.decode(dtree).labels) == 4  # it has learned nothing
    plain = parse_bracket("(TOP (S (NP (NN a)) (. !)))")
    asked = SpanConstraints.of([(1, 2, "NP")], None, 2)
    assert asked is not None
    route.fit(TREES)
    assert route.decode(dtree) == route.confidences(dtree)[0] == plain
    assert route.decode_k_best(dtree, 2) == [(None, plain)]
    assert route.within(dtree, asked)[0].labels == ("NP", "NP", "S")  # what is asked for is there
