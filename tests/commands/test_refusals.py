"""What is refused before work is done for it, and names of files that are no text."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from d2c.base.errors import FormatError, ModelError
from d2c.base.temporary import claimed
from d2c.commands.cli import cli
from d2c.commands.cli import run as run_d2c
from d2c.commands.parse import _is_input
from d2c.commands.serve import _listening
from d2c.models.model import Model
from tests.pages import Page

TREE = "(S (NP (PRP They)) (VP (VBD slept)))\n"


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    path = tmp_path / "x.mrg"
    path.write_text(TREE)
    return path


def run(*arguments: str | Path, stdin: str = "") -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)), input=stdin)


def refused(*arguments: str | Path, stdin: str = "") -> str:
    """Return the line that a command ends with."""
    done = run(*arguments, stdin=stdin)
    assert isinstance(done.exception, FormatError), done.output
    return str(done.exception)


def test_names_that_are_no_utf8_are_shown_with_escapes(trees: Path, tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"n\xff.mrg")
    odd.write_text(TREE)
    shown = f"{tmp_path}/n\\udcff.mrg"
    assert run("search", "NP", odd).stdout.splitlines()[1].split("\t")[0] == shown
    assert json.loads(run("search", "NP", odd, "--count", "--to", "json").stdout)["file"] == shown
    assert run("phrases", odd, trees, "--label", "NP").stdout.splitlines()[1].split("\t")[0] == shown
    assert run("view", odd, trees, "-o", tmp_path / "x.html").exit_code == 0
    assert [s["file"] for s in Page((tmp_path / "x.html").read_text()).data["sentences"]] == [
        shown,
        str(trees),
    ]


@pytest.mark.parametrize("command", ["train", "compare"])
def test_a_treebank_that_is_read_several_times_is_a_file(command: str, trees: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for given in (("-", trees), (trees, "-"), (tmp_path / "pipe", trees)):
        arguments = [given[0], "--dev", given[1], "-o", tmp_path / "m"] if command == "train" else given
        line = refused(command, *arguments, "--dparser", "gold", stdin=TREE)
        name = tmp_path / "pipe" if "-" not in given else "<stdin>"
        assert line == f"{name}: is read several times; name a file instead"
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    "command",
    [
        "train {x} --dev {x} -o {out} --dparser gold --overwrite",
        "compare {x} {x} -o {out} --dparser gold --route reduction",
        "convert {x} {out}.mrg",
        "view {x} -o {out}.html",
        "encode {x} -o {out}.conllu",
        "draw {x} -o {out}.svg",
        "phrases {x} --label NP -o {out}.csv",
        "search NP {x} -o {out}.parquet",
        "combine {x} {x} -o {out}.mrg",
    ],
)
def test_of_two_that_write_one_output_one_is_refused(command: str, trees: Path, tmp_path: Path) -> None:
    words = command.format(x=trees, out=tmp_path / "out").split()
    [target] = (Path(word) for word in words if Path(word).stem == "out")
    with claimed(target):  # as by the other one
        done = run(*words)
        assert isinstance(done.exception, FormatError | ModelError), done.output
        assert str(done.exception) == f"{target}: cannot be written: another process is writing it"
    assert {*tmp_path.iterdir()} == {trees}
    assert run(*words).exit_code == 0 and target.exists()


def test_a_model_that_appears_during_training_stays(
    trees: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def saved(self: Model, directory: Path, trained: Path) -> None:
        save(self, directory, trained)
        run(*words[:-1], tmp_path / "other")
        os.rename(tmp_path / "other", tmp_path / "out")

    save, words = Model.save, ["train", trees, "--dev", trees, "--dparser", "gold", "-o", tmp_path / "out"]
    monkeypatch.setattr(Model, "save", lambda *given: (monkeypatch.undo(), saved(*given)))
    done = run(*words)
    assert isinstance(done.exception, ModelError), done.output
    before, after = str(done.exception).split("; the new one is ")
    assert before == f"{tmp_path / 'out'}: was not replaced: it has changed since this one was begun"
    assert {path.name for path in tmp_path.iterdir()} == {"x.mrg", "out", Path(after).name}
    assert run("info", after).stdout == run("info", tmp_path / "out").stdout


def test_standard_input_is_read_once(trees: Path) -> None:
    assert refused("evaluate", "-", "-", stdin=TREE).startswith("<stdin>: is read several times; name a file")


def test_a_report_over_standard_input_reads_it_twice(trees: Path, tmp_path: Path) -> None:
    done = run("evaluate", trees, "-", "--report", tmp_path / "r.html", stdin=TREE)
    assert str(done.exception) == "<stdin>: is read several times; name a file instead"
    assert done.stdout == ""
    assert not (tmp_path / "r.html").exists()


def test_a_report_that_cannot_be_written_is_known_before_any_work(
    trees: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("d2c.experiments.comparison.train_and_compare", None)
    for report in (tmp_path / "absent" / "r.html", tmp_path):
        assert refused("compare", trees, trees, "--report", report).startswith(f"{report}: cannot be written")
        done = run("evaluate", trees, trees, "--report", report)
        assert str(done.exception).startswith(f"{report}: cannot be written") and done.stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == ["x.mrg"]


def test_what_has_no_name_of_its_own_is_named(trees: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory of models that nobody keeps, and a host whose name has an empty part."""

    def fails(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("d2c.experiments.comparison.train_and_compare", fails)
    assert refused("compare", trees, trees).startswith("/")
    with pytest.raises(OSError) as caught:
        _listening("a..b", 0)
    assert (caught.value.errno, caught.value.filename) == (errno.EINVAL, "a..b:0")


def test_a_report_is_a_page(trees: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("d2c.experiments.comparison.train_and_compare", None)
    for command in ("compare", "evaluate"):
        line = refused(command, trees, trees, "--report", tmp_path / "r.pdf")
        assert (
            line
            == f"{tmp_path}/r.pdf: nothing is written here that is called so; known endings are .html .htm"
        )
    assert run("evaluate", trees, trees, "--report", tmp_path / "r.htm").exit_code == 0
    assert run("search", "NP", trees, "-o", tmp_path / "s.htm").exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.htm", "s.htm", "x.mrg"]


def test_the_text_that_is_parsed_is_not_overwritten(tmp_path: Path) -> None:
    text, link = tmp_path / "a.txt", tmp_path / "b.txt"
    text.write_text("They slept.\n")
    link.symlink_to(text)
    for given, output in ((text, text), (text, link), (tmp_path, text)):
        line = refused("parse", "en-small", given, "--text", "-o", output)
        assert line == f"{output}: is also the input, or part of it; give the output another name"
    assert text.read_text() == "They slept.\n" and sorted(tmp_path.iterdir()) == [text, link]


@pytest.mark.parametrize("option", ["--allow-pipeline", "--parse-command", "--device"])
def test_what_a_dparser_does_not_take_is_called_as_it_was_typed(
    option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["d2c", "parse", "en-small", "--text", option, "x"])
    assert run_d2c() == 2
    assert capsys.readouterr().err == f"d2c: the d-parser spacy takes no {option}\n"


def test_alternatives_have_no_confidences(tmp_path: Path) -> None:
    options = ("--text", "--to", "json", "--best", "2", "--min-confidence", "0.5")
    done = run("parse", "en-small", "-", *options, stdin="They slept.\n")
    assert done.exit_code == 2 and "no confidences to collapse by; leave out one of the two" in done.output


def test_conllu_has_no_options_of_trees(tmp_path: Path) -> None:
    (tmp_path / "x.conllu").write_text("1\ta\ta\tX\tX\t_\t0\troot\t_\t_\n\n")
    asked = (["--to", "export"], ["--clean"], ["--merge"], ["--move-punctuation"], ["--continuous", "raise"])
    for options in asked:
        done = run("convert", tmp_path / "x.conllu", tmp_path / "y.conllu", *options)
        assert done.exit_code == 2 and "CoNLL-U has no c-trees; leave out --to" in done.output
        assert not (tmp_path / "y.conllu").exists()


def test_conllu_within_a_name_says_nothing(tmp_path: Path) -> None:
    """As of what `decode` has made of ewt.conllu: only the ending of a name says the format."""
    for name, options in (("x.conllu.mrg", []), ("x.conllu", ["--from", "brackets"])):
        (tmp_path / name).write_text(TREE)
        assert run("convert", tmp_path / name, "-", *options).stdout == TREE
        assert run("convert", tmp_path / name, tmp_path / "y.conllu.mrg", *options).exit_code == 0
        assert (tmp_path / "y.conllu.mrg").read_text() == TREE
        assert "use `d2c encode`" in run("convert", tmp_path / name, tmp_path / "z.conllu", *options).output


def test_encoded_trees_are_not_called_as_c_trees(trees: Path, tmp_path: Path) -> None:
    output = tmp_path / "x.trees.conllu"
    assert refused("encode", trees, "-o", output).startswith(f"{output}: ")
    assert not output.exists()


def test_what_is_input_where_no_model_is_named(tmp_path: Path) -> None:
    for name in ("deep/below/a.txt", "lines/a.jsonl", "none/a.mrg"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("")
    assert [_is_input(tmp_path / name) for name in ("deep", "lines", "none")] == [True, True, False]
    assert _is_input(Path("absent.jsonl")) and not _is_input(Path("absent"))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["parse", "--split", "--tokenized"], "--split and --tokenized do not go together."),
        (["parse", "--json", "--text", "--json"], "--json and --text do not go together."),
        (
            ["corpus", "x.txt", "-o", "x", "--tokenized", "--split"],
            "--tokenized and --split do not go together.",
        ),
    ],
)
def test_one_kind_of_input(arguments: list[str], says: str) -> None:
    run = CliRunner().invoke(cli, arguments)
    assert run.exit_code == 2 and run.output.splitlines()[-1] == f"Error: {says}"


@pytest.mark.parametrize(
    "command",
    [
        ("evaluate", "BAD", "BAD"),
        ("evaluate", "BAD", "BAD", "--metric", "disco"),
        ("evaluate", "BAD", "BAD", "BAD"),
        ("heads", "BAD"),
        ("phrases", "BAD", "--label", "NP"),
        ("search", "NP", "BAD"),
        ("search", "NP", "BAD", "--count"),
        ("draw", "BAD"),
    ],
)
def test_no_header_is_printed_before_a_failure(tmp_path: Path, command: tuple[str, ...]) -> None:
    path = tmp_path / "x.mrg"
    path.write_text("(S (NP a) b)\n")
    done = CliRunner().invoke(cli, [str(path) if one == "BAD" else one for one in command])
    assert done.stdout == "" and isinstance(done.exception, FormatError)
