"""Sentences that d2c has parsed, as the tables of `d2c corpus` have them."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from d2c.commands.cli import cli
from d2c.commands.progress import ReadShare
from d2c.parsing.json_lines import _sentence, format_tree
from d2c.parsing.sentence import Sentence
from d2c.parsing.sentences import numbered_sentences
from d2c.trees.formats.discbracket import parse_discbracket
from d2c.trees.formats.parsed import PARSED_ROWS, made_of
from d2c.trees.formats.reading import Reading
from tests.errors import faulty

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

GAP = "(TOP (S (VP (WHNP (WP 0=What)) (VB 3=buy)) (MD 1=did) (NP (PRP 2=she)) (. 4=?)))"
SHE: dict[str, Any] = {
    "file": "a.txt",
    "text": "She left.",
    "tokens": ["She", "left", "."],
    "tags": ["PRP", "VBD", "."],
    "offsets": [{"start": 10, "end": 13}, {"start": 14, "end": 18}, {"start": 18, "end": 19}],
    "bracket": "(TOP (S (NP (PRP She)) (VP (VBD left)) (. .)))",
    "spans": [
        {"label": "S", "start": 0, "end": 3, "head": 1, "confidence": 0.5},
        {"label": "NP", "start": 0, "end": 1, "head": 0, "confidence": 1.0},
        {"label": "VP", "start": 1, "end": 2, "head": 1, "confidence": 0.75},
    ],
}
FAILED: dict[str, Any] = {"file": "a.txt", "tokens": [], "tags": [], "spans": [], "error": "cannot be parsed"}
GAPS: dict[str, Any] = {
    "file": "b.txt",
    "tokens": ["What", "did", "she", "buy", "?"],
    "tags": ["WP", "MD", "PRP", "VB", "."],
    "bracket": GAP,
    "spans": [{"label": "VP", "start": 0, "end": 4}],
}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    from d2c.corpora.rows import SCHEMA  # needs pyarrow

    directory = tmp_path / "parsed"
    directory.mkdir()
    table = pa.Table.from_pylist([FAILED, SHE, GAPS], schema=SCHEMA)
    pq.write_table(table, directory / "part-000000.parquet")
    return directory


def test_the_share_of_a_table_that_is_read(corpus: Path) -> None:
    from d2c.corpora.rows import SCHEMA

    file = corpus / "part-000000.parquet"
    pq.write_table(pa.Table.from_pylist([SHE] * 2500, schema=SCHEMA), file)
    share = ReadShare([file])
    shares = [share() for _ in numbered_sentences(file, Reading())]
    assert [share for share, _ in groupby(shares)] == pytest.approx([0.4, 0.8, 1.0], abs=0.001)


def test_a_table_of_corpus(corpus: Path) -> None:
    (first, she), (second, gaps) = numbered_sentences(corpus / "part-000000.parquet", Reading())
    assert (first, she.file, second, gaps.file) == (2, "a.txt", 3, "b.txt")
    assert dict(zip(she.tree.labels, she.confidences or (), strict=True)) == {
        "NP": 1.0,
        "VP": 0.75,
        "S": 0.5,
    }
    assert she.tree.head_children is not None and she.source is not None
    assert (she.source.text, list(she.source.offsets or ())) == ("She left.", [(10, 13), (14, 18), (18, 19)])
    assert (gaps.ctree, gaps.confidences, gaps.source) == (parse_discbracket(GAP), None, None)


def test_trees_alone_are_those_of_the_brackets(corpus: Path, tmp_path: Path) -> None:
    from d2c.corpora.rows import SCHEMA

    file, bare = corpus / "part-000000.parquet", Reading(bare=True)
    for (number, one), (other, whole) in zip(
        numbered_sentences(file, bare), numbered_sentences(file, Reading()), strict=True
    ):
        assert (number, one.file, one.tokens) == (other, whole.file, whole.tokens)
        assert format_tree(one.tree) == format_tree(whole.tree) and one.tree.head_children is None
        assert (one.source, one.confidences) == (None, None)
    odd = SHE | {
        "tokens": ["-LRB-", "a b", "0=x"],
        "bracket": "(TOP (S (NP (PRP -LRB-)) (VP (VBD a\xa0b) (. 0=x))))",
    }
    file = tmp_path / "x.parquet"
    pq.write_table(pa.Table.from_pylist([odd], schema=SCHEMA), file)
    [(_, one)] = numbered_sentences(file, bare)
    assert one.tree.tokens.forms == ("-LRB-", "a b", "0=x") and one.tree.labels == ("NP", "VP", "S")
    for bracket in (
        "(TOP (S (PRP a)))",
        "(TOP (S (A a) (B b) (C c))) (D d)",
        "(TOP (S (A a) (B b) (C c)",
        ")",
    ):
        pq.write_table(pa.Table.from_pylist([SHE | {"bracket": bracket}], schema=SCHEMA), file)
        with faulty(file, sentence=1):
            list(numbered_sentences(file, bare))
    counted = CliRunner().invoke(cli, ["search", "VP", str(corpus), "--count"], catch_exceptions=False)
    assert [line.split("\t")[2:5] for line in counted.stdout.splitlines()[1:]] == [["1"] * 3] * 2
    heads = CliRunner().invoke(cli, ["search", "S <# VP", str(corpus), "--count"], catch_exceptions=False)
    assert [line.split("\t")[2] for line in heads.stdout.splitlines()[1:]] == ["1", "1"]


def test_commands_read_it(corpus: Path, tmp_path: Path) -> None:
    found = CliRunner().invoke(cli, ["search", "VP", str(corpus), "--to", "json"], catch_exceptions=False)
    rows = [json.loads(line) for line in found.stdout.splitlines()]
    part = str(corpus / "part-000000.parquet")
    assert [(row["file"], row["sentence"], row["source"], row["text"]) for row in rows] == [
        (part, 2, "a.txt", "left"),
        (part, 3, "b.txt", "What buy"),
    ]
    listed = CliRunner().invoke(cli, ["phrases", str(corpus), "--label", "NP"], catch_exceptions=False)
    header, she, *_ = (line.split("\t") for line in listed.stdout.splitlines())
    assert dict(zip(header, she, strict=True)) == {
        **{
            "file": part,
            "source": "a.txt",
            "sentence": "2",
            "label": "NP",
            "start": "0",
            "end": "1",
            "text": "She",
        },
        **{"start_char": "10", "end_char": "13", "confidence": "1.0"},
    }
    page = tmp_path / "x.html"
    view = CliRunner().invoke(cli, ["view", str(corpus), "-o", str(page)], catch_exceptions=False)
    assert view.exit_code == 0 and "cannot be parsed" in page.read_text()


def test_other_tables(tmp_path: Path) -> None:
    file = tmp_path / "x.parquet"
    pq.write_table(pa.table({"text": ["She left."]}), file)
    with faulty(file, about="'file'"):
        list(numbered_sentences(file, Reading()))
    pq.write_table(pa.table({name: ["a"] for name in SHE | {"error": ""}}), file)
    with faulty(file, about="its columns have other types"):
        list(numbered_sentences(file, Reading()))
    file.write_bytes(file.read_bytes()[:-9])
    with faulty(file, about="is no Parquet file"):
        list(numbered_sentences(file, Reading()))


def sentence(row: dict[str, Any]) -> Sentence:
    """The sentence of a row, whose offsets are read as columns."""
    places = row.get("offsets") or []
    if all(isinstance(place, dict) for place in places):
        places = {name: [place[name] for place in places] for name in ("start", "end")}
    return made_of(row | {"offsets": places}, PARSED_ROWS.name, _sentence)


@pytest.mark.parametrize(
    "change", [{"tags": None}, {"spans": ["S"]}, {"offsets": [1, 2, 3]}, {"bracket": None, "error": None}]
)
def test_rows_of_other_programs_are_refused(change: dict[str, Any]) -> None:
    row = {"error": None} | SHE
    assert sentence(row).tree.labels
    with pytest.raises(ValueError, match="^no row as `d2c corpus` writes it|^there is no 'tags'"):
        sentence(row | change)


@pytest.mark.parametrize("word", ["1=2", "0=one", "0="])
def test_words_that_look_like_those_of_discbracket(word: str) -> None:
    span = {"label": "NP", "start": 0, "end": 1, "head": 0, "confidence": 0.5}
    place = {"text": word, "offsets": [{"start": 0, "end": len(word)}]}
    row = {"error": None, "file": "a.txt", "tokens": [word], "tags": ["CD"], "spans": [span]} | place
    found = sentence(row | {"bracket": f"(TOP (NP (CD {word})))"})
    assert (found.tree.tokens.forms, found.confidences) == ((word,), (0.5,))
    numbered = sentence(row | {"bracket": f"(TOP (NP (CD 0={word})))"})
    assert (numbered.tree.tokens.forms, numbered.confidences) == ((word,), None)


def test_words_and_tags_of_a_tree_with_gaps_are_those_of_the_row() -> None:
    row = GAPS | {"tokens": ["-LRB-", "x y"], "tags": ["(", "CD"], "text": None, "offsets": None, "error": ""}
    row["bracket"] = "(TOP (S (-LRB- 0=-LRB-) (CD 1=x\u00a0y)))"
    tokens = sentence(row).tree.tokens
    assert (tokens.forms, tokens.tags) == (("-LRB-", "x y"), ("(", "CD"))
    with pytest.raises(ValueError, match="its brackets are not over its tokens"):
        sentence(row | {"bracket": "(TOP (S (-LRB- 0=-LRB-) (CD 1=x\u00a0y) (X 2=z)))"})
