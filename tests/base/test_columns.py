"""Tables as text: aligned, no wider than asked where that can be, and nothing of a cell is lost."""

from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from d2c.base.columns import in_columns, width_of, wrapped

ROWS = [
    ("route", "d-trees", "F1", "train", "source"),
    ("", "", "%", "s", ""),
    ("reduction", "stanza", "80.31", "7", "Fernández-González and Martins, Parsing as Reduction"),
    ("cky", "stanza", "81.03", "120", "Kong, Rush and Smith"),
]
TEXTS = {0, 1, 4}
WORDS = st.text("abЖ中é", min_size=1, max_size=30)
CELLS = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)


def test_as_wide_as_the_cells() -> None:
    assert [*in_columns(ROWS, None, TEXTS, 2)] == [
        "route      d-trees     F1  train  source",
        "                        %      s",
        "reduction  stanza   80.31      7  Fernández-González and Martins, Parsing as Reduction",
        "cky        stanza   81.03    120  Kong, Rush and Smith",
    ]


def test_a_single_column() -> None:
    assert [*in_columns([("a",), ("bc",)], 80, {0}, 2)] == ["a", "bc"]


def test_texts_become_narrower() -> None:
    assert [*in_columns(ROWS, 60, TEXTS, 2)] == [
        "route      d-trees     F1  train  source",
        "                        %      s",
        "reduction  stanza   80.31      7  Fernández-González and",
        "                                  Martins, Parsing as",
        "                                  Reduction",
        "cky        stanza   81.03    120  Kong, Rush and Smith",
    ]


def test_what_does_not_fit_stands_below_beside_the_names() -> None:
    assert [*in_columns(ROWS, 32, TEXTS, 1)] == [
        "route      d-trees     F1  train",
        "                        %      s",
        "reduction  stanza   80.31      7",
        "cky        stanza   81.03    120",
        "",
        "route      source",
        "",
        "reduction  Fernández-González",
        "           and Martins, Parsing",
        "           as Reduction",
        "cky        Kong, Rush and Smith",
    ]


def test_wide_characters() -> None:
    assert [*in_columns([("词", "n"), ("中文树库", "1"), ("ab", "20")], None, {0})] == [
        "词         n",
        "中文树库   1",
        "ab        20",
    ]
    assert wrapped("中文树库 ab", 5) == ["中文", "树库", "ab"]


def test_a_long_word_takes_linear_time() -> None:
    assert wrapped("a " + "\u5b57" * 20_000, 40) == ["a", *["\u5b57" * 20] * 1000]


@given(CELLS, st.integers(2, 40))
def test_wrapped_lines_fit_and_hold_all(text: str, width: int) -> None:
    lines = wrapped(text, width)
    assert max(map(width_of, lines)) <= width
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    for line, after in pairwise(lines):  # a line has as much as fits
        assert width_of(f"{line} {after.split(' ')[0]}") > width or width_of(line) in (width, width - 1)


@given(
    st.lists(st.tuples(WORDS, CELLS, st.integers(0, 10**6).map(str), CELLS), min_size=1), st.integers(48, 99)
)
def test_tables_fit_and_hold_all(rows: list[tuple[str, ...]], width: int) -> None:
    lines = [*in_columns(rows, width, {0, 1, 3})]
    assert max(map(width_of, lines)) <= width
    shown, given = ("".join(sorted(re.sub(r"\s", "", "".join(part)))) for part in (lines, sum(rows, ())))
    assert shown == given or "" in lines  # in a second block the names stand once more
