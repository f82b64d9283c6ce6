"""The command as users run it: files in and out, figures, exit statuses, errors of one line."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import d2c as d2c_package
from d2c.commands.cli import COMMANDS, cli, run
from d2c.commands.options import _SECTIONS
from d2c.trees.heads import known_head_rules
from d2c.trees.marks import NOTHING_MARKED

ROOT = Path(__file__).parents[2]
DEV = ROOT / "data" / "sample" / "dev.mrg"
TINY = """\
(TOP (S (NP (PRP They)) (VP (VBD slept)) (. .)))
(TOP (S (NP (PRP She)) (VP (VP (VBD ate) (NP (NN rice))) (ADVP (RB early))) (. .)))
"""
COPIES = 12  # of the sample: more than one chunk of 2 ** 18 characters


Done = subprocess.CompletedProcess[str]


def d2c(*arguments: str | Path, stdin: str | None = None) -> Done:
    """Return what `d2c` does, run in this process, which is much faster."""
    command = ["d2c", *map(str, arguments)]
    with CliRunner().isolation(input=stdin) as (out, err, _), pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", command)
        status = run()
        sys.stdout.flush()
        sys.stderr.flush()
    return subprocess.CompletedProcess(command, status, out.getvalue().decode(), err.getvalue().decode())


def ok(*arguments: str | Path, stdin: str | None = None) -> Done:
    done = d2c(*arguments, stdin=stdin)
    assert done.returncode == 0, done.stderr
    return done


def refused(message: str, *arguments: str | Path, stdin: str | None = None) -> None:
    """Exit status 2 and this one line on standard error, nothing on standard output."""
    done = d2c(*arguments, stdin=stdin)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"d2c: {message}\n")


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    file = tmp_path / "tiny.mrg"
    file.write_text(TINY)
    return file


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("large") / "large.mrg"
    file.write_text(DEV.read_text() * COPIES)
    return file


def test_spine_labels_bring_the_same_file_back(tmp_path: Path) -> None:
    conllu, back = tmp_path / "dev.conllu.gz", tmp_path / "dev.mrg"
    done = ok("encode", DEV, "-o", conllu, "--encoding", "spine", "--jobs", "1")
    assert (done.stdout, done.stderr) == ("", "")
    done = ok("decode", conllu, "-o", back, "--encoding", "spine", "--jobs", "1")
    assert done.stderr == "300 sentences, 3,522 tokens, 0.00 repairs per 1,000 tokens\n"
    assert back.read_bytes() == DEV.read_bytes()
    assert gzip.decompress(conllu.read_bytes()).count(b"\n\n") == 300


def test_encode_writes_conllu(tiny: Path) -> None:
    assert ok("encode", tiny, "--encoding", "delta").stdout == (
        "1\tThey\t_\tPRP\tPRP\t_\t2\tS#1\t_\t_\n"
        "2\tslept\t_\tVBD\tVBD\t_\t0\troot\t_\t_\n"
        "3\t.\t_\t.\t.\t_\t2\tS#1\t_\t_\n"
        "\n"
        "1\tShe\t_\tPRP\tPRP\t_\t2\tS#3\t_\t_\n"
        "2\tate\t_\tVBD\tVBD\t_\t0\troot\t_\t_\n"
        "3\trice\t_\tNN\tNN\t_\t2\tVP#1\t_\t_\n"
        "4\tearly\t_\tRB\tRB\t_\t2\tVP#1\t_\t_\n"
        "5\t.\t_\t.\t.\t_\t2\tS#1\t_\t_\n"
        "\n"
    )


def test_statistics(tiny: Path, tmp_path: Path) -> None:
    assert ok("encode", tiny, "-o", tmp_path / "x", "--stats").stderr.splitlines() == [
        "sentences                       2",
        "tokens                          8",
        "phrase symbols                  4",
        "dependency labels               5",
        "labels per symbol            1.25",
        "unary nodes               55.56 % of 9 nodes",
        "orders not nested          0.00 % of 2 heads",
        "arcs not projective        0.00 % of 6 arcs",
    ]


def test_standard_input_and_output(tiny: Path) -> None:
    conllu = ok("encode", "-", "--head-rules", "leftmost", "--encoding", "spine", stdin=TINY).stdout
    assert conllu.startswith("1\tThey\t_\tPRP\tPRP\t_\t0\troot|NP|S\t_\t_\n")
    assert ok("decode", "-", "--encoding", "spine", stdin=conllu).stdout == TINY


def test_traces_and_functions_go_unless_raw() -> None:
    text = "( (S (NP-SBJ-1 (PRP He)) (VP (VBD went) (NP (-NONE- *T*-1)))) )\n"
    clean = ok("encode", "-", "--encoding", "spine", stdin=text).stdout
    raw = ok("encode", "-", "--encoding", "spine", "--raw", stdin=text).stdout
    assert [line.split("\t")[7] for line in clean.splitlines()[:-1]] == ["NP#2", "root|VP|S"]
    assert [line.split("\t")[7] for line in raw.splitlines()[:-1]] == ["NP-SBJ-1#2", "root|VP|S", "NP#1"]


def test_repairs_are_counted_on_standard_error() -> None:
    conllu = "1\ta\t_\tA\tA\t_\t0\troot\t_\t_\n2\tb\t_\tB\tB\t_\t9\tS#1\t_\t_\n\n"
    done = ok("decode", "-", stdin=conllu)
    assert done.stdout == "(TOP (S (A a) (B b)))\n"
    assert done.stderr == (
        "1 sentence, 2 tokens, 500.00 repairs per 1,000 tokens (head outside the sentence 500.00)\n"
    )


def test_symbols_that_brackets_cannot_hold_are_escaped() -> None:
    conllu = "1\ta\t_\tA\tA\t_\t0\troot\t_\t_\n2\tb\t_\tB\tB\t_\t1\tS(X%20)#1\t_\t_\n\n"
    text = ok("decode", "-", stdin=conllu).stdout
    assert text == "(TOP (S-LRB-X\u00a0-RRB- (A a) (B b)))\n"
    assert ok("convert", "-", "-", stdin=text).stdout == text


def test_errors_are_one_line_and_nothing_is_written(tmp_path: Path) -> None:
    bad, out = tmp_path / "bad.mrg", tmp_path / "out"
    bad.write_text(TINY + "(TOP (S (NP (PRP They)) (VP )))\n")
    refused(f"{bad}:3: sentence 3: the node 'VP' is empty", "encode", bad, "-o", out)
    refused(f"{bad}:3: sentence 3: the node 'VP' is empty", "convert", bad, out)
    conllu = tmp_path / "bad.conllu"
    conllu.write_text("1\ta\t_\tA\tA\t_\t0\troot\t_\t_\n\n1\ta\tA\n\n")
    message = f"{conllu}:3: sentence 2: expected 10 columns separated by tabs, found 3"
    refused(message, "decode", conllu, "-o", out)
    assert sorted(tmp_path.iterdir()) == [conllu, bad]


def test_an_earlier_output_outlives_an_error(tiny: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("before")
    tiny.write_text(TINY + "(TOP")
    assert d2c("encode", tiny, "-o", out).returncode == 2
    assert out.read_text() == "before"
    assert sorted(tmp_path.iterdir()) == [out, tiny]


def test_files_that_cannot_be_read_or_written(tiny: Path, tmp_path: Path) -> None:
    nowhere = tmp_path / "no" / "where"
    refused(f"{nowhere}: cannot be read: No such file or directory", "encode", nowhere)
    refused(f"{nowhere}: cannot be written: No such file or directory", "encode", tiny, "-o", nowhere)
    refused("<stdin>:1: no sentence found in this file", "encode", "-", stdin="\n")
    refused("<stdin>:1: no sentence found in this file", "decode", "-", stdin="")
    refused(
        f"nowhere: no such head rules; known are {', '.join(known_head_rules())}, or a file",
        *("encode", tiny, "--head-rules", "nowhere", "-o", tmp_path / "out"),
    )
    for command in ("encode", "draw", "heads"):
        refused(f"{tiny}: {NOTHING_MARKED}", command, tiny, "--head-rules", "marked")
    latin = tmp_path / "latin"
    latin.write_bytes(b"(TOP (NN caf\xe9))\n")
    refused(f"{latin}: not UTF-8 text; iconv converts it (invalid continuation byte)", "encode", latin)


def test_several_processes_give_the_same_output(large: Path, tmp_path: Path) -> None:
    for jobs in ("1", "2"):
        conllu, back = tmp_path / f"{jobs}.conllu", tmp_path / f"{jobs}.mrg"
        done = ok("encode", large, "-o", conllu, "--encoding", "spine", "--jobs", jobs, "--stats")
        assert done.stderr.startswith("sentences                   3,600\n")
        done = ok("decode", conllu, "-o", back, "--encoding", "spine", "--jobs", jobs)
        assert done.stderr.startswith("3,600 sentences, ")
    assert (tmp_path / "1.conllu").read_bytes() == (tmp_path / "2.conllu").read_bytes()
    assert (tmp_path / "2.mrg").read_bytes() == large.read_bytes()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_error_in_a_later_chunk_names_its_sentence(large: Path, tmp_path: Path, jobs: str) -> None:
    bad = tmp_path / "bad.mrg"
    bad.write_text(large.read_text() + "(TOP (S (NN a) b))\n")
    done = d2c("encode", bad, "-o", tmp_path / "out", "--jobs", jobs)
    assert done.returncode == 2
    assert done.stderr.startswith(f"d2c: {bad}:3601: sentence 3601: ") and done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == [bad]


def test_evaluate_prints_the_table(tmp_path: Path, tiny: Path) -> None:
    guess = tmp_path / "guess.mrg"
    guess.write_text(
        TINY.replace(
            "(VP (VP (VBD ate) (NP (NN rice))) (ADVP (RB early)))",
            "(VP (VBD ate) (NP (NN rice)) (ADVP (RB early)))",
        )
    )
    lines = ok("evaluate", tiny, guess).stdout.splitlines()
    rows = [line.split() for line in lines]
    # Sentence 2: gold S NP VP VP NP ADVP, guess without the inner VP.
    assert rows[3] == ["1", "3", "0", "100.00", "100.00", "3", "3", "3", "0", "2", "2", "100.00"]
    assert rows[4] == ["2", "5", "0", "83.33", "100.00", "5", "6", "5", "0", "4", "4", "100.00"]
    assert "Bracketing Recall         =  88.89" in lines
    assert "Bracketing Precision      = 100.00" in lines
    assert "Bracketing FMeasure       =  94.12" in lines
    assert "Complete match            =  50.00" in lines


def test_attachment(tmp_path: Path) -> None:
    def conllu(name: str, third: str) -> Path:
        file = tmp_path / name
        rows = ["1\ta\t_\tA\tA\t_\t2\tS#1\t_\t_", "2\tb\t_\tB\tB\t_\t0\troot\t_\t_", third]
        file.write_text("\n".join(rows) + "\n4\t.\t_\t.\t.\t_\t1\tS#1\t_\t_\n\n")
        return file

    gold = conllu("gold", "3\tc\t_\tC\tC\t_\t2\tS#2\t_\t_")
    guess = conllu("guess", "3\tc\t_\tC\tC\t_\t2\tS#1\t_\t_")
    done = ok("evaluate", gold, guess, "--metric", "attachment")
    assert done.stdout == (
        "relation  gold  guess  precision  recall      F1     UAS\n"
        "S#1          1      2      50.00  100.00   66.67  100.00\n"
        "S#2          1      0       0.00    0.00    0.00  100.00\n"
        "root         1      1     100.00  100.00  100.00  100.00\n"
        "\n"
        "UAS 100.00  LAS 66.67  (3 tokens, without punctuation)\n"
        "UPOS 100.00  XPOS 100.00  (4 tokens, with punctuation)\n"
        "Precision, recall and F1 are those of head and relation together.\n"
        "Punctuation: words of gold whose characters are all in Unicode's category P.\n"
    )
    done = ok("evaluate", gold, guess, "--metric", "attachment", "--punctuation")
    assert "\nUAS 100.00  LAS 75.00  (4 tokens, with punctuation)\n" in done.stdout
    assert "Unicode" not in done.stdout
    longer = tmp_path / "longer"
    longer.write_text(gold.read_text() * 2)
    message = f"{guess}: sentence 2: missing; 1 sentence here, 2 in {longer}"
    refused(message, "evaluate", longer, guess, "--metric", "attachment")
    shorter = tmp_path / "shorter"
    shorter.write_text("1\ta\t_\tA\tA\t_\t0\troot\t_\t_\n\n")
    message = f"{shorter}: sentence 1: 1 token; {gold} has 4"
    refused(message, "evaluate", gold, shorter, "--metric", "attachment")


def test_convert(tmp_path: Path) -> None:
    source, target = tmp_path / "a.mrg", tmp_path / "b.mrg.gz"
    source.write_text("( (S (NP-SBJ (PRP He))\n     (VP (VBD went) (NP (-NONE- *)))) )\n")
    ok("convert", source, target)
    text = gzip.decompress(target.read_bytes()).decode()
    assert text == "( (S (NP-SBJ (PRP He)) (VP (VBD went) (NP (-NONE- *)))))\n"
    assert ok("convert", "--clean", source, "-").stdout == "(TOP (S (NP (PRP He)) (VP (VBD went))))\n"


def test_convert_conllu(tmp_path: Path) -> None:
    source, target = tmp_path / "a.conllu", tmp_path / "b.conllu"
    rows = [
        "# x",
        "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_",
        "1\tde\t_\tP\t_\t_\t0\troot\t_\t_",
        "2\tle\t_\tD\t_\t_\t1\tx:y\t_\t_",
    ]
    source.write_text("\n".join(rows) + "\n\n")
    ok("convert", source, target)
    assert target.read_text() == source.read_text()
    done = d2c("convert", source, tmp_path / "c.mrg")
    assert done.returncode == 2
    assert "use `d2c encode` and `d2c decode` between trees and CoNLL-U" in done.stderr


def test_a_closed_pipe_ends_quietly(large: Path) -> None:
    command = [sys.executable, "-m", "d2c", "encode", str(large), "--jobs", "1"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout and process.stderr
        assert process.stdout.readline().startswith(b"1\tThese\t")
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_directories_that_are_no_models(tmp_path: Path) -> None:
    file = tmp_path / "model.json"
    message = f"{tmp_path}: is no model of d2c's: {file} is no file"
    refused(f"'MODEL': {message}", "info", tmp_path)
    refused(f"'-m' / '--model': {message}", "decode", "-", "-m", tmp_path, stdin="")
    file.write_text('{"format": 7}')
    refused(f"'MODEL': {file}: has format 7; this version of d2c reads 2", "info", tmp_path)
    file.write_text('{"format": 2, "route": "chart", "dparser": "stanza"}')
    message = f"{tmp_path}: has the route 'chart', which this version of d2c does not know"
    refused(message, "decode", "-", "-m", tmp_path, stdin="")
    file.write_text('{"format": 2, "route": "chart", "dparser": "transition"}')
    done = d2c("parse", tmp_path, "-", stdin="")
    assert done.returncode == 2 and done.stderr.startswith(f"d2c: {tmp_path}")


def test_a_model_says_its_encoding(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text('{"format": 2, "route": "reduction", "dparser": "gold"}')
    done = d2c("decode", "-", "-m", tmp_path, "--encoding", "delta", stdin="")
    assert done.returncode == 2
    assert "the model says the encoding; give one of --model and --encoding" in done.stderr


def test_the_command_starts_without_large_packages() -> None:
    large = {"nltk", "numba", "scipy", "sklearn", "spacy", "stanza", "torch", "matplotlib", "jinja2"}
    code = f"import sys, d2c.commands.cli; print(sorted({large!r} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert found == "[]\n"


def test_version() -> None:
    run = [sys.executable, "-m", "d2c", "--version"]
    shown = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    assert shown == f"d2c {d2c_package.__version__}\n"
    assert d2c_package.__version__ == metadata.version("d2c-parser")


def test_each_command_is_a_file() -> None:
    helpers = {"__init__", "cli", "counts", "options", "progress", "terminal"}
    files = {path.stem for path in (ROOT / "d2c" / "commands").glob("*.py")}
    assert files - helpers == set(COMMANDS)


def test_threads_that_wait_leave_the_cores_to_others() -> None:
    code = """
import os, sys
from d2c.__main__ import main
from d2c.commands.cli import cli
cli.main = lambda **_: print("torch" in sys.modules, os.environ["OMP_WAIT_POLICY"])
main()
"""
    unset = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    for environment, shown in ((unset, "PASSIVE"), (unset | {"OMP_WAIT_POLICY": "ACTIVE"}, "ACTIVE")):
        environment["PYTHONPATH"] = str(Path(__file__).parents[2])
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
        assert run.stdout == f"False {shown}\n", run.stderr


@pytest.mark.parametrize("command", ["convert {} -", "info {}", "draw {}", "heads {}"])
def test_names_of_files_do_not_reach_the_terminal_as_they_are(command: str, tmp_path: Path) -> None:
    """An escape sequence in a name is shown, whether the file is broken or nowhere."""
    path = tmp_path / "a\x1b[31mb.mrg"
    path.write_text("x")
    for name in (path, f"{path}c"):
        done = d2c(*command.format(name).split())
        assert done.returncode == 2 and "\x1b" not in done.stderr and "a\\x1b[31mb.mrg" in done.stderr


def test_json_lines_in_a_pipe_are_recognised() -> None:
    line = '{"line": 1, "tokens": ["a"], "tags": ["NN"], "spans": [{"label": "NP", "start": 0, "end": 1}]}\n'
    for command in (
        ["phrases", "-", "--label", "NP"],
        ["search", "NP", "-"],
        ["view", "-"],
        ["convert", "-", "-"],
    ):
        done = d2c(*command, stdin=line * 2)
        assert done.returncode == 2 and done.stderr.splitlines()[-1] == (
            "d2c: is it JSON lines? draw, phrases, search and view read them with --format json"
        )
    done = d2c("search", "NP", "-", "--format", "json", "--count", stdin=line * 2)
    assert done.stdout.splitlines()[1:] == ["<stdin>\tNP\t2\t2\t2\t2\t1000.0"]


def test_text_in_place_of_trees_is_recognised(tmp_path: Path) -> None:
    (tmp_path / "story.txt").write_text("A title\n\nThe cat slept.\n")
    run = d2c("search", "NP", str(tmp_path / "story.txt"))
    assert run.returncode == 2 and run.stderr.splitlines()[-1].startswith("d2c: is it text? `d2c parse FILE")
    run = d2c("view", str(tmp_path))
    assert run.returncode == 2 and run.stderr.endswith(
        "; say --format, or make trees of text with `d2c parse`\n"
    )
    (tmp_path / "bad.mrg").write_text("(S (NN x))\nx\n")
    assert "is it text" not in d2c("search", "NP", str(tmp_path / "bad.mrg")).stderr


def options_of(name: str) -> list[click.Option]:
    command = cli.get_command(click.Context(cli), name)
    assert command
    return [one for one in command.params if isinstance(one, click.Option)]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_in_sentences_what_each_option_does(name: str) -> None:
    for one in options_of(name):
        text = (one.help or "").partition("  [")[0]
        assert text.endswith(".") and len(text) > 8, (one.opts, one.help)
        assert text.split()[0] not in ("Of", "As", "Into", "By", "Also", "With", "For"), (one.opts, one.help)


@pytest.mark.parametrize("name", ["train", "compare", "parse", "corpus"])
def test_help_has_many_options_in_sections(name: str) -> None:
    text = ok(name, "--help").stdout
    titles = re.findall(r"^([A-Z].*):$", text, re.MULTILINE)
    assert titles[0] == "Options" and titles[1:] == [title for title in _SECTIONS if title in titles]
    assert len(titles) >= 5
    for one in options_of(name):
        assert len(re.findall(rf"^  (?:-\w, )?{one.opts[-1]}\b(?!-)", text, re.MULTILINE)) == 1, one.opts
    chart = text.partition("\nChart (cky, combined):\n")[2].partition("\n\n")[0]
    assert ("--penalty" in chart) == (name in ("train", "compare")) and "--dparser" not in chart


def test_sections_name_parameters() -> None:
    known = {one.name for name in ("train", "compare", "parse", "corpus") for one in options_of(name)}
    assert {name for names in _SECTIONS.values() for name in names.split()} <= known
