"""The ablation of sources: what rows learn from, genres of GUM, shares, and that nothing is done twice."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import format_bracket, parse_bracket
from d2c.trees.formats.conllu import write_conllu
from d2c.trees.scores.matches import Matches
from models import ablation
from models.ablation import DEV_GENRES, GROUPS, REST_OF_GUM, Row, by_genre, rows_of, score_row, shares_of

TREE = "(TOP (S (NP (PRP I)) (VP (VBD saw) (NP (DT a) (NN {}))) (. .)))"
AGREES, CONTRADICTS = (2, 0, 4, 2, 2), (4, 4, 2, 0, 4)


def test_rows_have_a_source_more_or_less() -> None:
    rows = {row.name: row.sources for row in rows_of("sources")}
    gold = ("CRAFT", "GENIA", "MASC")
    assert rows == {
        "en-base": (),
        "gold": gold,
        "gold, GUM": (*gold, "GUM"),
        "gold, EWT": (*gold, "EWT"),
        "gold, masc-text": (*gold, "masc-text"),
        "all": (*gold, "GUM", "EWT", "masc-text"),
        "all without GUM": (*gold, "EWT", "masc-text"),
        "all without EWT": (*gold, "GUM", "masc-text"),
        "all without masc-text": (*gold, "GUM", "EWT"),
    }
    assert {row.begin for row in rows_of("sources") + rows_of("genres")} == {"en-base"}
    assert [(row.begin, row.sources) for row in rows_of("lessons")] == [
        ("en-general", ()),
        ("en-general", (*gold, "GUM")),
        ("en-general", rows["all"]),
    ]


def test_groups_of_genres() -> None:
    assert GROUPS["GUM"] == (*DEV_GENRES,)
    assert {*GROUPS["its genres in train"]} | {*GROUPS["other genres"]} == {*DEV_GENRES}
    assert len(GROUPS["its genres in train"]) + len(GROUPS["other genres"]) == len(DEV_GENRES)


@pytest.fixture
def treebanks(tmp_path: Path) -> Path:
    """A folder with a GUM of four sentences, of which the third contradicts its d-tree."""
    trees = [TREE.format(word) for word in ("dog", "cat", "cow", "hen")]
    with gzip.open(tmp_path / "gum-free-train.mrg.gz", "wt") as stream:
        stream.write("\n".join(trees))
    with gzip.open(tmp_path / "gum-free-train.ud.conllu.gz", "wt") as stream:
        heads = (AGREES, AGREES, CONTRADICTS, AGREES)
        tokens = (parse_bracket(tree).tokens for tree in trees)
        write_conllu((DTree(*pair, labels=("x",) * 5) for pair in zip(tokens, heads, strict=True)), stream)
    return tmp_path


def test_genres_of_gum(treebanks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begins = {"bio": 0, "court": 1, "news": 2}
    found = by_genre(treebanks / "gum-free-train.mrg.gz", begins)
    trees = {genre: [*map(format_bracket, own)] for genre, own in found.items()}
    assert trees == {
        genre: [TREE.format(word)] for genre, word in (("bio", "dog"), ("court", "cat"), ("news", "hen"))
    }
    monkeypatch.setattr(ablation, "TRAIN_GENRES", begins)
    for source, words in (("GUM", ("dog", "cat", "hen")), (REST_OF_GUM, ("dog", "hen"))):
        file = ablation.trees_of(source, treebanks, treebanks, treebanks)
        assert file.read_text() == "".join(f"{TREE.format(word)}\n" for word in words)
    (treebanks / "gum-free-train.mrg.gz").unlink()
    assert ablation.trees_of("GUM", treebanks, treebanks, treebanks).is_file()  # made once


def test_sources_have_the_recipe_s_shares_of_so_many_words(tmp_path: Path) -> None:
    files = {name: tmp_path / f"{name}.mrg" for name in ("CRAFT", "MASC")}
    for file, count in zip(files.values(), (400, 100), strict=True):
        file.write_text("(TOP (NP (NN a) (NN b)))\n" * count)
    assert shares_of(files, 100) == {files["CRAFT"]: 0.0625, files["MASC"]: 0.25}


def test_a_row_that_is_kept_is_not_learned_again(tmp_path: Path) -> None:
    row = Row("gold, x", "en-base", ("CRAFT", "a b"))
    (tmp_path / "en-base-1000-2-CRAFT-a-b.json").write_text('{"MASC": [4, 5, 3]}')
    assert score_row(row, tmp_path, tmp_path, tmp_path, 1000, 2) == {"MASC": Matches(4, 5, 3)}
