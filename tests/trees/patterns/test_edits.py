"""Operations on what a pattern names: how they are written, at which matches they are done, in Python and in
files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from d2c import Tree, read
from d2c.commands.cli import cli
from d2c.trees.ctree import CTree
from d2c.trees.heads import load_head_rules
from d2c.trees.patterns.edits import edit_of
from tests.strategies import LABELS, ctrees

CAT = "(TOP (S (NP (NP (DT the) (NN cat)) (PP (IN with) (NP (NNS hats)))) (VP (VBD sat)) (. .)))"
TREE = Tree(
    load_head_rules("collins").apply(Tree.from_string(CAT).ctree),
    (0.1, 0.2, 0.3, 0.4, 0.5, 0.6),  # NP, NP, PP, NP, VP, S
    ((0, 3), (4, 7), (8, 12), (13, 17), (18, 21), (21, 22)),
    "the cat with hats sat.",
)


@pytest.mark.parametrize(
    ("pattern", "operations", "edited"),
    [
        ("NP=a $+ PP=p", "relabel a NX; move p >-1 a", "(NP (NX the cat (PP with (NP hats)))) (VP sat) ."),
        ("NP=n", "excise n", "the cat (PP with hats) (VP sat) ."),
        ("NP=n < PP=p", "delete p\n", "(NP (NP the cat)) (VP sat) ."),
        ("hats=h", "delete h", "(NP (NP the cat) (PP with)) (VP sat) ."),
        ("VP=v $+ /^\\.$/=p", "wrap VX v p", "(NP (NP the cat) (PP with (NP hats))) (VX (VP sat) .)"),
        ("PP=p : VP=v", "move p >1 v", "(NP (NP the cat)) (VP (PP with (NP hats)) sat) ."),
        ("PP=p : VP=v", "move p $- v", "(NP (NP the cat)) (VP sat) (PP with (NP hats)) ."),
        ("sat=s", "insert (RB not) $- s", "(NP (NP the cat) (PP with (NP hats))) (VP sat not) ."),
        ("NN=n", "insert (JJ (X a) (X b)) >2 n; excise n", None),
        ("cat=c", 'relabel c "a;b"', "(NP (NP the a;b) (PP with (NP hats))) (VP sat) ."),
        ("NP=n", "relabel n /^N(.)/X\\1\\//", "(XP/ (XP/ the cat) (PP with (XP/ hats))) (VP sat) ."),
        ("VP=v > S", "delete v; insert (X x) >1 v; excise v", "(NP (NP the cat) (PP with (NP hats))) ."),
        ("PP=p", "insert (A (R (N x))) >2 p", "(NP (NP the cat) (PP with (A (R x)) (NP hats))) (VP sat) ."),
    ],
)  # fmt: skip
def test_operations(pattern: str, operations: str, edited: str | None) -> None:
    if edited is None:
        with pytest.raises(ValueError, match="'NN' is a tag, which has no children but its word"):
            TREE.edit(pattern, operations)
        return
    tree = TREE.edit(pattern, operations)
    shown = str(tree.ctree and tree)
    for word, tag in tree.pos():
        shown = shown.replace(f"({tag} {word})", word, 1)
    assert shown == f"(TOP (S {edited}))" and tree.ctree.lexical_heads() and str(TREE) == CAT


def test_each_match_is_edited_once_and_what_is_gone_is_left_out() -> None:
    tree = Tree.from_string("(NP (NP (NP (NN a)) (NN b)) (NN c))")
    assert str(tree.edit("NP=n < NP=m", "wrap NP m")) == "(NP (NP (NP (NP (NP (NN a))) (NN b))) (NN c))"
    assert str(tree.edit("NP=n < NP=m", "excise m m")) == "(NP (NN a) (NN b) (NN c))"
    assert str(tree.edit("NP=n < NP=m", "delete m; relabel n X; wrap Y n")) == "(Y (X (NN c)))"
    assert str(tree.edit("NP=n ?< (NN=w < c)", "relabel w X")) == "(NP (NP (NP (NN a)) (NN b)) (X c))"
    assert tree.edit("VP=v", "delete v") is tree
    assert str(TREE.edit("ROOT=r", "relabel r ROOT")) == CAT.replace("TOP", "ROOT")


def test_words_stay_where_only_the_node_moves() -> None:
    moved = TREE.edit("PP=p : VP=v", "move p >-1 v")
    assert moved.words == ("the", "cat", "sat", "with", "hats", ".") and moved.offsets is None
    hung = Tree.from_string("(S (VP (V wake) (NP (N me)) (P up)) (. .))").edit("NP=n : S=s", "move n > s")
    assert str(hung) == "(S (VP (V 0=wake) (P 2=up)) (NP (N 1=me)) (. 3=.))" and hung.has_gaps


@pytest.mark.parametrize(
    ("edit", "offsets", "text", "confidences"),
    [
        (("NP=n < PP", "excise n"), 6, "the cat with hats sat.", [0.6, 0.1, 0.3, 0.2, 0.5]),
        (("NP=n < PP", "relabel n X"), 6, "the cat with hats sat.", [0.6, None, 0.1, 0.3, 0.2, 0.5]),
        (("VP=v", "wrap W v"), 6, "the cat with hats sat.", [0.6, 0.4, 0.1, 0.3, 0.2, None, 0.5]),
        (("cat=c", "relabel c dog"), 6, "the dog with hats sat .", [None, None, None, 0.3, 0.2, 0.5]),
        (("/^[.]$/=p", "delete p"), 5, "the cat with hats sat", [None, 0.4, 0.1, 0.3, 0.2, 0.5]),
        (("cat=c", "insert (X x) $+ c"), 0, "the x cat with hats sat .", [None, None, None, 0.3, 0.2, 0.5]),
    ],
)
def test_offsets_and_confidences_of_what_is_as_it_was(
    edit: tuple[str, str], offsets: int, text: str, confidences: list[float | None]
) -> None:
    tree = TREE.edit(*edit)
    assert tree.text == text and (tree.offsets or None) == ([*(TREE.offsets or ())][:offsets] or None)
    assert [one.confidence for one in tree.spans()] == confidences
    known = None not in confidences
    assert all(("confidence" in span) == known for span in tree.to_dict()["spans"])


@given(ctrees(), st.sampled_from(LABELS))
def test_labels_are_replaced_and_nothing_else(ctree: CTree, label: str) -> None:
    tree = Tree(ctree).edit(f"/^{re.escape(label)}$/=n", "relabel n Z").ctree
    labels = ["Z" if one == label else one for one in ctree.labels]
    assert sorted(tree.labels) == sorted(labels) and tree.top == ctree.top
    assert sorted(tree.yields()) == sorted(ctree.yields()) and tree.tokens == ctree.tokens
    assert tree.lexical_heads()[-1] == ctree.lexical_heads()[-1]


@pytest.mark.parametrize(
    ("pattern", "operations", "wrong"),
    [
        ("NP=", "delete n", "the pattern at character 4, its end: a name is missing here"),
        ("NP=n", "", "no operation is given; known are relabel, delete, excise, insert, move, wrap"),
        ("NP=n", "prune n", "prune n: no operation is called so; known are relabel, delete, excise"),
        ("NP=n", "relabel n X; delete m", "delete m: no node of the pattern is called 'm'"),
        (
            "NP=n",
            "move n",
            "move n: it is written move NAME PLACE NAME; a PLACE is $+, $-, >1, >2, ... or >-1, or >",
        ),
        ("NP=n", "relabel n (X", "the operations at '(X': no operation has this there"),
        ("NP=n", "insert (NN x) > n", "insert (NN x) > n: it is written insert (TREE) PLACE NAME"),
        ("NP=n", "move n >1234567 n", "move n >1234567 n: it is written move NAME PLACE NAME"),
        ("NP=n", "insert (NP) >1 n", "insert (NP) >1 n: the node 'NP' is empty"),
        ("NP=n", "relabel n /(/x/", "relabel n /(/x/: no regular expression and replacement of Python's"),
        ("NP=n", "relabel n /N/\\1/", "relabel n /N/\\1/: no regular expression and replacement of Python's"),
    ],
)
def test_what_cannot_be_read_is_told_before_files_are(pattern: str, operations: str, wrong: str) -> None:
    with pytest.raises(ValueError) as error:
        TREE.edit(pattern, operations)
    assert str(error.value).startswith(wrong)
    done = convert("no-such-file.mrg", "x.mrg", pattern, operations)
    assert done.exit_code == 2 and "no-such-file" not in done.output


@pytest.mark.parametrize(
    ("pattern", "operations", "wrong"),
    [
        ("S=s", "delete s", "delete s: no word would be left"),
        ("S=s", "excise s", "excise s: 'S' is the root, and its 3 children need one"),
        ("cat=c", "excise c", "excise c: 'NN' is a tag, which has no children that could stay"),
        ("S=s", "insert (X x) $+ s", "insert (X x) $+ s: 'S' is the root, which has no sisters"),
        (
            "ROOT=r",
            "wrap X r",
            "wrap X r: ROOT is above the tree and no node of it; it can only be relabelled",
        ),
        ("PP=p : VP=v", "wrap X p v", "wrap X p v: the nodes have different parents"),
        ("NP=n << PP=p", "move n >1 p", "move n >1 p: 'NP' would be moved to a place below itself"),
        ("VP=v", "insert (X x) >4 v", "insert (X x) >4 v: 'VP' has no place 4 for a child, but 2"),
        ("VP=v", "relabel v /.*//", "relabel v /.*//: nothing is left of 'VP'"),
        ("NP <# NN=n", "delete n", "the pattern asks for heads, and a tree has none"),
    ],
)
def test_what_cannot_be_done(pattern: str, operations: str, wrong: str) -> None:
    with pytest.raises(ValueError) as error:
        Tree.from_string(CAT).edit(pattern, operations)
    assert str(error.value).startswith(wrong)


def convert(source: Path | str, target: Path | str, *edits: str, more: tuple[str, ...] = ()) -> Result:
    pairs = zip(edits[::2], edits[1::2], strict=True)
    options = [text for pair in pairs for text in ("--edit", *pair)]
    return CliRunner().invoke(cli, ["convert", str(source), str(target), *options, *more])


LONG = "x" * 9_000


@pytest.mark.parametrize("operations", [LONG, f"relabel n {LONG} y", "(" * 9_000, f"delete {LONG}"])
def test_what_is_wrong_is_not_echoed_whole(operations: str) -> None:
    with pytest.raises(ValueError) as caught:
        edit_of("NP=n", operations)
    assert len(str(caught.value)) < 300


def test_files_are_edited_in_the_order_of_options(tmp_path: Path) -> None:
    source, target = tmp_path / "x.mrg", tmp_path / "y.mrg"
    source.write_text("(TOP (S (NP (N a)) (NP (N b))))\n(TOP (VP (V c)))\n")
    done = convert(source, target, "NP=n", "relabel n NX", "NX=n", "excise n", "S=s", "insert (. .) >-1 s")
    assert target.read_text() == "(TOP (S (N a) (N b) (. .)))\n(TOP (VP (V c)))\n"
    two = f"{source}: 2 matches edited in 1 of 2 trees\n"
    assert done.stderr == two + two + f"{source}: 1 match edited in 1 of 2 trees\n"
    assert [tree.label for tree in read(target)] == ["TOP", "TOP"]


def test_errors_name_the_sentence_and_bad_ones_may_be_skipped(tmp_path: Path) -> None:
    source, target = tmp_path / "x.mrg", tmp_path / "y.mrg"
    source.write_text("(S (NP (N a)) (VP (V b)))\n(S (VP (V c)))\n(S (VP (V d)) (X e))\n")
    done = convert(source, target, "VP=v", "delete v")
    assert (
        str(done.exception) == f"{source}: sentence 2: delete v: no word would be left"
        and not target.exists()
    )
    done = convert(source, target, "VP=v", "delete v", more=("--skip-bad", "--strict"))
    assert done.exit_code == 0 and target.read_text() == "(S (NP (N a)))\n(S (X e))\n"
    assert "2 matches edited in 2 of 2 trees" in done.stderr


def test_what_was_edited_away_is_not_left_out(tmp_path: Path) -> None:
    source, target = tmp_path / "x.export", tmp_path / "y.export"
    source.write_text(
        "#BOS 1\nHe\ther\tN\t--\tHD\t500\nsat\tsit\tV\t--\tHD\t500\n#500\t--\tS\t--\t--\t0\n#EOS 1\n"
    )
    done = convert(source, target, "He=h", "delete h", more=("--strict",))
    assert done.exit_code == 0, done.exception
    [tree] = read(target)
    assert tree.words == ("sat",) and tree.ctree.tokens.lemmas == ("sit",)
