"""A sentence of thousands of words keeps its place among the others, in pieces, and `d2c parse` says so."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from d2c.commands.cli import cli
from d2c.trees.formats.conllu import read_conllu


def parse(model: Path, file: Path, *options: str) -> Result:
    run = CliRunner().invoke(cli, ["parse", str(model), str(file), "--tokenized", *options])
    assert run.exit_code == 0, run.output
    return run


def test_a_long_sentence(tagged_model: Path, tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    file.write_text("the dog slept .\n" + "the dog saw a cat and " * 500 + "\nshe slept .\n")
    run = parse(tagged_model, file, "--to", "json")
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    found = [(line.get("pieces"), len(line["tokens"])) for line in lines]
    assert found == [(None, 4), (20, 3_000), (None, 3)]
    top = lines[1]["spans"][0]
    assert (top["start"], top["end"]) == (0, 3_000)
    assert "1 sentence of more than 200 words parsed in pieces; see --max-words\n" in run.stderr
    assert "3 sentences, 3,007 tokens, " in run.stderr


def test_its_d_tree_and_shorter_pieces(tagged_model: Path, tmp_path: Path) -> None:
    file, output = tmp_path / "x.txt", tmp_path / "x.conllu"
    file.write_text("the dog slept .\n" + "the dog saw a cat and " * 10 + "\n")
    run = parse(tagged_model, file, "-o", str(output), "--max-words", "20")
    assert "1 sentence of more than 20 words parsed in pieces" in run.stderr
    dtrees = [*read_conllu(output)]
    assert [(len(dtree.heads), dtree.is_tree()) for dtree in dtrees] == [(4, True), (60, True)]
    assert dtrees[1].labels and dtrees[1].labels.count("dep") == 3
