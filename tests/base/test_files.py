"""Files that appear whole or not at all, packed or not."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
from pathlib import Path

import pytest

from d2c.base.errors import FormatError, ModelError
from d2c.base.files import bytes_read, file_name, open_binary_output, open_input, open_output
from d2c.base.model_files import read_json
from d2c.base.temporary import staged_file


@pytest.mark.parametrize("name", ["x.mrg", "x.mrg.gz"])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_nothing_is_left_after_an_exception(tmp_path: Path, name: str, error: type[BaseException]) -> None:
    with pytest.raises(error), open_output(tmp_path / name) as out:
        out.write("half\n" * 10_000)
        raise error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["x.mrg", "x.mrg.gz"])
def test_an_old_file_stays_until_the_new_one_is_whole(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with open_output(path) as out:
        out.write("old")
    before = path.read_bytes()
    with pytest.raises(ValueError), open_output(path) as out:
        out.write("new")
        raise ValueError
    assert path.read_bytes() == before
    with open_output(path) as out:
        out.write("new")
        assert path.read_bytes() == before
    with open_input(path) as stream:
        assert stream.read() == "new"
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_packed_files(tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    with open_output(path) as out:
        out.write("é\u2009\n")
    assert gzip.decompress(path.read_bytes()).decode() == "é\u2009\n"
    with open_input(path) as stream:
        assert stream.read() == "é\u2009\n"


def test_output_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "x")
    with open_output(tmp_path / "link") as out:
        out.write("text")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "x").read_text() == "text"


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o027, 0o640), (0o077, 0o600)])
def test_who_may_read_a_file_says_the_umask(tmp_path: Path, mask: int, mode: int) -> None:
    before = os.umask(mask)
    try:
        with open_output(tmp_path / "x") as text:
            text.write("a")
        with open_binary_output(tmp_path / "y.gz") as data:
            data.write(b"b")
        with staged_file(tmp_path / "z") as staged:
            staged.write_text("c")
    finally:
        assert os.umask(before) == mask
    assert {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == dict.fromkeys(
        ("x", "y.gz", "z"), mode
    )
    assert gzip.decompress((tmp_path / "y.gz").read_bytes()) == b"b"


def test_what_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "none" / "x"
    with pytest.raises(FormatError) as error, open_output(path):
        pass
    assert str(error.value) == f"{path}: cannot be written: No such file or directory"


def test_what_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "x.gz").write_bytes(b"plain")
    (tmp_path / "x").write_bytes(b"\xff")
    for name, message in (
        ("x.gz", "broken gzip file (Not a gzipped file (b'pl'))"),
        ("x", "not UTF-8 text; iconv converts it (invalid start byte)"),
        ("none", "cannot be read: No such file or directory"),
    ):
        with pytest.raises(FormatError) as error, open_input(tmp_path / name) as stream:
            stream.read()
        assert str(error.value) == f"{tmp_path / name}: {message}"


def test_packed_files_are_named(tmp_path: Path) -> None:
    """Whatever they are called; iconv, as for other bytes that are no UTF-8, would make nothing of them."""
    text = b"(S (NN a))\n" * 50
    packed = {"gzip": gzip.compress(text), "bzip2": bz2.compress(text), "xz": lzma.compress(text)}
    for program, data in packed.items():
        (tmp_path / "x.mrg").write_bytes(data)
        for read_as in ("utf-8-sig", "latin-1"):
            with pytest.raises(FormatError) as error, open_input(tmp_path / "x.mrg", read_as):
                pass
            assert f"x.mrg: is packed by {program}; unpack it first" in str(error.value)
    (tmp_path / "x.mrg").write_text("BZh and PK are letters.\n")
    with open_input(tmp_path / "x.mrg") as stream:
        assert stream.read() == "BZh and PK are letters.\n"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("name", ["x.txt", "x.txt.gz"])
@pytest.mark.parametrize("read_as", ["utf-8-sig", "latin-1"])
def test_wide_characters_are_named(encoding: str, name: str, read_as: str, tmp_path: Path) -> None:
    path, content = tmp_path / name, "They slept.\n".encode(encoding)
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    with pytest.raises(FormatError) as error, open_input(path, read_as, "surrogateescape"):
        pass
    named = encoding[:6].upper()
    assert str(error.value) == f"{path}: {named}, not UTF-8 text: convert it with iconv -f {named} -t UTF-8"


def test_wide_characters_of_standard_input_are_named() -> None:
    command = [sys.executable, "-m", "d2c", "evaluate", "-", "-"]
    done = subprocess.run(command, input="(S (NP I))\n".encode("utf-16"), capture_output=True)
    assert done.returncode == 2
    [line] = done.stderr.decode().splitlines()
    assert "<stdin>: UTF-16, not UTF-8 text: convert it with iconv -f UTF-16 -t UTF-8" in line


def test_how_far_files_are_read_but_not_pipes(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("(S (A a))\n")
    read, write = os.pipe()
    with (
        open(read, "rb"),
        open(write, "wb", buffering=0) as pipe,
        open_input(tmp_path / "x") as stream,
    ):
        pipe.write(b"(S (A a))\n")
        with open_input(f"/dev/fd/{read}"):
            assert stream.readline() and bytes_read()[str(tmp_path / "x")] == 10
            assert f"/dev/fd/{read}" not in bytes_read()


def test_names_in_messages() -> None:
    assert [file_name("-"), file_name("a/b"), file_name(Path("c"))] == ["<stdin>", "a/b", "c"]


def test_errors_print_as_one_line() -> None:
    assert str(FormatError("x", 3, 2, "wrong")) == "x:3: sentence 2: wrong"
    assert str(FormatError("x", 3, 2, "wrong").after(5)) == "x:3: sentence 7: wrong"
    assert str(FormatError("x", 3, 0, "wrong").after(5)) == "x:3: wrong"
    assert str(FormatError("x", 0, 0, "wrong")) == "x: wrong"
    assert str(FormatError("x", 1, 0, "'\x1b[31m\ud800é'\nno")) == r"x:1: '\x1b[31m\ud800é' no"


def test_json(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    for text, message in (
        (b"{", "is not JSON"),
        (b"\xff", "is not JSON"),
        (b"[]", "holds no settings"),
        (None, "cannot be read: No such file or directory"),
    ):
        path.unlink(missing_ok=True)
        if text is not None:
            path.write_bytes(text)
        with pytest.raises(ModelError) as error:
            read_json(path)
        assert str(error.value) == f"{path}: {message}"
    path.write_text('{"a": 1}')
    assert read_json(path) == {"a": 1}


def test_lines_of_standard_input_end_where_those_of_files_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = "é\r\nb\rc\n".encode()
    (tmp_path / "a.txt").write_bytes(data)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data), newline="\n"))
    for path in (tmp_path / "a.txt", "-"):
        with open_input(path) as stream:
            assert [*stream] == ["é\n", "b\n", "c\n"]
