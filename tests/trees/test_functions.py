"""Functions of edges and secondary edges: read, written, carried by transforms; heads beside them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from d2c.trees.ctree import CTree, canonical
from d2c.trees.formats.alpinoxml import format_alpinoxml
from d2c.trees.formats.export import format_export
from d2c.trees.formats.floresta import read_floresta
from d2c.trees.formats.graphs import hidden_heads
from d2c.trees.formats.registry import FORMATS, read_treebank
from d2c.trees.formats.sinica import read_sinica
from d2c.trees.formats.tigerxml import format_tigerxml
from d2c.trees.heads import load_head_rules
from d2c.trees.transforms import merge_gaps, move_punctuation, raise_gaps, split_gaps
from tests.strategies import beside, graphs

GRAPHS = ("export", "tigerxml", "alpinoxml")


def through(ctree: CTree, name: str, path: Path, **options: Any) -> CTree:
    """Write and read a tree."""
    write = FORMATS[name].write
    assert write is not None
    write([ctree], stream := StringIO())
    path.write_text(stream.getvalue(), encoding="utf-8")
    (read,) = read_treebank(path, name, **options)
    return read


@pytest.mark.parametrize("name", GRAPHS)
@given(ctree=graphs())
def test_graph_formats_hold_functions_and_secondary_edges(
    tmp_path_factory: pytest.TempPathFactory, name: str, ctree: CTree
) -> None:
    path, bare = tmp_path_factory.mktemp("x") / "x", replace(ctree, head_children=None)
    assert beside(through(bare, name, path)) == beside(bare)
    cleaned = through(bare, name, path, clean=True)
    assert cleaned.functions is None and cleaned.secondary == ()


@given(ctree=graphs())
def test_export_through_both_kinds_of_xml_is_itself(
    tmp_path_factory: pytest.TempPathFactory, ctree: CTree
) -> None:
    path, bare = tmp_path_factory.mktemp("x") / "x", replace(ctree, head_children=None)
    text, one = format_export(bare), bare
    for name in ("tigerxml", "alpinoxml", "export", "alpinoxml", "tigerxml"):
        one = through(one, name, path)
    assert format_export(one).splitlines()[1:] == text.splitlines()[1:]  # the first line has an id


@pytest.mark.parametrize("name", GRAPHS)
@given(ctree=graphs())
def test_marked_heads_change_no_function(
    tmp_path_factory: pytest.TempPathFactory, name: str, ctree: CTree
) -> None:
    """A tree that is read with its marks is written with no others."""
    path, rules = tmp_path_factory.mktemp("x") / "x", load_head_rules("marked")
    read = through(replace(ctree, head_children=None), name, path, marked=True)
    marked = rules.headed(read)
    assert not hidden_heads(marked)
    again = through(marked, name, path, marked=True)
    if read.functions:
        assert (again, again.functions) == (read, read.functions)
    else:  # nothing else is said of edges, so that all head children can be marked
        assert again == marked


@pytest.mark.parametrize("name", GRAPHS)
@given(ctree=graphs())
def test_other_heads_are_marked_where_there_is_no_function(
    tmp_path_factory: pytest.TempPathFactory, name: str, ctree: CTree
) -> None:
    """What has a function keeps it; how many heads that hides is told."""
    read = through(ctree, name, tmp_path_factory.mktemp("x") / "x", marked=True)
    headed = load_head_rules("marked").headed(read)
    pairs = zip(canonical(ctree).head_children or (), headed.head_children or (), strict=True)
    assert sum(a != b for a, b in pairs) == hidden_heads(ctree)
    for before, after in zip(ctree.functions or (), read.functions or (), strict=False):
        assert after == before or (not before and after in ("HD", "hd"))


def test_where_an_edge_or_a_mark_of_a_function_stands() -> None:
    tree = CTree_of("(S (A 0=a) (NP (B 1=b) (C 2=c)))", ("", "NK", "", "OA", ""), ((0, "SB", 3),))
    assert format_export(tree).splitlines()[1:-1] == [
        "a\t--\tA\t--\t--\t501\tSB\t500",
        "b\t--\tB\t--\tNK\t500",
        "c\t--\tC\t--\t--\t500",
        "#500\t--\tNP\t--\tOA\t501",
        "#501\t--\tS\t--\t--\t0",
    ]
    assert '<t id="s1_1" word="a" pos="A" lemma="--" morph="--">\n<secedge label="SB" idref="s1_500"/>' in (
        format_tigerxml(tree)
    )
    alpino = format_alpinoxml(tree)
    assert '<node begin="0" end="1" rel="--" index="1" word="a" pt="A"/>' in alpino
    assert 'cat="NP">\n<node rel="SB" index="1" begin="0" end="1"/>\n<node begin="1"' in alpino
    headed = replace(tree, head_children=(2, 3))
    assert [line.split("\t")[4] for line in format_export(headed).splitlines()[1:-1]] == [
        "--",  # OA, which is the head of S, hides it
        "NK",
        "HD",
        "OA",
        "--",
    ]
    assert hidden_heads(headed) == 1


def CTree_of(text: str, functions: tuple[str, ...], secondary: tuple[Any, ...] = ()) -> CTree:
    from d2c.trees.formats.discbracket import parse_discbracket

    return replace(parse_discbracket(text), functions=functions, secondary=secondary)


EXPORT = """#FORMAT 4
#BOS 1
Sie sie PPER -- SB 500 OB 501 SB 777
geht gehen VVFIN -- HD 500 -- 0
. -- $. -- -- 0
#500 -- S -- OC 501
#501 -- TOP -- ROOT 0
#502 -- NP -- -- 501 MO 500
#EOS 1
"""


def test_what_a_tree_cannot_hold_is_counted(tmp_path: Path) -> None:
    path, left_out = tmp_path / "x.export", Counter[str]()
    path.write_text(EXPORT)
    (ctree,) = read_treebank(path, left_out=left_out)
    assert ctree.labels == ("S", "TOP", "VROOT") and ctree.functions == ("SB", "HD", "", "OC", "ROOT", "")
    assert ctree.secondary == ((0, "OB", 4), (1, "", 5))
    assert +left_out == {"secondary edges": 2}  # to no node, and of a node over no word
    path.write_text(EXPORT.replace(". -- $. -- -- 0\n", ""))
    left_out.clear()
    (ctree,) = read_treebank(path, left_out=left_out)
    assert ctree.top == "TOP" and ctree.functions == ("SB", "HD", "OC") and ctree.secondary == ()
    assert +left_out == {"secondary edges": 4, "functions": 1}


def test_roles_of_sinica_and_functions_of_floresta(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("#1:1.[2] VP(evaluation:Dbb:竟然|goal:NP(Head:Nab:書|Nab:貓))#，(COMMACATEGORY)\n")
    (ctree,) = read_sinica(path)
    assert ctree.functions == ("evaluation", "Head", "", "", "goal", "")
    path.write_text(
        "#1 A1 Ela foi .\n(STA+fcl (SUBJ+pron Ela) (P-+vp (AUX+v foi)) (,) (-P+vp (MV+v ver)) (.))\n"
    )
    (ctree,) = read_floresta(path)
    assert dict(zip((*ctree.tokens.forms, *ctree.labels), ctree.functions or (), strict=True)) == {
        "Ela": "SUBJ", "foi": "AUX", ",": "", "ver": "MV", ".": "", "vp": "P", "fcl": "STA"
    }  # fmt: skip
    path.write_text("#1 A1 Foi lá .\n(STA+fcl (MV+v Foi) (ADVL/N<[+1]+pp (H+prp lá)) (.))\n")
    (ctree,) = read_floresta(path)
    assert ctree.labels == ("pp", "fcl") and ctree.functions == ("MV", "H", "", "ADVL/N<[+1]", "STA")


def test_transforms_carry_what_files_say() -> None:
    """A mark that moves keeps its function; each part of a split node has the node's, the first its edges."""
    text = "(S (VP (A 0=What) (B 3=buy)) (C 1=did) (NP (D 2=she) (, 4=,)) (. 5=.))"
    functions = ("OA", "HD", "SB", "NK", "p", "q", "OC", "SU", "")
    tree = CTree_of(text, (*functions[:8], "")[:9], ())
    names = dict(zip((*tree.tokens.forms, *tree.labels), tree.functions or (), strict=True))
    np, vp = (len(tree.tokens) + tree.labels.index(label) for label in ("NP", "VP"))
    tree = replace(tree, secondary=((2, "SB", vp), (vp, "x", np)))
    for step in (move_punctuation, raise_gaps, lambda one: merge_gaps(split_gaps(one))):
        moved = step(tree)
        assert dict(zip((*moved.tokens.forms, *moved.labels), moved.functions or (), strict=True)) == names
        edges = {(moved.label(a), name, moved.label(b)) for a, name, b in moved.secondary}
        assert edges == {("D", "SB", "VP"), ("VP", "x", "NP")}
    split = split_gaps(tree)
    assert [split.functions[node] for node, label in enumerate(split.labels, 6) if label[:2] == "VP"] == [
        names["VP"]
    ] * 2  # type: ignore[index]
    rules = load_head_rules("leftmost")
    assert rules.apply(tree).functions == tree.functions and rules.apply(tree).secondary == tree.secondary
