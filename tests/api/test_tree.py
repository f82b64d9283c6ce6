"""Trees, sentences and documents as Python users see them."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

import d2c
from d2c import Document, Sentence, Tree
from d2c.base.errors import FormatError
from d2c.base.files import open_input
from d2c.parsing.output import OUTPUTS
from d2c.parsing.sentence import Sentence as ParsedSentence
from d2c.parsing.sentence import refused
from d2c.trees.ctree import CTree, Tokens, build_ctree
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.heads import load_head_rules
from d2c.trees.pictures import ctree_text
from tests.pages import opened_in

BRACKETS = "(TOP (S (NP (DT The) (NN cat)) (-LRB- -LRB-) (VP (VBD slept))))"
CTREE = load_head_rules("collins").apply(parse_bracket(BRACKETS))
OFFSETS = ((10, 13), (14, 17), (18, 19), (19, 24))
READ = ParsedSentence(CTREE.tokens, line=3, number=7, text="The cat (slept", offsets=OFFSETS)
PARSED = replace(READ, ctree=CTREE, confidences=(0.5, 0.25, 1.0))
GAP = build_ctree(Tokens(("wake", "me", "up"), ("V", "N", "P")), ["VP", "S"], [(0, 2), (3, 1)], 4, [0, 3])


def in_a_sentence(tree: Tree) -> Sentence:
    return Sentence(ParsedSentence(tree.ctree.tokens, line=1, ctree=tree.ctree))


def test_a_tree() -> None:
    tree = Sentence(PARSED).tree
    assert (str(tree), repr(tree)) == (BRACKETS, f"<Tree {BRACKETS}>")
    assert tree.words == ("The", "cat", "(", "slept") and tree.tags == ("DT", "NN", "-LRB-", "VBD")
    assert tree.labels == ("S", "NP", "VP") and not tree.has_gaps
    assert [(span.text, span.confidence) for span in tree.spans()] == [
        ("The cat (slept", 1.0),
        ("The cat", 0.5),
        ("slept", 0.25),
    ]
    [phrase] = tree.phrases("NP")
    assert (phrase.label, phrase.head, phrase.start_char, phrase.end_char) == ("NP", 1, 10, 17)
    with pytest.raises(ValueError, match="say their labels"):
        tree.phrases()
    with pytest.raises(TypeError, match=r"a label is a str, not list: phrases\('NP', 'PP'\)"):
        tree.phrases(["NP"])  # type: ignore[arg-type]
    assert len({*tree.search("NP=name"), *tree.search("NP=name")}) == 1


def test_trees_of_other_libraries() -> None:
    tree = Tree(parse_bracket(BRACKETS))
    assert tree.text == "The cat ( slept"
    nltks, stanzas = tree.to_nltk(), tree.to_stanza()
    assert Tree.from_nltk(nltks).ctree == Tree.from_stanza(stanzas).ctree == tree.ctree
    for other in (nltks, stanzas):
        with pytest.raises(TypeError, match="^a Tree is made of a CTree, not Tree; see Tree.from_string, "):
            Tree(other)
    with pytest.raises(TypeError, match="^from_nltk takes an nltk.Tree, not str$"):
        Tree.from_nltk("(NN cat)")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="^from_stanza takes a Tree of Stanza's, not str$"):
        Tree.from_stanza("(NN cat)")  # type: ignore[arg-type]


def test_gaps() -> None:
    tree = Tree(GAP)
    assert tree.has_gaps and str(tree) == "(S (VP (V 0=wake) (P 2=up)) (N 1=me))"
    for convert in (tree.to_nltk, tree.to_stanza):
        with pytest.raises(
            ValueError, match="^a tree with gaps cannot be a tree whose leaves are in the order"
        ):
            convert()
    assert [span.tokens for span in tree.phrases("VP")] == [(0, 2)]


def test_dictionaries_are_lines_of_the_command() -> None:
    bad = refused(FormatError("f", 4, 0, "not\nso"))
    for parsed in (PARSED, ParsedSentence(GAP.tokens, line=1, ctree=GAP), bad):
        assert Sentence(parsed).to_dict() == json.loads(OUTPUTS["json"].text(parsed))


def test_pictures() -> None:
    sentence = Sentence(PARSED)
    picture = sentence._repr_html_()
    assert picture == sentence.tree._repr_html_()
    texts = [element.text for element in fromstring(picture).iter() if element.tag.endswith("text")]
    assert texts[0] == "The cat (slept" and {"NP", "DT", "cat"} <= set(texts)
    assert "prefers-color-scheme" not in picture  # a notebook's own colours may be others
    assert "prefers-color-scheme:dark" in sentence.tree.to_svg()
    deep = tree_of_levels(300)
    assert deep._repr_svg_() is deep._repr_html_() is None and str(deep) in in_a_sentence(deep)._repr_html_()
    bad = Sentence(refused(FormatError("f", 1, 0, "<no>")))
    assert bad._repr_html_() == "<p>&lt;no&gt;</p>"
    assert Document([sentence] * 2)._repr_html_().count("<svg") == 2


@pytest.mark.parametrize("width", [500, 1500])
def test_wide_pictures_scroll_at_full_size(browser: Any, tmp_path: Path, width: int) -> None:
    """Notebooks give pictures `max-width: 100%`, which cuts or shrinks them."""
    wide = in_a_sentence(Tree(parse_bracket(f"(S {' '.join(f'(NN word{i})' for i in range(60))})")))
    style = "<!doctype html><style>svg { max-width: 100%; height: auto }</style>"
    page = tmp_path / "notebook.html"
    page.write_text(f"{style}{Document([wide, Sentence(PARSED)])._repr_html_()}")
    tab, faults = opened_in(browser, page)
    tab.set_viewport_size({"width": width, "height": 800})
    sizes = (
        "svg => [svg.viewBox.baseVal.width, svg.clientWidth, svg.clientHeight, svg.viewBox.baseVal.height]"
    )
    scrolled = "({parentElement: box}) => [box.scrollWidth, box.clientWidth]"
    for number, is_wide in enumerate((True, False)):
        svg = tab.locator("svg").nth(number)
        full, shown, high, height = svg.evaluate(sizes)
        inside, outside = svg.evaluate(scrolled)
        assert shown == full and high == height and outside < width and (full > 60 * 60) == is_wide
        assert inside == (full if is_wide else outside)
    assert tab.evaluate("document.documentElement.scrollWidth") == width and not faults
    tab.context.close()


def test_files_with_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = Sentence(PARSED).tree
    assert tree.to_svg() == tree._repr_svg_()
    tree.draw(tmp_path / "x.svg")
    tree.draw(str(tmp_path / "x.txt.gz"))
    tree.pretty_print()
    assert (tmp_path / "x.svg").read_text() == tree.to_svg() + "\n"
    with open_input(tmp_path / "x.txt.gz") as stream:
        assert stream.read() == capsys.readouterr().out == ctree_text(CTREE) + "\n"
    with pytest.raises(
        FormatError, match=r"x.jpg: pictures are called \*.txt, \*.svg, \*.pdf, \*.png, \*.tex$"
    ):
        tree.draw(tmp_path / "x.jpg")
    assert not (tmp_path / "x.jpg").exists()
    for draw in (tree_of_levels(300).to_svg, tree_of_levels(300).pretty_print):
        with pytest.raises(ValueError, match="a tree of 301 levels cannot be drawn"):
            draw()


def tree_of_levels(levels: int) -> Tree:
    return Tree(parse_bracket("(S " * levels + "(A a)" + ")" * levels))


def test_a_table() -> None:
    pandas = pytest.importorskip("pandas")
    bad = Sentence(refused(FormatError("f", 1, 0, "why")))
    table = Document([bad, Sentence(PARSED)]).to_dataframe()
    assert [*table.itertuples(index=False, name=None)] == [
        (1, "S", 0, 4, 10, 24, "The cat (slept", 3, "slept", pandas.NA, 0, 1.0),
        (1, "NP", 0, 2, 10, 17, "The cat", 1, "cat", 3, 1, 0.5),
        (1, "VP", 3, 4, 19, 24, "slept", 3, "slept", pandas.NA, 1, 0.25),
    ]
    places = ["sentence", "label", "start", "end", "start_char", "end_char", "text"]
    columns = [*places, "head", "head_word", "governor", "depth", "confidence"]
    assert [*table.columns] == [*Document([]).to_dataframe().columns] == columns
    without = Document([in_a_sentence(Tree(CTREE))]).to_dataframe()
    assert without[["start_char", "end_char", "confidence"]].isna().all(axis=None)


def test_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="^to_dataframe needs pandas .*: pip install pandas$"):
        Document([]).to_dataframe()


def test_treebanks(tmp_path: Path) -> None:
    file = tmp_path / "x.mrg"
    file.write_text("( (S (NP-SBJ (NNP Mary)) (VP (VBD slept))))\n")
    [tree] = d2c.read(file)
    assert str(tree) == "(TOP (S (NP (NNP Mary)) (VP (VBD slept))))" and tree.spans()[0].head is None
    [tree] = d2c.read(str(file), head_rules="collins", format="brackets")
    assert [span.head for span in tree.spans()] == [1, 0, 1]
    with pytest.raises(FormatError, match="cannot be read"):
        next(d2c.read(tmp_path / "none"))
    with pytest.raises(d2c.FormatError, match="no such format: x; known are brackets, "):
        next(d2c.read(file, format="x"))
    with pytest.raises(d2c.ModelError, match="^no model is named: load"):
        d2c.load([])


def test_public_names() -> None:
    assert {name: getattr(d2c, name).__name__ for name in d2c.__all__ if name[0] != "_"} == {
        name: name for name in d2c.__all__ if name[0] != "_"
    }
    assert [name for name in dir(d2c) if name[0] != "_"] == sorted({*d2c.__all__} - {"__version__"})
    with pytest.raises(AttributeError, match="module 'd2c' has no attribute 'lode'"):
        _ = d2c.lode  # type: ignore[attr-defined]


def test_importing_is_quick() -> None:
    large = {"click", "nltk", "numpy", "pandas", "spacy", "stanza", "torch"}
    code = f"import sys, d2c; before = set(sys.modules); d2c.Tree; print({large!r} & before)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "set()\n"


def test_a_bare_word() -> None:
    tree = Tree(CTree(Tokens(("a",), ("A",)), (), (), ()))
    assert (str(tree), tree.spans(), tree.labels, tree.phrases("B")) == ("(A a)", [], (), [])


def test_labels_that_are_meant_otherwise_are_warned_of(recwarn: pytest.WarningsRecorder) -> None:
    tree = Tree.from_string("(S (NP (NN cat)) (VP (VBD slept)))")
    assert len(tree.phrases("np", "NP")) == 1 and not tree.phrases("PP") and not recwarn.list
    assert not tree.phrases("np", "NN")
    assert [str(one.message) for one in recwarn.list] == [
        "no constituent of this tree is called np; did you mean NP?",
        "no constituent of this tree is called NN, a tag; search('NN') finds it",
    ]


def test_heads_are_given_to_trees_that_have_none() -> None:
    offsets = [(0, 3), (4, 7), (8, 13)]
    ctree = parse_bracket("(S (NP (DT The) (NN cat)) (VP (VBD slept)))")
    tree = Tree(ctree, [0.5, 0.25, 1], offsets, "The cat slept").with_heads()
    assert (tree.heads, tree.confidences, tree.offsets) == ((1, 2, 2), [0.5, 0.25, 1], offsets)
    assert tree.text == "The cat slept" and tree.with_heads("leftmost").heads == tree.heads
    assert Tree(ctree).with_heads("leftmost").heads == (0, 0, 0)
    with pytest.raises(FormatError, match="^none: no such head rules; known are"):
        tree.with_heads("none")


def test_blanks_in_words_and_labels_are_kept_and_printed_as_no_break_spaces() -> None:
    nltk = pytest.importorskip("nltk")
    theirs = nltk.Tree("NP x", [nltk.Tree("N N", ["New York"])])
    tree = Tree.from_nltk(theirs)
    assert (tree.words, tree.tags, tree.labels) == (("New York",), ("N N",), ("NP x",))
    assert str(tree) == "(NP\xa0x (N\xa0N New\xa0York))" and tree.to_nltk() == theirs


def test_alternatives_are_in_the_text_and_comments_are_kept() -> None:
    tokens = replace(CTREE.tokens, comments=("sent_id = 7",))
    parsed = replace(READ, tokens=tokens, ctree=CTREE, alternatives=((CTREE, 0.5), (CTREE, None)))
    sentence = Sentence(parsed)
    assert sentence.to_dict() == json.loads(OUTPUTS["json"].text(parsed))
    assert sentence.comments == ("sent_id = 7",) and sentence.to_dict()["comments"] == ["sent_id = 7"]
    assert [one.tree.text for one in sentence.alternatives] == ["The cat (slept"] * 2
    assert sentence.alternatives[1].tree.spans()[0].start_char == 10
