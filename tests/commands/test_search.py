"""`d2c search` and `d2c.search`: matches in treebanks and parsed text, counts, pages, what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import d2c
from d2c.base.errors import FormatError
from d2c.commands.cli import cli
from d2c.parsing.json_lines import format_json
from d2c.parsing.sentence import Sentence, refused
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.heads import load_head_rules
from d2c.viewing import view
from tests.pages import Page

TREES = """\
(S (NP (PRP They)) (VP (VBD saw) (NP (NP (DT the) (NN cat)) (PP (IN with) (NP (NNS glasses))))) (. .))
(S (NP (PRP They)) (VP (VBD saw) (NP (DT the) (NN cat)) (PP (IN with) (NP (NNS glasses)))) (. .))
"""
PATTERN = "NP < (PP=part $ NP)"


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    file = tmp_path / "x.mrg"
    file.write_text(TREES)
    return file


@pytest.fixture
def parsed(tmp_path: Path) -> Path:
    """A sentence that failed, and one with heads and with places in a text."""
    ctree = load_head_rules("collins").apply(parse_bracket(TREES.splitlines()[0]))
    offsets = tuple([(k * 10, k * 10 + 3) for k in range(7)])
    bad = refused(FormatError("x", 1, 0, "too long"))
    file = tmp_path / "x.jsonl"
    good = Sentence(ctree.tokens, line=2, offsets=offsets, ctree=ctree)
    file.write_text(format_json(bad) + format_json(good))
    return file


def output_of(*arguments: str | Path) -> str:
    run = CliRunner().invoke(cli, ["search", *map(str, arguments)])
    assert run.exit_code == 0, run.output or run.exception
    return run.stdout


def error_of(*arguments: str | Path) -> str:
    run = CliRunner().invoke(cli, ["search", *map(str, arguments)])
    assert run.exit_code and run.exception
    return f"{run.output}{run.exception}"


def test_a_table(trees: Path) -> None:
    header, row = output_of(PATTERN, trees).splitlines()
    spans = ["label", "start", "end", "start_char", "end_char", "text"]
    assert header.split("\t") == ["file", "sentence", *spans, *(f"part.{column}" for column in spans)]
    assert row.split("\t") == [
        *(str(trees), "1", "NP", "2", "6", "", "", "the cat with glasses"),
        *("PP", "4", "6", "", "", "with glasses"),
    ]


def test_json_lines_with_places_in_the_text(parsed: Path) -> None:
    [line] = output_of("VP <# VBD ?< QP=no < NP=object", parsed, "--to", "json").splitlines()
    place = {"start_char": 10, "end_char": 53}
    assert json.loads(line) == {
        **{"file": str(parsed), "sentence": 2, "label": "VP", "start": 1, "end": 6, "head": 1},
        **place,
        "text": "saw the cat with glasses",
        "captures": {
            "object": {"label": "NP", "start": 2, "end": 6, "head": 3}
            | {"start_char": 20, "end_char": 53, "text": "the cat with glasses"}
        },
    }


def test_counts_of_several_files(trees: Path, parsed: Path) -> None:
    assert output_of("NP < PP", trees, parsed, "--count").splitlines() == [
        "file\tpattern\tmatches\tsentences_with\tsentences\twords\tper_1000_words",
        f"{trees}\tNP < PP\t1\t1\t2\t12\t83.33",
        f"{parsed}\tNP < PP\t1\t1\t1\t6\t166.67",  # the other could not be parsed
    ]
    [line] = output_of("NP", trees, "--count", "--to", "json").splitlines()
    counts = {"matches": 7, "sentences_with": 2, "sentences": 2, "words": 12}
    counts["per_1000_words"] = 583.33
    assert json.loads(line) == {"file": str(trees), "pattern": "NP", **counts}
    run = CliRunner().invoke(cli, ["search", "QP", str(trees)])
    assert run.stdout.count("\n") == 1 and run.stderr == f"there is no match in {trees}\n"
    run = CliRunner().invoke(cli, ["search", "TOP < S", str(trees)])
    hint = "in patterns the node above a sentence is called ROOT"
    assert run.stderr == f"there is no match in {trees}; {hint}\n"
    hint = "labels have functions, as in NP-SBJ, with --raw alone"
    for options, said in (((), f"; {hint}"), (("--raw",), "")):
        run = CliRunner().invoke(cli, ["search", "NP-SBJ < QP", str(trees), *options])
        assert run.stderr == f"there is no match in {trees}{said}\n"


def test_several_patterns_are_counted_in_one_reading(trees: Path) -> None:
    run = CliRunner().invoke(
        cli,
        ["search", "NP", "-", "--also", "VP <# VBD", "--also", "QP", "--also", "NP", "--count"],
        input=TREES,
    )
    rows = [line.split("\t")[1:] for line in run.stdout.splitlines()[1:]]
    assert rows == [
        ["NP", "7", "2", "2", "12", "583.33"],
        ["VP <# VBD", "2", "2", "2", "12", "166.67"],
        ["QP", "0", "0", "2", "12", "0.0"],
    ]
    assert "--also goes with --count" in error_of("NP", trees, "--also", "VP")
    assert "the pattern at character 5, its end" in error_of("NP", trees, "--count", "--also", "NP <")


def test_words_around_matches(trees: Path, parsed: Path) -> None:
    header, row = output_of('"cat with *"', trees, "--context", "3").splitlines()[:2]
    cells = dict(zip(header.split("\t"), row.split("\t"), strict=True))
    assert header.split("\t")[-3:] == ["left", "text", "right"] and cells["label"] == "cat with glasses"
    assert (cells["left"], cells["text"], cells["right"]) == ("They saw the", "cat with glasses", ".")
    [line] = output_of("PP=p", parsed, "--context", "2", "--to", "json").splitlines()
    found = json.loads(line)
    assert (found["left"], found["text"], found["right"]) == ("the cat", "with glasses", ".")
    assert found["captures"]["p"]["label"] == "PP"
    shown = output_of("PP", trees, "--context", "2", "--to", "columns")
    assert shown.splitlines() == [
        "sentence     left  text          right",
        "       1  the cat  with glasses  .",
        "       2  the cat  with glasses  .",
    ]
    assert "--context is for rows" in error_of("NP", trees, "--context", "2", "--count")


def test_a_page_is_no_table(trees: Path, tmp_path: Path) -> None:
    output = tmp_path / "x.html"
    for options in (["--to", "csv"], ["--brackets"]):
        assert options[0] in error_of("NP", trees, *options, "-o", output)
        assert not output.exists()
    assert "--brackets is for rows" in error_of("NP", trees, "--brackets", "--count")


def test_a_terminal_shows_what_one_looks_at(trees: Path) -> None:
    assert output_of(PATTERN, trees, trees.with_name("x.mrg"), "--to", "columns").splitlines() == [
        "sentence  label  text                  part.text",
        "       1  NP     the cat with glasses  with glasses",
    ]


def test_commands_share_the_numbers_of_sentences(tmp_path: Path) -> None:
    """That of the file, whatever texts it has, and what could not be read or parsed."""
    file = tmp_path / "x.jsonl"
    lines: list[dict[str, Any]] = [
        {"file": name, "tokens": [word], "tags": ["A"], "spans": [{"label": "S", "start": 0, "end": 1}]}
        for name, word in (("a.txt", "a"), ("a.txt", "b"), ("b.txt", "c"))
    ]
    lines.insert(2, {"file": "a.txt", "error": "no", "tokens": [], "tags": [], "spans": []})
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))

    def run(*arguments: str) -> str:
        done = CliRunner().invoke(cli, [*arguments, str(file)], catch_exceptions=False)
        assert done.exit_code == 0
        return done.stdout

    assert "c" in run("draw", "--sentence", "4").split()
    [match] = d2c.search(file, "c")
    assert (match.file, match.sentence, match.source) == (str(file), 4, "b.txt")
    for command in (["search", "S"], ["phrases", "--label", "S"]):
        header, *rows = (line.split("\t") for line in run(*command).splitlines())
        found = [dict(zip(header, row, strict=True)) for row in rows]
        assert [(one["file"], one["sentence"], one["source"], one["text"]) for one in found] == [
            *((str(file), number, "a.txt", word) for number, word in (("1", "a"), ("2", "b"))),
            (str(file), "4", "b.txt", "c"),
        ]
    for command in (["view", "--sentences", "4", "-o", "-"], ["search", "c", "-o", str(tmp_path / "x.html")]):
        page = run(*command) or (tmp_path / "x.html").read_text()
        [one] = Page(page).data["sentences"]
        assert (one["i"], one["source"], one["w"]) == (4, "b.txt", ["c"])


def test_brackets_of_matches(trees: Path) -> None:
    header, row, *_ = output_of("PP=p . /^\\.$/", trees, "--brackets").splitlines()
    cells = dict(zip(header.split("\t"), row.split("\t"), strict=True))
    assert cells["brackets"] == "(PP (IN with) (NP (NNS glasses)))" and cells["p.label"] == "PP"
    [line, *_] = output_of("glasses", trees, "--brackets", "--to", "json").splitlines()
    assert json.loads(line)["brackets"] == "(NNS glasses)"


def test_a_page_has_the_sentences_with_matches(
    trees: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "hits.html"
    output_of("NP <# NN $+ PP", trees, "-o", target)
    data = Page(target.read_text()).data
    assert data["query"] == "NP <# NN $+ PP" and [s["i"] for s in data["sentences"]] == [1, 2]
    output_of("NP < PP", trees, "-o", target)
    assert [s["i"] for s in Page(target.read_text()).data["sentences"]] == [1]
    run = CliRunner().invoke(cli, ["search", "QP", str(trees), "-o", str(tmp_path / "none.html")])
    assert (run.exit_code, run.stderr) == (0, f"there is no match in {trees}\n")
    assert not (tmp_path / "none.html").exists()
    run = CliRunner().invoke(cli, ["search", "QP", str(trees), "-o", str(target)])
    assert (run.exit_code, run.stderr) == (0, f"there is no match in {trees}; {target} stays as it was\n")
    with monkeypatch.context() as few:
        few.setattr(view, "MOST", 1)
        too_many = f"{trees}: sentence 2: a page shows 1 sentences at most; search for less"
        assert error_of("NP <# NN $+ PP", trees, "-o", target) == too_many
    assert "-o FILE.html shows matches, and goes without --count" in error_of(
        "NP", trees, "--count", "-o", target
    )
    (tmp_path / "y.mrg").write_bytes(trees.read_bytes())
    output_of("NP < PP", trees, tmp_path / "y.mrg", "-o", target)
    found = Page(target.read_text()).data["sentences"]
    assert [(s["i"], Path(s["file"]).name) for s in found] == [(1, "x.mrg"), (1, "y.mrg")]


def test_what_is_refused(trees: Path, tmp_path: Path) -> None:
    assert "the pattern at character 5, its end: a label" in error_of("NP <", trees)
    assert "cannot be read" in error_of("NP", tmp_path / "none.mrg")
    trees.write_text("(S (NN b) c)\n" + TREES)
    assert f"{trees}:1: sentence 1" in error_of("NP", trees)
    _, row = output_of("NP < PP", trees, "--skip-bad").splitlines()
    assert row.split("\t")[1] == "2"


def test_trees_over_a_limit_are_named_and_left_out(trees: Path, tmp_path: Path) -> None:
    word = f"{'a' * 40}!"
    trees.write_text(f"(S (NP (X {word})) (Y y))\n{TREES}(S (NP (X {word})) (Y z))\n")
    pattern, timed = "NP !<< /^(a|aa)+$/", ("--timeout", "0.05")
    run = CliRunner().invoke(cli, ["search", pattern, str(trees), *timed, "--count", "--also", "Y"])
    assert run.exit_code == 0
    assert [row.split("\t")[2:5] for row in run.stdout.splitlines()[1:]] == [["7", "2", "2"], ["0", "0", "2"]]
    why = f"{pattern}: the search takes more than 0.05 s; a longer timeout can be set"
    named = [f"d2c: {trees}: sentence {number}: {why}" for number in (1, 4)]
    assert run.stderr.splitlines() == [*named, f"{trees}: 2 left out"]
    run = CliRunner().invoke(cli, ["search", pattern, str(trees), *timed, "-o", str(tmp_path / "x.html")])
    assert run.exit_code == 0 and named[1] in run.stderr and f"{trees}: 2 left out" in run.stderr
    assert [one["i"] for one in Page((tmp_path / "x.html").read_text()).data["sentences"]] == [2, 3]
    with pytest.warns(UserWarning, match="sentence 1: NP .* 0.05 s; a longer timeout can be set; left out"):
        assert len([*d2c.search(trees, pattern, timeout=0.05)]) == 7
    with pytest.raises(ValueError, match="0.05 s"):
        next(d2c.read(trees)).search(pattern, timeout=0.05)


def test_a_limit_that_is_no_number_is_refused(trees: Path) -> None:
    assert "nan is not a finite number" in error_of("NP", trees, "--timeout", "nan")


def test_in_python(trees: Path, parsed: Path) -> None:
    [match] = d2c.search(trees, PATTERN)
    assert (match.file, match.sentence, match.source) == (str(trees), 1, "")
    assert (match.span.text, match.captures["part"].text) == ("the cat with glasses", "with glasses")
    assert str(match.tree[1]) == "(PP (IN with) (NP (NNS glasses)))"
    [match] = d2c.search(parsed, "NP <# NP")
    assert (match.sentence, match.span.head, match.span.start_char) == (2, 3, 20)
    assert [m.span.head for m in d2c.search(trees, "VP <# VBD", head_rules="leftmost")] == [1, 1]
    assert next(d2c.read(trees)).search("NP < PP")[0].sentence == 0
    with pytest.raises(ValueError, match="the pattern at character 4"):
        next(d2c.search(trees, "NP PP"))


def test_marked_heads_of_json_lines(tmp_path: Path) -> None:
    """A sentence of one word without nodes lacks no heads; where a tree lacks some, one line says so."""
    file = tmp_path / "x.jsonl"
    line = '{"tokens": ["a", "b"], "tags": ["A", "B"], "spans": [{"label": "X", "start": 0, "end": 2%s}]}\n'
    file.write_text('{"tokens": ["a"], "tags": ["A"], "spans": []}\n' + line % ', "head": 1')
    _, row = output_of("X <# B", file, "--head-rules", "marked", "--count").splitlines()
    assert row.split("\t")[2:] == ["1", "1", "2", "3", "333.33"]
    file.write_text(line % "")
    message = f"{file}: a tree in it has no heads; --head-rules names rules that find them"
    assert error_of("X <# B", file, "--head-rules", "marked").splitlines()[-1] == message
    assert error_of("X <# B", file, "--head-rules", "marked", "-o", tmp_path / "x.html") == message
    assert output_of("X < B", file, "--head-rules", "marked").count("\n") == 2
