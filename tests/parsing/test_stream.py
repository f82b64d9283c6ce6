"""Batches of sentences through a small model in memory: places, numbers, digests, missing confidences."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from d2c.base.errors import FormatError, ModelError
from d2c.dparsers.file_parser import FileParser
from d2c.dparsers.settings import FileSettings
from d2c.models.model import Model
from d2c.parsing.input import read_sentences
from d2c.parsing.options import CUT, JSON, ParseOptions
from d2c.parsing.sentence import Sentence, refused
from d2c.parsing.stream import Done, batched, format_batch, parse_batches
from d2c.protocols.abilities import DParserAbilities, RouteAbilities
from d2c.trees.constraints import SpanConstraints, obeying
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.formats.export import read_export
from d2c.trees.repair import Repairs


@dataclass(frozen=True, kw_only=True)
class AnyAbilities(RouteAbilities, DParserAbilities):
    """Those of a fake that is route and d-parser."""


def file_parser(path: Path, dev: Path | None = None) -> FileParser:
    return FileParser(FileSettings(path=path, dev=dev))


class Flat:
    """A d-parser whose first word is the head of all others, and a route that makes one constituent."""

    abilities = AnyAbilities()

    def parse(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        return (DTree(tokens, (0, *[1] * (len(tokens) - 1))) for tokens in sentences)

    def decode_all(self, dtrees: Iterable[DTree], repairs: Repairs) -> Iterator[CTree]:
        return (CTree(d.tokens, ("S",), (tuple(range(len(d.heads))),), (0,), "TOP") for d in dtrees)


class Sure(Flat):
    """A route that makes one constituent more, over the first two words, as sure as it is told to be."""

    abilities = AnyAbilities(confidences=True)

    def __init__(self, label: str, share: float) -> None:
        self.label, self.share = label, share

    def confidences_all(
        self, dtrees: Iterable[DTree], repairs: Repairs
    ) -> Iterator[tuple[CTree, tuple[float, ...]]]:
        for d in dtrees:
            n = len(d.heads)
            repairs.tokens += n
            kids = (0, 1), (n, *range(2, n))
            yield CTree(d.tokens, (self.label, "S"), kids, (0, 0), "TOP"), (self.share, 1.0)


def model(dparser: Any = None) -> Model:
    flat: Any = Flat()
    return Model("flat", flat, "flat", dparser or flat)


def sure(label: str, share: float, **f1: float) -> Model:
    route: Any = Sure(label, share)
    return Model("sure", route, "flat", route, f1=f1)


def conllu(tmp_path: Path, *words: str) -> Path:
    """A file with a sentence of each word and `b`, and a bad one for each empty word."""
    row = "{}\t{}\t_\tA\tA\t_\t0\tr\t_\t_\n"
    file = tmp_path / "x.conllu"
    file.write_text("".join(row.format(1, word) + row.format(2, "b") + "\n" for word in words))
    return file


def parse(model: Model | list[Model], file: Path, to: str, skipped: int = 0, **options: Any) -> list[Done]:
    models = [model] if isinstance(model, Model) else model
    chosen = ParseOptions(confidences=to == "json", **options)
    given = batched(read_sentences(file, chosen.kind), chosen.batch_size)
    format_one = partial(format_batch, to, str(file))
    return [*parse_batches(lambda: models, chosen, islice(given, skipped, None), format_one)]


def test_a_route_without_confidences(tmp_path: Path) -> None:
    file = conllu(tmp_path, "a")
    [done] = parse(model(), file, "json")
    assert json.loads(done.text)["spans"] == [{"label": "S", "start": 0, "end": 2, "head": 0}]
    with pytest.raises(ModelError, match="the route flat does not say how sure it is of constituents"):
        parse(model(), file, "brackets", min_confidence=0.5)


BAD = "(TOP (ERROR (ERROR ERROR)))\n"


def tree(word: str) -> str:
    return f"(TOP (S (A {word}) (A b)))\n"


def test_batches(tmp_path: Path) -> None:
    file = conllu(tmp_path, "", "c", "", "", "d", "e", "")
    done = parse(model(), file, "brackets", batch_size=3)
    assert [one.text for one in done] == [BAD + tree("c") + BAD, BAD + tree("d") + tree("e"), BAD]
    assert [(one.sentences, one.tokens) for one in done] == [(3, 2), (3, 4), (1, 0)]
    assert [[error.line for error in one.errors] for one in done] == [[1, 7], [10], [19]]
    numbers = [
        line
        for one in parse(model(), file, "export", batch_size=3)
        for line in one.text.splitlines()
        if line.startswith("#BOS")
    ]
    assert numbers == [f"#BOS {number}" for number in range(1, 8)]
    digests = {
        size: [batch.digest for batch in batched(read_sentences(file, "conllu"), size)] for size in (2, 4)
    }
    assert digests[2][1::2] == digests[4] == sorted(set(digests[4]), key=digests[4].index)


def test_a_digest_is_of_what_the_input_says() -> None:
    """What else a `Sentence` holds makes no difference to a run that goes on."""
    tokens = Tokens(("a", "b"), ("A", "B"))
    one = Sentence(tokens, line=3)

    def digest(sentence: Sentence) -> str:
        [batch] = batched([sentence], 1)
        return batch.digest

    assert digest(one) == digest(replace(one, document="d", id="3", confidences=(1.0,), number=7))
    others = (
        replace(one, line=4),
        replace(one, tokens=replace(tokens, tags=("A", "C"))),
        replace(one, tokens=replace(tokens, comments=("sent_id = 1",))),
        replace(one, dtree=DTree(tokens, (2, 0), labels=("x", "root"))),
        replace(one, offsets=((0, 1), (2, 3))),
        replace(one, wanted=SpanConstraints.of([(0, 2)], None, 2)),
        refused(FormatError("", 3, 0, "no")),
    )
    assert len({digest(other) for other in (one, *others)}) == 1 + len(others)


def test_what_the_format_cannot_hold(tmp_path: Path) -> None:
    [done] = parse(model(), conllu(tmp_path, "a", "#BOS", "c"), "export")
    (tmp_path / "x.export").write_text("#FORMAT 4\n" + done.text)
    forms = [tree.tokens.forms for tree in read_export(tmp_path / "x.export")]
    assert forms == [("a", "b"), ("ERROR",), ("c", "b")]
    [error] = done.errors
    assert str(error).startswith(f"{tmp_path}/x.conllu:4: the word '#BOS' cannot be")


def test_d_trees_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A d-parser that has its d-trees in order is given one stream of sentences, whatever the batches."""
    monkeypatch.setattr("d2c.models.model._WINDOW", 1)  # sentences that are read ahead
    words = ["a", "", "c", "d", "e"]
    file = conllu(tmp_path, *words)
    given = tmp_path / "given.conllu"
    given.write_text(conllu(tmp_path, *filter(None, words)).read_text())
    conllu(tmp_path, *words)
    texts = [done.text for done in parse(model(file_parser(given)), file, "brackets", batch_size=2)]
    assert texts == [tree("a") + BAD, tree("c") + tree("d"), tree("e")]
    with pytest.raises(
        ModelError, match="^the d-parser flat has its d-trees in a file, in order; leave out --res"
    ):
        parse(model(file_parser(given)), file, "brackets", skipped=1, batch_size=2)


def test_models_vote(tmp_path: Path) -> None:
    """Votes count by the errors on the parts that all cards name, and by their odds."""
    file = conllu(tmp_path, "a", "c")
    file.write_text(file.read_text().replace("2\tb", "2\tb\t_\tA\tA\t_\t0\tr\t_\t_\n3\tb"))
    good, bad = sure("NP", 1.0, x=90, y=70), sure("VP", 1.0, x=80, z=99)
    for models in ([good, bad], [bad, good]):
        [done] = parse(models, file, "brackets", batch_size=2)
        assert done.text == "(TOP (S (NP (A a) (A b)) (A b)))\n(TOP (S (NP (A c) (A b)) (A b)))\n"
        assert done.repairs.tokens == 6  # each word once
    [done] = parse([good, bad, sure("VP", 1.0, x=90)], file, "json", batch_size=2)
    spans = json.loads(done.text.splitlines()[0])["spans"]
    assert [(span["label"], span["confidence"]) for span in spans] == [("S", 1.0), ("VP", 0.529412)]
    [done] = parse([sure("NP", 0.5, x=90), bad], file, "brackets", batch_size=2)
    assert done.text.startswith("(TOP (S (A a) (A b) (A b)))")
    [done] = parse([sure("NP", 0.99), sure("NP", 0.6)], file, "brackets", min_confidence=0.8, batch_size=2)
    assert done.text.startswith("(TOP (S (A a) (A b) (A b)))")


def test_what_must_be_there_is_never_too_weak(tmp_path: Path) -> None:
    """Nor with several models, whose votes for it may be weak."""

    class Within(Sure):
        def within(self, dtree: DTree, wanted: SpanConstraints, repairs: Repairs) -> Any:
            return next(self.confidences_all([dtree], repairs))

    file, models = tmp_path / "x.jsonl", list[Model]()
    file.write_text('{"tokens": ["a", "b", "c"], "tags": ["A", "A", "A"], "require": [[0, 2, "NP"]]}\n')
    for share in (0.7, 0.6):
        route: Any = Within("NP", share)
        models.append(Model("sure", route, "flat", route))
    for some in (models[:1], models):
        [done] = parse(some, file, "brackets", kind=JSON, min_confidence=0.9, batch_size=2)
        assert done.text == "(TOP (S (NP (A a) (A b)) (A c)))\n"


def test_what_several_models_do_not_give(tmp_path: Path) -> None:
    refused = "^several models vote on c-trees; d-trees and function tags are of one model$"
    with pytest.raises(ModelError, match=refused):
        parse([model(), model()], conllu(tmp_path, "a"), "conllu", ctrees=False)
    with pytest.raises(ModelError, match=refused):
        parse([model(), model()], conllu(tmp_path, "a"), "brackets", functions=True)


def test_sentences_that_one_of_several_models_cannot_parse(tmp_path: Path) -> None:
    class Given(Sure):
        abilities = AnyAbilities(given=True)

    route: Any = Given("NP", 1.0)
    headless = conllu(tmp_path, "c").read_text().replace("\t0\tr", "\t_\tr")
    file = conllu(tmp_path, "a", "")
    file.write_text(file.read_text() + headless)
    [done] = parse([model(), Model("given", route, "given", route)], file, "brackets")
    assert [error.line for error in done.errors] == [4, 7]


def test_a_long_sentence_is_parsed_in_pieces(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    long = {"tokens": ["a"] * 20, "tags": ["A"] * 20, "require": [[7, 13, "X"]]}
    short = {"tokens": ["a"] * 8, "tags": ["A"] * 8}
    file.write_text(f"{json.dumps(short)}\n{json.dumps(long)}\n")
    [done] = parse(model(), file, "json", kind=JSON, max_words=8)
    first, second = map(json.loads, done.text.splitlines())
    assert "pieces" not in first
    assert second["pieces"] == 4
    tops = [(one["label"], one["start"], one["end"]) for one in second["spans"]]
    assert tops[0] == ("S", 0, 20)
    assert ("X", 7, 13) in tops
    assert (done.repairs.counts[CUT], done.sentences, done.tokens) == (1, 2, 28)


def test_constraints_within_pieces_and_across_them(tmp_path: Path) -> None:
    """A route says of the former how sure it is, whether that is asked for or not."""

    class Within(Flat):
        abilities = AnyAbilities(confidences=True)

        def within(self, dtree: DTree, wanted: SpanConstraints, repairs: Repairs) -> Any:
            return obeying(next(self.decode_all([dtree], repairs)), wanted, (1.0,))

    route: Any = Within()
    file = tmp_path / "x.jsonl"
    spans: list[Any] = [[0, 2, "NP"], [4, 9]]
    file.write_text(json.dumps({"tokens": ["a"] * 10, "tags": ["A"] * 10, "require": spans}))
    [done] = parse(Model("within", route, "flat", route), file, "brackets", kind=JSON, max_words=8)
    wanted = SpanConstraints.of(spans, None, 10)
    assert wanted and not wanted.broken(parse_bracket(done.text))


class Short(Flat):
    """A d-parser that has memory for so many words at a time; it keeps what it was asked for."""

    def __init__(self, room: int) -> None:
        self.room, self.asked = room, list[int]()

    def parse(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        given = [*sentences]
        self.asked.append(sum(map(len, given)))
        if self.asked[-1] > self.room:
            raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: Error code 12")
        return super().parse(given)


def test_where_memory_is_short_batches_are_halved(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file, dparser = tmp_path / "x.jsonl", Short(5)
    rows = [{"tokens": ["a"] * n, "tags": ["A"] * n} for n in (2, 3, 6, 2)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    [done] = parse(model(dparser), file, "brackets", kind=JSON)
    flat = ["(TOP (S " + " ".join(["(A a)"] * n) + "))" for n in (2, 3, 6, 2)]
    assert done.text.splitlines() == [*flat[:2], BAD.strip(), flat[3]]
    why = "memory is short for 6 words; fewer --jobs, a smaller --batch-size and --max-words need less"
    assert [str(error) for error in done.errors] == [f"{file}:3: {why}"]
    assert dparser.asked == [13, 5, 8, 6, 2]
    said = [record.getMessage() for record in caplog.records]
    assert [one.partition(":")[0] for one in said] == [
        "memory is short from line 1 on",
        "memory is short from line 3 on",
    ]


def test_other_errors_of_a_parser_are_its_own(tmp_path: Path) -> None:
    class Broken(Flat):
        def parse(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
            raise RuntimeError("no such layer")

    with pytest.raises(RuntimeError, match="no such layer"):
        parse(model(Broken()), conllu(tmp_path, "a"), "brackets")


def test_pieces_too_long_for_the_memory_cost_their_sentence_alone(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    rows = [{"tokens": ["a"] * n, "tags": ["A"] * n} for n in (20, 2)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    [done] = parse(model(Short(4)), file, "brackets", kind=JSON, max_words=8)
    assert [error.line for error in done.errors] == [1]
    assert done.text.splitlines()[1] == "(TOP (S (A a) (A a)))"
