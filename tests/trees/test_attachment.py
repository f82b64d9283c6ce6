"""Attachment scores of files: with labels cut, of tags, by relation, against the scorers of UD and spaCy."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import Chunk, format_conllu, parse_conllu
from d2c.trees.scores.attachment import AttachmentTotals

FORMS = "cat", ",", "``", "$"
RELATIONS = "nsubj", "nsubj:pass", "obl", "obl:agent"
TAGS = "NOUN", "VERB", "X"


@st.composite
def pairs(draw: st.DrawFn) -> list[tuple[DTree, DTree]]:
    """D-trees over the same words: rows of CoNLL-U with tags in both columns."""
    found = []
    for n in draw(st.lists(st.integers(1, 6), min_size=1, max_size=4)):
        forms = draw(st.lists(st.sampled_from(FORMS), min_size=n, max_size=n))
        found.append((draw(rows(forms)), draw(rows(forms))))
    return found


@st.composite
def rows(draw: st.DrawFn, forms: Sequence[str]) -> DTree:
    """A sentence whose heads precede or follow the first word, the root."""
    lines = []
    for i, form in enumerate(forms, 1):
        upos, xpos, label = (draw(st.sampled_from(one)) for one in (TAGS, ("_", *TAGS), RELATIONS))
        head, label = (0, "root") if i == 1 else (draw(st.integers(1, i - 1)), label)
        lines.append(f"{i}\t{form}\t_\t{upos}\t{xpos}\t_\t{head}\t{label}\t_\t_\n")
    (dtree,) = parse_conllu(Chunk(1, "".join(lines) + "\n"), "x")
    return dtree


def totals_of(found: Sequence[tuple[DTree, DTree]], punctuation: bool) -> AttachmentTotals:
    totals = AttachmentTotals(punctuation)
    for gold, guess in found:
        totals.add(gold, guess)
    return totals


@given(pairs())
@settings(max_examples=30)
def test_scores_are_those_of_the_conll_2018_scorer(found: list[tuple[DTree, DTree]]) -> None:
    udeval = pytest.importorskip("udtools.udeval")
    files = [io.StringIO("".join(map(format_conllu, side))) for side in zip(*found, strict=True)]
    lines = "\n".join(totals_of(found, True).lines())
    kinds = dict.fromkeys(["multiple_roots_okay", "no_empty_nodes"], False)
    expected = udeval.evaluate(*(udeval.load_conllu(one, "x", kinds) for one in files))
    shown = dict(re.findall(r"([A-Z]+) (\d+\.\d\d)", lines))  # of LAS the last: with relations cut
    assert {"UAS", "LAS", "UPOS"} <= shown.keys()
    assert shown == {name: f"{100 * expected[name].f1:.2f}" for name in shown}


@given(pairs())
@settings(max_examples=30)
def test_the_table_by_relation_is_that_of_spacy(found: list[tuple[DTree, DTree]]) -> None:
    vocabulary = Vocab()

    def doc(dtree: DTree) -> Doc:
        heads = [max(0, head - 1) for head in dtree.heads]
        return Doc(vocabulary, words=[*dtree.tokens.forms], heads=heads, deps=[*(dtree.labels or ())])

    examples = [Example(doc(guess), doc(gold)) for gold, guess in found]
    scores = Scorer.score_deps(examples, "dep", getter=lambda token, _: token.dep_)
    table = [line.split() for line in totals_of(found, True).lines() if line.startswith(RELATIONS)]
    shown = {name: (precision, recall, f1) for name, _, _, precision, recall, f1, _ in table}
    expected = {
        name: tuple(f"{100 * (one[part] or 0):.2f}" for part in "prf")
        for name, one in scores["dep_las_per_type"].items()
    }
    assert shown.keys() == expected.keys() - {"root"}
    assert all(shown[name] == expected[name] for name in shown)


def test_columns_without_tags_in_gold_are_not_scored() -> None:
    gold = DTree(Tokens(("a", "b"), ("_", "_")), (2, 0), labels=("nsubj", "root"))
    guess = DTree(Tokens(("a", "b"), ("NN", "VB")), (2, 0), labels=("nsubj", "root"))
    assert not [line for line in totals_of([(gold, guess)], False).lines() if "POS" in line]
    both = [line for line in totals_of([(guess, gold)], False).lines() if "POS" in line]
    assert both == ["UPOS 0.00  XPOS 0.00  (2 tokens, with punctuation)"]
