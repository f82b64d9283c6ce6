"""What `d2c parse` reads, line by line, good ones and bad ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from d2c.base.files import NOT_UTF8
from d2c.parsing.input import read_sentences, sentence_of_words, sentences_of
from d2c.parsing.sentence import Sentence
from d2c.parsing.text import PennRules
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from tests.errors import faulty

ROW = "{}\t{}\t_\tX\tX\t_\t0\tr\t_\t_\n"


def read(path: Path, content: bytes, kind: str, *abbreviations: str) -> tuple[list[Sentence], list[str]]:
    """The sentences of a file, and, apart from them, what could not be read."""
    path.write_bytes(content)
    found = [*read_sentences(path, kind, PennRules(abbreviations))]
    assert [one.line for one in found] == sorted(one.line for one in found)
    errors = [str(one.error) for one in found if one.error]
    assert all(not len(one.tokens) for one in found if one.error)
    return [one for one in found if not one.error], errors


def sentence(line: int, words: str, *offsets: tuple[int, int]) -> Sentence:
    forms = tuple(words.split(" "))
    return Sentence(Tokens.untagged(forms), line=line, offsets=offsets)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "x"


def test_comments_between_empty_lines_of_conllu(tmp_path: Path) -> None:
    row = "1\ta\t_\tA\tA\t_\t0\troot\t_\t_\n"
    (tmp_path / "x.conllu").write_text(f"# a\n\n \n# b\n\n{row}\n# c\n{row}1\n")
    first, second = read_sentences(tmp_path / "x.conllu", "conllu")
    assert (first.tokens.comments, first.line) == (("a", "b"), 6)
    assert second.error and second.error.line == 10


def test_text(file: Path) -> None:
    found, errors = read(file, "The cat.\n\nÉ (b)\r\n \nlast".encode(), "text")
    assert found == [
        sentence(1, "The cat .", (0, 3), (4, 7), (7, 8)),
        sentence(3, "É ( b )", (10, 11), (12, 13), (13, 14), (14, 15)),
        sentence(5, "last", (18, 22)),
    ]
    assert errors == []


def test_tokenized(file: Path) -> None:
    found, errors = read(file, "can't  a\u00a0b\t. \n( c )\n".encode(), "tokenized")
    assert found == [
        sentence(1, "can't a\u00a0b .", (0, 5), (7, 10), (11, 12)),
        sentence(2, "( c )", (14, 15), (16, 17), (18, 19)),
    ]
    assert errors == []


def test_free_text(file: Path) -> None:
    found, errors = read(file, b"Mr. X saw it. So\nwhat?\n", "split", "Mr.")
    assert [(one.line, " ".join(one.tokens.forms)) for one in found] == [
        (1, "Mr. X saw it ."),
        (1, "So what ?"),
    ]
    assert found[1].offsets == ((14, 16), (17, 21), (21, 22)) and errors == []


@pytest.mark.parametrize("kind", ["text", "tokenized"])
def test_bad_lines(kind: str, file: Path) -> None:
    content = b"a\n\xff b\n\xed\xa0\x80\n\xc2\xa0 c\nd\n"
    found, errors = read(file, content, kind)
    blank = [] if kind == "text" else [f"{file}:4: the token 1 is empty: it holds nothing but '\\xa0'"]
    assert [one.line for one in found] == ([1, 4, 5] if kind == "text" else [1, 5])
    assert errors == [f"{file}:2: {NOT_UTF8}", f"{file}:3: {NOT_UTF8}", *blank]
    assert found[-1].offsets == ((14, 15),)  # each undecodable byte counts as a character


@pytest.mark.parametrize("kind", ["text", "tokenized", "split"])
def test_a_stray_nul_is_one_bad_line(kind: str, file: Path) -> None:
    found, errors = read(file, b"The cat slept.\nThe d\0g.\nThe end.\n", kind)
    assert [one.line for one in found] == [1, 3]
    assert errors == [f"{file}:2: a NUL character, which no text has"]


def test_bad_lines_end_a_paragraph(file: Path) -> None:
    found = [*read_sentences((file.write_bytes(b"The cat. So\n\xff\n\xff\nd\ne.") and file), "split")]
    assert [(one.line, " ".join(one.tokens.forms)) for one in found] == [
        *((1, "The cat ."), (1, "So"), (2, ""), (3, ""), (4, "d e ."))
    ]


def test_words_without_tags(file: Path) -> None:
    none, one = (f"1\ta\t_\t_\t{tag}\t_\t0\tr\t_\t_\n2\tb\t_\t_\t_\t_\t1\tr\t_\t_\n\n" for tag in "_X")
    found, _ = read(file, (none + one).encode(), "conllu")
    assert [sentence.tokens.tags for sentence in found] == [("", ""), ("X", "_")]


@pytest.mark.parametrize("id", ["1" * 5000, "1-" + "1" * 5000, "1." + "1" * 5000])
def test_ids_without_end(id: str, file: Path) -> None:
    good = ROW.format(1, "a")
    found, errors = read(file, f"{good}\n{good.replace('1', id, 1)}\n{good}\n".encode(), "conllu")
    assert [one.line for one in found] == [1, 5]
    assert len(errors) == 1 and errors[0].startswith(f"{file}:3: sentence 2: ")


def test_a_byte_order_mark_is_no_word(file: Path) -> None:
    found, _ = read(file, b"\xef\xbb\xbfThe cat\n", "tokenized")
    assert found == [sentence(1, "The cat", (1, 4), (5, 8))]
    found, errors = read(file, b"\xef\xbb\xbf# x\n" + ROW.format(1, "a").encode(), "conllu")
    dtree = DTree(Tokens(("a",), ("X",)), (0,), labels=("r",))
    assert found == [Sentence(dtree.tokens, line=1, dtree=dtree)] and errors == []


def test_conllu(file: Path) -> None:
    good, bad = ROW.format(1, "a") + ROW.format(2, "b c"), ROW.format(1, "d").replace("d", "")
    content = f"# x\n{good}\n\n{bad}\n1\tx\n\n".encode() + b"1\t\xff\n\n# only a comment\n\n" + good.encode()
    found, errors = read(file, content, "conllu")
    tokens = Tokens(("a", "b c"), ("X", "X"))
    dtree = DTree(tokens, (0, 0), labels=("r", "r"))
    assert found == [Sentence(tokens, line=line, dtree=dtree) for line in (1, 14)]
    assert errors == [
        f"{file}:6: sentence 2: the form is empty",
        f"{file}:8: sentence 3: expected 10 columns separated by tabs, found 2",
        f"{file}:10: sentence 4: not UTF-8 text; iconv converts it",
    ]


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with faulty("nowhere", about="No such file or directory"):
        next(read_sentences(tmp_path / "nowhere", "text"))


ODD = "She slept .\rHe left .\r\n...\n!? \u2014\n \t\n\u00a0\u3000\n\u2028\n\u200b\n\x0b\x0c\n... \r \r(\r"


@pytest.mark.parametrize("kind", ["text", "tokenized"])
def test_lines_of_marks_or_blanks_and_breaks_of_any_kind(file: Path, kind: str) -> None:
    found, errors = read(file, ODD.encode(), kind)
    lines = {1: "She slept .", 2: "He left .", 3: "...", 4: "!? \u2014", 8: "\u200b", 10: "...", 12: "("}
    assert ({one.line: " ".join(one.tokens.forms) for one in found}, errors) == (lines, [])


@pytest.mark.parametrize("mark", [".", "?!", "(", "\u2026", "''"])
@pytest.mark.parametrize("kind", ["text", "split", "tokenized"])
def test_a_megabyte_of_marks_costs_its_line_alone(file: Path, mark: str, kind: str) -> None:
    found, [error] = read(file, f"{mark * 500_000}\n\nShe slept .\n".encode(), kind)
    assert [one.line for one in found] == [3] and error.startswith(f"{file}:1: ")
    assert "characters" in error


def test_given_words_have_the_limit_of_text() -> None:
    """It costs their sentence alone, whichever way they are given."""
    assert sentence_of_words("x", 1, ("ab",) * (1 << 17)).error is None
    why = "262,145 characters in one sentence, more than the 262,144 that may be"
    assert sentence_of_words("x", 1, ("a" * (1 << 18), "b")).why == why
    for words, whys in (("ab " * (1 << 17), ""), ("ab " * (1 << 17) + "a", why)):
        found = [*sentences_of([words, "\n", "She slept\n"], "tokenized")]
        assert [one.why for one in found] == [whys, ""]


def test_a_million_words_of_conllu_cost_their_sentence_alone(file: Path) -> None:
    many = "".join(ROW.format(number, "ab") for number in range(1, 132_000))
    found, errors = read(file, f"{ROW.format(1, 'a')}\n{many}\n{ROW.format(1, 'a')}".encode(), "conllu")
    assert [one.line for one in found] == [1, 132_003]
    about = "263,998 characters in one sentence, more than the 262,144 that may be"
    assert errors == [f"{file}:3: sentence 2: {about}"]
