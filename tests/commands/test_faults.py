"""Files with sentences that cannot be read: all errors are named; with --skip-bad the others are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from d2c.base.errors import FormatError, FormatErrors
from d2c.commands.cli import cli
from d2c.trees.formats.brackets import format_bracket, read_brackets
from tests.treebanks import TREEBANKS, needs_treebanks

GOOD = ["(S (NP (PRP They)) (VP (VBD slept)))", "(TOP (S (NP (PRP She)) (VP (VBD saw) (NP (PRP it)))))"]
SAID = {
    "(S (NP (PRP I))": "a closing bracket is missing in this tree",
    "(S (NP (PRP I) you))": "the word 'you' stands beside other words or nodes",
    "(S (NP I)))": "a closing bracket too many",
}


def run(*arguments: str | int | Path) -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)))


def mixed(tmp_path: Path, name: str = "trees.mrg", bad: int = 3) -> Path:
    """Good, bad, good, bad, ..., each on a line."""
    path, lines = tmp_path / name, []
    for number in range(bad):
        lines += [GOOD[number % 2], [*SAID][number % 3]]
    path.write_text("\n".join([*lines, GOOD[0]]) + "\n")
    return path


def said(path: Path, bad: int) -> list[str]:
    texts = [*SAID.values()]
    return [f"{path}:{2 * k}: sentence {2 * k}: {texts[(k - 1) % 3]}" for k in range(1, bad + 1)]


@pytest.mark.parametrize("command", ["encode", "convert", "heads", "draw"])
def test_all_errors_of_a_file_are_named_up_to_ten(tmp_path: Path, command: str) -> None:
    path, out = mixed(tmp_path, bad=12), tmp_path / "out.txt"
    output = [out] if command == "convert" else ["-o", out]
    """How many more there are is said, but where reading ends with the first."""
    for options, shown in (([], 10), (["--max-errors", "3"], 3), (["--max-errors", "1"], 1)):
        done = run(command, path, *output, *options)
        assert isinstance(done.exception, FormatError)
        more = [f"{path}: and {12 - shown} more errors; --max-errors sets how many are shown"] * (shown > 1)
        assert str(done.exception).splitlines() == [*said(path, shown), *more]
        assert not out.exists()
    few = mixed(tmp_path, "few.mrg", bad=2)
    done = run(command, few, *output)
    assert isinstance(done.exception, FormatErrors)
    assert str(done.exception).splitlines() == said(few, 2)


def test_bad_sentences_are_left_out_and_named(tmp_path: Path) -> None:
    path, out = mixed(tmp_path), tmp_path / "out.mrg"
    done = run("convert", path, out, "--skip-bad")
    assert done.exit_code == 0
    assert out.read_text().splitlines() == [GOOD[0], GOOD[1], GOOD[0], GOOD[0]]
    lines = [f"d2c: {line}" for line in said(path, 3)]
    assert done.stderr.splitlines() == [*lines, f"{path}: 3 left out"]
    encoded = run("encode", path, "--skip-bad")
    assert encoded.stderr.splitlines() == done.stderr.splitlines()
    assert encoded.stdout.count("\n\n") == 4


def test_the_first_of_those_left_out_are_named(tmp_path: Path) -> None:
    path = mixed(tmp_path, bad=12)
    said_of = run("convert", path, "-", "--skip-bad").stderr.splitlines()
    more = f"{path}: 12 left out, 2 of them not named; --max-errors sets how many are"
    assert said_of == [*(f"d2c: {line}" for line in said(path, 10)), more]
    path.write_text(f"{GOOD[0]}\n" + "(S (-NONE- *))\n" * 4)
    said_of = run("search", "S", path, "--max-errors", "1").stderr.splitlines()
    more = f"{path}: 4 left out, 3 of them not named; --max-errors sets how many are"
    assert said_of == [f"d2c: {path}:2: sentence 2: has no words, only traces", more]


def test_errors_out_of_their_order_are_counted(tmp_path: Path) -> None:
    """As where trees are read before the first one is changed."""
    path = tmp_path / "x.mrg"
    path.write_text(f"(TOP (@S (NN a) (NN b) (NN c)))\n(S (NP (PRP I))\n{GOOD[0]}\n")
    done = run("convert", path, "-", "--to", "ud", "--skip-bad", "--binarize", "left")
    *named, count = done.stderr.splitlines()
    assert (len(named), count, done.stdout.count("\n\n")) == (2, f"{path}: 2 left out", 1)


def test_strict_names_the_first(tmp_path: Path) -> None:
    path = tmp_path / "x.export"
    tree = "#BOS 1\na\t--\tA\t--\tSB\t500\n#500\t--\tS\t--\t--\t0\n#EOS 1\n"
    path.write_text("#FORMAT 4\n" + tree * 12)
    lost = "the format brackets does not hold 1 function; see --strict"
    more = f"{path}: and 10 more errors; --max-errors sets how many are shown"
    done = run("convert", path, "-", "--strict", "--max-errors", "2")
    assert str(done.exception).splitlines() == [*(f"{path}: sentence {k}: {lost}" for k in (1, 2)), more]
    assert done.stdout == ""


def test_strict_asks_for_what_trees_do_not_keep(tmp_path: Path) -> None:
    path = tmp_path / "x.export"
    path.write_text("#BOT ORIGIN\n0 novel\n#EOT ORIGIN\n#BOS 1\na\tA\t--\t--\t0\n#EOS 1\n")
    assert run("convert", path, "-").stderr == f"{path}: left out: 1 header table\n"
    done = run("convert", path, tmp_path / "x.mrg", "--strict")
    assert str(done.exception) == f"{path}: trees do not keep 1 header table; see --strict"
    assert not (tmp_path / "x.mrg").exists()


def test_a_file_of_nothing_but_bad_sentences(tmp_path: Path) -> None:
    path = tmp_path / "bad.mrg"
    path.write_text("(S\n" * 3)
    for command in ("encode", "heads"):
        done = run(command, path, "--skip-bad")
        assert str(done.exception) == f"{path}: none of its sentences can be read"


def test_errors_of_encoding_count_the_sentences_that_were_left_out(tmp_path: Path) -> None:
    path = tmp_path / "gaps.discbracket"
    gap = "(S (VP (A 0=x) (B 2=z)) (C 1=y))"
    path.write_text(f"(S (A 0=x)\n(S (A 0=x))\n{gap}\n{gap}\n")
    done = run("encode", path, "--encoding", "delta", "-o", tmp_path / "x")
    first, *others = str(done.exception).splitlines()
    assert first == f"{path}:1: sentence 1: a closing bracket is missing in this tree"
    assert [line.partition(": sentence ")[2][:2] for line in others] == ["3:", "4:"]
    assert run("encode", path, "--encoding", "delta", "--skip-bad").stdout.count("\n\n") == 1


FORMATS: dict[str, tuple[str, Callable[[int], str], str]] = {
    "x.discbracket": ("", lambda n: f"(S (A 0=w{n}))\n", "(S (A 1=w))\n"),
    "x.export": (
        "#FORMAT 3\n",
        lambda n: f"#BOS {n}\nw{n}\tA\t--\t--\t500\n#500\tS\t--\t--\t0\n#EOS {n}\n",
        "#BOS 9\nw\tA\n#EOS 9\n",
    ),
    "x.tiger.xml": (
        "<corpus>",
        lambda n: f'<s id="{n}"><graph><terminals><t id="a" word="w{n}" pos="A"/></terminals></graph></s>',
        '<s id="b"><graph><terminals><t word="w" pos="A"/></terminals></graph></s>',
    ),
    "x.sinica": ("", lambda n: f"#{n} S(NP:N:w{n})\n", "#9 S(NP:N:w\n"),
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_goes_on_behind_a_bad_sentence(tmp_path: Path, name: str) -> None:
    before, good, bad = FORMATS[name]
    path = tmp_path / name
    path.write_text(before + good(1) + bad + good(2) + bad + good(3) + ("</corpus>" if "xml" in name else ""))
    done = run("encode", path, "--skip-bad")
    assert [line.split("\t")[1] for line in done.stdout.splitlines() if "\t" in line] == ["w1", "w2", "w3"]
    assert [line.partition(": sentence ")[2][:1] for line in done.stderr.splitlines()] == ["2", "4", ""]
    done = run("encode", path)
    assert [error.sentence for error in done.exception.errors] == [2, 4]  # type: ignore[union-attr]


@pytest.mark.parametrize("jobs", [1, 2])
def test_errors_of_reading_and_encoding_come_in_order(tmp_path: Path, jobs: int) -> None:
    path, (_, good, bad) = tmp_path / "x.export", FORMATS["x.export"]
    rows = ["a\tA\t--\t--\t500", "b\tA\t--\t--\t0", "c\tA\t--\t--\t500", "#500\tS\t--\t--\t0"]
    gap = "\n".join(["#BOS 7", *rows, "#EOS 7\n"])
    path.write_text("#FORMAT 3\n" + gap + bad + good(1) + gap + bad + good(2) * 500 + gap + bad + good(3))
    command = ["encode", path, "--encoding", "delta", "--jobs", jobs]
    done = run(*command)
    numbers = [error.sentence for error in done.exception.errors]  # type: ignore[union-attr]
    assert numbers == [1, 2, 4, 5, 506, 507]
    done = run(*command, "--skip-bad")
    assert done.stdout.count("\n\n") == 502
    named = [line.partition(": sentence ")[2] for line in done.stderr.splitlines() if ": sentence " in line]
    assert [int(line.partition(":")[0]) for line in named] == numbers
    left_out = done.stderr.splitlines()[-1]
    assert left_out == f"{path}: 6 left out"


@pytest.mark.parametrize("jobs", [1, 2])
def test_errors_before_one_that_ends_the_file_are_named(tmp_path: Path, jobs: int) -> None:
    path, (before, good, bad) = tmp_path / "x.tiger.xml", FORMATS["x.tiger.xml"]
    path.write_text(before + good(1) + bad + good(2))
    lines = str(run("encode", path, "--jobs", jobs).exception).splitlines()
    assert len(lines) == 2 and ": sentence 2: " in lines[0]


def test_export_goes_on_where_lines_around_sentences_are_missing(tmp_path: Path) -> None:
    path, good = tmp_path / "x.export", FORMATS["x.export"][1]
    no_eos, no_bos = good(2).replace("#EOS 2\n", ""), good(4).replace("#BOS 4\n", "")
    path.write_text(
        good(1) + no_eos + good(3) + no_bos + no_bos + good(5) + "#EOS 6\n" + good(7) + "#BOS 8\n"
    )
    done = run("encode", path, "--skip-bad")
    rows = [line.split("\t") for line in done.stdout.splitlines() if line and line[0] != "#"]
    assert [row[1] for row in rows] == ["w1", "w3", "w5", "w7"]
    stray = "expected #BOS before the lines of a sentence"
    errors = [
        ":8: sentence 2: expected #EOS before the next #BOS",
        f":12: sentence 4: {stray}",
        f":15: sentence 5: {stray}",
        f":22: sentence 7: {stray}",
        ":27: sentence 9: #EOS is missing",
    ]
    assert done.stderr.splitlines()[:-1] == [f"d2c: {path}{error}" for error in errors]


ROW = "1\tw\t_\tA\tA\t_\t0\troot\t_\t_\n\n"


@pytest.mark.parametrize("target", ["out.mrg", "out.export"])
def test_d_trees_that_cannot_be_read(tmp_path: Path, target: str) -> None:
    path, out = tmp_path / "x.conllu", tmp_path / target
    path.write_text(ROW + "1\tw\n\n" + ROW + "2\tw\t_\tA\tA\t_\t0\troot\t_\t_\n\n" + ROW)
    done = run("decode", path, "-o", out)
    lines = [
        f"{path}:3: sentence 2: expected 10 columns separated by tabs, found 2",
        f"{path}:7: sentence 4: expected the id 1, found '2'",
    ]
    assert str(done.exception).splitlines() == lines
    assert not out.exists()
    done = run("decode", path, "-o", out, "--skip-bad")
    assert done.exit_code == 0
    *named, repaired, left_out = done.stderr.splitlines()
    assert named == [f"d2c: {line}" for line in lines]
    assert left_out == f"{path}: 2 left out"
    assert repaired.startswith("3 sentences, 3 tokens")


def test_the_sentences_after_a_missing_bracket_are_read(tmp_path: Path) -> None:
    path = tmp_path / "pretty.mrg"
    path.write_text("(S (A a)\n  (B b))\n(S (A a)\n  (B b)\n(S (A c)\n  (B d))\n(S (A e))\n")
    refused: list[FormatError] = []
    trees = list(map(format_bracket, read_brackets(path, refuse=refused.append)))
    assert trees == ["(S (A a) (B b))", "(S (A c) (B d))", "(S (A e))"]
    assert [(error.line, error.sentence) for error in refused] == [(3, 2)]


@needs_treebanks
def test_masc_has_one_bad_sentence(tmp_path: Path) -> None:
    path = TREEBANKS / "masc-train.mrg.gz"
    done = run("convert", path, tmp_path / "masc.mrg", "--skip-bad")
    assert done.stderr.splitlines() == [
        f"d2c: {path}:47020: sentence 3130: a node inside a tree has no label",
        f"{path}: 1 left out",
    ]
    assert len((tmp_path / "masc.mrg").read_text().splitlines()) == 4176


@pytest.mark.parametrize(("target", "word"), [("tigerxml", "\x01"), ("export", "#500")])
def test_errors_of_writing_count_the_sentences_that_were_left_out(
    tmp_path: Path, target: str, word: str
) -> None:
    path, bad = tmp_path / "x.conllu", "1\tw\n\n"
    path.write_text(bad + ROW + bad + ROW.replace("w", word) + bad)
    done = run("decode", path, "--to", target, "--skip-bad")
    assert str(done.exception).startswith(f"{path}: sentence 4: ")


def test_a_text_that_is_not_there() -> None:
    """It is called a file, not a model."""
    run = CliRunner().invoke(cli, ["parse", "none.txt", "--text"])
    assert str(run.exception) == "none.txt: cannot be read: No such file or directory"
