"""Whatever reads treebanks reads JSON lines of `d2c parse` and Parquet of `d2c corpus`, too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import d2c
from d2c.commands.cli import cli
from d2c.trees.formats.conllu import read_conllu

SHE: dict[str, Any] = {
    **{"file": "a.txt", "line": 1, "text": "She left.", "tokens": ["She", "left", "."]},
    **{"tags": ["PRP", "VBD", "."], "offsets": [[0, 3], [4, 8], [8, 9]]},
    "spans": [
        {"label": "S", "start": 0, "end": 3, "head": 1, "confidence": 0.5},
        {"label": "NP", "start": 0, "end": 1, "head": 0, "confidence": 1.0},
        {"label": "VP", "start": 1, "end": 2, "head": 1, "confidence": 0.75},
    ],
}
FAILED: dict[str, Any] = {
    **{"file": "a.txt", "line": 2, "tokens": [], "tags": [], "spans": [], "error": "cannot be parsed"}
}
HE = SHE | {
    "line": 3,
    "text": "He left.",
    "tokens": ["He", "left", "."],
    "offsets": [[20, 22], [23, 27], [27, 28]],
}
BRACKETS = "(TOP (S (NP (PRP {})) (VP (VBD left)) (. .)))"
ERROR = "(TOP (ERROR (ERROR ERROR)))"


@pytest.fixture(params=["parsed.jsonl", "parsed"])
def parsed(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a file, or a directory, with three sentences, of which the second was not parsed."""
    monkeypatch.chdir(tmp_path)
    path = Path(request.param)
    if path.suffix:
        path.write_text("".join(json.dumps(one) + "\n" for one in (SHE, FAILED, HE)))
        return request.param
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    from d2c.corpora.rows import SCHEMA

    rows = [
        one
        | {"bracket": None if one is FAILED else BRACKETS.format(one["tokens"][0]), "document_id": "a"}
        | {"sentence_id": f"a:{one['line']}", "heads": None if one is FAILED else [2, 0, 2]}
        | {"offsets": [{"start": start, "end": end} for start, end in one.get("offsets", [])]}
        for one in (SHE, FAILED, HE)
    ]
    path.mkdir()
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), path / "part-000000.parquet")
    return request.param


def run(*arguments: str) -> Result:
    done = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


def is_told(done: Result) -> bool:
    """Whether the second sentence is named, with the reason, and counted."""
    told = done.stderr
    return told.count("sentence 2: cannot be parsed\n") == told.count(": 1 left out\n") == 1


def test_convert_keeps_what_is_said(parsed: str) -> None:
    done = run("convert", parsed, "x.export")
    assert done.stderr.endswith(": left out: 6 confidences, 6 text offsets\n")
    first, failed, last = [line for line in Path("x.export").read_text().splitlines() if "#BOS" in line]
    assert "%% file = a.txt" in first and "%% line = 1" in first and "%% text = She left." in first
    assert "%% error = cannot be parsed" in failed and "%% text = He left." in last
    assert ("%% document_id = a" in last) == ("%% sent_id = a:3" in last) == (not parsed.endswith("l"))
    assert run("convert", parsed, "-").stdout.splitlines() == [
        BRACKETS.format("She"),
        ERROR,
        BRACKETS.format("He"),
    ]
    run("convert", "x.export", "back.mrg")
    assert Path("back.mrg").read_text().splitlines()[0] == BRACKETS.format("She")


def test_marked_heads_are_the_parsers(parsed: str) -> None:
    for rules, heads in (("marked", (2, 0, 2)), ("leftmost", (0, 1, 1)), ("collins", (2, 0, 2))):
        assert is_told(run("encode", parsed, "-o", "x.conllu", "--head-rules", rules))
        assert [dtree.heads for dtree in read_conllu("x.conllu")] == [heads] * 2
    assert "# text = She left.\n" in Path("x.conllu").read_text()
    assert is_told(run("heads", parsed))


def test_a_guess_may_have_failed(parsed: str) -> None:
    Path("gold.mrg").write_text("".join(BRACKETS.format(word) + "\n" for word in ("She", "It", "He")))
    done = run("evaluate", "gold.mrg", parsed)
    assert [line.split()[2] for line in done.stdout.splitlines()[3:6]] == ["0", "3", "0"] and not done.stderr


def test_python_reads_it(parsed: str) -> None:
    with pytest.warns(UserWarning, match="sentence 2: cannot be parsed; left out"):
        she, he = d2c.read(parsed)
    assert (str(she), str(he), he.text) == (BRACKETS.format("She"), BRACKETS.format("He"), "He left.")
    assert (he.offsets, he.heads) == (((20, 22), (23, 27), (27, 28)), (1, 1, 1))
    assert dict(zip(he.labels, [span.confidence for span in he.spans()], strict=True)) == {
        **{"S": 0.5, "NP": 1.0, "VP": 0.75}
    }


def test_a_model_learns_from_it(parsed: str) -> None:
    command = ("train", parsed, "--dev", parsed, "--dparser", "gold", "--route", "reduction")
    assert is_told(run(*command, "-o", "MODEL"))
    assert not [file for file in Path("MODEL").rglob("*.json") if "ERROR" in file.read_text()]


@pytest.mark.parametrize("command", ["search S", "phrases --label S"])
def test_sentences_keep_their_numbers(parsed: str, command: str) -> None:
    done = run(*command.split(), parsed)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert [row[rows[0].index("sentence")] for row in rows[1:]] == ["1", "3"] and is_told(done)


def test_files_of_other_programs_say_what_they_are(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"words": ["a"],\n "id": 1}\n')
    done = CliRunner().invoke(cli, ["encode", str(path)])
    tried = "corenlp, jsontrees, json (of `d2c parse`); --format says what else it is"
    assert str(done.exception) == f"{path}: is JSON with the keys words, id, which is none of {tried}"
