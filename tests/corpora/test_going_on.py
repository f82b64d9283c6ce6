"""Going on after the input has changed: what was added or repaired comes behind, what was parsed stays."""

from __future__ import annotations

import gzip
import os
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from d2c.corpora.inputs import Inputs
from d2c.corpora.job import run
from d2c.corpora.manifest import NAME, opened
from d2c.corpora.options import CorpusOptions
from tests.corpora.crews import Behaviour, Scripted, rows, words
from tests.errors import faulty

Names = Sequence[str]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four files of five sentences; the second is broken."""
    monkeypatch.chdir(tmp_path)
    for name in "acd":
        write(f"{name}.txt")
    Path("b.txt.gz").write_bytes(packed("b")[:-9])
    return tmp_path


def write(name: str, count: int = 5) -> None:
    Path(name).write_text("".join(f"{name[0]} {k}\n" for k in range(count)))


def packed(letter: str) -> bytes:
    return gzip.compress("".join(f"{letter} {k}\n" for k in range(5)).encode())


def parse(output: str, names: Names, behaviour: Behaviour = rows, resume: bool = True) -> list[str]:
    """Do a job with four sentences to a shard; return the words of the batches that were parsed."""
    options = CorpusOptions(shard_size=4, batch_size=2)
    crew, inputs = Scripted(1, behaviour), Inputs([*map(Path, names)], options)
    with opened(Path(output), {}, resume) as manifest:
        inputs.go_on_after(manifest.files, manifest.planned)
        manifest.plan([str(file) for file in inputs.files])
        for _ in run(inputs, manifest, lambda: nullcontext(crew)):
            pass
    return [" ".join(words(task)) for task in crew.asked if task.records]


def files(output: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(output).glob("*.parquet")}


def expect(output: str, names: Names) -> None:
    """The output is that of a run on these files, in this order."""
    parse(f"fresh of {output}", names)
    assert files(output) == files(f"fresh of {output}")


def stop_at(word: str) -> Behaviour:
    def behaviour(task):  # type: ignore[no-untyped-def]
        if word in words(task):
            raise KeyboardInterrupt
        return rows(task)

    return behaviour


def test_an_added_file(here: Path) -> None:
    """Only the shard that was the last one, and not full, is parsed again, whatever the file is called."""
    parse("out", ["c.txt"])
    assert parse("out", ["a.txt", "c.txt"]) == ["c 4 a 0", "a 1 a 2", "a 3 a 4"]
    expect("out", ["c.txt", "a.txt"])
    assert parse("out", ["a.txt", "c.txt"]) == []
    assert parse("out", ["a.txt", "c.txt", "d.txt"])[0] == "a 3 a 4"
    expect("out", ["c.txt", "a.txt", "d.txt"])


def test_a_file_that_was_added_before_the_job_was_finished(here: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        parse("out", ["c.txt", "d.txt"], stop_at("d"))
    assert [*files("out")] == ["part-000000.parquet"]
    assert parse("out", ["a.txt", "c.txt", "d.txt"])[0] == "c 4 d 0"
    expect("out", ["c.txt", "d.txt", "a.txt"])


def test_a_file_that_was_added_while_the_first_shard_was_missing(here: Path) -> None:
    """Of two shards the second one was finished first."""
    parse("out", ["c.txt", "d.txt"])
    lines = Path("out", NAME).read_bytes().splitlines(keepends=True)
    Path("out", NAME).write_bytes(b"".join(line for line in lines if b'"shard": 0' not in line))
    assert parse("out", ["a.txt", "c.txt", "d.txt"])[0] == "c 0 c 1"
    expect("out", ["c.txt", "d.txt", "a.txt"])


def test_a_name_that_is_no_text(here: Path) -> None:
    """A job goes on from files whose names hold bytes that are not UTF-8."""
    name = os.fsdecode(b"b\xff.txt")
    write(name)
    parse("out", [name])
    assert parse("out", [name, "c.txt"]) == ["b 4 c 0", "c 1 c 2", "c 3 c 4"]
    expect("out", [name, "c.txt"])


def test_a_repaired_file(here: Path) -> None:
    """Nothing of it is in the output before, though its beginning could be read."""
    names = ["a.txt", "b.txt.gz", "c.txt"]
    parse("out", names)
    expect("out", ["a.txt", "c.txt"])
    Path("b.txt.gz").write_bytes(packed("b"))
    assert parse("out", names) == ["c 3 c 4", "b 0 b 1", "b 2 b 3", "b 4"]
    expect("out", ["a.txt", "c.txt", "b.txt.gz"])


def test_a_file_that_was_empty(here: Path) -> None:
    Path("e.txt").touch()
    parse("out", ["e.txt", "a.txt"])
    write("e.txt")
    parse("out", ["e.txt", "a.txt"])
    expect("out", ["a.txt", "e.txt"])


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("a 1", ("a.txt", 1, 0, "has changed since part-000000.parquet")),
        ("c 2", ("a.txt", 5, 0, "ends in c.txt has changed since part-000001.parquet")),
        ("d 4", ("d.txt", 3, 0, "has changed since part-000003.parquet")),
    ],
)
def test_a_changed_file(line: str, place: tuple[str, int, int, str], here: Path) -> None:
    names = ["a.txt", "c.txt", "d.txt"]
    parse("out", names)
    before, changed = files("out"), Path(f"{line[0]}.txt")
    changed.write_text(changed.read_text().replace(line, "else"))
    with faulty(*place):
        parse("out", names)
    assert files("out") == before


def test_a_file_that_has_become_longer(here: Path) -> None:
    """Where others follow it is one that has changed, otherwise it goes on."""
    parse("out", ["a.txt", "c.txt"])
    write("c.txt", 9)
    parse("out", ["a.txt", "c.txt"])
    expect("out", ["a.txt", "c.txt"])
    write("a.txt", 9)
    with faulty("a.txt", 5, about="ends in c.txt has changed since part-000001.parquet"):
        parse("out", ["a.txt", "c.txt"])


def test_a_file_that_was_removed(here: Path) -> None:
    parse("out", ["a.txt", "c.txt"])
    before = files("out")
    with faulty("a.txt", about="not in the input any more"):
        parse("out", ["c.txt"])
    assert files("out") == before


@pytest.mark.parametrize(
    ("damage", "says"), [(b"\xff\xfea\0", "UTF-16, not UTF-8 text: conv"), (b"\n", "holds no text")]
)
def test_a_file_that_cannot_be_read_any_more(damage: bytes, says: str, here: Path) -> None:
    parse("out", ["a.txt", "c.txt"])
    Path("c.txt").write_bytes(damage)
    with faulty("c.txt", about=says):
        parse("out", ["a.txt", "c.txt"])


def test_a_broken_file_that_was_removed(here: Path) -> None:
    parse("out", ["a.txt", "b.txt.gz"])
    os.unlink("b.txt.gz")
    assert parse("out", ["a.txt"]) == []


def test_broken_parquet_is_left_out_whole(here: Path) -> None:
    """Its first rows could be read."""
    table = pa.table({"text": [f"p {k} {os.urandom(40).hex()}" for k in range(9_000)]})
    pq.write_table(table, "p.parquet", row_group_size=1000, compression="gzip", use_dictionary=False)
    whole = Path("p.parquet").read_bytes()
    middle = len(whole) // 2
    Path("p.parquet").write_bytes(whole[:middle] + bytes(2000) + whole[middle + 2000 :])
    inputs = Inputs([Path("p.parquet"), Path("a.txt")])
    assert {record.file for record in inputs} == {"a.txt"} and inputs.read == 1
    assert inputs.broken["p.parquet"].startswith("is no Parquet file that can be read: ")


def test_parquet_with_checksums_is_broken_by_another_letter(here: Path) -> None:
    """Without them the reader cannot tell that the letter is another one."""
    for checksums in (True, False):
        table = pa.table({"text": ["They slept."]})
        pq.write_table(table, "p.parquet", compression="none", write_page_checksum=checksums)
        Path("p.parquet").write_bytes(Path("p.parquet").read_bytes().replace(b"slept", b"swept"))
        inputs = Inputs([Path("p.parquet")])
        assert (len([*inputs]), [*inputs.broken]) == ((0, ["p.parquet"]) if checksums else (1, []))
