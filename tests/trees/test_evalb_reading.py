"""What EVALB's lines, files and parameter files mean, and which of them are refused."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from d2c.base.errors import FormatError
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.scores.evalb import evaluate_files
from d2c.trees.scores.evalb_sides import EvalbLine, from_ctree, from_line
from d2c.trees.scores.prm import EvalbParameters

ROOT = Path(__file__).parents[2]
VECTORS = Path(os.environ.get("D2C_VECTORS", ROOT / ".." / "shared" / "vectors")) / "evalb"
needs_vectors = pytest.mark.skipif(not VECTORS.is_dir(), reason=f"no vectors in {VECTORS} (set D2C_VECTORS)")


def labels(*names: str) -> frozenset[str]:
    return frozenset(names)


def pairs(*names: str) -> frozenset[tuple[str, str]]:
    return frozenset((a, b) for a, b in (name.split() for name in names))


# Lines


def test_line_to_sentence() -> None:
    assert from_line("(S (NP (DT a) (NN b)) (. .))\n") == EvalbLine(
        words=("a", "b", "."), tags=("DT", "NN", "."), labels=("S", "NP"), starts=(0, 0), ends=(3, 2)
    )


@pytest.mark.parametrize(
    ("text", "words", "brackets"),
    [
        ("", 0, 0),
        (" \t\r\n", 0, 0),
        ("(())", 0, 2),
        ("(S(NP(DT a)(NN b)))", 2, 2),
        ("( (S (A b)))", 1, 2),  # a wrapper without a label is a bracket
        ("(S (A b)) (S (A c)) (A d)", 3, 2),  # several tops
        ("(S (A ) (B b))", 2, 1),  # a blank makes a terminal: tag A, word empty
        ("(S () (B b))", 1, 2),  # no blank, no terminal
        ("(A b\u00a0c\u2028d)", 1, 0),  # other spaces are parts of words
    ],
)
def test_numbers_of_words_and_brackets(text: str, words: int, brackets: int) -> None:
    sentence = from_line(text)
    assert (len(sentence.words), len(sentence.labels), sentence.faults) == (words, brackets, 0)


@pytest.mark.parametrize(
    "text", ["word", "x (S (A b))", "(S (A b) c)", "(S (A b c))", "(S (A b", "(S a (A b))"]
)
def test_text_beside_brackets(text: str) -> None:
    with pytest.raises(FormatError):
        from_line(text)


@pytest.mark.parametrize(
    ("text", "faults", "ends"),
    [
        ("(S (A b)", 1, (-1,)),
        ("(S (X (Y (A b))", 1, (-1, -1, 1)),
        ("(S (A b)))", 1, (1,)),
        ("(S (A b))))", 2, (1,)),
        ("(S (A b))) (X (A b)", 0, (1, -1)),  # as many closed as opened is all that EVALB looks at
        (")(S (A b)", 0, (-1,)),
        (")))", 3, ()),
    ],
)
def test_unbalanced_brackets(text: str, faults: int, ends: tuple[int, ...]) -> None:
    assert (from_line(text).faults, from_line(text).ends) == (faults, ends)


@pytest.mark.parametrize(
    "text",
    [
        "(TOP (S (NP-SBJ-1 (DT the) (NN (x))) (VP (VBD ran))))".replace("(x)", "-LRB-"),
        "( (S (NP (NN a)) (. .)))",
        "(S (NP (NN a)) (. .))",
        "(X (Y (Z (NN a))))",
        "(NN a)",
    ],
)
def test_tree_reads_as_its_line(text: str) -> None:
    assert from_ctree(parse_bracket(text)) == from_line(text)


@needs_vectors
def test_trees_read_as_their_lines() -> None:
    for line in (VECTORS / "gold.mrg").read_text().splitlines()[:100]:
        assert from_ctree(parse_bracket(line)) == from_line(line)


# Files


def test_files(tmp_path: Path) -> None:
    gold, guess = tmp_path / "gold.mrg.gz", tmp_path / "guess.mrg"
    gold.write_bytes(gzip.compress(b"(S (A a))\r\n\r\n(S (A c))"))
    guess.write_text("(S (A a))\n\n(S (A c))\n")
    assert [result.status for result in evaluate_files(gold, guess, EvalbParameters.collins())] == [0, 2, 0]


@pytest.mark.parametrize(
    ("gold", "guess", "name", "line"),
    [
        ("(A a)\n(A a)\n", "(A a)\n", "guess", 2),
        ("(A a)\n", "(A a)\n\n", "gold", 2),
        ("(A a)\n(A a\n", "(A a)\n(A a)\n", "gold", 2),
        ("(A a)\n(A a)\n", "(A a)\nx(A a)\n", "guess", 2),
    ],
)
def test_files_that_do_not_fit(tmp_path: Path, gold: str, guess: str, name: str, line: int) -> None:
    (tmp_path / "gold").write_text(gold)
    (tmp_path / "guess").write_text(guess)
    scores = evaluate_files(tmp_path / "gold", tmp_path / "guess", EvalbParameters.collins())
    assert next(scores).status == 0
    with pytest.raises(FormatError) as caught:
        next(scores)
    assert (caught.value.file, caught.value.line) == (str(tmp_path / name), line)


@pytest.mark.parametrize(
    "line",
    [
        "DELETE TOP",
        "delete_label TOP",
        "DELETE_LABEL",
        "DELETE_LABEL TOP S1",
        "MAX_ERROR many",
        "CUTOFF_LEN",
        "EQ_LABEL ADVP",
        "EQ_WORD a b c",
    ],
)
def test_bad_parameter_lines(tmp_path: Path, line: str) -> None:
    path = tmp_path / "bad.prm"
    path.write_text(f"# comment\n\n{line}\n")
    with pytest.raises(FormatError) as caught:
        EvalbParameters.read(path)
    assert (caught.value.file, caught.value.line) == (str(path), 3)


def test_parameter_file(tmp_path: Path) -> None:
    path = tmp_path / "all.prm"
    path.write_text(
        "## all\nDEBUG 2\nMAX_ERROR  5 \r\nCUTOFF_LEN\t7\nLABELED 0\nDELETE_LABEL #\n"
        "DELETE_LABEL_FOR_LENGTH X\nQUOTE_LABEL ''\nEQ_LABEL A B\nEQ_WORD a b"
    )
    assert EvalbParameters.read(path) == EvalbParameters(
        5, 7, False, labels("#"), labels("X"), labels("''"), pairs("A B"), pairs("a b")
    )
    (tmp_path / "none.prm").write_text("")
    assert EvalbParameters.read(tmp_path / "none.prm") == EvalbParameters()


@needs_vectors
def test_known_parameters_are_those_of_the_files() -> None:
    assert EvalbParameters.read(VECTORS / "collins.prm") == EvalbParameters.collins()
    assert EvalbParameters.read(VECTORS / "spmrl.prm", spmrl=True) == EvalbParameters.spmrl2013()
