"""`d2c evaluate`: raw treebanks have the figures of cleaned ones; both files keep side by side."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from d2c.commands.cli import cli
from d2c.trees.marks import NOTHING_MARKED
from tests.pages import Page
from tests.treebanks import TREEBANKS, needs_treebanks
from tests.trees.test_evalb import VECTORS, needs_vectors

RAW = """( (S (NP-SBJ-1 (PRP They))
     (VP (VBD slept) (NP (-NONE- *T*-1)) (ADVP|PRT (RB early)))
     (. .)) )
( (S (NP-SBJ (-NONE- *)) (VP (VB Sleep))) )
"""
CLEAN = """(TOP (S (NP (PRP They)) (VP (VBD slept) (ADVP (RB early))) (. .)))
(TOP (S (VP (VB Sleep))))
"""
GUESS = """(TOP (S (NP (PRP They)) (VP (VBD slept)) (ADVP (RB early)) (. .)))
(TOP (S (VP (VB Sleep))))
"""


COLLINS, RIGHTMOST = [[2, 0, 2, 2], [0]], [[4, 4, 4, 0], [0]]  # heads in GUESS


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)))


def write(tmp_path: Path, **texts: str) -> list[Path]:
    paths = []
    for name, text in texts.items():
        paths.append(tmp_path / f"{name}.mrg")
        paths[-1].write_text(text)
    return paths


@pytest.mark.parametrize("metric", ["evalb", "spmrl", "disco"])
def test_a_raw_treebank_has_the_figures_of_the_cleaned_one(tmp_path: Path, metric: str) -> None:
    raw, clean, guess = write(tmp_path, raw=RAW, clean=CLEAN, guess=GUESS)
    of_raw = run("evaluate", raw, guess, "--metric", metric)
    assert of_raw.exit_code == 0 and of_raw.stderr == ""
    assert of_raw.stdout == run("evaluate", clean, guess, "--metric", metric).stdout
    if metric == "evalb":  # gold S NP VP ADVP, S VP; of the guess only its VP is wrong
        assert "Bracketing FMeasure       =  83.33" in of_raw.stdout.splitlines()


@pytest.mark.parametrize("metric", ["evalb", "spmrl"])
@pytest.mark.parametrize("wrapper", ["ROOT", "S1", "VROOT"])
def test_a_wrapper_is_no_bracket_whatever_it_is_called(tmp_path: Path, wrapper: str, metric: str) -> None:
    """Stanza and CoreNLP write ROOT: a guess of theirs is as good as it would be with gold's TOP."""
    named = GUESS.replace("TOP", wrapper)
    clean, guess, other = write(tmp_path, clean=CLEAN, guess=GUESS, other=named)
    expected = run("evaluate", clean, guess, "--metric", metric).stdout
    assert run("evaluate", clean, other, "--metric", metric).stdout == expected
    assert run("evaluate", other, clean, "--metric", metric).stdout == (
        run("evaluate", guess, clean, "--metric", metric).stdout
    )
    assert run("evaluate", other, other, other).stdout.count("100.00") >= 4
    # A file of parameters that counts wrappers is obeyed, and so is EVALB's own way with --raw.
    (tmp_path / "all.prm").write_text("LABELED 1\n")
    for options in (("--params", tmp_path / "all.prm"), ("--raw",)):
        row = run("evaluate", clean, other, *options).stdout.splitlines()[4].split()
        assert row[3:5] != ["100.00", "100.00"]


def test_raw_reads_as_evalb(tmp_path: Path) -> None:
    gold, guess = write(tmp_path, gold="( (S-X (A a)))\n", guess="(S (A a))\n")
    rows = [
        run("evaluate", gold, guess, *options).stdout.splitlines()[3].split() for options in ((), ("--raw",))
    ]
    assert [row[3:8] for row in rows] == [
        ["100.00", "100.00", "1", "1", "1"],
        ["50.00", "100.00", "1", "2", "1"],
    ]
    assert run("evaluate", gold, guess, "--raw", "--skip-bad").exit_code == 2


@needs_vectors
def test_evalbs_numbers_are_those_of_raw() -> None:
    files = VECTORS / "gold.mrg", VECTORS / "guess.mrg"
    done = run("evaluate", *files, "--raw", "--params", VECTORS / "collins.prm")
    assert done.stdout == (VECTORS / "expected-collins.txt").read_text()


def test_predicted_tags_change_no_figure_of_brackets(tmp_path: Path) -> None:
    """Thirty sentences in which a tagger took the full stop, or a noun for one: EVALB gives up."""
    gold, guess = write(
        tmp_path,
        gold="(TOP (S (NP (NN a)) (VP (VB b)) (. .)))\n" * 30,
        guess="(TOP (S (NP (NN a)) (VP (VB b)) (NN .)))\n(TOP (S (NP (, a)) (VP (VB b)) (. .)))\n" * 15,
    )
    done = run("evaluate", gold, guess)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert "Number of Valid sentence  =     30" in lines and "Bracketing FMeasure       = 100.00" in lines
    assert "Tagging accuracy          =  75.00" in lines
    assert lines[-1].startswith("30 of 30 sentences have other tags than gold")
    assert "MAX_ERROR" in str(run("evaluate", "--raw", gold, guess).exception)


@pytest.mark.parametrize("unparsed", ["(TOP (ERROR (ERROR ERROR)))", "(())", "( ( ) )"])
@pytest.mark.parametrize("metric", ["evalb", "spmrl", "disco"])
def test_a_sentence_that_was_not_parsed_counts(tmp_path: Path, metric: str, unparsed: str) -> None:
    """`(())` is what Collins' and the Berkeley parser write."""
    gold, guess = write(tmp_path, gold=CLEAN, guess=CLEAN.replace("(TOP (S (VP (VB Sleep))))", unparsed))
    lines = run("evaluate", gold, guess, "--metric", metric).stdout.splitlines()
    recalls = [line.split()[-1] for line in lines if line.startswith(("Bracketing Recall", "labeled recall"))]
    assert recalls[0] == "66.67"
    failed = "1 of 2 sentences failed, and count with recall 0"
    assert lines[-1] == f"{failed}: 1 not parsed (sentence 2)."


@needs_treebanks
def test_a_raw_dev_set(tmp_path: Path) -> None:
    dev, clean, guess = (tmp_path / f"{name}.mrg" for name in ("dev", "clean", "guess"))
    assert run("convert", TREEBANKS / "masc-dev.mrg.gz", dev).exit_code == 0
    assert "( (" in dev.read_text() and "-NONE-" in dev.read_text()
    run("convert", "--clean", dev, clean)
    text = clean.read_text()
    guess.write_text(text.replace("(NP (NP ", "(NP (NX ").replace("(VP (TO ", "(VX (TO "))
    figures = run("evaluate", dev, guess).stdout
    assert figures == run("evaluate", clean, guess).stdout == run("evaluate", clean, guess, "--raw").stdout
    assert run("evaluate", dev, guess, "--raw").stdout != figures


def test_a_format_that_names_do_not_say(tmp_path: Path) -> None:
    gold, guess = write(tmp_path, gold=CLEAN, guess=GUESS)
    others = [tmp_path / "gold.txt", tmp_path / "guess.txt"]
    for path, other in zip((gold, guess), others, strict=True):
        assert run("convert", "--to", "export", path, other).exit_code == 0
    for metric in ("evalb", "disco"):
        expected = run("evaluate", "--metric", metric, "--format", "brackets", gold, guess).stdout
        done = run("evaluate", "--metric", metric, "--format", "export", *others)
        assert done.stdout == expected != ""
    assert run("evaluate", "--raw", "--format", "export", *others).exit_code == 2


def test_files_of_different_lengths(tmp_path: Path) -> None:
    gold, guess = write(tmp_path, gold=CLEAN, guess=GUESS.splitlines()[0] + "\n")
    message = f"{guess}: sentence 2: missing; 1 sentence here, 2 in {gold}"
    assert str(run("evaluate", gold, guess).exception) == message
    assert str(run("evaluate", guess, gold).exception) == message
    message = f"{guess}:2: missing; 1 line here, 2 in {gold}"
    assert str(run("evaluate", "--raw", gold, guess).exception) == message


def test_sentences_left_out_of_one_file_only(tmp_path: Path) -> None:
    bad = "(TOP (S (A a) b))\n"
    gold, same, other = write(tmp_path, gold=bad + CLEAN, same=GUESS, other="(TOP (S (A a)))\n" + GUESS)
    done = run("evaluate", gold, same, "--skip-bad")
    assert done.exit_code == 0
    assert done.stderr.splitlines() == [
        f"d2c: {gold}:1: sentence 1: the word 'b' stands beside other words or nodes",
        f"{gold}: 1 left out",
    ]
    done = run("evaluate", gold, other, "--skip-bad")
    words = f"its words are not those of {gold}; --skip-bad left sentences out"
    assert str(done.exception) == f"{other}: sentence 1: {words}"
    (short,) = write(tmp_path, short=GUESS.splitlines()[0] + "\n")
    done = run("evaluate", gold, short, "--skip-bad")
    assert str(done.exception).startswith(
        f"{short}: sentence 2: missing; 1 sentence here, 2 in {gold}; --skip"
    )


def test_a_tree_with_gaps(tmp_path: Path) -> None:
    path = tmp_path / "gaps.discbracket"
    path.write_text("(S (VP (A 0=x) (B 2=z)) (C 1=y))\n")
    message = "a tree with gaps, which brackets cannot hold; use --metric disco"
    assert str(run("evaluate", path, path).exception) == f"{path}: sentence 1: {message}"


def test_words_that_are_only_written_otherwise(tmp_path: Path) -> None:
    gold, guess = tmp_path / "gold.export", tmp_path / "guess.export"
    gold.write_text("#BOS 1\n(\tA\t--\t--\t0\n\u00a0x\tA\t--\t--\t0\n#EOS 1\n")
    guess.write_text("#BOS 1\n-LRB-\tA\t--\t--\t0\nx\tA\t--\t--\t0\n#EOS 1\n")
    for metric in ("disco", "evalb"):
        done = run("evaluate", gold, guess, "--metric", metric)
        assert done.exit_code == 0
        written = "2 words written otherwise, as -LRB- for ( or without a no-break space"
        assert done.stderr == f"{guess}: {written}\n"
    row = "1\t{}\t_\tA\tA\t_\t0\troot\t_\t_\n\n"
    a, b = tmp_path / "a.conllu", tmp_path / "b.conllu"
    a.write_text(row.format("("))
    b.write_text(row.format("-LRB-"))
    done = run("evaluate", "--metric", "attachment", a, b)
    assert "UAS " in done.stdout and done.stderr.startswith(f"{b}: 1 word written otherwise")


def test_several_files_are_compared(tmp_path: Path) -> None:
    gold, one, other = write(
        tmp_path,
        gold=CLEAN * 20,
        one=GUESS * 20,
        other=CLEAN.replace("(. .)", "(NN .)") * 19 + "(TOP (ERROR (ERROR ERROR)))\n" * 2,
    )
    page = tmp_path / "report.html"
    done = run("evaluate", gold, one, other, gold, "--report", page)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    rows = [line.split() for line in lines[2:5]]
    assert [[row[0], row[3], row[6]] for row in rows] == [
        ["one.mrg", "83.33", "0"],
        ["other.mrg", "97.44", "2"],
        ["gold.mrg", "100.00", "0"],
    ]
    alone = run("evaluate", gold, other).stdout.splitlines()
    assert "Bracketing FMeasure       =  97.44" in alone
    assert lines[6].split() == ["difference", "F1", "p"]
    assert lines[7].startswith("other.mrg against one.mrg   +14.10  0.000")
    assert lines[10].endswith("10,000 trials; Holm's correction for 3 comparisons.")
    assert lines[12] == f"other.mrg: {alone[-2]}" and lines[13] == f"other.mrg: {alone[-1]}"
    shown = Page(page.read_text())
    assert shown.tables["significance"] == [line.rsplit(maxsplit=2) for line in lines[6:10]]
    assert [row for row in shown.tables["table"][1:]] == rows
    assert shown.tables["labels"][0] == ["label", "brackets", "one.mrg", "other.mrg", "gold.mrg"]
    missed = sum(int(row[1 + 2 * 1]) for row in shown.tables["errors"][2:])
    assert missed == 6  # the brackets of the two sentences that failed
    assert [sentence["i"] for sentence in shown.data["sentences"][:1]] == [39]
    assert "repairs" not in shown.tables


def test_gold_sentences_without_a_tree_are_left_out_of_tables_and_reports(tmp_path: Path) -> None:
    gold, one, other = write(tmp_path, gold=f"(())\n{CLEAN}(())\n", one=GUESS, other=f"{GUESS}(())\n")
    page = tmp_path / "report.html"
    done = run("evaluate", gold, one, other, gold, "--report", page)
    assert done.exit_code == 0, done.exception
    rows = [line.split() for line in done.stdout.splitlines()[2:5]]
    assert [[row[0], row[3], row[6]] for row in rows] == [
        ["one.mrg", "83.33", "0"],
        ["other.mrg", "83.33", "0"],
        ["gold.mrg", "100.00", "0"],
    ]
    assert len(Page(page.read_text()).data["sentences"]) == 2


def test_tables_are_in_utf_8(tmp_path: Path) -> None:
    """Whatever the locale says."""
    file = tmp_path / "x.conllu"
    file.write_text("1\ta\ta\tX\tX\t_\t0\ta→b\t_\t_\n\n", encoding="utf-8")
    command = ["evaluate", str(file), str(file), "--metric", "attachment"]
    done = CliRunner(charset="latin-1").invoke(cli, command, catch_exceptions=False)
    assert "a→b" in done.stdout_bytes.decode()


def test_a_report_of_a_guess_without_the_punctuation(tmp_path: Path) -> None:
    """Its figures are EVALB's; there is no tree to show over gold's tokens."""
    gold, guess = write(tmp_path, gold=CLEAN, guess=GUESS.replace(" (. .)", ""))
    done = run("evaluate", gold, guess, "--report", tmp_path / "report.html")
    assert "Bracketing FMeasure       =  83.33" in done.stdout.splitlines()
    assert '"FAILED"' in (tmp_path / "report.html").read_text()


def test_the_heads_of_a_report(tmp_path: Path) -> None:
    """Its d-trees are by the table that is said: Collins' head of an NP is its noun."""
    gold, guess = write(tmp_path, gold=CLEAN, guess=GUESS)
    page = tmp_path / "report.html"
    for options, name, heads in (
        ([], "collins", COLLINS),
        (["--head-rules", "rightmost"], "rightmost", RIGHTMOST),
    ):
        assert run("evaluate", gold, guess, "--report", page, *options).exit_code == 0
        assert [one["h"] for one in Page(page.read_text()).data["sentences"]] == heads
        assert f"Heads and d-trees of all files follow the head rules {name}." in page.read_text()
        page.unlink()
    done = run("evaluate", gold, guess, "--report", page, "--head-rules", "marked")
    assert str(done.exception) == f"{gold}: {NOTHING_MARKED}"
    done = run("evaluate", gold, guess, "--report", page, "--head-rules", "none")
    assert str(done.exception).startswith("none: no such head rules; known are ")
    done = run("evaluate", gold, guess, "--head-rules", "collins")
    assert done.exit_code == 2 and "--head-rules finds the heads that --report shows" in done.output
    assert done.stdout == "" and not page.exists()


def test_a_report_of_one_file(tmp_path: Path) -> None:
    gold, guess = write(tmp_path, gold=CLEAN, guess=GUESS)
    page = tmp_path / "report.html"
    for metric in ("evalb", "spmrl", "disco"):
        options = ["--metric", metric, "--format", "brackets", "--report", page]
        plain = run("evaluate", gold, guess, *options[:4])
        assert run("evaluate", gold, guess, *options).stdout == plain.stdout
        assert Page(page.read_text()).tables["table"][1][0] == "guess.mrg"
        page.unlink()
    for options in (["--raw"], ["--metric", "attachment"], ["--metric", "disco", "--disc-only"]):
        assert run("evaluate", gold, guess, "--report", page, *options).exit_code == 2
        assert run("evaluate", gold, guess, guess, *options).exit_code == 2
    (parameters,) = write(tmp_path, parameters="DISC_ONLY 1\n")
    done = run(
        "evaluate", gold, guess, guess, "--metric", "disco", "--params", parameters, "--format", "brackets"
    )
    assert (
        str(done.exception)
        == f"{guess}: these parameters leave sentences out; score one file, without a report"
    )
    assert not page.exists()


@pytest.mark.parametrize(
    ("option", "metric"),
    [("--morphology", "spmrl"), ("--disc-only", "disco"), ("--punctuation", "attachment")],
)
def test_options_of_other_metrics_are_refused(tmp_path: Path, option: str, metric: str) -> None:
    (tmp_path / "a.mrg").write_text("(S (A a))\n")
    run = CliRunner().invoke(cli, ["evaluate", *[str(tmp_path / "a.mrg")] * 2, option])
    assert run.exit_code == 2 and f"Error: {option} is for --metric {metric}" in run.stderr


@pytest.mark.parametrize("option", [["--raw"], ["--params", "none.prm"]])
def test_options_of_constituents_are_refused_for_d_trees(tmp_path: Path, option: list[str]) -> None:
    (tmp_path / "a.conllu").write_text("1\ta\t_\tA\tA\t_\t0\troot\t_\t_\n\n")
    files = [str(tmp_path / "a.conllu")] * 2
    run = CliRunner().invoke(cli, ["evaluate", *files, "--metric", "attachment", *option])
    assert run.exit_code == 2 and "leave out --params and --raw" in run.stderr
