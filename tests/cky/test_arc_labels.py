"""Labels of arcs that say the rule of an attachment (N × N × N, section 3.2 of the draft)."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given

from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.trees.conversion import to_labelled_dependencies
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.heads import load_head_rules
from d2c.trees.labels import phrase_symbols
from tests.strategies import ctrees

SENTENCE = "(TOP (S (NP (DT the) (JJ big) (NN dog)) (VP (VBD saw) (NP (PRP us)) (ADVP (RB now))) (. .)))"


def labels(ctree: CTree, **settings: str) -> tuple[str, ...] | None:
    return ConstrainedCKY(arc_labels="cubed", **settings).encode(ctree).labels


def test_the_rule_of_each_attachment() -> None:
    assert labels(parse_bracket(SENTENCE)) == (
        *("NP#%#DT#NP[bar]", "NP#bar#JJ#NN", "S#%#NP#S[bar]", "root"),
        *("VP#bar#VBD#NP", "VP#%#VP[bar]#ADVP", "S#bar#VP#."),
    )


def test_symbols_are_those_of_the_chart() -> None:
    tree = parse_bracket(SENTENCE)
    assert (labels(tree, binarization="markovized") or ())[:2] == (
        "NP#%#DT#NP[left%20JJ]",
        "NP#left%20JJ#JJ#NN",
    )
    assert (labels(tree, symbols="vertical") or ())[0] != "NP#%#DT#NP[bar]"


@given(ctree=ctrees(gaps=False))
def test_phrases_can_be_read_off(ctree: CTree) -> None:
    """So what packed arcs say of labels counts for the phrases, too."""
    headed = load_head_rules("collins").headed(ctree)
    own = to_labelled_dependencies(headed)
    assert phrase_symbols(labels(ctree) or ()) == own.labels


def test_phrases_are_the_labels_unless_said() -> None:
    route = ConstrainedCKY()
    headed = load_head_rules("collins").headed(parse_bracket(SENTENCE))
    assert route.encode(headed) == to_labelled_dependencies(headed)
    assert replace(ConstrainedCKY(arc_labels="cubed").encode(headed), labels=None) == replace(
        route.encode(headed), labels=None
    )
