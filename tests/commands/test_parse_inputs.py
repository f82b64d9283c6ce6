"""What `d2c parse` takes its input for, where no option says it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from d2c.trees.formats.brackets import parse_bracket
from tests.commands.test_parse_command import FORMS, ROOT, TEXT, command, model, parse, refused

__all__ = ["model"]  # a fixture
pytestmark = pytest.mark.usefixtures("loaded_once")


def test_what_nobody_says_is_seen(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    trees = [" ".join(forms) for forms in FORMS]
    Path("novel.txt").write_text(TEXT.replace("\n", " "))
    Path("chapter").write_text(TEXT.replace("\n", " "))
    Path("words").write_text("# text = The\n1\tThe" + "\t_" * 8 + "\n\n")
    Path("lines.json").write_text('{"tokens": ["The", "dog", "slept", "."]}\n')
    Path("lines.txt").write_text('{ "tokens": ["The", "dog", "slept", "."]}\n')
    kinds = {"novel.txt": trees, "chapter": trees, "words": ["The"], "lines.json": trees[:1]}
    kinds["lines.txt"] = trees[:1]
    for name, expected in kinds.items():
        done = parse(model, name)
        assert [" ".join(parse_bracket(tree).tokens.forms) for tree in done.stdout.splitlines()] == expected
        assert ("free text (--split)" in done.stderr) == (expected == trees), done.stderr
    assert parse(model, "novel.txt").stdout == parse(model, "novel.txt", "--split").stdout
    assert "(split) and words (conllu) are of several kinds" in parse(model, "novel.txt", "words").stderr
    Path("empty.txt").touch()
    assert parse(model, "empty.txt", "novel.txt").stdout == parse(model, "novel.txt").stdout


@pytest.mark.parametrize(
    ("name", "start", "why"),
    [
        ("a.mrg", b"(TOP (X x))", "is a treebank; to parse its words again: d2c encode a.mrg -o words.c"),
        ("a.txt", b"( (S (NP-SBJ (X x))))", "is a treebank; to parse its words again: d2c encode a.txt"),
        ("a.txt", b"\xef\xbb\xbf<!DOCTYPE html>\n<html>", "is HTML; `pandoc -t plain`"),
        ("a.txt", b"<!-- saved\nby a browser -->\n<html>", "is HTML; `pandoc -t plain`"),
        ("a.pdf", b"%PDF-1.4\n\x80", "is a PDF; pdftotext makes plain text of it"),
        ("a.docx", b"PK\3\4\x80", "is a document of an office program; save it as plain text, in UTF-8"),
        ("a.zip", b"PK\3\4\x80", "is packed by zip"),
    ],
)
def test_files_that_are_no_text_say_what_to_do(
    model: Path, tmp_path: Path, name: str, start: bytes, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(start)
    assert refused(model, name).startswith(f"{name}: {why}")


def test_what_is_no_text_in_a_directory_is_left_out(model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    (tmp_path / "b.txt").write_text(TEXT, encoding="utf-16")
    (tmp_path / "c.txt").symlink_to("nowhere")
    for options in ["--text"], []:
        done = parse(model, str(tmp_path), *options)
        assert done.returncode == 0 and done.stdout.count("\n") == 2
        assert f"d2c: {tmp_path / 'b.txt'}: UTF-16, not UTF-8 text" in done.stderr
        assert f"d2c: {tmp_path / 'c.txt'}: is a link to what is not there; left out\n" in done.stderr
    (tmp_path / "a.txt").unlink()
    assert "no file in it is text" in refused(model, str(tmp_path))


def test_typed_lines_are_answered_one_by_one(model: Path) -> None:
    pty = pytest.importorskip("pty")
    first, second = pty.openpty()
    done = subprocess.Popen(
        command(model), stdin=second, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    for line, forms in zip(TEXT.splitlines(), FORMS, strict=True):
        os.write(first, f"{line}\n".encode())
        assert done.stdout and parse_bracket(done.stdout.readline().decode()).tokens.forms == forms
    os.write(first, b"\4")
    assert done.wait(60) == 0


@pytest.mark.parametrize("kind", ["--text", "--split"])
def test_lines_of_marks_of_blanks_and_of_a_megabyte_of_marks(model: Path, kind: str) -> None:
    """Lines may end in \\r alone; what is too long to be cut is one marked tree, and the rest goes on."""
    text = "One cat.\r\rThe dog slept.\r \t\r\n\u2003\n!!! ...\n" + ".,;!?-" * 170_000 + "\nThe dog slept.\r"
    done = parse(model, kind, stdin=text)
    words = [" ".join(parse_bracket(tree).tokens.forms) for tree in done.stdout.splitlines()]
    assert words == ["One cat .", "The dog slept .", "!!! ...", "ERROR", "The dog slept ."]
    assert done.returncode == 3 and "<stdin>:7: 1,020,001 characters without an end" in done.stderr
