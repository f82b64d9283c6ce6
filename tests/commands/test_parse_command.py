"""`d2c parse` with a small model of its own: kinds of input and output, bad lines, pipes and signals."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from functools import partial
from itertools import islice
from pathlib import Path

import pytest
from click.testing import CliRunner

from d2c.base.files import open_input
from d2c.commands.cli import cli
from d2c.commands.progress import progress
from d2c.routes.registry import make_route
from d2c.trees.formats.brackets import parse_bracket, read_brackets
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.formats.discbracket import read_discbracket
from d2c.trees.formats.export import read_export
from tests.conftest import SAMPLE

pytest.importorskip("spacy")
pytestmark = pytest.mark.usefixtures("loaded_once")

ROOT = Path(__file__).parents[2]
TEXT = "The dog slept.\nShe saw (the cat).\n"
FORMS = [("The", "dog", "slept", "."), ("She", "saw", "(", "the", "cat", ")", ".")]
Run = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def model(tagged_model: Path) -> Path:
    return tagged_model


@pytest.fixture(scope="module")
def cky(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same model with the other route."""
    directory = tmp_path_factory.mktemp("models") / "cky"
    shutil.copytree(model, directory)
    shutil.rmtree(directory / "route")
    make_route("cky").fit(islice(read_brackets(SAMPLE), 150)).save(directory / "route")
    settings = json.loads((directory / "model.json").read_text()) | {"route": "cky"}
    del settings["files"]
    (directory / "model.json").write_text(json.dumps(settings))
    return directory


def parse(model: Path, *options: str, stdin: str | bytes = TEXT) -> Run:
    data = stdin.encode() if isinstance(stdin, str) else stdin
    run = CliRunner().invoke(cli, ["parse", str(model), *options], input=data)
    return subprocess.CompletedProcess([], run.exit_code, run.stdout, run.stderr or repr(run.exception))


def test_text_in_all_formats(model: Path, tmp_path: Path) -> None:
    readers = {"brackets": read_brackets, "discbracket": read_discbracket, "export": read_export}
    for to, reader in readers.items():
        done = parse(model, "--text", "--to", to, "-o", str(tmp_path / to))
        assert done.returncode == 0 and done.stderr.startswith("2 sentences, 11 tokens, "), done.stderr
        assert len([*reader(tmp_path / to)]) == 2
    trees = [tree.tokens for tree in read_discbracket(tmp_path / "discbracket")]
    assert [tokens.forms for tokens in trees] == FORMS
    done = parse(model, "--text", "--to", "conllu", "-o", str(tmp_path / "x"))
    assert (done.returncode, [dtree.tokens.forms for dtree in read_conllu(tmp_path / "x")]) == (0, FORMS)
    assert [dtree.tokens.tags for dtree in read_conllu(tmp_path / "x")] == [tokens.tags for tokens in trees]


def test_kinds_of_input_agree(model: Path) -> None:
    lines = parse(model, "--text", "--to", "json").stdout
    first, second = map(json.loads, lines.splitlines())
    assert (first["line"], second["line"]) == (1, 2)
    assert [tuple(one["tokens"]) for one in (first, second)] == FORMS
    assert second["offsets"][2:4] == [[23, 24], [24, 27]]
    keys = {"label", "start", "end", "head", "start_char", "end_char", "confidence"}
    assert keys == set(second["spans"][0])
    tokenized = "".join(" ".join(forms) + "\n" for forms in FORMS)
    free = TEXT.replace("\n", " ") + "\n"
    for kind, text in (("--tokenized", tokenized), ("--split", free)):
        others = [
            json.loads(line) for line in parse(model, kind, "--to", "json", stdin=text).stdout.splitlines()
        ]
        assert [one["tokens"] for one in others] == [first["tokens"], second["tokens"]]
        assert [one["tags"] for one in others] == [first["tags"], second["tags"]]
    conllu = parse(model, "--text", "--to", "conllu").stdout
    assert parse(model, stdin=conllu).stdout == parse(model, "--text").stdout
    assert "offsets" not in json.loads(parse(model, "--to", "json", stdin=conllu).stdout.splitlines()[0])


def test_confidence_of_the_other_route(cky: Path) -> None:
    spans = json.loads(parse(cky, "--text", "--to", "json").stdout.splitlines()[1])["spans"]
    assert all(0 < span["confidence"] <= 1 for span in spans)
    tree = parse_bracket(parse(cky, "--text").stdout.splitlines()[1])
    assert sorted(span["label"] for span in spans) == sorted(tree.labels)


@pytest.mark.parametrize("route", ["model", "cky"])
def test_weak_constituents_are_collapsed(route: str, request: pytest.FixtureRequest) -> None:
    directory = request.getfixturevalue(route)
    dev = islice(read_brackets(ROOT / "data" / "sample" / "dev.mrg"), 20)
    text = "".join(" ".join(tree.tokens.forms) + "\n" for tree in dev)
    done = parse(directory, "--tokenized", "--to", "json", stdin=text)
    assert done.stderr.startswith("20 sentences, "), done.stderr
    spans = [json.loads(line)["spans"] for line in done.stdout.splitlines()]
    weakest, next_one, *_ = sorted({span["confidence"] for sentence in spans for span in sentence[1:]})
    least = (weakest + next_one) / 2
    assert 0 < weakest < least < 1
    strong = [[s for i, s in enumerate(sentence) if not i or s["confidence"] >= least] for sentence in spans]
    assert list(map(len, strong)) != list(map(len, spans))
    option = f"--min-confidence={least}"
    lines = parse(directory, "--tokenized", "--to", "json", option, stdin=text).stdout.splitlines()
    assert [json.loads(line)["spans"] for line in lines] == strong
    trees = parse(directory, "--tokenized", option, stdin=text).stdout.splitlines()
    assert [len(parse_bracket(tree).labels) for tree in trees] == list(map(len, strong))
    assert parse(directory, "--text", "--min-confidence=0").stdout == parse(directory, "--text").stdout
    flat = parse(directory, "--text", "--min-confidence=1", "--to", "conllu")
    assert flat.returncode == 2 and "no constituents to collapse" in flat.stderr


def test_bad_lines(model: Path) -> None:
    text = b"The dog slept .\n\xff\n\xc2\xa0\tx\nThe cat slept .\n"
    done = parse(model, "--tokenized", stdin=text)
    assert done.returncode == 3
    trees = done.stdout.splitlines()
    assert trees[1] == trees[2] == "(TOP (ERROR (ERROR ERROR)))"
    assert [parse_bracket(tree).tokens.forms[1:2] for tree in trees] == [("dog",), (), (), ("cat",)]
    assert done.stderr.splitlines()[:2] == [
        "d2c: <stdin>:2: not UTF-8 text; iconv converts it",
        "d2c: <stdin>:3: the token 1 is empty: it holds nothing but '\\xa0'",
    ]
    assert done.stderr.splitlines()[2].startswith("2 sentences, 8 tokens, ")
    assert done.stderr.splitlines()[-1] == "2 could not be parsed"
    lines = parse(model, "--tokenized", "--to", "json", stdin=text).stdout.splitlines()
    assert [(one["line"], one.get("error")) for one in map(json.loads, lines)] == [
        *((1, None), (2, "not UTF-8 text; iconv converts it")),
        *((3, "the token 1 is empty: it holds nothing but '\\xa0'"), (4, None)),
    ]
    lines = parse(model, "--tokenized", "--to", "conllu", stdin=text).stdout.splitlines()
    assert [line[:24] for line in lines if line.startswith("#")] == [
        "# error = not UTF-8 text",
        "# error = the token 1 is",
    ]
    done = parse(model, "--tokenized", "--strict", stdin=text)
    assert done.returncode == 1 and "<stdin>" in done.stderr and "not UTF-8 text" in done.stderr
    assert done.stdout == ""
    done = parse(model, "--tokenized", "--to", "export", stdin="The dog .\n#BOS slept .\nThe cat .\n")
    assert (
        done.returncode == 3
        and done.stdout.count("#EOS") == 3
        and "d2c: <stdin>:2: the word '#BOS' cannot be" in done.stderr
    )
    done = parse(model, stdin="1\ta\n\n" + "1\ta\t_\tDT\tDT\t_\t0\tr\t_\t_\n\n")
    assert done.returncode == 3 and done.stdout.count("\n") == 2
    assert "d2c: <stdin>:1: sentence 1: expected 10 columns separated by tabs, found 2" in done.stderr


@pytest.mark.slow
def test_lines_of_marks_are_parsed_and_a_megabyte_of_them_is_a_marked_tree(model: Path) -> None:
    done = parse(model, "--tokenized", stdin=b"...\r!? -\n \t\n(\n" + b"." * 1_000_000 + b"\n")
    *trees, marked = done.stdout.splitlines()
    assert [parse_bracket(tree).tokens.forms for tree in trees] == [("...",), ("!?", "-"), ("(",)]
    assert (done.returncode, marked) == (3, "(TOP (ERROR (ERROR ERROR)))")
    assert done.stderr.startswith("d2c: <stdin>:5: 1,000,000 characters in one sentence, ")


def test_jobs_make_no_difference(model: Path, texts: Path) -> None:
    options = ("texts", "-", "--tokenized", "--to", "json", "--batch-size", "2")
    one, two = (parse(model, *options, "--jobs", jobs) for jobs in "12")
    assert one.returncode == two.returncode == 3 and one.stdout.count("\n") == 7
    said = [[line for line in run.stderr.splitlines() if "/s" not in line] for run in (one, two)]
    assert two.stdout == one.stdout and said[0] == said[1]


def test_a_run_goes_on_where_it_stopped(model: Path, tmp_path: Path) -> None:
    source, output = tmp_path / "in", tmp_path / "x.jsonl"
    source.write_bytes(b"The dog slept .\n\xff\nThe cat slept .\n")
    options = (str(source), "--tokenized", "-o", str(output), "--batch-size", "1")
    done = parse(model, *options, "--strict")
    assert f"{output}.part has what is finished: 1 sentence; see --resume\n" in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"in", "x.jsonl.part", "x.jsonl.part.log"}
    other = parse(model, *options, "--resume", "--to", "brackets")
    assert "was made with --to json (now brackets); keep to that, or delete it to begin" in other.stderr
    source.write_bytes(b"The dog slept .\nShe slept .\n\xfe\n")
    rest = parse(model, *options, "--resume")
    assert rest.returncode == 3 and rest.stderr.startswith(
        f"d2c: {source}:3: not UTF-8 text; iconv converts it\n2 sentences, "
    )
    assert {path.name for path in tmp_path.iterdir()} == {"in", "x.jsonl"}
    resumed = output.read_bytes()
    whole = parse(model, *options)
    assert output.read_bytes() == resumed and whole.stderr == rest.stderr
    again = parse(model, *options, "--resume")
    assert (again.returncode, again.stdout) == (0, "")
    assert again.stderr.startswith(f"{output}: is finished, ") and "not compared" in again.stderr
    source.write_text("The dog slept .\n")
    os.utime(source, ns=(output.stat().st_mtime_ns + 1,) * 2)
    assert parse(model, *options, "--resume").returncode == 0
    assert output.read_bytes() == resumed.splitlines(keepends=True)[0]


def refused(model: Path, *options: str) -> str:
    """What is said where nothing is parsed."""
    return str(CliRunner().invoke(cli, ["parse", str(model), *options]).exception)


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three texts in a directory, of which the second has a bad line; beside them what is no text."""
    monkeypatch.chdir(tmp_path)
    Path("texts/b").mkdir(parents=True)
    Path("texts/a.txt").write_text("The dog slept .\nShe slept .\n")
    Path("texts/b/c.txt").write_bytes(b"The cat slept .\n\xff\n")
    Path("texts/d.txt").write_text("He saw the cat .")
    Path("texts/x.doc").write_bytes(b"\xff")
    return tmp_path


def test_several_inputs(model: Path, texts: Path) -> None:
    files = ["texts/a.txt", "texts/b/c.txt", "texts/d.txt"]
    whole = parse(model, "texts", "--tokenized", "--to", "json")
    line = "d2c: texts/b/c.txt:2: not UTF-8 text; iconv converts it\n"
    assert whole.returncode == 3 and whole.stderr.startswith(f"{line}4 sentences, 16 tokens, ")
    rows = [json.loads(line) for line in whole.stdout.splitlines()]
    assert [(row["file"], row["line"]) for row in rows] == [
        *((files[0], 1), (files[0], 2), (files[1], 1), (files[1], 2), (files[2], 1))
    ]
    assert [row["offsets"][0][0] for row in rows if row["tokens"]] == [0, 16, 0, 0]
    assert [row.get("text") for row in rows][2:4] == ["The cat slept .", None]
    for given in (files, ["texts/a.txt", "texts/**/c.txt", "texts/d.txt"], ["texts", "texts/a.txt"]):
        assert parse(model, *given, "--tokenized", "--to", "json").stdout == whole.stdout
    one = parse(model, files[0], "--tokenized", "--to", "json").stdout.splitlines()
    assert [{"file": files[0]} | json.loads(line) for line in one] == rows[:2]


def test_inputs_without_a_model(
    model: Path, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(model, tmp_path / "models" / "en")
    monkeypatch.setenv("D2C_MODELS", str(tmp_path / "models"))
    for given in ("texts/a.txt", "texts/d.txt"), ("texts",), ("texts/*.txt", "-"):
        named = parse(model, *given, "--tokenized", stdin="")
        run = CliRunner().invoke(cli, ["parse", *given, "--tokenized"], input="")
        assert (run.exit_code, run.stdout) == (named.returncode, named.stdout) and named.stdout
    Path("none").mkdir()
    assert "none: is no model" in repr(CliRunner().invoke(cli, ["parse", "none"]).exception)


def test_a_run_over_several_inputs_goes_on(model: Path, texts: Path) -> None:
    options = ("texts", "--tokenized", "-o", "x.jsonl", "--batch-size", "1")
    assert "3 sentences; see --resume" in parse(model, *options, "--strict").stderr
    Path("texts/b/c.txt").rename("texts/b/cc.txt")
    message = "texts/a.txt and 2 more files: does not begin with the 3 sentences that --resume goes on from"
    assert refused(model, *options, "--resume") == message
    Path("texts/b/cc.txt").rename("texts/b/c.txt")
    Path("texts/e.txt").write_text("She slept .")
    assert parse(model, *options, "--resume").returncode == 3
    resumed = Path("x.jsonl").read_bytes()
    parse(model, *options)
    assert Path("x.jsonl").read_bytes() == resumed and resumed.count(b"\n") == 6


def test_inputs_that_are_not_there(model: Path, texts: Path) -> None:
    Path("none.d").mkdir()
    known = "no file in it is called .conllu .conll .txt .text .json .jsonl; name the files"
    for given, says in (
        (["none.d"], f"none.d: {known}"),
        (["texts/b", "--text", "none"], "none: cannot be read: No such file or directory"),
        (["texts/*.tex"], "texts/*.tex: no file has such a name"),
        (["texts/1..2", "--text"], "texts/1: cannot be read: No such file or directory"),
    ):
        assert refused(model, *given, "-o", "x.mrg") == says
        assert not Path("x.mrg").exists() and not Path("x.mrg.part").exists()


def test_endings_of_no_format(model: Path, texts: Path) -> None:
    said = refused(model, "texts", "--text", "-o", "x.png")
    assert said.startswith(
        "x.png: no format of trees is called .png; say --to, or one of .json .jsonl .conllu .conll .mrg"
    )
    assert not Path("x.png").exists()


def test_progress_says_what_is_parsed(model: Path, texts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("d2c.commands.parse.progress", partial(progress, every=0))
    said = parse(model, "texts", "--tokenized").stderr
    assert "parsing texts/a.txt and 2 more files: 5 sentences, " in said
    assert "parsing texts/a.txt: 2 sentences, " in parse(model, "texts/a.txt", "--tokenized").stderr


def test_progress_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("parsing x", every=0) as more:
        more(2, 11)
        more(1000, 7)
    lines = capsys.readouterr().err.splitlines()
    assert [re.sub("[0-9,]+ tokens", "N tokens", line) for line in lines] == [
        *(
            "parsing x: 2 sentences, N tokens/s, 0:00:00",
            "parsing x: 1,002 sentences, N tokens/s, 0:00:00",
        )
    ]
    with progress("parsing x") as more:
        more(2, 11)
    assert capsys.readouterr().err == ""


def test_the_time_that_is_left(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """It follows from what was done since the first share: not from loading, nor from a run before."""
    now = 0.0
    monkeypatch.setattr("tqdm.std.time", lambda: now)
    monkeypatch.setattr("time.monotonic", lambda: now)
    with progress("parsing x", initial=5) as more:
        for seconds, share in ((20.0, 0.5), (22.0, 0.51), (60.0, 0.6)):
            now = seconds
            more(2, 20, share)
    assert capsys.readouterr().err.splitlines() == [
        "parsing x: 7 sentences, 1 token/s, 0:00:20",
        "parsing x: 11 sentences, 1 token/s, 0:01:00, about 0:02:40 left",
    ]


def test_text_that_is_not_said_to_be_text(model: Path) -> None:
    done = parse(model)
    assert done.returncode == 3 and done.stdout == "(TOP (ERROR (ERROR ERROR)))\n"
    assert done.stderr.splitlines()[-2:] == [
        "1 could not be parsed",
        "Is the input text? Say --text, --tokenized or --split; for JSON lines, --json.",
    ]
    assert "Is the input text" not in parse(model, "--tokenized", stdin=b"\xff\n").stderr


@pytest.mark.parametrize("name", ["x.json", "x.jsonl", "x.jsonl.gz"])
def test_the_name_of_the_output_says_json(model: Path, tmp_path: Path, name: str) -> None:
    assert parse(model, "--text", "-o", str(tmp_path / name)).returncode == 0
    with open_input(tmp_path / name) as stream:
        assert [json.loads(line)["line"] for line in stream] == [1, 2]


def test_the_name_of_the_output_says_c_trees_in_comments(model: Path, tmp_path: Path) -> None:
    assert parse(model, "--text", "-o", str(tmp_path / "x.trees.conllu")).returncode == 0
    assert (tmp_path / "x.trees.conllu").read_text().count("# constituency = (TOP (") == 2


def test_text_without_a_tagger(model: Path, tmp_path: Path) -> None:
    shutil.copytree(model, tmp_path / "m")
    shutil.rmtree(tmp_path / "m" / "tagger")
    settings = json.loads((tmp_path / "m" / "model.json").read_text())
    (tmp_path / "m" / "model.json").write_text(
        json.dumps({key: value for key, value in settings.items() if key in ("format", "route", "dparser")})
    )
    done = run_in_shell(tmp_path / "m", "--text")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "d2c: words need a tagger, and this model has none; train it with --tagger spacy or --tagger stanza\n"
    )


def command(model: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "d2c", "parse", str(model), *options]


def run_in_shell(model: Path, *options: str) -> Run:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command(model, *options), input=TEXT, capture_output=True, text=True, timeout=600, env=environment
    )


def endless(model: Path, *options: str) -> subprocess.Popen[bytes]:
    """The command with input without an end."""
    process = subprocess.Popen(
        command(model, *options),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )

    def feed() -> None:
        assert process.stdin
        try:
            while True:
                process.stdin.write(TEXT.encode() * 100)
        except (BrokenPipeError, ValueError):
            pass

    threading.Thread(target=feed, daemon=True).start()
    return process


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_whole_lines(model: Path, number: signal.Signals) -> None:
    process = endless(model, "--text", "--to", "json")
    assert process.stdout and process.stderr
    lines = [process.stdout.readline() for _ in range(50)]
    process.send_signal(number)
    lines += process.stdout.readlines()
    assert process.wait(600) in (130, 143) and b"Traceback" not in process.stderr.read()
    assert lines[-1].endswith(b"\n")
    assert all(json.loads(line)["line"] == i for i, line in enumerate(lines, 1))


@pytest.mark.slow
def test_a_closed_pipe_ends_quietly(model: Path) -> None:
    process = endless(model, "--text")
    assert process.stdout and process.stderr
    assert process.stdout.readline().startswith(b"(")
    process.stdout.close()
    assert process.stderr.read() == b"" and process.wait(600) == 1


def test_conllu_keeps_what_parse_does_not_write(model: Path) -> None:
    """Comments, a range, an empty node, UPOS, MISC; heads, labels and, where there are none, tags are new."""
    given = (
        "# sent_id = 1\n1\tThe\tthe\tDET\tDT\tDefinite=Def\t_\t_\t2:det\t_\n"
        "2-3\tdog's\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n2\tdog\tdog\tNOUN\tNN\t_\t_\t_\t_\tGloss=dog\n"
        "3\t's\tbe\tAUX\tVBZ\t_\t_\t_\t_\t_\n3.1\tvery\t_\t_\t_\t_\t_\t_\t_\t_\n4\told\told\tADJ\tJJ\t_\t_\t_\t_\t_\n\n"
    )
    written = parse(model, "--to", "conllu", stdin=given).stdout

    def without_arcs(text: str) -> list[list[str]]:
        rows = (line.split("\t") for line in text.splitlines())
        return [row[:6] + row[8:] for row in rows]

    assert written != given and without_arcs(written) == without_arcs(given)
    untagged = re.sub(r"\t(DT|NN|VBZ|JJ)\t", "\t_\t", given)
    tagged = without_arcs(parse(model, "--to", "conllu", stdin=untagged).stdout)
    assert [row[3] for row in tagged if len(row) > 1] == ["DET", "_", "NOUN", "AUX", "_", "ADJ"]


def test_trees_in_comments_of_the_conllu_that_was_parsed(model: Path) -> None:
    given = (
        "# sent_id = 1\n1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\tA=b\n2\tdog\tdog\tNOUN\tNN\t_\t0\troot\t_\t_\n\n"
    )
    written = parse(model, "--to", "constituency", stdin=given).stdout
    assert re.sub("# constituency = .*\n", "", written) == given
    assert "(DT The) (NN dog)" in written
