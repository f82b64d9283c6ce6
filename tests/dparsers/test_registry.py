"""D-parsers by name: one that is written in two ways has one shortest way."""

from __future__ import annotations

from inspect import signature

import pytest

import d2c.training  # noqa: F401 (registers the d-parser `transition`)
from d2c.dparsers.registry import DPARSERS, class_of, shortest


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
        ("spacy", "spacy"),
        ("spacy:", "spacy:"),
        ("cmd:a;b;c", "cmd:a;b;c"),
        ("transition:standard;greedy;x", "transition:standard;greedy;x"),
    ],
)
def test_the_shortest_way_to_write_a_dparser(written: str, short: str) -> None:
    assert shortest(written) == short


@pytest.mark.parametrize("name", ["stanza", "udpipe", "transition"])
def test_the_first_of_the_values_is_the_default(name: str) -> None:
    parameters = signature(class_of("d-parser", DPARSERS, name)).parameters
    for key, known in DPARSERS[name].own.items():
        assert not known or parameters[key].default == known[0]
