"""The route as an estimator: fitted, saved and loaded on the bundled sample."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from d2c.base.errors import ModelError
from d2c.reduction.encodings import ENCODINGS
from d2c.reduction.labeler.two_stage import TwoStage
from d2c.reduction.reduction import Reduction
from d2c.trees.ctree import CTree, canonical
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import format_bracket, parse_bracket, read_brackets
from d2c.trees.formats.discbracket import parse_discbracket
from d2c.trees.repair import Repairs
from d2c.trees.unaries import restore_unaries, strip_unaries
from tests.errors import faulty

SAMPLE = Path(__file__).parents[2] / "data" / "sample"
TREES = list(read_brackets(SAMPLE / "dev.mrg", clean=True))
KNOWN = ", ".join(ENCODINGS)


@pytest.fixture(scope="module", params=ENCODINGS)
def route(request: pytest.FixtureRequest) -> Reduction:
    return Reduction(request.param, seed=3).fit(iter(TREES))


@pytest.fixture(scope="module")
def saved(route: Reduction, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("route") / "new" / "route"
    route.save(directory)
    return directory


def junk(dtrees: list[DTree]) -> Iterator[DTree]:
    """Heads and labels of every third sentence spoilt."""
    for i, dtree in enumerate(dtrees):
        n = len(dtree.heads)
        yield dtree if i % 3 else replace(dtree, heads=dtree.heads[1:] + (n + 2,), labels=("S#x",) * n)


def texts(ctrees: Iterator[CTree] | list[CTree]) -> list[str]:
    return [format_bracket(ctree) for ctree in ctrees]


def test_fit_learns_symbols_and_wrapper(route: Reduction) -> None:
    assert route.symbols_ == {label for ctree in TREES for label in ctree.labels}
    assert route.top_ == "TOP"
    assert route.default_symbols_["NN"] == "NP"
    assert route.default_symbols_["IN"] == "PP"
    assert route.default_symbols_["VBD"] == "VP"
    assert route.default_symbols_[""] == "NP"
    assert (route.unaries_ is None) == ENCODINGS[route.encoding].carries_unaries


def test_default_symbols_counted_by_hand() -> None:
    route = Reduction("spine").fit(
        [
            parse_bracket("(TOP (S (NP (DT a) (NN b)) (VP (VBD c))))"),
            parse_bracket("(ROOT (NP (NN b)))"),
            parse_bracket("(TOP (QP (NN b) (DT a)))"),
        ]
    )
    assert route.symbols_ == {"S", "NP", "VP", "QP"}
    # NN heads NP twice and QP once; VBD heads VP and S once each: the first by name.
    assert route.default_symbols_ == {"NN": "NP", "VBD": "S", "": "NP"}
    assert route.top_ == "TOP"


@pytest.mark.parametrize(("continuous", "gaps"), [(None, True), (False, True), (True, False)])
def test_whether_trees_with_gaps_are_decoded(continuous: bool | None, gaps: bool) -> None:
    ctree = parse_discbracket("(TOP (S (VP (WP 0=What) (VBP 2=say)) (NP (PRP 1=they))))")
    route = Reduction("spine", continuous=continuous).fit([ctree])
    assert (route.gaps_, route.is_continuous) == (gaps, not gaps)


def test_gold_d_trees_come_back(route: Reduction) -> None:
    repairs = Repairs()
    dtrees = [route.encode(ctree) for ctree in TREES]
    decoded = list(route.decode_all(dtrees, repairs))
    assert repairs.counts.total() == 0
    assert (repairs.sentences, repairs.tokens) == (300, sum(len(ctree.tokens) for ctree in TREES))
    if route.encoding == "spine":
        assert texts(decoded) == texts(TREES)
        return
    for gold, guess in zip(TREES, decoded, strict=True):
        (unaryless, chains), back = strip_unaries(canonical(gold)), strip_unaries(canonical(guess))[0]
        assert format_bracket(back) == format_bracket(unaryless)
        assert format_bracket(restore_unaries(back, chains)) == format_bracket(gold)
    # It was trained on these trees.
    assert sum(a == b for a, b in zip(texts(decoded), texts(TREES), strict=True)) >= 285


def test_a_loaded_route_decodes_identically(route: Reduction, saved: Path) -> None:
    loaded = Reduction.load(saved)
    names = ("encoding", "head_rules", "continuous", "seed", "symbols_", "default_symbols_", "top_")
    assert [getattr(loaded, name) for name in names] == [getattr(route, name) for name in names]
    dtrees = list(junk([route.encode(ctree) for ctree in TREES]))
    assert dtrees == list(junk([loaded.encode(ctree) for ctree in TREES]))
    counts, again = Repairs(), Repairs()
    assert texts(route.decode_all(dtrees, counts)) == texts(loaded.decode_all(dtrees, again))
    assert counts.counts == again.counts and counts.counts.total() > 0


def test_all_at_once_and_one_by_one_are_the_same(route: Reduction) -> None:
    dtrees = list(junk([route.encode(ctree) for ctree in TREES[:60]]))
    together, apart = Repairs(), Repairs()
    one_by_one = [route.decode(dtree, apart) for dtree in dtrees]
    assert texts(list(route.decode_all(dtrees, together))) == texts(one_by_one)
    assert (together.counts, together.tokens, together.sentences) == (apart.counts, apart.tokens, 60)


def test_confidences_come_with_the_same_trees(route: Reduction) -> None:
    dtrees = list(junk(list(map(route.encode, TREES))))
    repairs = Repairs(), Repairs()
    found = list(route.confidences_all(dtrees, repairs[0]))
    assert [ctree for ctree, _ in found] == list(route.decode_all(dtrees, repairs[1]))
    assert repairs[0].counts == repairs[1].counts and repairs[0].tokens == repairs[1].tokens
    assert route.confidences(dtrees[1]) == found[1]
    unsure = 0
    for ctree, shares in found:
        assert len(shares) == len(ctree.labels) and all(0 < share <= 1 for share in shares)
        for kids, share in zip(ctree.children, shares, strict=True):
            # Labels of a d-parser have no scores, nor have unary nodes that are in them.
            assert share == 1 or (len(kids) == 1 and route.unaries_ is not None)
            unsure += share < 1
    assert (unsure > 100) == (route.unaries_ is not None)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_node_is_as_sure_as_the_least_sure_label_that_makes_it(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "(TOP (S (NP (DT the) (JJ old) (NN cat)) (ADVP (RB now)) (VP (VP (VBZ sleeps)))))"
    ctree = parse_bracket(text)
    route = TwoStage(encoding).fit([ctree] * 3)
    dtree = route.encode(ctree)
    shares = (0.9, 0.8, 0.7, 0.6, 0.5)
    monkeypatch.setattr(route.labeler_, "label_with_shares", lambda dtrees, *_: [(d, shares) for d in dtrees])
    found, confidences = route.confidences(dtree)
    assert format_bracket(found) == text
    by_label = dict(zip(found.labels, confidences, strict=True))
    assert (by_label["NP"], by_label["S"]) == (0.8, 0.6)  # the, old; cat, now
    if encoding == "spine":
        assert (by_label["ADVP"], by_label["VP"]) == (0.6, 0.5)  # now, sleeps


def test_decoding_is_a_stream(route: Reduction) -> None:
    taken: list[int] = []

    def stream() -> Iterator[DTree]:
        for i in range(100_000):
            taken.append(i)
            yield route.encode(TREES[0])

    assert format_bracket(next(route.decode_all(stream()))) == format_bracket(route.decode(next(stream())))
    assert len(taken) < 2_000


def test_the_same_seed_gives_the_same_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        Reduction("delta", seed=5).fit(TREES[:100]).save(tmp_path / name)
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert len(files) >= 3
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes(), file


def test_an_unfitted_route_encodes_saves_and_decodes(tmp_path: Path) -> None:
    route = Reduction(head_rules="rightmost")
    dtree = route.encode(parse_bracket("(TOP (QQ (A a) (B b)))"))
    assert (dtree.heads, dtree.labels) == ((2, 0), ("QQ#1", "root"))
    route.save(tmp_path)
    loaded = Reduction.load(tmp_path)
    assert (loaded.symbols_, loaded.unaries_, loaded.head_rules) == (None, None, "rightmost")
    assert format_bracket(loaded.decode(dtree)) == "(TOP (QQ (A a) (B b)))"


def test_unknown_encoding_and_head_rules() -> None:
    with pytest.raises(ValueError, match=f"^unknown encoding 'h&n'; known are {KNOWN}$"):
        Reduction("h&n")
    with faulty("nowhere", about="chinese, collins, "):
        Reduction(head_rules="nowhere").encode(TREES[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 3}, "has format 3; this version of d2c reads 2"),
        ({"format": None}, "says no format"),
        (
            {"encoding": "x"},
            f"is broken (unknown encoding 'x'; known are {KNOWN}); train the model again",
        ),
        ({"top": ...}, "is broken (...`top`...); train the model again"),
        ({"symbols": 3}, "is broken (symbols is 3: ...); train the model again"),
    ],
)
def test_broken_settings(tmp_path: Path, change: dict[str, object], message: str) -> None:
    Reduction("spine").fit(TREES[:3]).save(tmp_path)
    file = tmp_path / "reduction.json"
    settings = json.loads(file.read_text()) | change
    file.write_text(json.dumps({name: value for name, value in settings.items() if value is not ...}))
    with pytest.raises(ModelError) as error:
        Reduction.load(tmp_path)
    words = ".*".join(map(re.escape, f"{file}: {message}".split("...")))  # what msgspec says stands for ...
    assert re.fullmatch(words, str(error.value))


def test_missing_and_unreadable_settings(tmp_path: Path) -> None:
    file = tmp_path / "reduction.json"
    for text, message in (
        (None, "cannot be read: No such file or directory"),
        ("{", "is not JSON"),
        ("[]", "holds no settings"),
    ):
        if text:
            file.write_text(text)
        with pytest.raises(ModelError) as error:
            Reduction.load(tmp_path)
        assert str(error.value) == f"{file}: {message}"


def test_a_missing_classifier_is_a_model_error(tmp_path: Path) -> None:
    route = Reduction().fit(TREES[:20])
    route.save(tmp_path)
    for path in tmp_path.rglob("*.npz"):
        path.unlink()
    with pytest.raises(ModelError):
        Reduction.load(tmp_path)
