"""What labels, tags and words mean, by the convention of a treebank and whatever the format."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from d2c.commands.cli import cli
from d2c.trees.conventions import (
    PENN_HISTORICAL,
    PENN_TREEBANK,
    convention_of,
    functions_of,
    strip_function,
    without_indices,
)
from d2c.trees.formats.brackets import format_bracket, parse_bracket
from d2c.trees.formats.reading import Reading
from d2c.trees.formats.registry import FORMATS, WRITABLE, read_treebank

TREEBANKS = {  # raw trees of several conventions, in a format that holds their gaps
    "tueba.discbracket": "(S (R-SIMPX (PREL 0=who) (VV 1=sleeps)) (N 2=a))\n",
    "negra.discbracket": "(S (NP (NE-SB 0=Ann) (CARD 2=2)) (VVFIN 1=naps))\n",
    "penn.mrg": "( (S (NP-SBJ-1 (NN-HD Ann)) (VP (VBD naps) (NP=2 (-NONE- *T*-1))) (ADVP|PRT (RB up))) )\n",
    "keyaki.psd": "( (IP-MAT=1-SPE (NP-SBJ (N-N boy)) (VB slept)) (ID 1;X))\n( (NP-VOC (N man)) (ID 2;X))\n",
    "old.mrg": "(TOP (IP-MAT-SPE (NP-SBJ *con*) (NP-OB1-2 (N stars)) (C 0) (VBD saw) (CODE {x})))\n",
}


def d2c(*arguments: str | Path) -> str:
    done = CliRunner().invoke(cli, list(map(str, arguments)))
    assert done.exit_code == 0, done.output or done.exception
    return done.stdout


def cleaned(path: Path) -> list[tuple[object, ...]]:
    return [(one.labels, one.tokens.tags, one.tokens.forms, one.children) for one in Reading()(path)]


@pytest.mark.parametrize("name", TREEBANKS)
@pytest.mark.parametrize("form", WRITABLE)
def test_a_treebank_and_its_conversion_are_the_same(tmp_path: Path, name: str, form: str) -> None:
    """The same for reading, scoring and searching."""
    source = tmp_path / name
    source.write_text(TREEBANKS[name])
    target = tmp_path / f"converted{FORMATS[form].suffixes[0]}"
    gaps = [] if "gaps" in FORMATS[form].holds else ["--continuous", "raise"]
    d2c("convert", *gaps, source, target)
    if not gaps or name != "negra.discbracket":
        assert cleaned(source) == cleaned(target)
    source = target if gaps else source
    for metric in ("disco",) if "discbracket" in (source.suffix[1:], form) else ("disco", "evalb", "spmrl"):
        if metric != "disco" and name == "negra.discbracket":
            continue
        scores = d2c("evaluate", "--metric", metric, source, target)
        assert "nan" not in scores and " 100.00" in scores, scores
    assert (
        d2c("search", "--count", "/SIMPX/", source).split("\n")[1].split("\t")[1:]
        == d2c("search", "--count", "/SIMPX/", target).split("\n")[1].split("\t")[1:]
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tueba.discbracket", (("R-SIMPX", "S"), ("PREL", "VV", "N"), ("who", "sleeps", "a"))),
        ("negra.discbracket", (("NP", "S"), ("NE", "VVFIN", "CARD"), ("Ann", "naps", "2"))),
        ("penn.mrg", (("NP", "VP", "ADVP", "S"), ("NN", "VBD", "RB"), ("Ann", "naps", "up"))),
        ("keyaki.psd", (("NP-SBJ", "IP-MAT-SPE"), ("N-N", "VB"), ("boy", "slept"))),
        ("old.mrg", (("NP-OB1", "IP-MAT-SPE"), ("N", "VBD"), ("stars", "saw"))),
    ],
)
def test_what_is_read(tmp_path: Path, name: str, expected: tuple[tuple[str, ...], ...]) -> None:
    path = tmp_path / name
    path.write_text(TREEBANKS[name])
    first = next(Reading()(path))
    assert (first.labels, first.tokens.tags, first.tokens.forms) == expected


def test_raw_trees_keep_all(tmp_path: Path) -> None:
    for name in ("penn.mrg", "old.mrg"):
        path = tmp_path / name
        path.write_text(TREEBANKS[name])
        (tree,) = Reading(raw=True)(path)
        assert format_bracket(tree).split() == TREEBANKS[name].replace(") )", "))").split()
        assert d2c("convert", path, "-") == format_bracket(tree) + "\n"


def test_the_ids_of_historical_trees_are_comments(tmp_path: Path) -> None:
    path = tmp_path / "x.psd"
    path.write_text(TREEBANKS["keyaki.psd"])
    first, second = read_treebank(path)
    assert first.tokens.comments == ("sent_id = 1;X",) and second.tokens.comments == ("sent_id = 2;X",)
    assert first.labels == ("NP-SBJ", "IP-MAT=1-SPE") and second.labels == ("NP-VOC",)


@pytest.mark.parametrize(
    ("text", "forms", "lemmas"),
    [
        ("( (IP-MAT (N mother-in-law) (VB slept)) (ID 1;X))", ("mother-in-law", "slept"), None),
        ("( (IP-MAT (NUM 0) (N men) (C 0)) (ID 1;X))", ("0", "men"), None),
        ("( (IP-MAT (N men) (VB go) (NP-SBJ *) (. *)))", ("men", "go", "*"), None),
        ("( (IP-MAT (N men-man) (VB go-go) (. *-*)))", ("men", "go", "*"), ("man", "go", "*")),
        (
            "( (IP-MAT (N mother<dash/>in<dash/>law-motherinlaw) (VB slept-sleep) (X odd)))",
            ("mother-in-law", "slept", "odd"),
            ("motherinlaw", "sleep", "_"),
        ),
    ],
)
def test_most_words_say_whether_words_have_lemmas(
    tmp_path: Path, text: str, forms: tuple[str, ...], lemmas: tuple[str, ...] | None
) -> None:
    path = tmp_path / "x.psd"
    path.write_text(text)
    (tree,) = read_treebank(path, clean=True)
    assert (tree.tokens.forms, tree.tokens.lemmas) == (forms, lemmas)


@pytest.mark.parametrize(
    ("label", "whole"),
    [
        ("IP-MAT=1-SPE", "IP-MAT-SPE"),
        ("NP-SBJ-1", "NP-SBJ"),
        ("CP-REL-SPE=12", "CP-REL-SPE"),
        ("IP-MAT", "IP-MAT"),
        ("1", "1"),
        ("-1", "-1"),
    ],
)
def test_historical_labels_lose_indices_alone(label: str, whole: str) -> None:
    assert without_indices(label) == whole


@pytest.mark.parametrize(
    ("tag", "category"),
    [("NE-SB", "NE"), ("N-H", "N"), ("-LRB-", "-LRB-"), ("-NONE-", "-NONE-"), ("Vpitf-r3s", "Vpitf-r3s")],
)
def test_functions_of_tags(tag: str, category: str) -> None:
    assert PENN_TREEBANK.tag[tag] == category


def test_functions_behind_whole_categories() -> None:
    assert strip_function("R-SIMPX-OA") == "R-SIMPX" and functions_of("R-SIMPX-OA") == ("OA",)
    assert strip_function("R-SIMPXX") == "R" and functions_of("NP-SBJ-1") == ("SBJ",)


@pytest.mark.parametrize(
    ("text", "convention"),
    [
        ("(TOP (IP-MAT (NP-SBJ (PRO he)) (VBD slept)))", PENN_HISTORICAL),
        ("(TOP (FRAG (NPR-N Jón) (. .)))", PENN_HISTORICAL),
        ("(TOP (IP-IMP (VP (VV lai)) (CP-ADV (IP-ADV (NR-SHORT x)))))", PENN_TREEBANK),  # Chinese
        ("(TOP (S (NP-SBJ (PRP he)) (VP (VBD slept))))", PENN_TREEBANK),
    ],
)
def test_labels_and_tags_tell_the_convention(text: str, convention: object) -> None:
    assert convention_of([parse_bracket(text)]) is convention


@given(st.text("NP-SBJ=|12 R#", max_size=12))
def test_a_category_is_a_beginning_and_its_own_category(label: str) -> None:
    category = strip_function(label)
    assert label.startswith(category) and strip_function(category) == category
    assert without_indices(without_indices(label)) == without_indices(label)
