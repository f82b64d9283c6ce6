"""CoNLL-U files: what survives a round trip, what is skipped, and the exact line of every error."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import conllu
import pytest
from hypothesis import given
from hypothesis import strategies as st

from d2c.base.errors import FormatError
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats import conllu as conllu_format
from d2c.trees.formats.conllu import (
    Chunk,
    format_conllu,
    parse_conllu,
    read_conllu,
    read_conllu_chunks,
    write_conllu,
)
from tests.strategies import tree_heads, words


def read(tmp_path: Path, text: str) -> list[DTree]:
    path = tmp_path / "x.conllu"
    path.write_bytes(text.encode())
    return list(read_conllu(path))


def error_of(tmp_path: Path, text: str) -> str:
    """What the error says after the name of the file."""
    with pytest.raises(FormatError) as error:
        read(tmp_path, text)
    return str(error.value).removeprefix(str(tmp_path / "x.conllu"))


def row(number: object, form: str = "x", head: object = 0, tag: str = "T", label: str = "root") -> str:
    return f"{number}\t{form}\t_\t{tag}\t{tag}\t_\t{head}\t{label}\t_\t_\n"


ONE = DTree(Tokens(("x",), ("T",)), (0,), labels=("root",))
GOOD = row(1) + "\n"


def test_the_text_of_a_sentence() -> None:
    tokens = Tokens(("a b", "c"), ("DT", "NN"), ("a", "_"), ("_", "Case=Nom"))
    dtree = DTree(tokens, (2, 0), labels=("NP#1", "root"))
    assert format_conllu(dtree) == (
        "1\ta b\ta\tDT\tDT\t_\t2\tNP#1\t_\t_\n2\tc\t_\tNN\tNN\tCase=Nom\t0\troot\t_\t_\n\n"
    )
    out = io.StringIO()
    write_conllu([ONE, ONE], out)
    assert out.getvalue() == GOOD * 2


@pytest.mark.parametrize(
    "form",
    [
        "a b",
        "a  b",
        " ",
        "#",
        "# x",
        "|",
        "A=b|C=d",
        "_",
        "__",
        "1-2",
        "1",
        "\u00a0",
        "é\u2009ü",
        "\u2028",
        "\x85",
        '"',
    ],
)
def test_forms_survive(tmp_path: Path, form: str) -> None:
    tokens = Tokens((form, form), ("T", form), (form, "x"), ("A=b", form))
    dtree = DTree(tokens, (0, 1), labels=("root", form))
    assert read(tmp_path, format_conllu(dtree) * 2) == [dtree] * 2


COLUMN = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\r\n"), min_size=1)


@given(tree_heads(), st.data())
def test_any_columns_survive(heads: tuple[int, ...], data: st.DataObject) -> None:
    n = len(heads)
    column = st.lists(COLUMN, min_size=n, max_size=n).map(tuple)
    forms, tags, labels, lemmas = (data.draw(column) for _ in range(4))
    known = None if set(lemmas) == {"_"} else lemmas
    dtree = DTree(Tokens(forms, tags, known), heads, labels=labels)
    assert list(parse_conllu(Chunk(1, format_conllu(dtree) * 2), "x")) == [dtree, dtree]


@given(tree_heads())
def test_the_conllu_package_reads_what_is_written(heads: tuple[int, ...]) -> None:
    n = len(heads)
    dtree = DTree(words(n), heads, labels=tuple("root" if h == 0 else "NP:x#1" for h in heads))
    text = format_conllu(dtree)
    assert {line.count("\t") for line in text.splitlines() if line} == {9}
    (seen,) = conllu.parse(text)
    assert all(len(token) == 10 for token in seen)
    assert [token["id"] for token in seen] == list(range(1, n + 1))
    assert [token["form"] for token in seen] == list(dtree.tokens.forms)
    assert [token["xpos"] for token in seen] == [token["upos"] for token in seen] == list(dtree.tokens.tags)
    assert [token["head"] for token in seen] == list(heads)
    assert [token["head"] for token in seen].count(0) == 1
    assert [token["deprel"] for token in seen] == list(dtree.labels or ())


def test_tags_are_read_from_upos_where_xpos_is_empty(tmp_path: Path) -> None:
    text = "1\tx\t_\tNOUN\t_\t_\t0\troot\t_\t_\n"
    assert read(tmp_path, text) == [DTree(Tokens(("x",), ("NOUN",)), (0,), labels=("root",))]
    both = text.replace("NOUN\t_", "NOUN\tNN")
    assert read(tmp_path, both)[0].tokens.tags == ("NN",)


def test_tags_of_a_file_are_of_one_column(tmp_path: Path) -> None:
    def text(*tags: str) -> str:
        rows = (f"{i}\tx\t_\t{upos}\t_\t_\t0\troot\t_\t_\n" for i, upos in enumerate(tags, 1))
        return "".join(rows).replace("NOUN\t_", "NOUN\tNN") + "\n"

    one_lacks, all_lack = text("NOUN", "PUNCT"), text("PUNCT")
    for order in (one_lacks + all_lack, all_lack + one_lacks):
        tags = [dtree.tokens.tags for dtree in read(tmp_path, order)]
        assert sorted(tags) == [("NN", "_"), ("_",)]
    assert read(tmp_path, all_lack * 2)[1].tokens.tags == ("PUNCT",)
    assert read(tmp_path, one_lacks.replace("NOUN\tNN", "NN\tNN") + all_lack)[1].tokens.tags == ("PUNCT",)
    with_range = f"1-2{chr(9)}{'_	' * 3}X{'	_' * 5}\n"
    assert read(tmp_path, with_range + text("PUNCT", "PUNCT"))[0].tokens.tags == ("PUNCT", "PUNCT")


def test_two_tagsets_hold_for_the_rest_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conllu_format, "_CHUNK_SIZE", 1)
    both, lacks = row(1).replace("T\tT", "NOUN\tNN"), row(1).replace("T\tT", "PUNCT\t_")
    tags = [dtree.tokens.tags for dtree in read(tmp_path, f"{lacks}\n{both}\n{lacks}\n{lacks}")]
    assert tags == [("PUNCT",), ("NN",), ("_",), ("_",)]
    chunks = read_conllu_chunks(tmp_path / "x.conllu")
    assert [dtree.tokens.tags for chunk in chunks for dtree in parse_conllu(chunk, "x")] == tags


def test_ranges_and_empty_nodes_are_skipped(tmp_path: Path) -> None:
    skipped = "\t_" * 9 + "\n"
    text = f"0.1{skipped}1-2{skipped}{row(1, 'a')}{row(2, 'b', 1)}2.1{skipped}2.2{skipped}{row(3, 'c', 2)}"
    (dtree,) = read(tmp_path, text)
    assert (dtree.tokens.forms, dtree.heads) == (("a", "b", "c"), (0, 1, 2))


@pytest.mark.parametrize(
    ("head", "read_as"),
    [
        ("_", -1),
        ("-1", -1),
        ("-7", -1),
        ("7", 7),
        ("0", 0),
        ("1", 1),
        ("99999999999", None),
        ("9" * 5000, -1),
    ],
)
def test_heads_outside_the_sentence(tmp_path: Path, head: str, read_as: int | None) -> None:
    (dtree,) = read(tmp_path, row(1, head=head))
    assert dtree.heads[0] == read_as or (read_as is None and not 0 <= dtree.heads[0] <= 1)


@pytest.mark.parametrize(
    "text",
    [
        GOOD * 2,
        (GOOD * 2).rstrip("\n"),
        (GOOD * 2).replace("\n", "\r\n"),
        GOOD + "\n\n\n" + GOOD + "\n\n",
        "\n\n" + GOOD * 2,
        row(1) + "  \n" + row(1) + "\t \n",
        "# sent_id = 1\n# text = x\n" + GOOD + "# c\n#\n" + GOOD,
        "# newdoc\n\n" + GOOD + "# only a comment\n\n" + GOOD + "# the end",
    ],
)
def test_layouts(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) == [ONE, ONE]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: no sentence found in this file"),
        ("\n \n# c\n\n", ":1: no sentence found in this file"),
        (GOOD + "1\tx\tT\n", ":3: sentence 2: expected 10 columns separated by tabs, found 3"),
        (GOOD + row(1).rstrip() + "\t_\n", ":3: sentence 2: expected 10 columns separated by tabs, found 11"),
        (row(1).replace("\t", " "), ":1: sentence 1: expected 10 columns separated by tabs, found 1"),
        (row(2), ":1: sentence 1: expected the id 1, found '2'"),
        (row(1) + row(3), ":2: sentence 1: expected the id 2, found '3'"),
        (row(1) + row(1), ":2: sentence 1: expected the id 2, found '1'"),
        (row("x"), ":1: sentence 1: 'x' is not a valid ID."),
        (row(""), ":1: sentence 1: expected the id 1, found ''"),
        (row(1, head="x"), ":1: sentence 1: the head 'x' is no number"),
        (row(1, head=""), ":1: sentence 1: the head '' is no number"),
        (row(1, head="1.5"), ":1: sentence 1: the head '1.5' is no number"),
        (row(1, head="²"), ":1: sentence 1: the head '²' is no number"),
        (row(1, form=""), ":1: sentence 1: the form is empty"),
        (
            "# c\n" + row(1) + "# after\n",
            ":3: sentence 1: a line that begins with # is a comment, which stands before the first token: "
            "move it there",
        ),
        ("\n# c\n\n\n# d\n1-2" + "\t_" * 9 + "\n", ":6: sentence 1: a sentence without tokens"),
        (
            GOOD + "\n  \n# c\n" + row(1) + row(2, head="?"),
            ":7: sentence 2: the head '?' is no number",
        ),
    ],
)
def test_errors(tmp_path: Path, text: str, message: str) -> None:
    assert error_of(tmp_path, text) == message


@pytest.mark.parametrize("chunk", [1, 64, 1 << 18])
def test_errors_in_a_later_chunk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(conllu_format, "_CHUNK_SIZE", chunk)
    good = "# c\n" + row(1) + row(2, head=1) + " \n"
    assert len(read(tmp_path, good * 50)) == 50
    text = good * 30 + row(1) + "2\tx\n\n" + good * 9
    assert error_of(tmp_path, text) == ":122: sentence 31: expected 10 columns separated by tabs, found 2"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    latin = tmp_path / "latin.conllu"
    latin.write_bytes(row(1, "\xe9").encode("latin-1"))
    for path, message in (
        (latin, "not UTF-8 text; iconv converts it (invalid continuation byte)"),
        (tmp_path / "none.conllu", "cannot be read: No such file or directory"),
    ):
        with pytest.raises(FormatError) as error:
            list(read_conllu(path))
        assert str(error.value) == f"{path}: {message}"


@pytest.mark.parametrize("bad", ["a\tb", "a\nb", "a\rb", ""])
@pytest.mark.parametrize("field", ["forms", "tags", "lemmas", "morphs"])
def test_what_cannot_be_written(bad: str, field: str) -> None:
    tokens = replace(Tokens(("x", "y"), ("T", "T")), **{field: ("x", bad)})
    with pytest.raises(ValueError) as error:
        format_conllu(DTree(tokens, (0, 1), labels=("root", "A")))
    assert str(error.value) == "a form or tag is empty or holds a tab or a line break"
