"""Korean leaves of several morphemes: words, tags, analyses; what is and what is not taken for them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from d2c.base.errors import FormatError
from d2c.trees.ctree import CTree
from d2c.trees.formats.discbracket import format_discbracket
from d2c.trees.formats.registry import format_of, read_treebank
from tests.errors import faulty
from tests.steps import is_linear


def trees(path: Path, text: str) -> list[CTree]:
    path.write_text(text)
    return list(read_treebank(path))


def test_words_of_the_text(tmp_path: Path) -> None:
    text = "; 이게 길이다.\n(S \t(NP_SBJ 이것/NP + 이/JKS)\n\t(VNP 길/NNG + 이/VCP + 다/EF + ./SF))\n"
    (found,) = trees(tmp_path / "x.txt", text)
    assert format_discbracket(found) == "(S (NP_SBJ (NP+JKS 0=이게)) (VNP (NNG+VCP+EF+SF 1=길이다.)))"
    assert found.tokens.morphs == ("이것/NP+이/JKS", "길/NNG+이/VCP+다/EF+./SF")
    assert found.tokens.comments == ("text = 이게 길이다.",)


@pytest.mark.parametrize(
    ("leaf", "word", "tag"),
    [
        ("(NP 물/NNG)", "물", "NNG"),
        ("(VP 붙이/VV + ᆫ/ETM)", "붙인", "VV+ETM"),  # a final consonant
        ("(VP 가/VV + ㄴ다/EF)", "간다", "VV+EF"),  # a letter
        ("(VP 사/VV + ㅏ/EC)", "사ㅏ", "VV+EC"),
        ("(VP 먹/VV + ㄴ/ETM)", "먹ㄴ", "VV+ETM"),  # which has a final consonant
        ("(VP 오/pvg+았/ep+다/ef)", "오았다", "pvg+ep+ef"),
        ("(VP 오/pvg +\n 았/ep)", "오았", "pvg+ep"),
        ("(X 3/SN + +/SW + 4/SN)", "3+4", "SN+SW+SN"),
        ("(X //SP)", "/", "SP"),
        ("(L (/SS)", "(", "SS"),
        ("(R )/SS)", ")", "SS"),
        ("(X a/b/SL)", "a/b", "SL"),
    ],
)
def test_joined_words(tmp_path: Path, leaf: str, word: str, tag: str) -> None:
    (found,) = trees(tmp_path / "x.sejong", f"; 나무 셋\n(S (NP 나무/NNG + 가/JKS)\n\t{leaf} (X ./SF))\n")
    assert (found.tokens.forms[1], found.tokens.tags[1]) == (word, tag)
    assert found.tokens.comments == ("text = 나무 셋",)


def test_empty_elements_and_several_trees(tmp_path: Path) -> None:
    text = "; 앞\n(S (NP-SBJ *pro*) (VP 자/VV+다/EFN))\n( (S (NP 둘/NNU)) )\n"
    first, second = trees(tmp_path / "x.sejong", text)
    assert format_discbracket(first) == "(S (NP-SBJ (-NONE- 0=*pro*)) (VP (VV+EFN 1=자다)))"
    assert first.tokens.morphs == ("--", "자/VV+다/EFN") and second.top == ""
    assert [first.tokens.comments, second.tokens.comments] == [("text = 앞",), ()]
    first, second = read_treebank(tmp_path / "x.sejong", clean=True)
    assert format_discbracket(first) == "(S (VP (VV+EFN 0=자다)))" and second.top == "TOP"


def test_lines_of_text_of_no_tree_are_counted(tmp_path: Path) -> None:
    left_out = Counter[str]()
    path = tmp_path / "x.sejong"
    path.write_text("; id 7\n; 나\n(S (NP 나/NP))\n; 둘\n(S (NP 둘/NNU)) (S (NP 셋/NNU))\n;\n; end\n")
    found = [tree.tokens.comments for tree in read_treebank(path, left_out=left_out)]
    assert found == [("text = 나",), (), ()] and +left_out == {"comments": 3}


def test_a_missing_bracket_takes_linear_time(tmp_path: Path) -> None:
    def work(size: int) -> None:
        (tmp_path / "x.sejong").write_text("(S (NP 나/NP)\n" + "; 나\n(S (NP 나/NP))\n" * size)
        assert len([*read_treebank(tmp_path / "x.sejong", refuse=lambda _: None)]) == size

    assert is_linear(work, 500)


def test_what_looks_so(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    for text, name in (
        ("(S (NP_SBJ 나/NP + 는/JX))", "sejong"),
        ("; 나\n(S (NP 나/npp+는/jxt))", "sejong"),
        ("(S (NN and/or) (NN a/b+c/d))", "brackets"),
        ("(S (NN 나/NP))", "brackets"),
    ):
        path.write_text(text)
        assert format_of(path) == name


def test_errors(tmp_path: Path) -> None:
    path = tmp_path / "x.sejong"
    path.write_text("; 나\n(S (NP 나/NP + 는/JX))\n; 너\n(S (NP 너))\n")
    with faulty(path, 4, 2, about="the leaf '너' is not of morphemes with tags, 나/NP + 는/JX"):
        list(read_treebank(path))
    path.write_bytes("(S (NP 나/NP + 는/JX))".encode("cp949"))
    with pytest.raises(FormatError, match="not UTF-8"):
        list(read_treebank(path))
    (found,) = read_treebank(path, charset="cp949")
    assert found.tokens.forms == ("나는",)
