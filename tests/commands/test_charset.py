"""`--charset` says the encoding of all texts that a command reads, of d-trees, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from d2c.commands.cli import cli

CONLLU = "1\tÜb\t_\tN\tN\t_\t2\tNP#1\t_\t_\n2\tä\t_\tV\tV\t_\t0\troot\t_\t_\n\n"
TREES = "(NP (N Üb) (V ä))\n"
ROWS = "#BOS 1\nÜb\t--\tN\t--\t--\t500\nä\t--\tV\t--\tHD\t500\n#500\t--\tNP\t--\t--\t0\n#EOS 1\n"


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ("decode x.conllu -o -", TREES.strip()),
        ("decode x.conllu -o - --to export", "Üb\t--\tN\t--"),
        ("decode x.conllu -o - --jobs 2", TREES.strip()),
        ("evaluate x.conllu x.conllu --metric attachment", "UAS 100.00  LAS 100.00  (2 tokens"),
        ("evaluate x.mrg x.mrg --raw", "Bracketing FMeasure       = 100.00"),
        ("convert x.mrg - --to export --heads x.conllu", ROWS),
        ("heads x.mrg --induce x.conllu", "NP left V\n"),
        ("draw x.conllu", "2  ä   V  root"),
        ("combine x.conllu x.conllu x.conllu", "2\tä\t"),
        ("view x.mrg --dtrees x.conllu -o -", "Üb"),
    ],
)
def test_texts_of_all_kinds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, shown: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.conllu").write_text(CONLLU, encoding="latin-1")
    Path("x.mrg").write_text(TREES, encoding="latin-1")
    done = CliRunner().invoke(cli, [*arguments.split(), "--charset", "latin-1"])
    assert done.exit_code == 0, done.output or done.exception
    assert shown in done.stdout
    assert "not UTF-8" in str(CliRunner().invoke(cli, arguments.split()).exception)
