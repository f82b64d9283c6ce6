"""Constrained CKY as the route of a model directory."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import islice
from pathlib import Path

from click.testing import CliRunner

from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.commands.cli import cli
from d2c.trees.formats.brackets import format_bracket, read_brackets
from d2c.trees.formats.conllu import write_conllu

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample" / "train.mrg"


def test_decode_with_a_model_of_this_route(tmp_path: Path) -> None:
    trees = list(islice(read_brackets(SAMPLE, clean=True), 50))
    route = ConstrainedCKY(epochs=5, table_bits=16).fit(trees)
    model, conllu = tmp_path / "model", tmp_path / "x.conllu"
    route.save(model / "route")
    (model / "model.json").write_text(json.dumps({"format": 2, "route": "cky", "dparser": "stanza"}))
    with open(conllu, "w", encoding="utf-8") as stream:
        write_conllu(map(route.encode, trees), stream)
    result = CliRunner().invoke(cli, ["decode", str(conllu), "-m", str(model), "--jobs", "1"])
    assert result.exit_code == 0, result.output
    expected = [format_bracket(route.decode(route.encode(tree))) for tree in trees]
    assert [line for line in result.stdout.splitlines() if line.startswith("(")] == expected
    assert sum(line == format_bracket(tree) for line, tree in zip(expected, trees, strict=True)) >= 45


def test_commands_of_the_other_route_do_not_wait_for_numba() -> None:
    code = "import d2c.commands.cli, sys; print('numba' in sys.modules)"
    root = SAMPLE.parent.parent.parent
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
