"""`d2c corpus` with a small model: the rows, the same bytes in any number of parts, its readers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from d2c.commands.cli import cli
from d2c.corpora.manifest import NAME
from d2c.reduction.reduction import Reduction
from d2c.trees.formats.brackets import read_brackets
from d2c.trees.formats.conllu import format_conllu
from fuzzing.corpora import Here

pytest.importorskip("spacy")
SAMPLE = Path(__file__).parents[2] / "data" / "sample" / "dev.mrg"
COLUMNS = [
    "document_id",
    "sentence_id",
    "file",
    "line",
    "text",
    "start",
    "end",
    "tokens",
    "offsets",
    "tags",
    "heads",
    "bracket",
    "spans",
    "error",
    "pieces",
]


@pytest.fixture(scope="module")
def corpus_of(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of two CoNLL-U files, with a sentence in the first that cannot be read."""
    directory, encoder = tmp_path_factory.mktemp("corpus"), Reduction("direct")
    texts = [format_conllu(encoder.encode(ctree)) for ctree in islice(read_brackets(SAMPLE), 30)]
    (directory / "a.conllu").write_text(
        "".join([*texts[:5], "1\\tbad\\n\\n".replace("\\t", "\t").replace("\\n", "\n"), *texts[5:10]])
    )
    (directory / "b.conllu").write_text("# newdoc id = B\n" + "".join(texts[10:]))
    return directory


def run(source: Path, output: Path, model: Path, *options: str) -> Result:
    arguments = ["corpus", str(source), "-o", str(output), "--model", str(model), *options]
    if "--backend" not in options:
        arguments += ["--backend", "processes"]
    return CliRunner().invoke(cli, [*arguments, "--shard-size", "12", "--batch-size", "5"])


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has this process do the work."""
    monkeypatch.setattr("d2c.commands.corpus._pool", lambda *given: nullcontext(Here(given[-1])))


@pytest.fixture(scope="module")
def whole(
    corpus_of: Path, small_model: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Result]:
    output = tmp_path_factory.mktemp("whole") / "out"
    return output, run(corpus_of, output, small_model, "--workers", "2")


def rows(directory: Path) -> list[dict[str, Any]]:
    return [row for file in sorted(directory.glob("*.parquet")) for row in pq.read_table(file).to_pylist()]


def files(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.glob("*.parquet")}


def test_rows_are_what_parse_writes(corpus_of: Path, whole: tuple[Path, Result], small_model: Path) -> None:
    output, done = whole
    assert done.exit_code == 3, done.output
    assert f"d2c: {corpus_of}/a.conllu:" in done.stderr and " words, 1 error; " in done.stderr
    assert [pq.read_metadata(output / f"part-00000{k}.parquet").num_rows for k in range(3)] == [12, 12, 7]
    found = rows(output)
    assert [*found[0]] == COLUMNS
    parsed: list[dict[str, Any]] = []
    for name in ("a", "b"):
        shown = CliRunner().invoke(
            cli, ["parse", str(small_model), f"{corpus_of}/{name}.conllu", "--to", "json"]
        )
        parsed += map(json.loads, shown.stdout.splitlines())
    for row, one in zip(found, parsed, strict=True):
        assert (row["tokens"], row["tags"], row["line"]) == (one["tokens"], one["tags"], one["line"])
        assert (row["error"] is None) == ("error" not in one) == (row["bracket"] is not None)
        expected = [{name: span[name] for name in ("label", "start", "end", "head")} for span in one["spans"]]
        sure = [span.pop("confidence") for span in row["spans"]]
        assert row["spans"] == expected
        assert sure == pytest.approx([span["confidence"] for span in one["spans"]], abs=1e-6)
        assert len(row["heads"]) == len(row["tokens"])
    trees = CliRunner().invoke(cli, ["parse", str(small_model), f"{corpus_of}/b.conllu"]).stdout.splitlines()
    assert [row["bracket"] for row in found[11:]] == trees
    heads = (
        CliRunner().invoke(cli, ["parse", str(small_model), f"{corpus_of}/b.conllu", "--to", "conllu"]).stdout
    )
    first = [int(line.split("\t")[6]) for line in heads.split("\n\n")[0].splitlines() if line[0] != "#"]
    assert found[11]["heads"] == first
    assert found[11]["document_id"] == "B" and found[0]["document_id"] == f"{corpus_of}/a.conllu"
    assert len({row["sentence_id"] for row in found}) == 31


@pytest.mark.slow
def test_interrupted_and_resumed(
    corpus_of: Path,
    whole: tuple[Path, Result],
    small_model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The second shard is written, the first perhaps not: what is missing is parsed, by one worker."""
    output, expected = tmp_path / "out", files(whole[0])
    shutil.copytree(whole[0], output)
    lines = (output / NAME).read_bytes().splitlines(keepends=True)
    kept = next(line for line in lines if b'"shard": 1,' in line)
    (output / NAME).write_bytes(lines[0] + kept)
    (output / "part-000000.parquet").write_bytes(b"half")
    before = (output / "part-000001.parquet").stat().st_ino
    refused = run(corpus_of, output, small_model)
    assert refused.exit_code == 1 and "say --resume" in str(refused.exception)
    done = run(corpus_of, output, small_model, "--workers", "1", "--resume")
    assert (done.exit_code, done.stdout) == (3, whole[1].stdout) and done.stdout.startswith("digest ")
    assert files(output) == expected and (output / "part-000001.parquet").stat().st_ino == before
    monkeypatch.setattr("d2c.commands.corpus._pool", lambda *given: None)  # nothing is left to do
    assert run(corpus_of, output, small_model, "--resume").stdout == done.stdout


def test_a_file_that_has_gone(
    corpus_of: Path, whole: tuple[Path, Result], small_model: Path, tmp_path: Path
) -> None:
    output = tmp_path / "out"
    shutil.copytree(whole[0], output)
    done = run(corpus_of / "b.conllu", output, small_model, "--resume")
    problem = "has been parsed, but is not in the input any more; put it back, or parse anew into another"
    assert str(done.exception) == f"{corpus_of}/a.conllu: {problem} directory"
    assert files(output) == files(whole[0])


@pytest.mark.usefixtures("here")
def test_a_refused_run_leaves_the_summary(corpus_of: Path, small_model: Path, tmp_path: Path) -> None:
    source, output = tmp_path / "b.conllu", tmp_path / "out"
    text = (corpus_of / "b.conllu").read_text()
    source.write_text(text)
    assert run(source, output, small_model, "--workers", "1").exit_code == 0
    before = {path: path.read_bytes() for path in output.iterdir()}
    source.write_text(text.replace("newdoc id = B", "newdoc id = C"))
    done = run(source, output, small_model, "--resume")
    assert "what begins here has changed since part-000000.parquet was made" in str(done.exception)
    assert {path: path.read_bytes() for path in output.iterdir()} == before


@pytest.fixture
def read_by(whole: tuple[Path, Result]) -> Iterator[tuple[Path, list[dict[str, Any]]]]:
    yield whole[0], rows(whole[0])


def test_pandas_reads_it(read_by: tuple[Path, list[dict[str, Any]]]) -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.read_parquet(read_by[0])
    assert [*table.columns] == COLUMNS
    assert [[*tokens] for tokens in table["tokens"]] == [row["tokens"] for row in read_by[1]]
    assert [*table["spans"][0]] == read_by[1][0]["spans"]


def test_duckdb_reads_it(read_by: tuple[Path, list[dict[str, Any]]]) -> None:
    duckdb = pytest.importorskip("duckdb")
    query = f"SELECT s.label, count(*) FROM '{read_by[0]}/*.parquet', unnest(spans) AS u(s) GROUP BY 1"
    counts = dict(duckdb.sql(query).fetchall())
    labels = [span["label"] for row in read_by[1] for span in row["spans"]]
    assert counts == {label: labels.count(label) for label in labels}


def test_datasets_reads_it(read_by: tuple[Path, list[dict[str, Any]]], tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    found = datasets.load_dataset(str(read_by[0]), split="train", cache_dir=str(tmp_path))
    assert found.column_names == COLUMNS
    assert [row["spans"] for row in found] == [row["spans"] for row in read_by[1]]


def test_models_and_the_output_are_no_input(
    small_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("She slept.\n")
    for model in (str(small_model), "en-small"):
        done = CliRunner().invoke(cli, ["corpus", model, "a.txt", "-o", "out"])
        assert done.exit_code == 2 and f"{model} is a model, not text; say --model {model}" in done.stderr
    for name in ("a.txt", "."):
        done = run(Path(name), Path(name), small_model)
        assert str(done.exception).startswith(f"{name}: is also the input, or part of it; give the outp")
    assert [*tmp_path.iterdir()] == [tmp_path / "a.txt"]


@pytest.mark.slow
def test_wrong_words(
    corpus_of: Path, small_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "out"
    done = run(corpus_of, output, small_model, "--backend", "processes", "--address", "auto")
    assert done.exit_code == 2 and "--address is of a Ray cluster" in done.output
    done = run(corpus_of, output, tmp_path / "nothing")
    assert "'--model'" in str(done.exception) and "nothing: is no model" in str(done.exception)
    (tmp_path / "a.txt").write_text("She slept.\n")
    done = run(tmp_path / "a.txt", output, small_model, "--workers", "1")
    assert "words need a tagger" in str(done.exception)
    assert not [*output.glob("*.parquet")]
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    done = run(corpus_of, tmp_path / "other", small_model)
    assert str(done.exception).endswith("pip install -e '.[corpora]'") and not (tmp_path / "other").exists()


@pytest.mark.usefixtures("here")
def test_long_sentences_are_in_pieces(tagged_model: Path, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("The dog slept .\n" + "the dog saw a cat and " * 7 + "\n")
    done = run(tmp_path / "x.txt", tmp_path / "out", tagged_model, "--tokenized", "--max-words", "20")
    assert done.exit_code == 0, done.output
    short, long = rows(tmp_path / "out")
    assert (short["pieces"], len(short["tokens"])) == (0, 4)
    assert (long["pieces"], len(long["tokens"])) == (3, 42)
    assert "1 sentence of more than 20 words parsed in pieces; see --max-words" in done.output
