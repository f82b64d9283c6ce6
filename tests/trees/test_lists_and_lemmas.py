"""Brackets whose leaves have lemmas, and n-best lists with scores, in the structure of real files."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from d2c.base.errors import FormatError
from d2c.trees.ctree import CTree
from d2c.trees.formats.format import OUTSIDE
from d2c.trees.formats.nbest import FURTHER
from d2c.trees.formats.registry import format_of, read_treebank
from tests.errors import faulty
from tests.steps import is_linear

SLEEPS = """
(
  (S.F.C
    (sn.e-SUJ *0*)
    (grup.verb
      (vmip3s0 duerme dormir))
    (sn-CC.T
      (Fpa -Fpa- -Fpa-)
      (grup.nom.ms
        (ncms000 año año))
      (Fpt -Fpt- -Fpt-))
    (Fp . .)))
(
  (S
    (W hoy [??:??/??])
    (Fp . .)))
"""
CHARNIAK = """2 s.7
-22.5 -1e-3
(S1 (S (NP (NNS Cats)) (VP (VBP sleep))))
-24
(S1 (NP (NNS Cats) (NN sleep)))

0 s.8

1 9
-3.5
(S1 (NP (NN Cats) (NN sleep)))

"""
STANFORD = """# Parse 1 with score -22.5
(ROOT
  (S (NP (NNS Cats))
    (VP (VBP sleep))))

# Parse 2 with score -24.0
(ROOT
  (NP (NNS Cats) (NN sleep)))

# Parse 1 with score -3.5
(ROOT
  (NP (NN Dogs)))

SENTENCE_SKIPPED_OR_UNPARSABLE Parse #1 with score -1.0
"""
BERKELEY = """-22.5\t( (S (NP (NNS Cats)) (VP (VBP sleep))) )
-24.0\t( (NP (NNS Cats) (NN sleep)) )

-3.5\t( (NP (NNS Cats) (NN sleep)) )
-1\t( (NP (NN Dogs)) )
-Infinity\t(())
"""


def read(path: Path, text: str, charset: str = "utf-8", **options: Any) -> tuple[list[CTree], Counter[str]]:
    path.write_bytes(text.encode(charset))
    left_out = Counter[str]()
    return list(read_treebank(path, left_out=left_out, **options)), left_out


@pytest.mark.parametrize("charset", ["utf-8", "latin-1"])
@pytest.mark.parametrize("name", ["x.tbf", "x.txt"])
def test_lemmas(tmp_path: Path, name: str, charset: str) -> None:
    (tree, other), left_out = read(tmp_path / name, SLEEPS, charset)
    assert format_of(tmp_path / name) == "cess" and not left_out
    assert tree.tokens.forms == ("*0*", "duerme", "(", "año", ")", ".")
    assert tree.tokens.lemmas == ("_", "dormir", "(", "año", ")", ".")
    assert tree.tokens.tags == ("sn.e-SUJ", "vmip3s0", "Fpa", "ncms000", "Fpt", "Fp")
    assert tree.labels == ("grup.verb", "grup.nom.ms", "sn-CC.T", "S.F.C") and tree.top == ""
    assert other.tokens.lemmas == ("[??:??/??]", ".")
    (tree, _), _ = read(tmp_path / name, SLEEPS, charset, clean=True)
    assert tree.tokens.lemmas == ("dormir", "(", "año", ")", ".") and tree.top == "TOP"
    assert tree.labels == ("grup.verb", "grup.nom.ms", "sn", "S.F.C")


def test_lemmas_are_of_files_in_which_most_leaves_have_one(tmp_path: Path) -> None:
    with faulty(tmp_path / "x.mrg", 1, 1, about="'York' stands beside"):
        read(tmp_path / "x.mrg", "(S (NN New York) (VB is) (JJ big))\n")
    with faulty(tmp_path / "x.tbf", 1, 1, about="'d' stands beside"):
        read(tmp_path / "x.tbf", "(S (A b\n c d))\n")


@pytest.mark.parametrize(
    ("format_name", "text", "charset"),
    [
        ("brackets", "(S (A ñ))\n", "latin-1"),
        ("discbracket", "(S (A 0=ñ))\n", "cp1252"),
        ("historical", "( (IP-MAT (N ñ-ñ)))\n", "latin-1"),
        ("cess", "(S (A ñ ñ))\n", "cp850"),
        ("nbest", "1 x\n-1\n(S (A ñ))\n", "latin-1"),
        ("export", "#BOS 1\nñ\tA\t--\t--\t0\n#EOS 1\n", "cp850"),
        ("sinica", "#1:1.[0] S(Head:A:語)#\n", "big5"),
        ("floresta", "#1 X\n(X+x (A+a ñ))\n", "cp850"),
        ("brackets", "(S (A ñ))\n", "utf-16"),
        ("cess", "(S (A ñ ñ))\n", "utf-16-le"),
    ],
)
def test_charsets(tmp_path: Path, format_name: str, text: str, charset: str) -> None:
    (tmp_path / "x").write_bytes(text.encode(charset))
    (tree,) = read_treebank(tmp_path / "x", format_name, charset=charset)
    assert tree.tokens.forms[0] in ("ñ", "語")


def test_charsets_that_are_not_right(tmp_path: Path) -> None:
    (tmp_path / "x.mrg").write_bytes(b"(S (A \x81))\n")
    for charset, message in (("cp1252", "not cp1252 text"), ("no", "encoding: no"), ("rot13", "rot13")):
        with faulty(tmp_path / "x.mrg", about=message):
            list(read_treebank(tmp_path / "x.mrg", charset=charset))


@pytest.mark.parametrize(
    ("text", "sizes", "comments"),
    [
        (
            CHARNIAK,
            [3, 1, 1, 1],
            [
                ("sent_id = s.7", "score = -22.5 -1e-3"),
                ("sent_id = s.7", "score = -24"),
                ("sent_id = s.8",),
                ("sent_id = 9", "score = -3.5"),
            ],
        ),
        (STANFORD, [3, 1, 1, 1], [("score = -22.5",), ("score = -24.0",), ("score = -3.5",), ()]),
        (
            BERKELEY,
            [3, 1, 1, 1, 1],
            [(f"score = {score}",) for score in ("-22.5", "-24.0", "-3.5", "-1", "-Infinity")],
        ),
    ],
)
@pytest.mark.parametrize("name", ["x.nbest", "x.txt"])
def test_lists(tmp_path: Path, name: str, text: str, sizes: list[int], comments: list[tuple[str]]) -> None:
    trees, left_out = read(tmp_path / name, text, n_best=True, strict=True)
    assert format_of(tmp_path / name) == "nbest" and not left_out
    assert [len(tree.labels) for tree in trees] == sizes
    assert [tree.tokens.comments for tree in trees] == comments
    first, left_out = read(tmp_path / name, text)
    assert first == [trees[0], *trees[2:]] and left_out == {FURTHER: 1}


def test_a_sentence_without_a_parse_is_told_with_its_own_line(tmp_path: Path) -> None:
    path, told = tmp_path / "x.nbest", list[FormatError]()
    path.write_text(CHARNIAK)
    assert len(list(read_treebank(path, refuse=told.append, unparsed=False))) == 2
    assert [(one.line, one.sentence) for one in told] == [(CHARNIAK.split("\n").index("0 s.8") + 1, 2)]


def test_a_list_that_is_cut_off_costs_no_sentence(tmp_path: Path) -> None:
    text = "9 s.1\n-1\n(S (A a))\n\n9 2\n-2\n(S (A b))\n-3\n(S (B b))\nmade by me\n1 s.3\n-2\n(S (A b))\n"
    trees, left_out = read(tmp_path / "x.nbest", text)
    assert [tree.tokens.forms for tree in trees] == [("a",), ("b",), ("b",)]
    assert left_out == {FURTHER: 1, OUTSIDE: 1}
    with pytest.raises(FormatError, match="belongs to no tree"):
        read(tmp_path / "x.nbest", text, strict=True)


def test_long_lines_take_linear_time(tmp_path: Path) -> None:
    for line in ("1 ", "1e1 " * 9, "(A b c ", "-1\t(", "# Parse 1 with score ", "1" * 99):
        assert is_linear(lambda size, line=line: _read(tmp_path / "x.nbest", line * size), 500)
        assert is_linear(lambda size, line=line: _read(tmp_path / "x.tbf", line * size), 500)
        for name in ("x.nbest", "x.tbf", "x.txt"):
            _read(tmp_path / name, line * 20_000)


def _read(path: Path, text: str) -> None:
    with suppress(FormatError):
        read(path, text)
