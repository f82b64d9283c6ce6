"""JSON lines as input: words, given tags, constraints, and the best trees of a sentence."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import d2c
from d2c import Parser
from d2c.api.document import Document
from d2c.commands.cli import cli
from d2c.parsing.input import sentences_of
from d2c.protocols.route import Ranked, Route
from d2c.training.spec import TrainingSpec
from d2c.training.train import train_models
from d2c.trees.constraints import SpanConstraints
from d2c.trees.formats.brackets import read_brackets, save_brackets

SAMPLE = Path(__file__).parents[2] / "data" / "sample" / "dev.mrg"
WORDS = ["They", "saw", "the", "cat", "with", "glasses", "."]


@pytest.fixture(scope="module", params=["reduction", "cky"])
def parser(request: pytest.FixtureRequest, tagged_model: Path) -> Parser:
    return d2c.load(tagged_model if request.param == "reduction" else None)


def labels(document: Document, start: int, end: int) -> list[str]:
    [sentence] = document
    return [span.label for span in sentence.tree.spans() if (span.start, span.end) == (start, end)]


def test_constraints_are_obeyed(parser: Parser) -> None:
    assert labels(parser.parse_tokens(WORDS, require=[(2, 6, "NP")]), 2, 6) == ["NP"]
    assert labels(parser.parse_tokens([WORDS], forbid=[(2, 6)]), 2, 6) == []
    assert "FRAG" in labels(parser.parse_tokens(WORDS, require=[(0, 7, "FRAG")]), 0, 7)
    assert labels(parser.parse_tokens(WORDS, require=[(1, 3)], forbid=[(2, 4, "NP")]), 1, 3) != []
    tagged = [("They", "PRP"), ("saw", "VBD"), ("her", "PRP$"), ("duck", "NN")]
    pairs: list[Any] = [tagged, [tagged], [[*pair] for pair in tagged], [[[*pair] for pair in tagged]]]
    [document, *same] = [parser.parse_tagged(one, require=[(2, 4, "NP")]) for one in pairs]
    assert [one[0].tree for one in same] == [document[0].tree] * 3
    assert document[0].tree.tags == ("PRP", "VBD", "PRP$", "NN") and labels(document, 2, 4) == ["NP"]


def test_constraints_may_be_none_at_all(parser: Parser) -> None:
    """As of a term that a sentence does not have; numbers may be numpy's."""
    [plain], tagged = parser.parse_tokens([WORDS]), [(word, "NN") for word in WORDS]
    for none in ([], (), iter([])):
        assert parser.parse_tokens(WORDS, require=none)[0].tree == plain.tree
    assert len(parser.parse_tokens([WORDS, WORDS], forbid=[])) == 2
    assert parser.parse_tagged(tagged, require=[])[0].tree == parser.parse_tagged([tagged])[0].tree
    assert labels(parser.parse_tokens(WORDS, require=[(np.int64(2), np.int32(6), "NP")]), 2, 6) == ["NP"]


def test_what_no_tree_can_obey(parser: Parser) -> None:
    with pytest.raises(ValueError, match=r"required, but they cross: .* 0 to 3, .* 2 to 5"):
        parser.parse_tokens(WORDS, require=[(0, 3), (2, 5)])
    with pytest.raises(ValueError, match="constraints are of one sentence"):
        parser.parse_tokens([WORDS, WORDS], require=[(0, 3)])
    with pytest.raises(ValueError, match="no span of 7 words"):
        parser.parse_tagged([(word, "NN") for word in WORDS], forbid=[(0, 8)])


def test_a_misspelt_constraint_is_not_lost() -> None:
    for name in ("requires", "required", "Require", "forbids", "forbidden"):
        [sentence] = sentences_of([json.dumps({"tokens": ["They"], name: [[0, 1]]})], "json")
        known = "forbid" if "orbid" in name else "require"
        assert sentence.why == f"unknown field {name!r}; {known!r} is known"
    line = {"tokens": ["They"], "id": 3, "request": 1, "spans": [], "heads": [], "comments": []}
    [sentence] = sentences_of([json.dumps(line)], "json")
    assert not sentence.error


def test_many_sentences(parser: Parser) -> None:
    """Of required and forbidden spans of all kinds none is broken, and the tree has the words that it had."""
    lines, wanted = list[str](), list[SpanConstraints | None]()
    for number, ctree in enumerate(islice(read_brackets(SAMPLE), 12)):
        n = len(ctree.tokens)
        require = [[number % 2, n // 2 + 1, ("NP", "VP", "XP")[number % 3]], [n - 1, n, "NP"]]
        forbid = [[n // 2, n], [0, n, "S"]]
        lines.append(json.dumps({"tokens": ctree.tokens.forms, "require": require, "forbid": forbid}))
        wanted += [SpanConstraints.of(require, forbid, n), None]
        lines.append(json.dumps({"tokens": ctree.tokens.forms}))
    found = [*parser.stream(lines, kind="json")]
    for line, sentence, constraints in zip(lines, found, wanted, strict=True):
        assert [*sentence.tree.words] == json.loads(line)["tokens"] and not sentence.error
        assert constraints is None or constraints.broken(sentence.tree.ctree) == []
        assert all(0 <= (span.confidence or 0) <= 1 for span in sentence.tree.spans())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"tokens": ["a", "b"], "tags": ["A"]}', "2 tokens with 1 tag"),
        ('{"tokens": []}', "there are no words"),
        ('{"tokens": ["a", " "]}', "the token 2 is empty"),
        ('{"tokens": ["a\\u0000b"]}', "a NUL character, which no text has"),
        ('{"words": ["a"]}', "there is no 'tokens'"),
        ('{"tokens": "a"}', "no JSON object with `tokens`, a list of words, and perhaps `tags`"),
        ("[1]", "no JSON object with `tokens`, a list of words, and perhaps `tags`"),
        ("a b", "no JSON object with `tokens`, a list of words, and perhaps `tags`"),
        ('{"tokens": ["a"], "require": 3}', "`require` and `forbid` are lists of spans: [[0, 3, "),
        ('{"tokens": ["a"], "require": [3]}', "3 is no span: (start, end) or (start, end, label)"),
        ('{"tokens": ["a", "b"], "require": [[0, 2]], "forbid": [[0, 2]]}', "required and forbidden: "),
    ],
)  # fmt: skip
def test_lines_that_are_refused(line: str, message: str) -> None:
    [bad, good] = sentences_of([line + "\n", '{"tokens": ["a"], "tags": ["A"]}\n'], "json", file="x.jsonl")
    assert bad.error is not None and str(bad.error).startswith(f"x.jsonl:1: {message}")
    assert (good.tokens.forms, good.tokens.tags, good.line, good.wanted) == (("a",), ("A",), 2, None)


def run(*arguments: str, text: str) -> Any:
    return CliRunner().invoke(cli, ["parse", *arguments], input=text)


def test_the_command(parser: Parser) -> None:
    lines = [{"tokens": WORDS, "require": [[2, 6, "NP"]]}, {"tokens": WORDS, "require": [[0, 8]]}]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = run(str(parser.directories[0]), "--json", "--best", "3", "--to", "json", text=text)
    assert done.exit_code == 3 and "<stdin>:2: a constituent over 0 to 8: no span of 7 words" in done.stderr
    first, second = map(json.loads, done.stdout.splitlines())
    assert second["error"] and "alternatives" not in second
    best = [*parser.stream(text.splitlines()[:1], kind="json", best=3)]
    assert best[0].to_dict() == first
    assert best[0].alternatives[0].tree == best[0].tree
    assert first["alternatives"][0]["tree"] == str(best[0].tree)


def test_formats_without_a_place_for_several_trees() -> None:
    done = run("--tokenized", "--best", "2", text="a b\n")
    assert done.exit_code == 2
    assert (
        "Error: brackets has no place for several trees of a sentence; --best needs --to json" in done.stderr
    )


def test_alternatives_of_a_chart_have_probabilities(monkeypatch: pytest.MonkeyPatch) -> None:
    """They come in their order, whatever that of their best derivations, in which the route gives them."""
    parser, of_route = d2c.load(), Route.decode_k_best

    def from_the_last(*given: Any) -> list[Ranked]:
        first, *others = of_route(*given)
        return [first, *reversed(others)]

    monkeypatch.setattr(Route, "decode_k_best", from_the_last)
    [sentence] = parser.parse_tokens([WORDS], best=5)
    probabilities = [one.probability or 0 for one in sentence.alternatives]
    assert len({str(one.tree) for one in sentence.alternatives}) == 5
    assert probabilities == sorted(probabilities, reverse=True) and 0 < sum(probabilities) <= 1
    assert parser.parse_tokens([WORDS])[0].alternatives == ()


def test_alternatives_among_likely_arcs(tmp_path: Path) -> None:
    """The reduction has some where its d-parser says how probable arcs are; its tree stays as it is."""
    files, ctrees = (tmp_path / "train.mrg", tmp_path / "dev.mrg"), read_brackets(SAMPLE)
    for file, count in zip(files, (80, 20), strict=True):
        save_brackets(islice(ctrees, count), file)
    spec = TrainingSpec.of(*files, ("reduction", "labeler"), dparser="transition:standard", epochs=1)
    train_models(spec, [tmp_path / name for name in spec.routes])
    every = [one.tokens for one in read_brackets(files[1])]
    tagged = [[*zip(one.forms, one.tags, strict=True)] for one in every]
    for name in spec.routes:
        parser, several = d2c.load(tmp_path / name), 0
        for sentence, alone in zip(
            parser.parse_tagged(tagged, best=4), parser.parse_tagged(tagged), strict=True
        ):
            trees, shares = zip(*sentence.alternatives, strict=True)
            assert trees[0] == sentence.tree == alone.tree and len({*map(str, trees)}) == len(trees) <= 4
            if name == "reduction":
                assert all(0 < share <= 1 for share in shares) and sum(shares) < 1 + 1e-6
                several += len(trees) > 1
            else:  # it looks among arcs with `--arcs packed` alone
                assert shares == (None,)
        assert several > 10 or name == "labeler"


def test_a_route_with_one_tree_says_no_probability(tagged_model: Path) -> None:
    [sentence] = d2c.load(tagged_model)("They slept.", best=5)
    assert [(str(one.tree), one.probability) for one in sentence.alternatives] == [(str(sentence.tree), None)]
