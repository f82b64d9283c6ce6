"""`d2c.load` and what the parser makes of text, words and streams, with a small real model."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from threadpoolctl import threadpool_info

import d2c
from d2c import Document, Parser, Sentence
from d2c.commands.cli import cli
from d2c.models.model import NO_TAGGER
from d2c.parsing.stream import Batch, BatchParser

TEXT = 'The dog can\'t see "Mary". She\r\nslept (here).\n\n\n The young\n cat'


@pytest.fixture(scope="module")
def parser(tagged_model: Path) -> Parser:
    return d2c.load(tagged_model)


def test_threads_leave_the_numbers_of_threads_of_libraries(parser: Parser) -> None:
    """Where they overlap, too: tests/base/test_locks.py."""
    parser("They slept.")
    before = threadpool_info()
    with ThreadPoolExecutor(4) as pool:
        [*pool.map(parser, ["They saw the cat with glasses."] * 40)]
    assert threadpool_info() == before


def test_text(parser: Parser) -> None:
    first, second, third = parser(TEXT).sentences
    assert [first.text, second.text, third.text] == [
        'The dog can\'t see "Mary".',
        "She\r\nslept (here).",
        "The young\n cat",
    ]
    assert first.tree.words == ("The", "dog", "ca", "n't", "see", "``", "Mary", "''", ".")
    assert [first.line, second.line, third.line] == [1, 1, 5]
    for sentence in (first, second, third):
        assert sentence.tree.offsets is not None and not sentence.error
        spans = sentence.tree.spans()
        assert spans and all(span.text == TEXT[span.start_char : span.end_char] for span in spans)
        assert all(span.confidence is not None and 0 <= span.confidence <= 1 for span in spans)
    assert parser("").sentences == parser(" \n").sentences == []


def test_the_same_as_the_command(parser: Parser, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes(TEXT.replace("\r\n", "\n").encode())
    arguments = ["parse", str(parser.directories[0]), str(tmp_path / "x.txt"), "--split", "--to", "json"]
    done = CliRunner().invoke(cli, arguments)
    with open(tmp_path / "x.txt", encoding="utf-8") as lines:
        found = [*parser.stream(lines, kind="split")]
    assert [sentence.to_dict() for sentence in found] == [*map(json.loads, done.stdout.splitlines())]
    assert len(found) == 3


def test_words(parser: Parser) -> None:
    document = parser.parse_tokens([["The", "dog", "slept", "."], [], ("a", " "), iter(["She", "slept"])])
    assert [sentence.error for sentence in document.sentences] == [
        "",
        "there are no words",
        "the token 2 is empty",
        "",
    ]
    assert [sentence.line for sentence in document.sentences] == [1, 2, 3, 4]
    assert str(document).splitlines()[1:3] == ["(TOP (ERROR (ERROR ERROR)))"] * 2
    first, *_, last = document
    assert first.text == "The dog slept ." and last.tree.words == ("She", "slept")
    assert first.tree.offsets is None and first.tree.tags[0] == "DT"
    assert str(parser("The dog slept.").sentences[0].tree) == str(first.tree)


def test_strings_of_numpy(parser: Parser) -> None:
    words, text = np.array(["They", "slept", "."]), np.array(["They slept ."])[0]
    expected = str(parser.parse_tokens([["They", "slept", "."]]))
    assert str(parser.parse_tokens([words])) == str(parser(text)) == str(*parser.pipe([text])) == expected
    assert [str(sentence.tree) for sentence in parser.stream([text], kind="tokenized")] == [expected]
    assert type(parser.parse_tokens([words])[0].tree.words[0]) is str


def test_half_characters(parser: Parser) -> None:
    """Nothing can hold them, so the sentence has an error, and whatever is made of it can be written."""
    half = "'\\ud83d' is half a character, which no file holds"
    words = parser.parse_tokens([["They", "sl\ud83dept"], ["Yes"]])
    tags = parser.parse_tagged([[("They", "P\ud83d"), ("slept", "VBD")]])
    text = parser("They slept \ud83d.\nYes.")
    assert [sentence.error for sentence in (*words, *tags)] == [half, "", half]
    assert [sentence.error for sentence in text] == ["not UTF-8 text; iconv converts it", ""]
    for document in (words, tags, text):
        assert str(document).encode() and document._repr_html_().encode()
        assert {*document.to_dataframe()["sentence"]} <= {1}


def test_tags(parser: Parser) -> None:
    given = [("The", "DT"), ("dog", "VBD"), ("slept", "NN")]
    [tagged] = parser.parse_tagged([given])
    assert tagged.tree.tags == ("DT", "VBD", "NN")
    first, bad = parser.parse_tagged([given, [("dog", "XX")]])
    assert first == tagged and bad.error.startswith("'XX' is no tag of the model's: ") and " DT " in bad.error
    with pytest.raises(ValueError, match="^'XX' is no tag of the model's: "):
        parser.parse_tagged([("dog", "XX"), ("slept", "VBD")], require=[(0, 2)])
    [untagged] = parser.parse_tagged([[(word, "") for word, _ in given]])
    assert untagged.tree.tags == ("DT", "NN", "VBD")


@pytest.mark.slow
def test_tags_are_used_where_the_model_has_learned_from_predicted_ones() -> None:
    parser = d2c.load("en")
    words = "They", "can", "fish", "."
    modal, verb = ("PRP", "MD", "VB", "."), ("PRP", "VBP", "NN", ".")
    trees = [*parser.parse_tagged([[*zip(words, tags, strict=True)] for tags in (modal, verb)])]
    assert [one.tree.tags for one in trees] == [modal, verb]
    assert [str(one.tree).count("(VP") for one in trees] == [2, 1]
    [untagged] = parser.parse_tagged([[("They", "NN"), ("ate", "")]])
    assert untagged.tree.tags == ("PRP", "VBD")
    assert parser.models[0].tags == "predicted" and "NP-SBJ" not in parser.models[0].tagger.tags_
    bad, bracket = parser.parse_tagged([[("They", "NOUN")], [("(", "("), ("They", "PRP")]])
    assert bad.error.startswith("'NOUN' is no tag of the model's: ")
    assert (bracket.tree.words, bracket.tree.tags) == (("(", "They"), ("-LRB-", "PRP"))


def test_one_sentence(parser: Parser) -> None:
    words, tags = ("The", "dog", "slept"), ("DT", "NN", "VBD")
    alone, tagged = parser.parse_tokens(words), parser.parse_tagged([*zip(words, tags, strict=True)])
    assert alone == parser.parse_tokens([words]) == parser.parse_tokens(iter([iter(words)]))
    assert str(alone) == str(tagged) and len(parser.parse_tokens([])) == 0
    assert parser.parse_tokens([["in spite"]])[0].tree.words == ("in spite",)


@pytest.mark.parametrize(
    "wrong", [["They slept", "She"], [[1]], [[b"They"]], [1], "They", ["She", ["slept"]], ["She", 1]]
)
def test_what_are_no_words(parser: Parser, wrong: list[list[str]]) -> None:
    with pytest.raises(TypeError, match="^(a sentence is a list of words|words and tags are str)"):
        parser.parse_tokens(wrong)
    with pytest.raises(TypeError, match="^a sentence is a list of words, not str"):
        parser.parse_tokens("They saw ducks", require=[(0, 2)])


def test_texts_are_no_words(parser: Parser) -> None:
    with pytest.raises(TypeError) as caught:
        parser.parse_tokens(["They slept.", "She left."])
    assert str(caught.value) == (
        "a sentence is a list of words, not str: 'They slept.'; pipe takes texts, and [[...]] is one "
        "sentence, whose words may have blanks"
    )


@pytest.mark.parametrize("wrong", [["They", "slept"], [[("They",)]], [("They", 1)], "They"])
def test_what_are_no_words_with_tags(parser: Parser, wrong: list[list[tuple[str, str]]]) -> None:
    with pytest.raises(TypeError, match=r"^a sentence is a list of pairs of word and tag; .+ is none$"):
        parser.parse_tagged(wrong)


def test_what_is_no_text(parser: Parser) -> None:
    several = "^a text is a str, not list; pipe takes several texts, parse_tokens takes words$"
    with pytest.raises(TypeError, match=several):
        parser(["They"])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^pipe takes several texts; .* parser\(text\)$"):
        parser.pipe("They slept.")
    with pytest.raises(TypeError, match="^a text is a str; number 2 is a float$"):
        [*parser.pipe(["They slept.", float("nan")])]  # type: ignore[list-item]
    with pytest.raises(ValueError, match="at least 1"):
        parser.pipe([], jobs=0)
    with pytest.raises(TypeError, match=r"stream takes lines; .* parser\(text\)"):
        parser.stream("They slept.")
    with pytest.raises(TypeError, match="a line is a str, not bytes"):
        next(parser.stream([b"They slept."]))  # type: ignore[list-item]
    with pytest.raises(ValueError, match="kind 'word' is none of conllu, text, tokenized, split"):
        parser.stream([], kind="word")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least 1"):
        parser.stream([], batch_size=0)


@pytest.mark.slow
def test_streams_are_equal_with_any_number_of_jobs(parser: Parser) -> None:
    lines = ["The dog slept.", "", "\ud800", "She saw (the cat).\n", "Mary"] * 2
    found: dict[int, list[Sentence]] = {
        jobs: [*parser.stream(iter(lines), jobs=jobs, batch_size=3)] for jobs in (1, 2)
    }
    assert found[1] == found[2]
    assert [one.to_dict() for one in found[1]] == [one.to_dict() for one in found[2]]
    assert [sentence.line for sentence in found[1]] == [1, 3, 4, 5, 6, 8, 9, 10]
    assert [sentence.error for sentence in found[1]] == ["", "not UTF-8 text; iconv converts it", "", ""] * 2
    assert found[1][4].tree.offsets is not None and found[1][4].tree.offsets[0] == (42, 45)


def test_streams_are_lazy(parser: Parser) -> None:
    read = 0

    def lines() -> Iterator[str]:
        nonlocal read
        for line in repeat("The dog slept ."):
            read += 1
            yield line

    stream = parser.stream(lines(), kind="tokenized", batch_size=2)
    assert read == 0
    assert [next(stream).text for _ in range(3)] == ["The dog slept ."] * 3
    assert read == 4


def dicts(document: Document) -> list[dict[str, object]]:
    return [sentence.to_dict() for sentence in document]


TEXTS = ("The dog slept.", "", TEXT, " \n", "\ud800\nShe slept.", "The cat can't see. " * 3, "")


def test_documents_stay_apart(parser: Parser) -> None:
    alone = [parser(text) for text in TEXTS]
    assert [len(document) for document in alone] == [1, 0, 3, 0, 2, 3, 0]
    for size in (1, 2, 3, 100):
        found = [*parser.pipe(TEXTS, batch_size=size)]
        assert [*map(dicts, found)] == [*map(dicts, alone)]
    assert [sentence.error for sentence in found[4]] == ["not UTF-8 text; iconv converts it", ""]
    assert [*parser.pipe([])] == [] and [*parser.pipe(["", ""])] == [Document([])] * 2


def test_documents_with_contexts(parser: Parser) -> None:
    pairs = ((text, {"id": number}) for number, text in enumerate(TEXTS))
    found = [*parser.pipe(pairs, as_tuples=True, batch_size=2)]
    assert [context["id"] for _, context in found] == [*range(len(TEXTS))]
    assert [len(document) for document, _ in found] == [1, 0, 3, 0, 2, 3, 0]
    for text in ("No", "They slept."):
        with pytest.raises(TypeError) as caught:
            next(parser.pipe([text], as_tuples=True))  # type: ignore[list-item]
        assert str(caught.value) == f"as_tuples takes pairs (text, anything); number 1 is {text!r}"


@pytest.mark.slow
def test_documents_are_equal_with_any_number_of_jobs(parser: Parser) -> None:
    found = [[*map(dicts, parser.pipe(TEXTS * 2, jobs=jobs, batch_size=3))] for jobs in (1, 2)]
    assert found[0] == found[1] and len(found[0]) == 2 * len(TEXTS)


def test_texts_are_read_as_documents_are_taken(parser: Parser) -> None:
    read = 0

    def texts() -> Iterator[str]:
        nonlocal read
        for text in repeat("The dog slept. She slept."):
            read += 1
            yield text

    documents = parser.pipe(texts(), batch_size=4)
    assert read == 0
    assert [len(next(documents)) for _ in range(2)] == [2, 2] and read == 2
    assert len(next(documents)) == 2 and read == 4


def test_texts_share_batches(parser: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    over = BatchParser.over

    def counted(self: BatchParser, given: Iterable[Batch]) -> Iterator[Batch]:
        for batch in over(self, given):
            sizes.append(len(batch.sentences))
            yield batch

    monkeypatch.setattr(BatchParser, "over", counted)
    assert len([*parser.pipe(["The dog slept."] * 25, batch_size=10)]) == 25
    assert sizes == [10, 10, 5]


def test_a_parser_is_pickled_as_its_place(parser: Parser) -> None:
    written = pickle.dumps(parser)
    assert len(written) < 1000
    copy = pickle.loads(written)
    assert str(copy("The dog slept.")) == str(parser("The dog slept."))
    assert repr(copy) == f"<Parser {parser.directories[0]}>"


def test_names(tagged_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("D2C_MODELS", str(tagged_model.parent))
    assert d2c.load("en").directories == d2c.load().directories == [tagged_model]
    with pytest.raises(d2c.ModelError, match="^eng: is no model"):
        d2c.load("eng")
    for other in (3, ["en", 3], {3}):
        with pytest.raises(TypeError) as caught:
            d2c.load(other)  # type: ignore[arg-type]
        assert str(caught.value) == "load() takes a name or a directory, or a list of some, not int"


def test_several_models(parser: Parser, tagged_model: Path) -> None:
    both = d2c.load([tagged_model, str(tagged_model)])
    assert repr(both) == f"<Parser {tagged_model} {tagged_model}>"
    assert [one.text for one in both(TEXT)] == [one.text for one in parser(TEXT)]
    assert str(pickle.loads(pickle.dumps(both))(TEXT)) == str(both(TEXT))
    [tagged] = both.parse_tagged([[("The", "DT"), ("dog", "VBD")]])
    assert tagged.tree.tags == ("DT", "VBD")
    best = both(TEXT, best=2)
    assert [one.text for one in best] == [one.text for one in parser(TEXT)]
    assert [one.tree for one in best] == [one.tree for one in both(TEXT)]


def test_a_model_without_a_tagger(small_model: Path) -> None:
    parser = d2c.load(small_model)
    with pytest.raises(d2c.ModelError, match=NO_TAGGER):
        parser("The dog slept.")
    [tagged] = parser.parse_tagged([[("The", "DT"), ("dog", "NN")]])
    assert tagged.tree.tags == ("DT", "NN")
