"""Sentences without a tree, `(())` and trees of traces alone: left out, named, and with a number."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import d2c
from d2c.commands.cli import cli
from d2c.trees.formats.conllu import read_conllu

FIRST = "(TOP (S (NP (PRP They)) (VP (VBD slept)) (. .)))"
LAST = "(TOP (S (NP (PRP She)) (VP (VBD ate)) (. .)))"
TRACES = "(TOP (S (NP (-NONE- *))))"
MARKED = "(TOP (ERROR (ERROR ERROR)))"
TOLD = (
    "d2c: x.mrg:2: sentence 2: was not parsed\n"
    "d2c: x.mrg:3: sentence 3: has no words, only traces\n"
    "x.mrg: 2 left out\n"
)


@pytest.fixture(autouse=True, params=["(())", "( ( ) )", MARKED])
def treebank(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.mrg").write_text("\n".join((FIRST, request.param, TRACES, LAST)) + "\n")


def run(*arguments: str) -> Result:
    done = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


def told(done: Result) -> bool:
    """Whether each was named once."""
    lines = [line for line in done.stderr.splitlines() if line in TOLD]
    return lines == TOLD.splitlines()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_encode_makes_no_words_of_them(jobs: str) -> None:
    assert told(run("encode", "x.mrg", "-o", "x.conllu", "--jobs", jobs))
    assert [dtree.tokens.forms[0] for dtree in read_conllu(Path("x.conllu"))] == ["They", "She"]


@pytest.mark.parametrize("more", [[], ["--skip-bad"]])
def test_search_keeps_numbers(more: list[str]) -> None:
    done = run("search", "S|ERROR", "x.mrg", *more)
    assert [line.split("\t")[1] for line in done.stdout.splitlines()[1:]] == ["1", "4"]
    assert told(done)


def test_python_warns_of_them() -> None:
    with pytest.warns(UserWarning) as warnings:
        read = [str(tree) for tree in d2c.read("x.mrg")]
    assert read == [FIRST, LAST]
    expected = [line.removeprefix("d2c: ") + "; left out" for line in TOLD.splitlines()[:2]]
    assert [str(warning.message) for warning in warnings] == expected


def test_nothing_is_learned_from_them() -> None:
    command = ("train", "x.mrg", "--dev", "x.mrg", "--dparser", "gold", "--route", "reduction")
    assert told(run(*command, "-o", "MODEL"))
    assert not [file for file in Path("MODEL").rglob("*.json") if "ERROR" in file.read_text()]


def test_convert_marks_what_was_not_parsed() -> None:
    """It is said how many there were, once."""
    done = run("convert", "x.mrg", "-")
    assert done.stdout.splitlines() == [FIRST, MARKED, TRACES, LAST]
    assert done.stderr == "x.mrg: 1 sentence was not parsed; the tree (ERROR (ERROR ERROR)) stands for it\n"
    Path("y.mrg").write_text(f"{FIRST}\n(())\nSENTENCE_SKIPPED_OR_UNPARSABLE\n(S (A a)\n{LAST}\n")
    done = run("convert", "y.mrg", "y.export", "--skip-bad")
    assert done.stderr.splitlines()[1:] == [
        "y.mrg: 2 sentences were not parsed; the tree (ERROR (ERROR ERROR)) stands for each",
        "y.mrg: 1 left out",
    ]
    assert run("convert", "y.export", "-").stdout.splitlines() == [FIRST, MARKED, MARKED, LAST]
    assert run("convert", "x.mrg", "-", "--strict").stderr == run("convert", "x.mrg", "-").stderr


def test_evaluate_counts_them_as_guesses() -> None:
    Path("gold.mrg").write_text(f"{FIRST}\n{FIRST}\n{TRACES}\n{LAST}\n")
    done = run("evaluate", "gold.mrg", "x.mrg")
    assert [line.split()[2] for line in done.stdout.splitlines()[3:6]] == ["0", "3", "0"]
    told = "1 of 3 sentences failed, and count with recall 0: 1 not parsed (sentence 2)."
    assert done.stdout.splitlines()[-1] == told
    assert done.stderr.count("gold.mrg: sentence 3: has no words, only traces\n") == 1


@pytest.mark.parametrize("at_traces", [[], ["(())"], [MARKED], [TRACES]])
def test_gold_without_words_is_no_sentence(at_traces: list[str]) -> None:
    """Whatever the guess has in its place; what follows stands beside its own guess."""
    Path("gold.mrg").write_text("\n".join((TRACES, FIRST, TRACES, TRACES, LAST, TRACES)) + "\n")
    guess = (*at_traces, FIRST, *at_traces, *at_traces, LAST, *at_traces)
    Path("guess.mrg").write_text("\n".join(guess) + "\n")
    done = run("evaluate", "gold.mrg", "guess.mrg")
    assert "Number of sentence        =      2" in done.stdout
    assert done.stdout.count("Bracketing FMeasure       = 100.00") == 2
    assert done.stderr.count("has no words, only traces\n") == 4 and "gold.mrg: 4 left out" in done.stderr


def test_a_guess_without_words_was_not_parsed() -> None:
    Path("gold.mrg").write_text(f"{FIRST}\n{FIRST}\n{LAST}\n")
    Path("guess.mrg").write_text(f"{FIRST}\n{TRACES}\n{LAST}\n")
    done = run("evaluate", "gold.mrg", "guess.mrg")
    assert [line.split()[2] for line in done.stdout.splitlines()[3:6]] == ["0", "3", "0"]
