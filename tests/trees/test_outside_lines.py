"""Lines of bracket files that belong to no tree: passed over and counted, or refused; no tree is lost."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from d2c.base.errors import FormatError
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import format_bracket
from d2c.trees.formats.format import OUTSIDE
from d2c.trees.formats.registry import read_treebank
from tests.errors import faulty
from tests.steps import is_linear

CATS, DOGS = "(S (NP (NNS Cats)) (VP (VBP sleep)))", "(S (NP (NNS Dogs)) (VP (VBP bark)))"
PRETTY = "(ROOT\n  (S\n    (NP (NNS Cats))\n    (VP (VBP sleep))))\n"


def read(path: Path, text: str, **options: Any) -> tuple[list[CTree], int]:
    """The trees of a file, and how many lines of it were passed over."""
    path.write_text(text, encoding="utf-8")
    left_out = Counter[str]()
    return list(read_treebank(path, left_out=left_out, **options)), left_out[OUTSIDE]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"//v2\n{CATS}\n{DOGS}\n", 1),
        (f"# text = Cats (and others) sleep\n{CATS}\n# (S (NP it))\n{DOGS}\n", 2),
        (f"%% Sent 1\n{CATS}\n%% Sent 2\n\n{DOGS}\n", 2),
        (f"<S ID=1>\n( {CATS} )\n</S>\n<S ID=2>\n( {DOGS} )\n</S>\n", 4),
        (f"*x*x*x*\n*x* Copyright (C) of Nobody *x*\n*x*x*x*\n\n{CATS}\n{DOGS}\n", 3),
        (f"****\n{CATS}\n****\n{DOGS}", 2),
        (f"; Cats sleep .\n  {CATS}\n; Dogs bark .\n\t{DOGS}\n", 2),
        (f"-3.25e1 {CATS}\n-4 {DOGS}\n", 2),
        (f"wsj_1.2 {CATS}\n7\t-4.5\t{DOGS}\n", 2),
        (f"id1 (S\n (NP (NNS Cats)) (VP (VBP sleep)))\nid2 (\n {DOGS})\n", 2),
        (f"{CATS}\n\nnsubj(sleep-2, Cats-1)\nroot(ROOT-0, sleep-2)\n\n{DOGS}\n", 2),
        (f"Cats/NNS sleep/VBP\n\n{PRETTY}\ndep (a-1, b-2)\n{DOGS}\n", 2),
        (f"{CATS} -3.25\n{DOGS} ; checked\n", 2),
        (f"\ufeff{CATS}\n\ufeff{DOGS}\n", 0),
    ],
)
def test_they_are_passed_over_and_counted(tmp_path: Path, text: str, lines: int) -> None:
    for clean in (False, True):
        trees, passed_over = read(tmp_path / "x.mrg", text, clean=clean)
        assert [ctree.tokens.forms for ctree in trees] == [("Cats", "sleep"), ("Dogs", "bark")]
        assert {ctree.labels for ctree in trees} == {("NP", "VP", "S")}
        assert passed_over == lines
    if lines:
        with pytest.raises(FormatError, match="belongs to no tree"):
            read(tmp_path / "x.mrg", text, strict=True)
    else:
        read(tmp_path / "x.mrg", text, strict=True)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.discbracket", "//v2\n(S (A 0=a) (B 1=b))\n# c\n(S (A 1=a) (B 0=b)) -3\n"),
        ("x.psd", "/~* a remark *~/\n( (IP-MAT (N cat-cat)))\n// c\n( (IP-MAT (N dog-dog))) -3\n"),
    ],
)
def test_formats_of_brackets_share_this(tmp_path: Path, name: str, text: str) -> None:
    trees, passed_over = read(tmp_path / name, text)
    assert (len(trees), passed_over) == (2, 3)


def test_numbers_of_sentences_count_trees(tmp_path: Path) -> None:
    text = f"%% Sent 1\n{CATS}\n%% Sent 2\n(S (NN x y))\n%% Sent 3\n{DOGS}\n"
    with faulty(tmp_path / "x.mrg", 4, 2, about="'y'"):
        read(tmp_path / "x.mrg", text)


@pytest.mark.parametrize(
    "broken",
    [
        "(S (NP (NN x))",
        "( (S (NN x)",
        "(S (NN x)))",
        "(S (NN x) (NP",
        "S (NN x))",
        "x)",
        "S (NP (NN x)))",
        "(ROOT\n (S (NN x)",
    ],
)
@pytest.mark.parametrize("before", ["", "%% Sent\n", "<S ID=1>\n", "1\n", "\n"])
def test_a_broken_tree_costs_itself_alone(tmp_path: Path, broken: str, before: str) -> None:
    text = "".join(f"{before}{tree}\n" for tree in (CATS, broken, DOGS, CATS))
    faults = list[FormatError]()
    trees, _ = read(tmp_path / "x.mrg", text, refuse=faults.append)
    assert [ctree.tokens.forms[0] for ctree in trees] == ["Cats", "Dogs", "Cats"]
    assert [(fault.line, fault.sentence) for fault in faults] == [(2 + 2 * len(before.splitlines()), 2)]


def test_a_sentence_that_was_skipped_is_one(tmp_path: Path) -> None:
    trees, lines = read(tmp_path / "x.mrg", f"{PRETTY}SENTENCE_SKIPPED_OR_UNPARSABLE\n{PRETTY}(())\n")
    assert [ctree.tokens.forms[0] for ctree in trees] == ["Cats", "ERROR", "Cats", "ERROR"] and not lines


def test_text_is_no_treebank(tmp_path: Path) -> None:
    for text in ("A title\n\nThe cat (a big one) slept.\n", "1\n2\n", ":-) A title\n"):
        with faulty(tmp_path / "x.mrg", 1, 1, about=f"expected '(', found {text.splitlines()[0]!r}"):
            read(tmp_path / "x.mrg", text)


@pytest.mark.parametrize(
    ("text", "means"),
    [
        (f"(ROOT ( {CATS}))", f"(ROOT {CATS})"),
        (f"( ( {CATS} ) )", f"( {CATS})"),
        (f"(TOP\n (\n ({CATS})))", f"(TOP {CATS})"),
        (f"(ROOT ( {CATS} (. .)))", f"(ROOT {CATS} (. .))"),
        ("(ROOT ( (NN x)))", "(ROOT (NN x))"),
    ],
)
def test_a_second_wrapper_without_a_label(tmp_path: Path, text: str, means: str) -> None:
    (ctree,), _ = read(tmp_path / "x.mrg", text)
    assert format_bracket(ctree) == means
    with faulty(tmp_path / "x.mrg", 1, 1, about="no label"):
        read(tmp_path / "x.mrg", f"(ROOT (X ( {CATS})))")


@pytest.mark.parametrize(
    "line", ["x y z (", "(", ")", "(S (A a) ", "a (S (", "# (\n", "(A a) ", "(S ( ", "x\n"]
)
def test_many_lines_take_linear_time(tmp_path: Path, line: str) -> None:
    def steps(size: int) -> None:
        for text in (line * size, f"{line}\n" * size):
            with suppress(FormatError):
                read(tmp_path / "x.mrg", text, refuse=lambda _: None)

    assert is_linear(steps, 200)
