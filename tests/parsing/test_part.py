"""What `d2c parse -o` leaves where it is interrupted, and how it goes on: the same bytes in the end."""

from __future__ import annotations

import gzip
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from d2c.base.errors import FormatError
from d2c.parsing.part import Finished, written
from d2c.parsing.stream import Batch, Done
from d2c.trees.repair import Repairs
from tests.errors import faulty

ERROR = FormatError("x", 1, 0, "no")
HEADER, SETTINGS = "#é\n", {"model": "a", "least": 0.5, "device": None}


def done(number: int) -> Done:
    repairs = Repairs(number, 1, Counter({"b": 1, "a": 1}))
    return Done(f"batch {number}\n" * number, 0, 1, [ERROR] * (number == 2), repairs, f"digest {number}")


def run(output: Path, stop: int | None = None, resume: bool = False, **settings: str | float) -> Finished:
    """Writes five batches of two sentences; interrupted after some of them."""
    with written(output, HEADER, SETTINGS | settings, resume) as (finished, write):
        for number in range(finished.sentences // 2, 5):
            if number == stop:
                raise KeyboardInterrupt
            write(done(number)._replace(sentences=2))
    return finished


@pytest.fixture(params=["x.mrg", "x.mrg.gz"])
def output(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / request.param


def test_whole(output: Path) -> None:
    output.write_text("old")
    finished = run(output)
    data = output.read_bytes()
    text = HEADER + "".join(done(number).text for number in range(5))
    assert (gzip.decompress(data) if output.suffix == ".gz" else data).decode() == text
    assert (finished.sentences, finished.refused, finished.length) == (10, 1, len(data))
    assert str(finished.repairs).endswith("(b 500.00; a 500.00)") and finished.repairs.sentences == 5
    assert [*output.parent.iterdir()] == [output]


def test_killed_at_any_byte(output: Path) -> None:
    """The log is cut after any byte; OUT.part may hold more than what the log says, but not less."""
    whole = run(output)
    data = output.read_bytes()
    output.unlink()
    with pytest.raises(KeyboardInterrupt):
        run(output, stop=3)
    part, log = Path(f"{output}.part"), Path(f"{output}.part.log")
    logged, parted = log.read_bytes(), part.read_bytes()
    assert logged.count(b"\n") == 4 and data.startswith(parted) and not output.exists()
    for cut in range(len(logged)):
        log.write_bytes(logged[:cut])
        part.write_bytes(parted + b"half a ba")
        assert run(output, resume=True) == whole
        assert output.read_bytes() == data and [*output.parent.iterdir()] == [output]


def test_two_at_a_time(output: Path) -> None:
    with written(output, HEADER, SETTINGS, False) as (_, write):
        for resume in (False, True):
            with faulty(output, about="another process"):
                run(output, resume=resume)
        write(done(1))
    data = output.read_bytes()
    text = (gzip.decompress(data) if output.suffix == ".gz" else data).decode()
    assert text == HEADER + done(1).text and [*output.parent.iterdir()] == [output]


def test_a_file_of_somebody_else(output: Path) -> None:
    part = Path(f"{output}.part")
    part.write_text("mine")
    with pytest.raises(FormatError, match="was not left by d2c; move it$"):
        run(output)
    assert part.read_text() == "mine" and [*output.parent.iterdir()] == [part]


def test_interrupted_twice(output: Path) -> None:
    whole = run(output)
    data = output.read_bytes()
    for stop in (1, 4):
        with pytest.raises(KeyboardInterrupt):
            run(output, stop, resume=True)
    assert run(output, resume=True) == whole and output.read_bytes() == data


def test_nothing_is_left_of_nothing(output: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(output, stop=0)
    assert [*output.parent.iterdir()] == []


def test_what_does_not_fit(output: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(output, stop=3)
    part = f"{output}.part"

    def refused(says: str, resume: bool = True, **settings: str | float) -> None:
        with pytest.raises(FormatError) as caught:
            run(output, resume=resume, **settings)
        assert str(caught.value) == f"{part}: {says}"
        assert Path(part).exists() and not output.exists()

    refused("is left of an interrupted run; say --resume to go on from there, or delete it", resume=False)
    anew = "; keep to that, or delete it to begin anew"
    refused(f"was made with another model{anew}", model="b")
    refused(f"was made with --least 0.5 (now 0.25), without --device (now x){anew}", least=0.25, device="x")
    for size in (10, 0):
        with open(part, "r+b") as stream:
            stream.truncate(size)
        refused(f"is not what {output.name}.part.log says; delete it to begin anew")
    Path(part).unlink()
    assert run(output, resume=True).sentences == 10


def test_pipes_in_the_way(output: Path) -> None:
    """They would wait for a reader for ever."""
    with pytest.raises(KeyboardInterrupt):
        run(output, stop=3)
    for suffix in (".part", ".part.log"):
        path = Path(f"{output}{suffix}")
        path.rename("kept")
        os.mkfifo(path)
        with faulty(path, about="move it"):
            run(output, resume=True)
        Path("kept").replace(path)
    assert run(output, resume=True).sentences == 10


DEEP = b"[" * 100_000 + b"\n"


@pytest.mark.parametrize("line", [b"7\n", b"{}\n", b"[1, 2\n", b"[2, 3, 4, 5, 6]\n", DEEP], ids=len)
def test_a_damaged_log(line: bytes, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "x", stop=2)
    with open(tmp_path / "x.part.log", "ab") as stream:
        stream.write(line)
    with faulty("x.part", about="x.part.log"):
        run(tmp_path / "x", resume=True)


def test_only_files_are_resumed() -> None:
    with faulty("-", about="--resume"):
        run(Path("-"), resume=True)
    with faulty("/dev/null", about="--resume"):
        run(Path("/dev/null"), resume=True)
    assert run(Path("/dev/null")).sentences == 10
    with faulty("/nowhere/x", about="No such file or directory"):
        run(Path("/nowhere/x"))


def test_the_rest_of_the_input() -> None:
    def given(*digests: str) -> Iterator[Batch]:
        return (Batch([None] * 2, digest) for digest in digests)  # type: ignore[list-item]

    finished = Finished(4, "b")
    assert [batch.digest for batch in finished.rest(given("a", "b", "c", "d"), "in")] == ["c", "d"]
    assert [*Finished().rest(given(), "in")] == []
    for other in (given("a", "x", "c"), given("a"), given()):
        with faulty("in", about="4 sentences that --resume"):
            [*finished.rest(other, "in")]
