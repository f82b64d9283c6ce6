"""Head rules: Collins' table, the searches, and what is wrong with a table; attachment scores."""

from __future__ import annotations

from pathlib import Path

import pytest

from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.heads import HeadSearch, load_head_rules, parse_head_rules
from d2c.trees.scores.attachment import Attachment, attachment_scores
from tests.errors import faulty


@pytest.mark.parametrize(
    ("symbol", "children", "head"),
    [
        ("S", "NP VP .", 1),
        ("S", "NP ADJP .", 1),
        ("VP", "MD VP", 0),
        ("VP", "TO VP", 0),
        ("NP", "DT JJ NN", 2),
        ("NP", "NP PP", 0),
        ("NP", "NP POS", 1),
        ("NP", "NN CC NN", 0),
        ("NP", "NP , NP CC NP", 0),
        ("VP", "VP CC VP", 0),
        ("PP", "RB IN NP", 1),
        ("SBAR", "WHNP S", 0),
        ("PRN", "-LRB- NP -RRB-", 1),
        ("UCP", "NP CC ADJP .", 0),
        ("UCP", "NP , CC ADJP", 0),
        ("UCP", "NP CONJP CC ADJP", 0),
        ("UNKNOWN", ", NP VP", 1),
        ("UNKNOWN", ", .", 0),
        ("NP", ".", 0),
    ],
)
def test_collins(symbol: str, children: str, head: int) -> None:
    assert load_head_rules("collins").head_child(symbol, tuple(children.split())) == head


# M. Collins (1999), appendix A; NP, which has rules of its own there, is among the examples above.
PUBLISHED = """
ADJP left NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB
ADVP right RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN
CONJP right CC RB IN
FRAG right
INTJ left
LST right LS :
NAC left NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW
PP right IN TO VBG VBN RP FW
PRN left
PRT right RP
QP left $ IN NNS NN JJ RB DT CD NCD QP JJR JJS
RRC right VP NP ADVP ADJP PP
S left TO IN VP S SBAR ADJP UCP NP
SBAR left WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG
SBARQ left SQ S SINV SBARQ FRAG
SINV left VBZ VBD VBP VB MD VP S SINV ADJP NP
SQ left VBZ VBD VBP VB MD VP SQ
UCP right
VP left TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP
WHADJP left CC WRB JJ ADJP
WHADVP right CC WRB
WHNP left WDT WP WP$ WHADJP WHPP WHNP
WHPP right IN TO FW
"""


@pytest.mark.parametrize("line", PUBLISHED.strip().splitlines())
def test_the_published_table(line: str) -> None:
    symbol, kind, *labels = line.split()
    assert load_head_rules("collins").searches[symbol] == (HeadSearch(kind, tuple(labels)),)


@pytest.mark.parametrize(
    ("symbol", "children", "pad", "collins"),
    [
        ("NML", "NN HYPH VBG", 0, 0),
        ("NML", "JJ NN", 0, 1),
        ("PRN", "-LRB- NP -RRB-", 0, 1),
        ("TITLE", "NP : S", 0, 2),
        ("NP", "NML -LRB- NP -RRB-", 2, 0),
        ("NP", "NP PP", 0, 0),
        ("VP", "VP CC VP", 0, 0),
        ("PP", "RB IN NP", 1, 1),
        ("ADVP", "PP NP PP", 1, 1),
        ("FRAG", "NP , X .", 2, 2),
    ],
)
def test_pad(symbol: str, children: str, pad: int, collins: int) -> None:
    tables = map(load_head_rules, ("pad", "collins"))
    assert [table.head_child(symbol, tuple(children.split())) for table in tables] == [pad, collins]


@pytest.mark.parametrize(
    ("table", "symbol", "children", "head"),
    [
        ("chinese", "NP", "NP NN NN", 0),
        ("chinese", "IP", "NP PU VP PU", 2),
        ("chinese", "DP", "DT CLP", 0),
        ("chinese", "PRN", "PU NP PU", 1),
        ("dutch", "smain", "np ww inf", 1),
        ("dutch", "cp", "vg ssub", 0),
        ("dutch", "conj", "np vg np", 0),
        ("french", "SENT", "NP VN NP PONCT", 1),
        ("french", "NP", "DET NC AP", 1),
        ("french", "COORD", "CC NP", 0),
        ("french", "VPinf", "P CLO VINF", 2),
        ("german", "S", "NP VAFIN VP $.", 1),
        ("german", "NP", "ART ADJA NN PP", 2),
        ("german", "PP", "APPR ART NN", 0),
        ("german", "CNP", "NN KON NN", 0),
        ("icelandic", "IP-MAT-SPE", "NP-SBJ MDPI RP NP-OB1 .", 1),
        ("icelandic", "CP-REL", "WNP C IP-SUB", 1),
        ("icelandic", "NP-SBJ", "D-N ADJ-N N-N CP-REL", 2),
        ("icelandic", "CONJP", "CONJ NP", 1),
        ("indonesian", "NP", "NNO ADJ PP", 0),
        ("indonesian", "S", "NP VP PUN", 1),
        ("japanese", "IP-MAT", "PP NP-TMP PU VB AXD PU", 3),
        ("japanese", "PP", "NP P", 1),
        ("japanese", "NP", "IP-REL N PRN", 1),
        ("portuguese", "np", "art n pp", 1),
        ("portuguese", "fcl", "np v-fin np .", 1),
        ("sinica", "NP", "Nab Nac", 1),
        ("sinica", "N‧的", "Nhaa DE", 1),
        ("sinica", "S", "NP Dbb VC31 NP PERIODCATEGORY", 2),
    ],
)
def test_tables_of_other_languages(table: str, symbol: str, children: str, head: int) -> None:
    assert load_head_rules(table).head_child(symbol, tuple(children.split())) == head


def test_left_and_rightmost() -> None:
    ctree = parse_bracket("(S (NP (DT a) (NN b)) (VP (V c)))")
    left = load_head_rules("leftmost").apply(ctree)
    right = load_head_rules("rightmost").apply(ctree)
    assert left.lexical_heads() == [0, 1, 2, 0, 2, 0]
    assert right.lexical_heads() == [0, 1, 2, 1, 2, 2]
    assert load_head_rules("rightmost").headed(left) is left
    assert load_head_rules("rightmost").headed(ctree) == right


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "rules.txt"
    path.write_text("default right\nA left X Y\nB leftdis X Y\n", encoding="utf-8")
    rules = load_head_rules(str(path))
    assert rules.head_child("A", ("Y", "X")) == 1
    assert rules.head_child("B", ("Y", "X")) == 0
    assert rules.head_child("C", ("Y", "X")) == 1


def test_labels_that_begin_alike() -> None:
    rules = parse_head_rules("t", "default right\nNP* left N-* N\nNP-S* right D\nNP-SBJ left D\n")
    assert rules.head_child("NP-OB1", ("D", "N", "N-D", "N-A")) == 2
    assert rules.head_child("NP", ("D", "N", "NX")) == 1
    assert rules.head_child("NP-SPR", ("D", "D", "N-A")) == 1
    assert rules.head_child("NP-SBJ", ("D", "D", "N-A")) == 0
    assert rules.head_child("PP", ("D", "D", "N-A")) == 2
    assert rules.by_rule("PP", ("D", "D")) is None
    assert rules.by_rule("NP", ("X", "X")) is None
    assert rules.by_rule("NP", ("X", "N")) == (HeadSearch("left", ("N-*", "N")), 1)


def test_lines_of_punctuation_and_of_conjunctions_add_up() -> None:
    rules = parse_head_rules("t", "punctuation , .\nconjunction CC\npunctuation :\nconjunction CONJP\n")
    assert (rules.punctuation, rules.conjunction) == ({",", ".", ":"}, {"CC", "CONJP"})


def test_errors_of_tables() -> None:
    with faulty("t", 2, about="left, right, leftdis, rightdis after 'NP'"):
        parse_head_rules("t", "# fine\nNP upwards NN\n")
    with faulty("klingon", about="chinese, collins, dutch"):
        load_head_rules("klingon")


def test_attachment_scores() -> None:
    tokens = Tokens(("a", "b", ",", "$"), ("T",) * 4)
    gold = DTree(tokens, (0, 1, 1, 1), labels=("root", "NP#1", "NP#1", "x:y"))
    guess = DTree(tokens, (0, 1, 2, 1), labels=("root", "NP#2", "NP#1", "x:z"))
    assert attachment_scores([gold], [guess]) == Attachment(3, 3, 1)
    both = attachment_scores([gold], [guess], punctuation=True)
    assert (both, both.uas, both.las) == (Attachment(4, 3, 1), 75.0, 25.0)
    with pytest.raises(ValueError, match="4 tokens in gold, 1 in guess"):
        attachment_scores([gold], [DTree(Tokens(("a",), ("T",)), (0,))])
