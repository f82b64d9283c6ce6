"""`--head-rules marked`: the marks of every treebank, in every format; what is said where there are none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import d2c as d2c_package
from d2c.base.errors import FormatError
from d2c.training.spec import TrainingSpec
from d2c.training.train import train_models
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.formats.registry import FORMATS, format_of, read_treebank
from d2c.trees.marks import NOTHING_MARKED, function_in, has_mark, with_marked_heads
from tests.commands.test_cli import ok, refused

VISL = """#BOS 1
Den den art -- DN 500
gamle gammel adj -- DN 500
hund hund n -- H 500
sov sove v-fin -- P 501
. -- pu -- PU 501
#500 -- np -- S 501
#501 -- fcl -- STA 0
#EOS 1
"""
BARE = VISL.replace(" H ", " X ").replace(" P ", " X ")
SAID = f"{NOTHING_MARKED}; the leftmost child that is no punctuation was taken\n"


def heads_in(path: Path, **options: bool) -> list[list[str]]:
    """The labels of the head children of each tree."""
    trees = read_treebank(path, marked=True, **options)
    return [[one.label(head) for head in one.head_children or ()] for one in trees]


def test_visl_in_all_formats_of_graphs(tmp_path: Path) -> None:
    """H is the head of a group, the predicator that of a clause."""
    path = tmp_path / "x.export"
    path.write_text(VISL)
    assert heads_in(path) == [["n", "v-fin"]]
    for name in ("x.tiger.xml", "x.alpino.xml", "y.export"):
        ok("convert", path, tmp_path / name)
        assert heads_in(tmp_path / name) == [["n", "v-fin"]]
        assert heads_in(tmp_path / name, clean=True) == [["n", "v-fin"]]
    for mark in ("HEAD", "OH", "HD", "hd", "SB-HD"):
        path.write_text(VISL.replace(" H ", f" {mark} "))
        assert heads_in(path) == [["n", "v-fin"]]


@pytest.mark.parametrize(
    "text",
    [
        "(S (NP-SB (ART-NK Der) (NN-HD Hund)) (VVFIN-HD schlief))",
        "(S (NP (D Der) (N-H Hund)) (VP-HD-1 (V schlief)))",
        "(VROOT (S (NP-SB (ART Der) (NP-HD=2 (NN Hund))) (VVFIN-HD##x=y## schlief)))",
        "(S (NP[theme] (D Der) (N[Head] Hund)) (V[head] schlief))",
        "(fcl (S:np (DN:art Der) (H:n Hund)) (P:v-fin schlief))",
        "(fcl (S+np (>N+art Der) (H+n Hund)) (P+v-fin schlief))",
    ],
)
def test_brackets_whose_labels_mark_heads(tmp_path: Path, text: str) -> None:
    """They are read from the labels as they are, before these are cleaned."""
    path, disco = tmp_path / "x.mrg", tmp_path / "x.dbr"
    path.write_text(text + "\n")
    ok("convert", path, disco)
    for file in (path, disco):
        for clean in (True, False):
            (tree,) = read_treebank(file, marked=True, clean=clean)
            heads = [tree.tokens.forms[head] for head in tree.lexical_heads()[3:]]
            assert "Hund" in heads and heads[-1] == "schlief"
    assert "\t0\troot" in ok("encode", path, "--head-rules", "marked").stdout.splitlines()[2]


def test_what_is_no_mark_in_a_label() -> None:
    for label in ("NP-SBJ", "-HD", "H", "-LRB-", ":", "NP-HDX", "NP|H", "X-h", "IP-MAT", "V‧的"):
        assert with_marked_heads(parse_bracket(f"(S (A a) ({label} b))")).head_children is None, label
    assert function_in("S:np") == "S"  # which marks nothing


def test_antecedents_keep_their_marks(tmp_path: Path) -> None:
    """Heads go where traces are filled and empty elements removed."""
    path = tmp_path / "x.mrg"
    path.write_text(
        "( (SBARQ (WHNP-1 (WP What)) (SQ-HD (VBD did) (NP (PRP she))\n"
        " (VP-HD (VB-HD buy) (NP (-NONE- *T*-1)))) (. ?)))\n"
    )
    (tree,) = read_treebank(path, marked=True, traces=True)
    assert tree.head_children and tree.tokens.forms[tree.lexical_heads()[-1]] == "buy"
    (tree,) = read_treebank(path, marked=True, clean=True)
    assert tree.head_children and tree.tokens.forms[tree.lexical_heads()[-1]] == "buy"


@pytest.mark.parametrize(
    "command",
    [
        lambda path: ("encode", path),
        lambda path: ("heads", path),
        lambda path: ("search", "/^(fcl|S)$/ <# __", path),
        lambda path: ("phrases", path, "--label", "np", "--head"),
        lambda path: ("draw", path),
    ],
)
def test_it_is_said_where_nothing_is_marked(
    tmp_path: Path, command: Callable[[Path], tuple[str | Path, ...]]
) -> None:
    path, brackets = tmp_path / "x.export", tmp_path / "x.mrg"
    path.write_text(BARE + VISL.replace("BOS 1", "BOS 2").replace("EOS 1", "EOS 2"))
    assert ok(*command(path), "--head-rules", "marked").stderr == ""
    path.write_text(BARE)
    assert ok(*command(path), "--head-rules", "marked").stderr == f"{path}: {SAID}"
    brackets.write_text("(S (A a) (B b))\n")
    refused(f"{brackets}: {NOTHING_MARKED}", *command(brackets), "--head-rules", "marked")
    brackets.write_text("(S (A a))\n")  # the only child is the head child
    ok(*command(brackets), "--head-rules", "marked")


def test_several_files_are_one_treebank(tmp_path: Path) -> None:
    """One of them may have no mark."""
    for name, text in (("a.export", BARE), ("b.export", VISL)):
        (tmp_path / name).write_text(text)
    for jobs in ("1", "2"):
        done = ok("encode", tmp_path, "--head-rules", "marked", "--jobs", jobs)
        assert done.stderr == "" and done.stdout.count("\troot\t") == 2


def test_nothing_is_learned_from_heads_that_are_not_marked(tmp_path: Path) -> None:
    path = tmp_path / "x.export"
    path.write_text(BARE)
    spec = TrainingSpec.of(path, path, dparser="gold", head_rules="marked")
    with pytest.raises(FormatError) as error:
        train_models(spec, [tmp_path / "model"])
    assert str(error.value) == f"{path}: {NOTHING_MARKED}"
    path.write_text(VISL)
    train_models(spec, [tmp_path / "model"])


def test_the_library_refuses_what_is_not_marked(tmp_path: Path) -> None:
    path = tmp_path / "x.export"
    path.write_text(BARE)
    with pytest.raises(FormatError, match=NOTHING_MARKED):
        list(d2c_package.read(path, head_rules="marked"))
    with pytest.raises(FormatError, match=NOTHING_MARKED):
        list(d2c_package.search(path, "fcl <# __", head_rules="marked"))
    path.write_text(VISL)
    (tree,) = d2c_package.read(path, head_rules="marked")
    assert tree.heads == (2, 2, 3, 3, 3)


def test_coverage_of_marks(tmp_path: Path) -> None:
    path = tmp_path / "x.export"
    path.write_text(VISL.replace(" H ", " X "))
    assert ok("heads", path, "--head-rules", "marked").stdout.splitlines() == [
        "label      nodes     marked   by place",
        "np             1          0          1",
        "fcl            1          1          0",
        "marked: 2 nodes with several children under 2 labels",
        "by place: 1 (50.00 %)",
    ]
    brackets = tmp_path / "x.mrg"
    brackets.write_text("(S (NP-SB (A a) (B b)) (VP-HD (V v)))\n(S (NP-HD (A a) (B-HD b)) (V v))\n")
    lines = ok("heads", brackets, "--head-rules", "marked").stdout.splitlines()
    assert [line.split() for line in lines[1:3]] == [["NP", "2", "1", "1"], ["S", "2", "2", "0"]]
    assert has_mark(parse_bracket("(S (NP-SB (A a)) (V-HD v))")) == [False, True]


def test_every_format_can_be_asked_for_marks(tmp_path: Path) -> None:
    path = tmp_path / "x.psd"
    path.write_text("( (IP-MAT (N a-a) (VB b-b)) (ID 1;X))\n")
    assert format_of(path) == "historical" and "heads" not in FORMATS["historical"].holds
    refused(f"{path}: {NOTHING_MARKED}", "encode", path, "--head-rules", "marked")
