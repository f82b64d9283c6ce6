"""What is parsed by a route that does not say how sure it is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from d2c.parsing.stream import Request, parse_file
from d2c.training.model import Model
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.errors import FormatError, ModelError
from d2c.trees.repair import Repairs


class Flat:
    """A d-parser whose first word is the head of all others, and a route that makes one constituent."""

    def parse(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        return (DTree(tokens, (0, *[1] * (len(tokens) - 1))) for tokens in sentences)

    def decode_all(self, dtrees: Iterable[DTree], repairs: Repairs) -> Iterator[CTree]:
        return (CTree(d.tokens, ("S",), (tuple(range(len(d.heads))),), (0,), "TOP") for d in dtrees)


def refuse(error: FormatError) -> None:
    raise error


def test_a_route_without_confidences(tmp_path: Path) -> None:
    file = tmp_path / "x.conllu"
    file.write_text("1\ta\t_\tA\tA\t_\t0\tr\t_\t_\n2\tb\t_\tB\tB\t_\t1\tr\t_\t_\n\n")
    flat: Any = Flat()
    model, stream = Model("flat", flat, "flat", flat), StringIO()
    parse_file(model, Request(file, "conllu", "json"), stream, refuse)
    assert json.loads(stream.getvalue())["spans"] == [{"label": "S", "start": 0, "end": 2, "head": 0}]
    with pytest.raises(ModelError, match="the route flat does not say how sure it is of constituents"):
        parse_file(model, Request(file, "conllu", "brackets", 0.5), stream, refuse)
