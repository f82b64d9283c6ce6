"""D-parsers by name: one that is written in two ways has one shortest way."""

from __future__ import annotations

import math
from inspect import signature

import pytest

from d2c.automata.settings import TransitionSettings
from d2c.base.errors import ModelError, ParameterError
from d2c.base.settings import told_of, types_of
from d2c.dparsers.settings import SpacySettings
from d2c.protocols.settings import SharedSettings
from d2c.routes.dparsers import DPARSERS, TAGGERS, DParserRow, make_dparser, make_tagger, shortest
from d2c.routes.rows import class_of


@pytest.mark.parametrize(
    ("written", "short"),
    [
        ("transition", "transition"),
        ("transition:standard", "transition"),
        ("transition:standard;greedy", "transition"),
        ("transition:eager;greedy", "transition:eager"),
        ("transition:standard;exact", "transition:standard;exact"),
        ("stanza:graph", "stanza"),
        ("stanza:joint", "stanza:joint"),
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


def test_the_first_of_the_values_is_the_default() -> None:
    for row in DPARSERS.values():
        for name in row.own:
            known = told_of(row.settings, name).choices
            assert not known or getattr(row.settings, name) == known[0]


def test_settings_that_need_no_library_are_those_of_the_libraries() -> None:
    from d2c.automata.exact import SEARCHES
    from d2c.automata.static_oracles import SYSTEMS
    from d2c.dparsers.spacy.parser import SIZES

    for settings, name, known in (
        (TransitionSettings, "system", SYSTEMS),
        (TransitionSettings, "search", SEARCHES),
        (SpacySettings, "network", SIZES),
    ):
        assert told_of(settings, name).choices == tuple(known)


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
    assert (parser.settings.train_command, parser.settings.parse_command) == (train, parse)


def test_only_commands_have_quotes() -> None:
    parser = make_dparser("file:it's;that's")
    assert (str(parser.training), str(parser.path)) == ("it's", "that's")  # type: ignore[attr-defined]
    with pytest.raises(ModelError, match="is not of the form cmd:TRAIN-COMMAND;PARSE-COMMAND$"):
        make_dparser("cmd:'a;b'")


@pytest.mark.parametrize("epochs", [-3, 0, math.nan, math.inf])
def test_passes_are_more_than_none(epochs: float) -> None:
    for settings in (SharedSettings, *(row.settings for row in (*DPARSERS.values(), *TAGGERS.values()))):
        if "epochs" in types_of(settings):
            message = rf"^epochs is {epochs}, not more than 0 and at most 10000$"
            with pytest.raises(ParameterError, match=message) as error:
                settings(epochs=epochs)
            assert (error.value.parameter, error.value.as_option()[:8]) == ("epochs", "--epochs")


def test_shared_settings_have_one_range() -> None:
    """But for presets: `finetune` is for those that take a transformer."""
    for row in (*DPARSERS.values(), *TAGGERS.values()):
        for name in (types_of(row.settings).keys() & types_of(SharedSettings).keys()) - {"preset"}:
            own, shared = told_of(row.settings, name), told_of(SharedSettings, name)
            assert own._replace(help="", option="") == shared._replace(help="", option=""), (row.path, name)
    assert told_of(SharedSettings, "seed").most == 2**32 - 1


@pytest.mark.parametrize("row", [*DPARSERS.values(), *TAGGERS.values()])
def test_what_is_loaded_is_given_is_a_parameter_of_load(row: DParserRow) -> None:
    name = {one: name for rows in (DPARSERS, TAGGERS) for name, one in rows.items()}[row]
    made = class_of("d-parser", {name: row}, name)
    assert {*signature(made.load).parameters} - {"directory"} >= {*row.loaded}
    assert row.text == getattr(made.abilities, "text", False)
    if row.quick:
        opened = signature(class_of("d-parser", {name: row.quick}, name).opened).parameters
        assert {*opened} - {"directory"} == {*row.loaded}


def test_unknown_names_say_which_are_known() -> None:
    with pytest.raises(ModelError, match="tagger 'nltk'; known are stanza, spacy$"):
        make_tagger("nltk")
    with pytest.raises(ModelError, match="graph"):
        make_dparser("stanza:transition")
    with pytest.raises(ModelError, match="d-parser 'nltk'"):
        make_dparser("nltk")
