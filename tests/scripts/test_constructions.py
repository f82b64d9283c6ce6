"""Constructions that gold UD d-trees show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import format_bracket, parse_bracket
from models.everyday import read_everyday
from treebanks.constructions import CONSTRUCTIONS, constructions_of, count
from treebanks.corrections import corrected


def dtree(lines: str) -> DTree:
    """A d-tree of words as `form TAG head relation`, perhaps with features."""
    rows = [[*word.split(), "_"][:5] for word in lines.split(";")]
    forms, tags, heads, labels, morphs = zip(*rows, strict=True)
    return DTree(Tokens(forms, tags, None, morphs), tuple(map(int, heads)), labels=labels)


EXAMPLES = {
    "quoted questions": """“ `` 3 punct; Who WP 3 nsubj; left VBD 6 ccomp; ? . 3 punct; ” '' 3 punct;
        asked VBD 0 root; Tom NNP 6 nsubj""",
    "after a quotation": """" `` 2 punct; Stop VB 0 root Mood=Ind; " '' 2 punct; she PRP 5 nsubj;
        said VBD 2 parataxis; and CC 7 cc; left VBD 5 conj""",
    "imperatives": "Whisk VB 0 root Mood=Imp|VerbForm=Fin; the DT 3 det; eggs NNS 1 obj",
    "both, either, neither": "Both CC 2 cc:preconj; Ann NNP 0 root; and CC 4 cc; Tom NNP 2 conj",
    "the more, the better": """The DT 2 det; more JJR 6 advcl; you PRP 2 nsubj; , , 6 punct; the DT 6 det;
        better JJR 0 root""",
    "object complements": "We PRP 2 nsubj; made VBD 0 root; him PRP 2 obj; captain NN 2 xcomp",
    "which of these": "Which WDT 4 nsubj; of IN 3 case; these DT 1 nmod; fell VBD 0 root",
    "due on": "Rent NN 3 nsubj; is VBZ 3 cop; due JJ 0 root; on IN 5 case; Monday NNP 3 obl",
    "expletive it": "It PRP 3 expl; is VBZ 3 cop; odd JJ 0 root; he PRP 5 nsubj; left VBD 3 csubj",
    "pounds": "£5 CD 0 root",
    "list numbers": "1. LS 2 dep; Milk NN 0 root",
    "reduced relatives": "men NNS 0 root; called VBN 1 acl; Tom NNP 2 xcomp",
    "gapping": "I PRP 2 nsubj; ate VBD 0 root; fish NN 2 obj; , , 5 punct; he PRP 2 conj; soup NN 5 orphan",
}
OTHERS = (
    "She PRP 2 nsubj; made VBD 0 root; him PRP 2 obj; leave VB 2 xcomp",
    "You PRP 2 nsubj; stop VB 0 root Mood=Imp; please UH 2 discourse",
    "the DT 2 det; more JJR 3 nsubj; came VBD 0 root; than IN 6 case; the DT 6 det; rest NN 3 obl",
    "It PRP 2 nsubj; is VBZ 0 root",
    "men NNS 0 root; who WP 3 nsubj; called VBD 1 acl:relcl",
    "Who WP 2 nsubj; left VBD 0 root; ? . 2 punct",
)


@pytest.mark.parametrize("name", CONSTRUCTIONS)
def test_each_construction_is_found_alone(name: str) -> None:
    assert constructions_of(dtree(EXAMPLES[name])) == {name}


@pytest.mark.parametrize("lines", OTHERS)
def test_what_looks_like_one_is_none(lines: str) -> None:
    assert constructions_of(dtree(lines)) == frozenset()


def test_they_are_those_of_the_list_that_cards_score() -> None:
    assert [*dict.fromkeys(one.kind for one in read_everyday("constructions"))] == [*CONSTRUCTIONS]


def test_sentences_are_counted(tmp_path: Path) -> None:
    line = "1\tGo\tgo\tVERB\tVB\tMood=Imp\t0\troot\t_\t_\n\n"
    (tmp_path / "a.ud.conllu").write_text(line * 2 + line.replace("Mood=Imp", "_"), encoding="utf-8")
    assert count(tmp_path / "a.ud.conllu") == {"all": 3, "imperatives": 2}


HAPPY = "We PRP 2 nsubj; made VBD 0 root; him PRP 2 obj; happy JJ 2 xcomp"
TO_GO = "We PRP 2 nsubj; {} VBD 0 root; him PRP 2 obj; to TO 5 mark; go VB 2 xcomp"
LIST = "1 LS 3 dep; . . 1 punct; Go VB 0 root"


@pytest.mark.parametrize(
    ("lines", "before", "after"),
    [
        (HAPPY, "(VP made (NP him) (ADJP happy))", "(VP made (S (NP him) (ADJP happy)))"),
        (HAPPY, "(VP made (NP him) (S (ADJP happy)))", "(VP made (S (NP him) (ADJP happy)))"),
        (HAPPY, "(VP made (S (NP him) (ADJP happy)))", "(VP made (S (NP him) (ADJP happy)))"),
        (HAPPY, "(VP made (NP him) happy)", "(VP made (NP him) happy)"),
        (HAPPY, "(VP made (NP (NP him) (ADJP happy)))", "(VP made (S (NP him) (ADJP happy)))"),
        (HAPPY, "(VP made (NP him (ADJP happy)))", "(VP made (NP him (ADJP happy)))"),
        (TO_GO.format("want"), "(VP want (NP him) (VP to go))", "(VP want (S (NP him) (VP to go)))"),
        (TO_GO.format("want"), "(VP want (NP him) (S (VP to go)))", "(VP want (S (NP him) (VP to go)))"),
        (TO_GO.format("told"), "(VP told (NP him) (VP to go))", "(VP told (NP him) (S (VP to go)))"),
        (TO_GO.format("told"), "(VP told (NP him) (S (VP to go)))", "(VP told (NP him) (S (VP to go)))"),
        (LIST, "(S 1 . (VP Go))", "(S (LST 1 .) (VP Go))"),
        (LIST, "(S (LST 1) . (VP Go))", "(S (LST 1) . (VP Go))"),
    ],
)
def test_what_a_d_tree_says_of_a_c_tree(lines: str, before: str, after: str) -> None:
    given = dtree(lines)
    tagged = [f"({tag} {form})" for form, tag in zip(given.tokens.forms, given.tokens.tags, strict=True)]

    def tree(text: str) -> str:
        for form, leaf in zip(given.tokens.forms, tagged, strict=True):
            text = re.sub(rf"(?<=[ ]){re.escape(form)}(?=[ )])", leaf, text)
        return f"(TOP {text})" if text.startswith("(S") else f"(TOP (S (NP {tagged[0]}) {text}))"

    assert format_bracket(corrected(parse_bracket(tree(before)), given)) == tree(after)
