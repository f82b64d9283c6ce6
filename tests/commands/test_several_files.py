"""Several files wherever trees are read: the same result as of one, and errors that name the right file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from d2c.base.errors import FormatError
from d2c.commands.cli import cli
from d2c.experiments.comparison import train_and_compare
from d2c.training.spec import TrainingSpec
from d2c.training.train import train_models

SAMPLE = Path(__file__).parents[2] / "data" / "sample" / "train.mrg"


def run(*arguments: str | Path, status: int = 0, text: str = "") -> Result:
    done = CliRunner().invoke(cli, [*map(str, arguments)], input=text)
    assert done.exit_code == status, done.output or done.exception
    return done


@pytest.fixture
def wsj(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three sections of five, ten and five trees; beside them all.mrg, and a file that is no treebank."""
    monkeypatch.chdir(tmp_path)
    trees = SAMPLE.read_text().splitlines(keepends=True)[:20]
    for section, (begin, end) in (("02", (0, 5)), ("03", (5, 15)), ("21", (15, 20))):
        (tmp_path / "wsj" / section).mkdir(parents=True)
        (tmp_path / "wsj" / section / "w.mrg").write_text("".join(trees[begin:end]))
    Path("all.mrg").write_text("".join(trees))
    Path("wsj/README").write_text("not a tree")
    return tmp_path


@pytest.mark.parametrize("given", [["wsj"], ["wsj/*/*.mrg"], ["wsj/02..03", "wsj/21/w.mrg"]])
@pytest.mark.parametrize("command", ["encode", "heads", "convert"])
def test_the_same_as_of_one_file(command: str, given: list[str], wsj: Path) -> None:
    last = ["-"] if command == "convert" else []
    assert run(command, *given, *last).stdout == run(command, "all.mrg", *last).stdout


def test_figures_of_encode(wsj: Path) -> None:
    options = ["--stats", "-o", "x.conllu", "--jobs", "2"]
    assert run("encode", "wsj", *options).stderr == run("encode", "all.mrg", *options).stderr


def test_conllu_is_converted(wsj: Path) -> None:
    for section in ("02", "03", "21"):
        run("encode", f"wsj/{section}", "-o", f"wsj/{section}/x.conllu")
    assert run("convert", "wsj/*/*.conllu", "-").stdout == run("encode", "all.mrg").stdout


@pytest.mark.parametrize("command", ["encode", "heads", "convert", "phrases", "view", "evaluate"])
def test_errors_name_their_file(command: str, wsj: Path) -> None:
    with open("wsj/03/w.mrg", "a") as stream:
        stream.write("(S (A a) b)\n")
    others = {"convert": ["x.mrg"], "phrases": ["--label", "NP"], "evaluate": ["all.mrg"]}.get(command, [])
    done = run(command, "wsj", *others, status=1)
    assert isinstance(done.exception, FormatError)
    assert str(done.exception).startswith("wsj/03/w.mrg:11: sentence 11: the word 'b' stands beside")
    assert {path.name for path in wsj.iterdir()} == {"wsj", "all.mrg"}
    if command not in ("view", "evaluate"):
        assert "wsj/03/w.mrg: 1 left out" in run(command, "wsj", *others, "--skip-bad").stderr


def test_what_a_format_cannot_hold_names_its_file(wsj: Path) -> None:
    (wsj / "wsj/21/w.mrg").write_text("(S (A a))\n(S (A #500))\n")
    done = run("convert", "wsj", "x.export", status=1)
    assert str(done.exception).startswith("wsj/21/w.mrg: sentence 2: the word '#500'")


@pytest.mark.parametrize("command", ["encode", "heads", "view", "train"])
def test_nothing_there(command: str, wsj: Path) -> None:
    Path("empty").mkdir()
    options = {"train": ["--dev", "all.mrg", "-o", "m"]}.get(command, [])
    for given, says in (
        ("wsj/02..04", "wsj/04: cannot be read: No such file or directory"),
        ("wsj/*.psd", "wsj/*.psd: no file has such a name"),
        ("empty", "empty: no file in it is called .mrg "),
    ):
        assert str(run(command, "all.mrg", given, *options, status=1).exception).startswith(says)


def test_an_empty_file_is_named(wsj: Path) -> None:
    Path("wsj/03/w.mrg").write_text("")
    assert str(run("encode", "wsj", status=1).exception) == "wsj/03/w.mrg:1: no sentence found in this file"


def test_gold_in_sections(wsj: Path) -> None:
    assert run("evaluate", "wsj", "all.mrg").stdout == run("evaluate", "all.mrg", "all.mrg").stdout
    table = run("evaluate", "wsj", "all.mrg", "wsj/*/*.mrg").stdout
    assert "w.mrg and 2 more files against all.mrg" in table
    assert (
        "GOLD and GUESS must be a single file each"
        in run("evaluate", "--raw", "wsj", "all.mrg", status=2).stderr
    )
    with open("all.mrg", "a") as stream:
        stream.write("(S (A a))\n")
    message = "wsj/02/w.mrg and 2 more files: sentence 21: missing; 20 sentences here, 21 in all.mrg"
    assert str(run("evaluate", "wsj", "all.mrg", status=1).exception) == message


def test_endings_that_nothing_is_written_for(wsj: Path) -> None:
    for arguments, known in (
        (["encode", "all.mrg", "-o", "x.png"], ".conllu .conll .txt"),
        (["draw", "all.mrg", "-o", "x.jpg"], ".txt .svg .pdf .png .tex"),
        (["view", "all.mrg", "-o", "x.png"], ".html .htm"),
        (["phrases", "all.mrg", "--label", "NP", "-o", "x.png"], ".tsv .csv .jsonl .json .xlsx .parquet"),
        (["convert", "all.mrg", "x.png"], ".mrg .brackets .ptb .parse .tree .trees .discbracket .dbr"),
    ):
        message = str(run(*arguments, status=1).exception)
        assert message.startswith(f"{arguments[-1]}: ") and known in message
        assert not Path(arguments[-1]).exists()
    run("convert", "all.mrg", "x.png", "--to", "brackets")
    assert Path("x.png").read_text().count("\n") == 20


def test_a_page_of_several_files(wsj: Path) -> None:
    run("view", "wsj", "-o", "x.html")
    page = Path("x.html").read_text()
    assert [page.count(part) for part in ('"file":"wsj/03/w.mrg"', '"i":5,', '"i":10,')] == [10, 3, 1]
    run("view", "all.mrg", "-o", "x.html")
    assert '"file":' not in Path("x.html").read_text()


def test_phrases_name_files(wsj: Path) -> None:
    table = [line.split("\t") for line in run("phrases", "wsj", "--label", "S").stdout.splitlines()]
    assert table[0] == ["file", "sentence", "label", "start", "end", "text"]
    assert {row[0] for row in table[1:]} == {f"wsj/{section}/w.mrg" for section in ("02", "03", "21")}
    one = run("phrases", "wsj/03", "--label", "S").stdout.splitlines()[1:]
    assert ["\t".join(row[1:]) for row in table if row[0] == "wsj/03/w.mrg"] == one


@pytest.mark.parametrize("tags", ["gold", "predicted"])
def test_training(tags: str, wsj: Path) -> None:
    """Models of sections are those of one file, also where files are read again with predicted tags."""
    sections = tuple(sorted(wsj.glob("wsj/*/*.mrg")))
    models = []
    for name, treebank in (("one", wsj / "all.mrg"), ("several", sections)):
        spec = TrainingSpec.of(treebank, treebank, dparser="transition", preset="small", epochs=1)
        spec = spec.changed(tagger="spacy", tags=tags, jackknife=2 if tags == "predicted" else None)
        train_models(spec, [wsj / name])
        models.append((wsj / name / "model.json").read_text())
    assert models[0] == models[1]
    assert {"tagger": "spacy", "tags": tags}.items() <= json.loads(models[0]).items()


def test_what_training_says(wsj: Path) -> None:
    options = ["--preset", "small", "--dparser", "transition", "--epochs", "1", "-o", "m"]
    said = run("train", "wsj/02..03", "wsj/21", "--dev", "wsj/02", "--dev", "wsj/03", *options).stderr
    files = "wsj/02/w.mrg and 2 more files", "wsj/02/w.mrg and 1 more file"
    assert f"training on {files[0]}, choosing on {files[1]}: d-parser transition" in said
    assert f"{files[0]}: 20 sentences, " in said and f"{files[1]}: 15 sentences, " in said


def test_compare_takes_directories(wsj: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[TrainingSpec] = []

    def take(spec: TrainingSpec, *_: Any) -> None:
        taken.append(spec)
        raise KeyboardInterrupt

    monkeypatch.setattr(train_and_compare.__module__ + ".train_and_compare", take)
    CliRunner().invoke(cli, ["compare", "wsj/02..03", "wsj/21"])
    [spec] = taken
    assert spec.data.train == (Path("wsj/02/w.mrg"), Path("wsj/03/w.mrg")) and spec.data.dev == (
        Path("wsj/21/w.mrg"),
    )


def test_json_lines_become_phrases(wsj: Path) -> None:
    spans = [{"label": "NP", "start": 0, "end": 2, "head": 1, "confidence": 0.5}]
    line = {"tokens": ["``", "I"], "tags": ["``", "PRP"], "offsets": [[3, 4], [6, 7]], "text": '"  I'}
    rows = [{"file": file} | line | {"line": 1, "spans": spans} for file in ("a.txt", "a.txt", "b.txt")]
    rows.insert(1, {"file": "a.txt", "line": 2, "error": "no", "tokens": [], "tags": [], "spans": []})
    text = "".join(json.dumps(row) + "\n" for row in rows)
    done = run("phrases", "-", "--format", "json", "--label", "NP", "--label", "ERROR", "--head", text=text)
    columns = "file sentence source label start end start_char end_char text head head_word"
    assert done.stdout.splitlines() == [
        "\t".join([*columns.split(), "governor", "governor_word", "confidence"]),
        *(
            f'<stdin>\t{number}\t{source}\tNP\t0\t2\t3\t7\t"""  I"\t1\tI\t\t\t0.5'
            for number, source in ((1, "a.txt"), (3, "a.txt"), (4, "b.txt"))
        ),
    ]
    found = run("phrases", "-", "--format", "json", "--label", "NP", "--to", "json", text=text).stdout
    assert json.loads(found.splitlines()[0]) == {
        **{"file": "<stdin>", "sentence": 1, "source": "a.txt", "label": "NP", "start": 0, "end": 2},
        "text": '"  I',
        **{"start_char": 3, "end_char": 7, "confidence": 0.5},
    }
    del line["text"]
    run("phrases", "-", "--format", "json", "--label", "NP", text=json.dumps(line | {"spans": spans}) + "\n")
    for offsets in ([[3, 4]], [[6, 7], [3, 4]], [[3, 4], [6, 8]], [[3, 4], 5], "x"):
        wrong = json.dumps(line | {"offsets": offsets, "text": '"  I', "spans": spans}) + "\n"
        refused = run("phrases", "-", "--format", "json", "--label", "NP", text=wrong, status=1)
        assert str(refused.exception).startswith("<stdin>:1: sentence 1: ")
