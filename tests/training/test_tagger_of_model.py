"""`d2c train --tagger`: a model with a tagger, on the treebank's tags and on predicted ones."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from d2c.base.errors import ModelError
from d2c.commands.cli import cli
from d2c.models.model import Model, load_abbreviations
from d2c.protocols.training import accuracy
from d2c.trees.ctree import Tokens
from d2c.trees.formats.brackets import read_brackets, save_brackets
from d2c.trees.scores.brackets import bracket_scores

pytest.importorskip("spacy")

SAMPLE = Path(__file__).parents[2] / "data" / "sample" / "train.mrg"
OPTIONS = ("--preset", "small", "--dparser", "spacy", "--epochs", "2")


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    directory = tmp_path_factory.mktemp("treebank")
    ctrees = read_brackets(SAMPLE)
    files = directory / "train.mrg", directory / "dev.mrg"
    for file, count in zip(files, (150, 20), strict=True):
        save_brackets(islice(ctrees, count), file)
    return files


@pytest.fixture(scope="module")
def compared(treebank: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """Models of two routes that learned from predicted tags, in a directory, and what the command said."""
    directory = tmp_path_factory.mktemp("compared") / "m"
    options = ["--tagger", "spacy", "--tags", "predicted", "--jackknife", "2", "--route", "reduction"]
    arguments = ["compare", *map(str, treebank), *OPTIONS, *options, "--route", "cky", "-o", str(directory)]
    run = CliRunner().invoke(cli, arguments)
    assert run.exit_code == 0, run.output
    return directory, run


@pytest.mark.slow
def test_predicted_tags(treebank: tuple[Path, Path], compared: tuple[Path, Result]) -> None:
    directory, output = compared[0] / "reduction", compared[1].output
    assert output.count("jackknife: tagger") == 2 and output.count("dev accuracy") == 14
    settings = json.loads((directory / "model.json").read_text())
    assert {file.partition("/")[0] for file in settings.pop("files")} == {"route", "dparser", "tagger"}
    assert settings == {
        **{"format": 2, "route": "reduction", "dparser": "spacy"},
        **{"tagger": "spacy", "tags": "predicted"},
    }
    assert {path.name for path in directory.iterdir()} == {"model.json", "route", "dparser", "tagger"}
    model = Model.load(directory)
    gold = [tree.tokens for tree in read_brackets(treebank[1], clean=True)]
    untagged = [Tokens.untagged(tokens.forms) for tokens in gold]
    assert model.tagger is not None
    tags = [tokens.tags for tokens in model.tagger.tag(tokens.forms for tokens in gold)]
    for sentences in (gold, untagged):  # tags of their own play no part
        parsed = [*model.parse(sentences)]
        assert [tree.tokens.forms for tree in parsed] == [tokens.forms for tokens in gold]
        assert [tree.tokens.tags for tree in parsed] == tags
    right = sum(a == b for x, y in zip(tags, gold, strict=True) for a, b in zip(x, y.tags, strict=True))
    assert right / sum(map(len, gold)) > 0.8
    info = CliRunner().invoke(cli, ["info", str(directory)])
    said = [tuple(line.split()) for line in info.output.splitlines()]
    assert {("tagger", "spacy"), ("tags", "predicted"), ("tagger.preset", "small")} <= {*said}


def test_tags_of_the_treebank(tagged_model: Path, tmp_path: Path) -> None:
    model = Model.load(tagged_model)
    assert (model.tagger_name, model.tags) == ("spacy", "gold")
    model.save(tmp_path / "copy", tagged_model)
    copy = Model.load(tmp_path / "copy")
    abbreviations = [load_abbreviations(place / "tagger") for place in (tagged_model, tmp_path / "copy")]
    assert copy.tagger_name == "spacy" and abbreviations[0] == abbreviations[1]
    odd = Tokens(("the", "cat"), ("X", "Y"))
    assert next(model.parse([odd])).tokens == odd
    assert model.tagger is not None
    bare = Tokens(odd.forms, ("", "Y"), odd.forms)
    [tags] = [tokens.tags for tokens in model.tagger.tag([odd.forms])]
    assert all(tags) and not {"X", "Y"} & {*tags}
    parsed = [tree.tokens for tree in model.parse([odd, bare, Tokens(("a",), ("",)), odd])]
    assert parsed[:2] == [odd, Tokens(odd.forms, tags, odd.forms)] and parsed[3] == odd
    model.tagger = None
    with pytest.raises(
        ModelError, match="^words need a tagger, and this model has none; train it with --tag"
    ):
        next(model.parse([odd, bare]))
    assert next(model.parse([odd])).tokens == odd


@pytest.mark.slow
def test_routes_compared_on_predicted_tags(
    treebank: tuple[Path, Path], compared: tuple[Path, Result]
) -> None:
    directory, run = compared
    lines = run.stdout.splitlines()
    [told] = [line for line in lines if line.startswith("tags predicted, accuracy ")]
    dev = [tree.tokens for tree in read_brackets(treebank[1], clean=True)]
    for name in ("reduction", "cky"):
        model = Model.load(directory / name)
        assert (model.tagger_name, model.tags) == ("spacy", "predicted")
        assert model.tagger is not None and (directory / name / "tagger" / "abbreviations.json").is_file()
        right = accuracy(dev, model.tagger.tag(tokens.forms for tokens in dev))
        assert 0.8 < right < 1 and told.startswith(f"tags predicted, accuracy {100 * right:.2f}; ")
    rows = {tuple(line.split()[:2]): line.split()[2:] for line in lines[2:7]}
    assert rows["reduction", "gold"][:2] == [
        "100.00",
        "100.00",
    ]  # whatever the tags
    # Scored with the treebank's tags: what is punctuation is not the tagger's to say.
    parsed = [*Model.load(directory / "reduction").parse(dev)]
    gold = [*read_brackets(treebank[1], clean=True)]
    parsed = [replace(tree, tokens=tokens) for tree, tokens in zip(parsed, dev, strict=True)]
    assert rows["reduction", "spacy"][4] == f"{bracket_scores(gold, parsed).f1:.2f}"
    assert float(rows["oracle", "spacy"][4]) >= float(rows["cky", "spacy"][4])


def test_options_that_do_not_fit(treebank: tuple[Path, Path], tmp_path: Path) -> None:
    arguments = ["train", str(treebank[0]), "--dev", str(treebank[1]), "-o", str(tmp_path / "m")]
    run = CliRunner().invoke(cli, [*arguments, "--tags", "predicted"])
    assert run.exit_code == 2 and "--tags predicted needs --tagger stanza or --tagger spacy" in run.output
    run = CliRunner().invoke(
        cli, [*arguments, "--tagger", "spacy", "--tags", "predicted", "--jackknife", "1"]
    )
    assert run.exit_code == 2 and not (tmp_path / "m").exists()
