"""D-parsers by name: one that is written in two ways has one shortest way."""

from __future__ import annotations

import math
from inspect import signature
from pathlib import Path

import pytest

from d2c.base.errors import ModelError
from d2c.base.settings import limits_of
from d2c.routes.dparsers import (
    DPARSERS,
    TAGGERS,
    class_of,
    import_class,
    make_dparser,
    make_tagger,
    shortest,
)
from d2c.training.spec import TrainingSpec


@pytest.mark.parametrize(
    ("written", "short"),
    [
        ("transition", "transition"),
        ("transition:standard", "transition"),
        ("transition:standard;greedy", "transition"),
        ("transition:eager;greedy", "transition:eager"),
        ("transition:standard;exact", "transition:standard;exact"),
        ("stanza:graph", "stanza"),
        ("stanza:transition", "stanza:transition"),
        ("udpipe:projective", "udpipe"),
        ("udpipe:projective;5", "udpipe:projective;5"),
        ("spacy:narrow", "spacy"),
        ("spacy:wide", "spacy:wide"),
        ("spacy:", "spacy:"),
        ("cmd:a;b;c", "cmd:a;b;c"),
        ("transition:standard;greedy;x", "transition:standard;greedy;x"),
    ],
)
def test_the_shortest_way_to_write_a_dparser(written: str, short: str) -> None:
    assert shortest(written) == short


@pytest.mark.parametrize("name", ["stanza", "spacy", "udpipe", "transition"])
def test_the_first_of_the_values_is_the_default(name: str) -> None:
    parameters = signature(class_of("d-parser", DPARSERS, name)).parameters
    for key, known in DPARSERS[name].own.items():
        assert not known or parameters[key].default == known[0]


@pytest.mark.parametrize(
    ("written", "train", "parse"),
    [
        ("cmd:a b;c d", "a b", "c d"),
        ("cmd:sh -c 'a; b';c", "sh -c 'a; b'", "c"),
        ('cmd:sh -c "a \\"; b";sh -c \'c;d\'', 'sh -c "a \\"; b"', "sh -c 'c;d'"),
        ("cmd:a\\;b;c", "a\\;b", "c"),
        ("cmd:a;b;c", "a", "b;c"),
        ("cmd:it's;c", "it's", "c"),  # which is no command, and is said to be none when it is to run
    ],
)
def test_commands_end_at_a_semicolon_outside_quotes(written: str, train: str, parse: str) -> None:
    parser = make_dparser(written)
    assert (parser.train_template, parser.parse_template) == (train, parse)  # type: ignore[attr-defined]


def test_only_commands_have_quotes() -> None:
    parser = make_dparser("file:it's;that's")
    assert (str(parser.training), str(parser.path)) == ("it's", "that's")  # type: ignore[attr-defined]
    with pytest.raises(ModelError, match="is not of the form cmd:TRAIN-TEMPLATE;PARSE-TEMPLATE$"):
        make_dparser("cmd:'a;b'")


@pytest.mark.parametrize("epochs", [-3, 0, math.nan, math.inf])
@pytest.mark.parametrize("name", ["stanza", "spacy", "udpipe", "transition"])
def test_passes_are_more_than_none(name: str, epochs: float, tmp_path: Path) -> None:
    pytest.importorskip({"udpipe": "ufal.udpipe", "transition": "d2c"}.get(name, name))
    parser = make_dparser(name, epochs=epochs, preset="small")
    with pytest.raises(ModelError, match=rf"^epochs is {epochs}, not more than 0$"):
        parser.train(tmp_path / "train.conllu", tmp_path / "dev.conllu", tmp_path / "model")
    if name in TAGGERS:
        tagger = make_tagger(name, {"epochs": epochs, "preset": "small"})
        with pytest.raises(ModelError, match=rf"^epochs is {epochs}, not more than 0$"):
            tagger.train(tmp_path / "train.conllu", tmp_path / "dev.conllu", tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("path", [one.path for one in (*DPARSERS.values(), *TAGGERS.values())])
def test_seeds_have_one_range(path: str) -> None:
    made = import_class("", "", path, "")
    if "seed" in signature(made).parameters:
        assert limits_of(made, "seed") == limits_of(TrainingSpec, "seed")
        assert limits_of(made, "seed").most == 2**32 - 1


def test_what_is_gone_says_what_to_do() -> None:
    with pytest.raises(ModelError, match="--tagger spacy"):
        make_tagger("nltk", {})
