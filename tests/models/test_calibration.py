"""Confidences become probabilities: what is learned of held-out parses, kept in a model, and applied."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from d2c.api.parser import Parser
from d2c.base.errors import ModelError
from d2c.commands.cli import cli
from d2c.experiments.reliability import reliability
from d2c.models.calibration import Calibration, Judged, calibrated
from d2c.models.model import Model
from d2c.training.spec import TrainingSpec
from d2c.training.train import train_models
from d2c.trees.constraints import LabelledSpan, SpanConstraints
from d2c.trees.formats.brackets import format_bracket, parse_bracket, read_brackets, save_brackets

RIGHT = parse_bracket("(S (NP (D a) (N b)) (VP (V c)))")
WRONG = parse_bracket("(S (NP (D a) (N b)) (PP (V c)))")  # with a PP that gold does not have
WORD = parse_bracket("(TOP (N Wetter))")


def parses(seed: int, count: int) -> list[Judged]:
    """What a route says is always 1; every NP and S is right, seven of ten PPs are wrong."""
    rng = Random(seed)
    return [Judged(WRONG if rng.random() < 0.3 else RIGHT, WRONG, (1.0, 1.0, 1.0)) for _ in range(count)]


@pytest.fixture(scope="module")
def fitted() -> Calibration:
    """What is learned of a thousand parses and a word alone, with the rules of two trees."""
    calibration = Calibration.fit([*parses(1, 1000), Judged(WORD, WORD, ())], [RIGHT] * 2)
    assert calibration is not None
    return calibration


def test_what_is_learned(fitted: Calibration) -> None:
    shares = dict(zip(WRONG.labels, fitted(WRONG, (1.0, 1.0, 1.0)), strict=True))
    assert shares["PP"] == pytest.approx(0.3, abs=0.04) and min(shares["NP"], shares["S"]) > 0.97
    assert fitted.rules == {"NP D N": 2, "VP V": 2, "S NP VP": 2} and fitted.words == {"a", "b", "c"}
    held_out = parses(2, 500)
    right = [good for one in held_out for good in one.right()]
    raw = reliability([1.0] * len(right), right)
    calibrated = reliability([share for one in held_out for share in fitted(one.ctree, one.shares)], right)
    assert raw.error > 0.2 and calibrated.error < 0.03


def test_what_sums_mean() -> None:
    """The line from one sum to the next. An S has no rule here."""
    weights = {"bias": -1.0, "label S": 2.0, "label NP": 1.0, "label VP": -9.0}
    steps = Calibration(weights, {}, frozenset(), (-1.0, 0.0, 2.0), (0.1, 0.5, 0.9))
    assert steps(RIGHT, (1.0, 1.0, 1.0)) == pytest.approx([0.5, 0.1, 0.7])
    with pytest.raises(ValueError, match="is not rising"):
        replace(steps, sums=(), shares=())


@pytest.mark.parametrize("field", ["weights", "rules", "words", "sums", "shares"])
def test_any_file_is_refused_or_has_probabilities(field: str, tmp_path: Path) -> None:
    said = {"format": 1, "weights": {"bias": -1.0, "odds": 2.0}, "rules": {"NP D N": 2}, "words": ["a"]}
    said |= {"sums": [-1.0, 0.0, 2.0], "shares": [0.1, 0.5, 0.9]}
    file, refused = tmp_path / "calibration.json", 0
    for value in (0, -1, 1, 2**31, 2**63, 10**400, -(10**400), 1e308, -1e308, 5e-324, 1e30, 1e31):
        given = said[field]
        if isinstance(given, dict):
            changed: object = dict.fromkeys(given, value)
        else:
            changed = [value, *given[1:]] if value < 0 else [*given[:-1], value]
        file.write_text(json.dumps(said | {field: changed}))
        try:
            shares = Calibration.load(file)(RIGHT, (0.0, 1.0, 0.3))
        except ModelError:
            refused += 1
        else:
            assert all(0 <= share <= 1 for share in shares), (field, value)
    assert refused == {"weights": 5, "rules": 9, "words": 12, "sums": 5, "shares": 11}[field]


def test_no_more_is_known_than_was_learned(tmp_path: Path) -> None:
    for said in {"rules": {f"A {n}": 1 for n in range(10_001)}}, {"words": [f"{n}" for n in range(10_001)]}:
        whole = {"format": 1, "weights": {}, "rules": {}, "words": [], "sums": [0.0], "shares": [0.5]}
        (tmp_path / "x.json").write_text(json.dumps(whole | said))
        with pytest.raises(ModelError, match="of length <= 10000"):
            Calibration.load(tmp_path / "x.json")


def test_confidences_are_probabilities_whatever_a_route_says() -> None:
    assert calibrated(RIGHT, (float("nan"), 1.0000001, -1e-9))[1] == (0.0, 1.0, 0.0)


def test_words_that_are_new() -> None:
    known = Calibration({"unknown in sentence": 1.0}, {}, frozenset("ab"), (0.0, 2.0), (0.0, 1.0))
    assert known(RIGHT, (1.0, 1.0, 1.0)) == pytest.approx([0.5] * 3)
    [first, *_] = known.features(RIGHT, (1.0, 1.0, 1.0))
    assert first["unknown in sentence"] == pytest.approx(1.0)


def test_the_length_of_sentences_is_not_learned_and_tags_less_than_labels(
    fitted: Calibration,
) -> None:
    """Every PP ends in V, and no other constituent does but the right VP and S: either could say it."""
    assert "sentence" not in fitted.weights
    assert abs(fitted.weights["PP ends V"]) == pytest.approx(0.09 * abs(fitted.weights["label PP"]), rel=1e-3)


def test_what_is_learned_rises(fitted: Calibration) -> None:
    assert fitted.sums == tuple(sorted(fitted.sums))
    assert fitted.shares == tuple(sorted(fitted.shares)) and len(fitted.shares) == len(fitted.sums) > 1
    assert fitted.shares[0] >= 0.005 and fitted.shares[-1] == 0.995
    with pytest.raises(ValueError, match="is not rising"):
        replace(fitted, shares=fitted.shares[::-1])


def test_nothing_is_learned_of_little_and_of_what_is_all_right() -> None:
    assert Calibration.fit(parses(1, 100), []) is None
    assert Calibration.fit([Judged(RIGHT, RIGHT, (1.0, 1.0, 1.0))] * 1000, []) is None


def test_it_is_kept_in_a_model(fitted: Calibration, small_model: Path, tmp_path: Path) -> None:
    model = Model.load(small_model)
    ctree, shares = model.route.confidences(next(model.parse_dependencies([RIGHT.tokens])))
    assert model.calibration is None
    model.calibration = fitted
    model.save(tmp_path / "model", small_model)
    loaded = Model.load(tmp_path / "model").calibration
    assert loaded is not None and shares is not None
    assert loaded(ctree, shares) == pytest.approx(fitted(ctree, shares), abs=1e-3)
    file = tmp_path / "model" / "calibration" / "calibration.json"
    said = json.loads(file.read_text())
    assert sorted(said) == ["format", "rules", "shares", "sums", "weights", "words"]
    assert said["rules"]["NP D N"] == 2 and said["words"] == ["a", "b", "c"]
    file.write_text("{}")
    with pytest.raises(ModelError, match=r"calibration\.json: is damaged"):
        Model.load(tmp_path / "model")


def test_training_learns_it(tmp_path: Path) -> None:
    """From dev, which is large enough here, and what parses are given are these probabilities."""
    sample, files = Path(__file__).parents[2] / "data" / "sample" / "train.mrg", list[Path]()
    ctrees = read_brackets(sample)
    for name, count in (("train", 100), ("dev", 120)):
        files.append(tmp_path / f"{name}.mrg")
        save_brackets(islice(ctrees, count), files[-1])
    train, dev = files
    train_models(TrainingSpec.of(train, dev, dparser="spacy", epochs=1), [tmp_path / "model"])
    parser = Parser([tmp_path / "model"])
    assert parser.models[0].calibration is not None
    [sentence] = parser.parse_tagged([[("The", "DT"), ("dog", "NN"), ("slept", "VBD"), (".", ".")]])
    dtree = next(parser.models[0].parse_dependencies([sentence.tree.ctree.tokens]))
    ctree, shares = parser.models[0].route.confidences(dtree)
    assert shares is not None and sentence.tree.confidences == parser.models[0].calibration(ctree, shares)
    assert all(0 < share < 1 for share in sentence.tree.confidences)


def test_a_tree_of_one_word_alone(fitted: Calibration) -> None:
    """It has no node, so nothing of it is judged."""
    assert WORD.labels == () and fitted(WORD, ()) == ()


def test_what_users_require_with_its_label_is_certain() -> None:
    """Found or put in, and whatever the least confidence is; the label of another is the parser's guess."""
    judge, given = Calibration({"bias": -1.0}, {}, frozenset(), (-1.0,), (0.25,)), (0.5, 0.5, 0.5)
    guess, noun_phrase = 0.25, LabelledSpan(0, 2, "NP")
    for least in (0.0, 0.2):
        wanted = SpanConstraints((noun_phrase, LabelledSpan(2, 3)))
        assert calibrated(RIGHT, given, judge, least, wanted)[1] == pytest.approx((1, guess, guess))
    ctree, shares = calibrated(RIGHT, given, judge, 0.3, SpanConstraints((noun_phrase,)))
    assert format_bracket(ctree) == "(S (NP (D a) (N b)) (V c))" and shares == pytest.approx((1, guess))


def test_what_is_put_in_is_as_certain(tmp_path: Path) -> None:
    """Whether all constituents are shown or the confident ones."""
    file = tmp_path / "x.jsonl"
    file.write_text('{"tokens": ["They", "saw", "the", "cat", "."], "require": [[0, 3, "XX"]]}\n')
    for least in ("0", "0.5"):
        command = ["parse", "en-small", str(file), "--json", "--to", "json", "--min-confidence", least]
        run = CliRunner().invoke(cli, command, catch_exceptions=False)
        spans = json.loads(run.stdout)["spans"]
        assert {one["label"]: one["confidence"] for one in spans}["XX"] == 1.0
