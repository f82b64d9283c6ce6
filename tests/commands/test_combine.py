"""`d2c combine`: files in and out, weights, JSON lines, and what is wrong with files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from d2c.base.errors import FormatError
from d2c.commands.cli import cli
from d2c.parsing.json_lines import read_json_lines

A = "(TOP (S (NP (D the) (N cat)) (VP (V sat) (PP (P on) (N -LRB-)))))\n(TOP (S (V go)))\n"
B = "(TOP (S (NP (D the) (N cat)) (VP (V sat)) (PP (P on) (N -LRB-))))\n(TOP (X (V go)))\n"
FAILED = "(TOP (ERROR (ERROR ERROR)))\n"
GAPS = "(S (VP (A 0=x) (B 2=z)) (C 1=y))\n"
LINE = {"tokens": ["a", "b"], "tags": ["A", "B"], "spans": [{"label": "S", "start": 0, "end": 2, "head": 1}]}


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["combine", *map(str, arguments)])


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    texts = {"a.mrg": A, "b.mrg": B, "c.mrg": A.splitlines(keepends=True)[0] + FAILED}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return [tmp_path / name for name in texts]


def test_a_majority(files: list[Path]) -> None:
    """The third parser failed at the second sentence: of the two roots the first one's stays."""
    done = run(*files)
    assert (done.exit_code, done.stdout, done.stderr) == (0, A, "")
    assert run(files[2], files[2]).stdout == A.splitlines(keepends=True)[0] + FAILED


def test_who_has_traces_alone_does_not_vote(files: list[Path], tmp_path: Path) -> None:
    traces = tmp_path / "traces.mrg"
    traces.write_text(A.splitlines(keepends=True)[0] + "(TOP (S (-NONE- *)))\n")
    assert run(files[0], traces, files[1]).stdout == run(files[0], files[2], files[1]).stdout == A


def test_agreement_is_written(files: list[Path]) -> None:
    first, second = map(json.loads, run("--to", "json", *files).stdout.splitlines())
    assert first["tokens"][-1] == "(" and first["line"] == 1
    assert [(span["label"], span["confidence"]) for span in first["spans"]] == [
        *(("S", 1.0), ("NP", 1.0), ("VP", 0.666667), ("PP", 1.0))
    ]
    assert second["spans"] == [{"label": "S", "start": 0, "end": 1, "confidence": 0.5}]


def test_json_lines_come_back(files: list[Path], tmp_path: Path) -> None:
    """Their confidences are votes, and their format is the output's."""
    voted = tmp_path / "voted.jsonl"
    run(files[0], files[0], "-o", voted)
    assert run(voted, voted).stdout == voted.read_text()
    assert run(voted, voted, "-o", tmp_path / "x.mrg").exit_code == 0
    assert (tmp_path / "x.mrg").read_text() == A
    voted.write_text(
        json.dumps(LINE) + '\n{"line": 2, "error": "?", "tokens": [], "tags": [], "spans": []}\n'
    )
    first, second = read_json_lines(voted)
    assert first.ctree.lexical_heads() == [0, 1, 1] and first.confidences is None
    assert second.ctree.labels == ("ERROR",)


def test_the_format_that_is_said_counts(files: list[Path], tmp_path: Path) -> None:
    """Not the name of the files, for what is read and what is written."""
    named = tmp_path / "a.jsonl"
    files[0].rename(named)
    assert run(named, named, "--format", "brackets").stdout == A
    (tmp_path / "a.txt").write_text("(S (VP (V 0=wake) (P 2=up)) (N 1=me))\n")
    done = run(tmp_path / "a.txt", tmp_path / "a.txt", "--format", "discbracket")
    assert done.stdout == (tmp_path / "a.txt").read_text()


def test_conllu_with_c_trees_in_comments(files: list[Path], tmp_path: Path) -> None:
    """It is called so; of another name of CoNLL-U c-trees are none."""
    voted = tmp_path / "v.trees.conllu"
    assert run(*files, "-o", voted).exit_code == 0
    assert voted.read_text().startswith("# constituency = (TOP (S (NP (D the) (N cat))")
    assert run(voted, voted).stdout.startswith("# constituency = (TOP (S (NP (D the) (N cat))")
    done = run(*files, "-o", tmp_path / "v.conllu")
    assert isinstance(done.exception, FormatError) and not (tmp_path / "v.conllu").exists()


def test_gaps_stay(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.dbr").write_text(GAPS)
    assert run(tmp_path / "a.dbr", tmp_path / "b.dbr").stdout == GAPS
    run(tmp_path / "a.dbr", tmp_path / "b.dbr", "-o", tmp_path / "c.jsonl")
    assert [tree.ctree.blocks()[3:] for tree in read_json_lines(tmp_path / "c.jsonl")] == [
        [((0, 1), (2, 3)), ((0, 3),)]
    ]
    done = run(tmp_path / "a.dbr", tmp_path / "b.dbr", "-o", tmp_path / "c.mrg")
    assert isinstance(done.exception, FormatError) and not (tmp_path / "c.mrg").exists()


def test_learned_weights(files: list[Path], tmp_path: Path) -> None:
    a, b, _ = files
    weights = tmp_path / "weights.json"
    assert run("--learn", b, a, b, "-o", weights).exit_code == 0
    assert run("--weights", weights, a, b).stdout != A
    message = "has weights of constituents by 2 parsers, not of constituents by 3; see `d2c combine --learn`"
    assert str(run("--weights", weights, a, b, a).exception) == f"{weights}: {message}"
    weights.write_text(
        '{"format": 2, "kind": "arcs", "threshold": 0.5, "general": [0, 1], "labels": {"A": [1]}}'
    )
    assert "is broken" in str(run("--weights", weights, a, b).exception)


def test_d_trees(tmp_path: Path) -> None:
    row = "{}\t{}\t_\t{}\t{}\t_\t{}\t{}\t_\t_\n"
    for name, arcs in {"a": "2x 0root 2y", "b": "2x 0root 1z", "c": "3w 0root 1z"}.items():
        rows = [
            row.format(i, form, "N", "N", arc[0], arc[1:])
            for i, (form, arc) in enumerate(zip("abc", arcs.split(), strict=True), 1)
        ]
        (tmp_path / f"{name}.conllu").write_text("# sent_id = 1\n" + "".join(rows) + "\n")
    a, b, c = (tmp_path / f"{name}.conllu" for name in "abc")
    assert run(a, b, c).stdout == b.read_text()
    assert run("--learn", a, a, b, "-o", tmp_path / "w.json").exit_code == 0
    assert run("--weights", tmp_path / "w.json", b, a).exit_code == 0
    assert "arcs by 2 parsers" in str(run("--weights", tmp_path / "w.json", a, b, c).exception)
    assert run("--to", "json", a, b).exit_code == 2
    called_so = "nothing is written here that is called so; known endings are .conllu .conll .txt"
    assert str(run(a, b, "-o", tmp_path / "x.mrg").exception) == f"{tmp_path / 'x.mrg'}: {called_so}"
    assert not (tmp_path / "x.mrg").exists()
    assert isinstance(run(a, b, "-o", tmp_path / "x.trees.conllu").exception, FormatError)
    assert not (tmp_path / "x.trees.conllu").exists()
    (tmp_path / "t.mrg").write_text(A)
    assert "d-trees cannot be combined with c-trees" in str(run(a, tmp_path / "t.mrg").exception)


def test_files_that_do_not_fit(files: list[Path], tmp_path: Path) -> None:
    a = files[0]
    short, other = tmp_path / "short.mrg", tmp_path / "other.mrg"
    short.write_text(A.splitlines(keepends=True)[0])
    other.write_text(A.replace("go", "run"))
    assert str(run(a, short).exception).startswith(f"{short}: sentence 2: missing; 1 sentence here, ")
    assert str(run(a, other).exception) == f"{other}: sentence 2: its words are not those of {a}"
    assert "two or more parsers" in run(a).output
    assert "--learn writes weights" in run("--learn", a, a, a, "--to", "json").output


def test_a_threshold_is_a_number(files: list[Path]) -> None:
    """No share is greater than nan, so every tree would be flat."""
    done = run(*files, "--threshold", "nan")
    assert done.exit_code == 2 and "nan is not a finite number" in done.output


def test_broken_json_lines(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text(json.dumps(LINE) + "\n" + json.dumps(LINE | {"spans": []}) + "\n")
    done = run(file, file, "-o", tmp_path / "y.jsonl")
    assert str(done.exception) == f"{file}:2: sentence 2: no constituent is over all tokens"
    assert not (tmp_path / "y.jsonl").exists()
    done = run("--skip-bad", file, file)
    assert json.loads(done.stdout)["tokens"] == LINE["tokens"] and "sentence 2" in done.stderr
