"""The free part of the Keyaki Treebank: whose texts are, in which parts their sentences are."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import keyaki
from d2c.trees.formats.brackets import format_bracket
from d2c.trees.formats.registry import read_treebank

TREE = "\n( (IP-MAT (NP;*SBJ* (N 村外（はず）れ{0}))\n (NP-SBJ *)\n (VB い)\n (PU 。))\n  (ID {0}_{1};JP))\n"


@pytest.mark.parametrize(
    ("terms", "free"),
    [
        ("Public domain", True),
        ("Creative Commons license", True),
        ("Creative Commons Attribution-ShareAlike License 3.0", True),
        ("Creative Commons Share-Alike Attribution Non-Commercial License.", False),
        ("fair usePublic domain", False),
        ("by permission of KAHOKU SHIMPO PUBLISHING CO. (c)", False),
        (None, False),
    ],
)
def test_texts_are_free_where_their_terms_say_so(terms: str | None, free: bool, tmp_path: Path) -> None:
    for folder in ("metadata", "treebank"):
        (tmp_path / folder).mkdir()
    (tmp_path / "treebank" / "x.psd").touch()
    if terms is not None:
        (tmp_path / "metadata" / "x.txt").write_text(f"title: X\nterms of use: {terms}\n")
    assert [file.stem for file in keyaki.free_texts(tmp_path)] == ["x"] * free


def test_train_and_dev(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyaki, "_BLOCK", 1)
    for folder in ("metadata", "treebank"):
        (tmp_path / folder).mkdir()
    for name, numbers in (("a", range(6)), ("b", range(6, 12))):
        text = "".join(TREE.format(i, name) for i in numbers)
        (tmp_path / "treebank" / f"{name}.psd").write_text(text, encoding="utf-8")
        (tmp_path / "metadata" / f"{name}.txt").write_text("terms of use: Public domain\n")
    run = CliRunner().invoke(keyaki.main, [str(tmp_path), "-o", str(tmp_path / "new")])
    assert run.exit_code == 0, run.output
    for part, numbers in (("train", (0, 1, 2, 4, 5, 6, 8, 9, 10, 11)), ("dev", (7,))):
        trees = [*read_treebank(tmp_path / "new" / f"keyaki-{part}.psd.gz", clean=True)]
        assert [*map(format_bracket, trees)] == [
            f"(TOP (IP-MAT (NP (N 村外れ{i})) (VB い) (PU 。)))" for i in numbers
        ]
