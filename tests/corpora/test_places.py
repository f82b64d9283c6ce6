"""Text and offsets of the output, compared with the source, and files that cannot be read, end to end."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from d2c.base.counting import many
from d2c.commands.cli import cli
from fuzzing.corpora import Here

pytest.importorskip("spacy")
TEXT = "\ufeffShe  slept.\tHe saw\r\nhim in the “café”.\r\n\r\n\U0001f600 We can't go. \n\nIt is\rso.\n"
FIELD = "He said,\r\n“No.” She\u00a0left.\n\nWhy?"
CONLLU = "# text = She slept.\n1\tShe\t_\tA\tPRP\t_\t2\tr\t_\t_\n2\tslept\t_\tA\tVBD\t_\t0\tr\t_\t_\n\n"
SKIPPED = {"notes.md": "its name ends in none of .txt ", "empty.txt": "holds no text"}
BROKEN = {
    "cut.txt.gz": "broken gzip file (Compressed file ended before the end-of-stream marker was reached)",
    "utf16.txt": "UTF-16, not UTF-8 text: convert it with iconv -f UTF-16 -t UTF-8",
    "no.parquet": "is no Parquet file that can be read: ",
}


@pytest.fixture(scope="module", autouse=True)
def here() -> Iterator[None]:
    """Has this process do the work, as rows are tested here, not workers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("d2c.commands.corpus._pool", lambda *given: nullcontext(Here(given[-1])))
        yield


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("source")
    (directory / "a.txt").write_bytes(TEXT.encode())
    (directory / "b.txt.gz").write_bytes(gzip.compress(TEXT.encode()))
    documents = [{"text": ["She", "slept"]}, {"id": "x", "text": FIELD}]
    (directory / "c.jsonl").write_text("\ufeff" + "\n".join(map(json.dumps, documents)))
    pq.write_table(pa.table({"text": ["Go!", FIELD]}), directory / "d.parquet")
    (directory / "e.conllu").write_text(CONLLU + CONLLU.partition("\n")[2])
    (directory / "notes.md").touch()
    (directory / "empty.txt").write_text("\n \n")
    (directory / "cut.txt.gz").write_bytes(gzip.compress(b"She slept.\n" * 9)[:-9])
    (directory / "utf16.txt").write_bytes("She slept.\n".encode("utf-16"))
    (directory / "no.parquet").write_bytes((directory / "d.parquet").read_bytes()[:-9])
    return directory


def run(source: Path, output: Path, *options: str) -> Result:
    words = ["corpus", str(source), "-o", str(output), "--split", "--model", "en-small", "--workers", "1"]
    return CliRunner().invoke(cli, [*words, "--backend", "processes", *options])


@pytest.fixture(scope="module")
def made(source: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    output = tmp_path_factory.mktemp("made") / "out"
    return output, run(source, output)


def rows(made: tuple[Path, Result], name: str) -> list[dict[str, Any]]:
    table: list[dict[str, Any]] = pq.read_table(made[0] / "part-000000.parquet").to_pylist()
    return [row for row in table if Path(row["file"]).name == name]


def check(row: dict[str, Any], text: str, forms: list[str]) -> None:
    """The sentence and its words stand in the source where the row says."""
    assert row["text"] == text[row["start"] : row["end"]] and row["text"].strip() == row["text"]
    assert [text[word["start"] : word["end"]] for word in row["offsets"]] == forms
    assert len(row["tokens"]) == len(forms) and row["error"] is None


WORDS = [
    ["She", "slept", "."],
    ["He", "saw", "him", "in", "the", "“", "café", "”", "."],
    ["\U0001f600", "We", "ca", "n't", "go", "."],
    ["It", "is", "so", "."],
]
FIELD_WORDS = [["He", "said", ",", "“", "No", ".", "”"], ["She", "left", "."], ["Why", "?"]]


@pytest.mark.parametrize("name", ["a.txt", "b.txt.gz"])
def test_offsets_into_text(name: str, source: Path, made: tuple[Path, Result]) -> None:
    """Of the file as Python reads it: line breaks are one character, and so is a byte order mark."""
    with (gzip.open if name.endswith("gz") else open)(source / name, "rt", encoding="utf-8") as stream:
        text = str(stream.read())
    found = rows(made, name)
    for row, forms in zip(found, WORDS, strict=True):
        check(row, text, forms)
    assert found[1]["text"] == "He saw\nhim in the “café”." and found[0]["start"] == 1


@pytest.mark.parametrize("name", ["c.jsonl", "d.parquet"])
def test_offsets_into_fields(name: str, made: tuple[Path, Result]) -> None:
    """Of the text of the object, or the cell, whose line breaks are as they are."""
    found = rows(made, name)
    fields = [row for row in found if row["line"] == 2]
    for row, forms in zip(fields, FIELD_WORDS, strict=True):
        check(row, FIELD, forms)
    assert fields[0]["text"] == "He said,\r\n“No.”"
    if name == "c.jsonl":
        assert found[0]["tokens"] == ["She", "slept"]
        assert [found[0][column] for column in ("text", "start", "end", "offsets")] == [None] * 4


def test_no_offsets_in_conllu(made: tuple[Path, Result]) -> None:
    shown = [
        [row[column] for column in ("text", "start", "end", "offsets")] for row in rows(made, "e.conllu")
    ]
    assert shown == [["She slept.", None, None, None], [None] * 4]


def test_summary(source: Path, made: tuple[Path, Result]) -> None:
    output, done = made
    assert done.exit_code == 3, done.output
    said = json.loads((output / ".summary.json").read_text())
    for kind, expected in (("skipped", SKIPPED), ("broken", BROKEN)):
        assert {*said[kind]} == {str(source / name) for name in expected}
        for name, why in expected.items():
            assert said[kind][str(source / name)].startswith(why)
            assert f"{source / name}: {why}" in done.stderr
    table = pq.read_table(output / "part-000000.parquet")
    words = sum(map(len, table["tokens"].to_pylist()))
    counts = {"files": 5, "sentences": len(table), "words": words, "errors": 0, "parts": 1}
    assert said | counts == said and len(table) == 4 + 4 + 4 + 4 + 2
    assert done.stdout == f"digest {said['digest']}\n"
    assert said["words_per_second"] == pytest.approx(words / said["seconds"], rel=0.01, abs=0.05)
    lines = done.stderr.splitlines()
    assert lines[-2] == "5 files read, 2 skipped, 3 broken"
    assert lines[-1].startswith(f"18 sentences, {words} words, 0 errors; 0:0")
    assert lines[-1].endswith(f", {many(round(said['words_per_second']), 'word')}/s")


@pytest.mark.parametrize("name", ["notes.md", "utf16.txt", "empty.txt"])
def test_strict(name: str, source: Path, tmp_path: Path) -> None:
    """A file that is skipped or broken ends the run; nothing is left in the output."""
    (tmp_path / "in").mkdir()
    for file in ("a.txt", name):
        (tmp_path / "in" / file).write_bytes((source / file).read_bytes())
    done = run(tmp_path / "in", tmp_path / "out", "--strict")
    why = (SKIPPED | BROKEN)[name]
    assert str(done.exception).startswith(f"{tmp_path / 'in' / name}: {why}") and done.exit_code == 1
    assert not (tmp_path / "out").exists()


def test_names_that_are_not_utf8_stay_two(tmp_path: Path) -> None:
    names = [os.fsdecode(name) for name in (b"caf\xe8.txt", b"caf\xe9.txt")]
    source, output = tmp_path / "source", tmp_path / "out"
    source.mkdir()
    try:
        for name in names:
            (source / name).write_text("She slept.\n")
    except OSError:
        pytest.skip("this file system has no such names")
    assert run(source, output).exit_code == 0
    table = pq.read_table(output / "part-000000.parquet")
    shown = [f"{source}/caf\\udc{byte}.txt" for byte in ("e8", "e9")]
    assert table["file"].to_pylist() == table["document_id"].to_pylist() == shown
    assert table["sentence_id"].to_pylist() == [f"{name}:1.1" for name in shown]
