"""Function tags: what is learned of gold c-trees with d-trees, kept in files, and added to labels."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from d2c.base.errors import ModelError
from d2c.commands.cli import cli
from d2c.models.functions import FunctionTagger, without_functions
from d2c.models.model import Model
from d2c.models.names import find
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import format_bracket, parse_bracket
from tests.shapes import ctrees, tokens_of

HEADS, LABELS = (2, 0, 4, 2), ("nsubj", "root", "case", "obl")
TREE = "(TOP (S (NP-SBJ (PRP We)) (VP (VBD met) (PP-{} (IN in) (NP (NN {}))))))"
TIMES, PLACES = ("May", "June"), ("Rome", "Oslo")
ROWS = """\
1\tWe\twe\tPRON\tPRP\t_\t2\tnsubj\t_\t_
2\tmet\tmeet\tVERB\tVBD\t_\t0\troot\t_\t_
3\tin\tin\tADP\tIN\t_\t4\tcase\t_\t_
4\tJune\tJune\tPROPN\tNNP\t_\t2\tobl\t_\t_
5\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_

"""
PLAIN = "(TOP (S (NP{} (PRP We)) (VP (VBD met) (PP{} (IN in) (NP (NNP June)))) (. .)))"


def over(tree: str) -> tuple[CTree, DTree]:
    ctree = parse_bracket(tree)
    return ctree, DTree(ctree.tokens, HEADS, labels=LABELS)


def treebank(times: int = 20) -> list[tuple[CTree, DTree]]:
    rows = [("TMP", word) for word in TIMES] + [("LOC", word) for word in PLACES]
    return [over(TREE.format(*row)) for row in rows] * times


@pytest.fixture(scope="module")
def tagger() -> FunctionTagger:
    pytest.importorskip("sklearn")
    rare = [over(TREE.format("LOC-CLR", "Rome"))] * 2 + [over(TREE.format("BNF", "May"))]
    fitted = FunctionTagger.fit(treebank() + rare)
    assert fitted is not None
    return fitted


def test_words_and_relations_tell_functions(tagger: FunctionTagger) -> None:
    assert tagger.classes == ["", "LOC", "SBJ", "TMP"]  # the most common one of LOC-CLR; BNF is rare
    for gold, dtree in treebank(1):
        assert tagger(without_functions(gold), dtree) == gold
    unseen, dtree = over(TREE.format("TMP", "August"))
    assert tagger(without_functions(unseen), dtree) == unseen  # a month, too


def test_few_tags_teach_nothing() -> None:
    pytest.importorskip("sklearn")
    assert FunctionTagger.fit(treebank(4)) is None  # SBJ alone is common
    assert FunctionTagger.fit([]) is None


def test_tags_go_and_labels_stay() -> None:
    ctree = parse_bracket("(S (NP-SBJ-1 (PRP We)) (VP=2 (VBD met)))")
    assert format_bracket(without_functions(ctree)) == "(S (NP (PRP We)) (VP (VBD met)))"


@given(ctrees(), st.data())
def test_any_d_tree_will_do(tagger: FunctionTagger, ctree: CTree, data: st.DataObject) -> None:
    n = len(ctree.tokens)
    heads = tuple(data.draw(st.lists(st.integers(-2, n + 2), min_size=n, max_size=n)))
    labels = data.draw(st.sampled_from([None, ("nsubj",) * n]))
    plain = without_functions(ctree)
    tagged = tagger(plain, DTree(ctree.tokens, heads, labels=labels))
    assert without_functions(tagged) == plain


def test_a_bare_token_has_no_labels(tagger: FunctionTagger) -> None:
    bare = CTree(tokens_of(1), (), ())
    assert tagger(bare, DTree(bare.tokens, (0,), labels=("root",))) == bare


def test_files(tagger: FunctionTagger, tmp_path: Path) -> None:
    tagger.save(tmp_path)
    loaded = FunctionTagger.load(tmp_path)
    assert loaded.classes == ("", "LOC", "SBJ", "TMP")
    np.testing.assert_array_equal(loaded.weights, tagger.weights.astype(np.float16))
    for gold, dtree in treebank(1):
        assert loaded(without_functions(gold), dtree) == gold


@pytest.mark.parametrize(
    "changes",
    [
        {"classes": ["", "LOC"]},
        {"classes": ["", "L(C", "SBJ", "TMP"]},
        {"classes": ["", "-", "SBJ", "TMP"]},
        {"features": ["one"]},
        {"features": 1},
    ],
)
def test_broken_files(tagger: FunctionTagger, tmp_path: Path, changes: dict[str, object]) -> None:
    tagger.save(tmp_path)
    file = tmp_path / "functions.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
    with pytest.raises(ModelError, match="is broken"):
        FunctionTagger.load(tmp_path)


def test_weights_that_are_no_numbers(tagger: FunctionTagger, tmp_path: Path) -> None:
    wrong = FunctionTagger(tagger.classes, [*tagger.features], np.full_like(tagger.weights, np.nan))
    wrong.save(tmp_path)
    with pytest.raises(ModelError, match="some weights are no numbers"):
        FunctionTagger.load(tmp_path)


def test_they_are_kept_in_a_model(tagger: FunctionTagger, small_model: Path, tmp_path: Path) -> None:
    model = Model.load(small_model)
    assert model.functions is None
    replace(model, functions=tagger).save(tmp_path / "model", small_model)
    loaded = Model.load(tmp_path / "model").functions
    assert loaded is not None and loaded.classes == ("", "LOC", "SBJ", "TMP")
    (tmp_path / "model" / "functions" / "functions.json").write_text("{}")
    with pytest.raises(ModelError, match="functions.json: is damaged"):
        Model.load(tmp_path / "model")


def parse(*arguments: str) -> str:
    run = CliRunner().invoke(cli, ["parse", *arguments, "--functions"], input=ROWS)
    if run.exception and not isinstance(run.exception, SystemExit):
        raise run.exception
    return run.stdout or run.stderr


def test_en_ud_adds_them_if_asked_to() -> None:
    run = CliRunner().invoke(cli, ["parse", "en-ud"], input=ROWS)
    assert run.stdout == PLAIN.format("", "") + "\n"
    tagged = PLAIN.format("-SBJ", "-TMP")
    assert parse("en-ud") == tagged + "\n"
    row = json.loads(parse("en-ud", "--to", "json", "--best", "2"))
    assert [span["label"] for span in row["spans"]] == ["S", "NP-SBJ", "VP", "PP-TMP", "NP"]
    assert row["alternatives"][0]["tree"] == tagged
    assert "NP-SBJ" in row["alternatives"][1]["tree"]


def test_who_has_none_says_so(small_model: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="^this model has no function tags; en-ud has them$"):
        parse(str(small_model))
    with pytest.raises(ModelError, match="function tags are of one model$"):
        parse("en-ud", str(shutil.copytree(find("en-ud"), tmp_path / "other")))
    assert "d-trees have no constituents with functions" in parse("en-ud", "--to", "conllu")
