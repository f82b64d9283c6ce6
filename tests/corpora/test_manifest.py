"""The manifest: the same files whenever a job is killed, nothing twice, and only of the same job."""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from d2c.base.errors import FormatError
from d2c.corpora.manifest import NAME, Manifest, opened
from tests.errors import faulty

SETTINGS = {"model": "a", "kind": "text"}


def write(manifest: Manifest, shard: int) -> None:
    counts = {"sentences": shard + 1, "tokens": 10, "failed": shard % 2}
    counts |= {"portions": (shard, 1) if shard % 2 else ()}
    manifest.add(shard, lambda stream: stream.write(b"shard %d" % shard), **given(shard), **counts)


def given(shard: int) -> dict[str, Any]:
    return {"given": f"input {shard}", "records": 2, "files": (f"{shard}.txt", f"{shard + 1}.txt")}


def run(directory: Path, stop: int = 4, resume: bool = False) -> list[int]:
    """Writes what is missing of four shards, the last one first; interrupted before one of them."""
    written = []
    with opened(directory, SETTINGS, resume) as manifest:
        for shard in (3, 0, 1, 2):
            if shard not in manifest.entries:
                if len(manifest.entries) == stop:
                    raise KeyboardInterrupt
                write(manifest, shard)
                written.append(shard)
        manifest.complete(4)
    return written


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_whole(tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    assert run(out) == [3, 0, 1, 2]
    files = contents(out)
    lines = [json.loads(line) for line in files.pop(NAME).splitlines()]
    assert files == {f"part-00000{k}.parquet": b"shard %d" % k for k in range(4)}
    first = hashlib.sha256(b"shard 3").hexdigest()
    assert lines[0] == {"form": 2, **SETTINGS} and lines[-1] == {"shards": 4}
    assert lines[1] == {"shard": 3, "given": "input 3", "sha256": first, "length": 7} | {
        "records": 2,
        "files": ["3.txt", "4.txt"],
        "sentences": 4,
        "tokens": 10,
        "failed": 1,
        "portions": [3, 1],
    }
    with opened(out, SETTINGS, True) as manifest:
        digests = [manifest.entries[k].sha256 for k in range(4)]
        assert (
            manifest.shards == 4
            and manifest.digest() == hashlib.sha256("".join(digests).encode()).hexdigest()
        )
        assert manifest.files == ("0.txt", "1.txt", "2.txt", "3.txt", "4.txt")


def test_killed_at_any_byte(tmp_path: Path) -> None:
    """The manifest is cut after any byte. Whatever it does not name is written again."""
    run(tmp_path / "whole")
    whole, out = contents(tmp_path / "whole"), tmp_path / "out"
    run(out)
    said = whole[NAME]
    for cut in range(0, len(said), 7):
        (out / NAME).write_bytes(said[:cut])
        (out / ".part-000001.parquet.d2c-part").write_bytes(b"ha")
        named = [json.loads(line)["shard"] for line in said[:cut].split(b"\n")[1:-1] if b"given" in line]
        assert run(out, resume=True) == [shard for shard in (3, 0, 1, 2) if shard not in named]
        files = contents(out)
        files.pop(".part-000001.parquet.d2c-part", None)
        assert files == whole
    assert run(out, resume=True) == []


def test_a_file_that_was_taken_away(tmp_path: Path) -> None:
    run(tmp_path)
    (tmp_path / "part-000002.parquet").unlink()
    (tmp_path / "part-000003.parquet").write_bytes(b"")
    with opened(tmp_path, SETTINGS, True) as manifest:
        assert [*manifest.entries] == [0, 1] and manifest.files[-1] == "4.txt"
    assert run(tmp_path, resume=True) == [3, 2]
    assert (tmp_path / "part-000003.parquet").read_bytes() == b"shard 3"


def test_an_interrupted_run_keeps_what_was_finished_while_its_files_are_away(tmp_path: Path) -> None:
    file, away = tmp_path / "out" / "part-000003.parquet", tmp_path / "away"
    with pytest.raises(KeyboardInterrupt):
        run(file.parent, stop=1)
    file.rename(away)
    with pytest.raises(KeyboardInterrupt):
        run(file.parent, stop=0, resume=True)
    away.rename(file)
    assert run(file.parent, resume=True) == [0, 1, 2]


def test_a_file_that_was_replaced_by_one_of_its_size(tmp_path: Path) -> None:
    run(tmp_path)
    (tmp_path / "part-000002.parquet").write_bytes(b"hsard 2")
    assert run(tmp_path, resume=True) == [2]


def test_a_line_that_is_missing_before_the_end(tmp_path: Path) -> None:
    run(tmp_path)
    lines = (tmp_path / NAME).read_bytes().splitlines(keepends=True)
    (tmp_path / NAME).write_bytes(b"".join(lines[:2] + lines[3:]))
    assert run(tmp_path, resume=True) == [0]


def edits(row: dict[str, Any]) -> Iterator[bytes]:
    """What a hand may make of a row: values of other types and out of range, and what is no JSON at all."""
    for name in row:
        for value in ("null", "Infinity", "NaN", "-1", "[]", "{}", "true", "1e400", "1" * 400, '"x"'):
            if not (name in ("given", "sha256") and value[0] == '"'):
                yield json.dumps({**row, name: "*"}).replace('"*"', value).encode()
        yield json.dumps({key: value for key, value in row.items() if key != name}).encode()
    yield from (b"[" * 100_000, b"7", b'"x"', b"null", b"\xff", b"{", b"1" * 5_000)


def test_rows_that_were_edited(tmp_path: Path) -> None:
    """None leads to anything but one line, or to work that is done again, with the same files in the end."""
    run(tmp_path / "whole")
    whole, out = contents(tmp_path / "whole"), tmp_path / "out"
    lines, damaged = whole[NAME].splitlines(keepends=True), 0
    for number in (1, 2, 5):
        for edited in edits(json.loads(lines[number])):
            shutil.rmtree(out, ignore_errors=True)
            shutil.copytree(tmp_path / "whole", out)
            (out / NAME).write_bytes(b"".join([*lines[:number], edited + b"\n", *lines[number + 1 :]]))
            try:
                run(out, resume=True)
            except FormatError as error:
                damaged += 1
                assert str(error) == f"{out}: its {NAME} is damaged; delete the directory to begin anew"
            else:
                assert {**contents(out), NAME: b""} == {**whole, NAME: b""}
    assert damaged > 100


def test_a_full_disk(tmp_path: Path) -> None:
    """The part that could not be written whole is gone, and the job goes on when there is room."""

    def put(stream: BinaryIO) -> None:
        stream.write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    with opened(tmp_path, SETTINGS, False) as manifest:
        write(manifest, 0)
        with faulty("part-000001.parquet", about="No space left on dev"):
            manifest.add(1, put, **given(1))
    assert sorted(contents(tmp_path)) == [NAME, "part-000000.parquet"]
    assert run(tmp_path, resume=True) == [3, 1, 2]


def test_two_at_a_time(tmp_path: Path) -> None:
    with (
        opened(tmp_path, SETTINGS, False),
        faulty(tmp_path, about="another process"),
    ):
        run(tmp_path, resume=True)


def test_what_does_not_fit(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, stop=2)

    def refused(says: str, resume: bool, **settings: str) -> None:
        with pytest.raises(FormatError) as caught, opened(tmp_path, SETTINGS | settings, resume):
            pass
        assert str(caught.value) == f"{tmp_path}: {says}"

    refused("has a job, finished or not; say --resume to go on with it, or delete the directory", False)
    anew = "; keep to that, or delete the directory to begin anew"
    refused(f"was made with a sentence on each line (now --split){anew}", True, kind="split")
    refused(f"was made with another model, without --best (now 5){anew}", True, best="5", model="b")
    lines = (tmp_path / NAME).read_bytes()
    (tmp_path / NAME).write_bytes(lines.replace(b'"form": 2, ', b"", 1))
    refused("was made by another version of d2c, with other columns; parse anew into another directory", True)
    (tmp_path / NAME).write_bytes(lines + b"[]\n")
    refused("its .manifest.jsonl is damaged; delete the directory to begin anew", True)
    (tmp_path / NAME).unlink()
    refused("holds other files; name a new directory, or an empty one", True)


def test_what_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with faulty("file", about="is a file; name a directory"):
        run(tmp_path / "file")
    with faulty(tmp_path / "file" / "out", about="Not a directory"):
        run(tmp_path / "file" / "out")


def test_a_directory_of_something_else(tmp_path: Path) -> None:
    (tmp_path / ".DS_Store").touch()
    (tmp_path / "notes.md").touch()
    before = contents(tmp_path)
    for resume in (False, True):
        with faulty(tmp_path, about="holds other files"):
            run(tmp_path, resume=resume)
    assert contents(tmp_path) == before
    (tmp_path / "notes.md").unlink()
    assert run(tmp_path) == [3, 0, 1, 2]


def test_the_order_of_the_input_is_kept(tmp_path: Path) -> None:
    """Behind what is finished come the files that the job was given, and behind these what was added."""
    with pytest.raises(KeyboardInterrupt), opened(tmp_path, SETTINGS, False) as manifest:
        manifest.plan(["c", "d", "e"])
        write(manifest, 0)
        raise KeyboardInterrupt
    for planned in (["c", "d", "e", "a"], ["c", "e", "a"]):
        with opened(tmp_path, SETTINGS, True) as manifest:
            manifest.plan(planned)
    with opened(tmp_path, SETTINGS, True) as manifest:
        assert (manifest.files, [*manifest.planned]) == (("0.txt", "1.txt"), ["c", "d", "e", "a"])
    assert (tmp_path / NAME).read_bytes().count(b"inputs") == 2
