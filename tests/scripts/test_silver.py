"""Silver trees, parts of treebanks, lessons of a teacher, and everyday sentences."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from d2c.base.errors import FormatError
from d2c.models.model import Model
from d2c.protocols.abilities import DParserAbilities
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import format_bracket, parse_bracket
from d2c.trees.formats.conllu import write_conllu
from d2c.trees.formats.reading import CLEANED
from models import teaching
from models.everyday import LISTS, Everyday, found, read_everyday
from models.teaching import Lesson, read_tagged_text, taught
from treebanks.penn import joined, penn_trees, write_parts
from treebanks.silver import contradictions, mended

TREE = "(TOP (S (NP (PRP I)) (VP (VBD saw) (NP (DT a) (NN dog)) (PP (IN with) (NP (NN glee)))) (. .)))"
HEADS = (2, 0, 4, 2, 6, 2, 2)


def dtree(heads: tuple[int, ...]) -> DTree:
    tokens = parse_bracket(TREE).tokens
    return DTree(tokens, heads, labels=("x",) * len(heads))


@pytest.mark.parametrize(
    ("heads", "count"),
    [
        (HEADS, 0),
        ((2, 0, 4, 2, 6, 4, 2), 0),  # the dog with glee: no phrase crosses it
        ((4, 4, 2, 0, 6, 4, 4), 1),  # `saw a` crosses `a dog`
        ((7, 7, 7, 7, 7, 7, 0), 0),  # punctuation is left aside
    ],
)
def test_constituents_that_cross_a_subtree(heads: tuple[int, ...], count: int) -> None:
    assert contradictions(parse_bracket(TREE), dtree(heads)) == count


def test_what_begins_a_clause_has_the_label_of_its_word() -> None:
    tree = parse_bracket(
        "(TOP (NP (NP (NN cat)) (SBAR (NP (WDT which)) (S (VP (VBZ sleeps) (SBAR (ADVP (WRB where)) "
        "(S (NP (PRP it)) (VP (MD can)))))))))"
    )
    assert format_bracket(mended(tree)) == (
        "(TOP (NP (NP (NN cat)) (SBAR (WHNP (WDT which)) (S (VP (VBZ sleeps) (SBAR (WHADVP (WRB where)) "
        "(S (NP (PRP it)) (VP (MD can)))))))))"
    )
    clause = parse_bracket("(TOP (SBAR (IN if) (S (NP (DT the) (NN cat)) (VP (VBZ sleeps)))))")
    assert mended(clause) == clause


def test_trees_that_contradict_their_d_trees_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "x.mrg.gz"
    with gzip.open(file, "wt") as stream:
        stream.write(f"{TREE}\n" * 2)
    assert len([*penn_trees(file)]) == 2  # gold, as long as there are no d-trees
    gold = [dtree(HEADS), dtree((4, 4, 2, 0, 6, 4, 4))]
    with gzip.open(tmp_path / "x.ud.conllu.gz", "wt") as stream:
        write_conllu(gold, stream)
    assert [*map(format_bracket, penn_trees(file))] == [TREE]
    with gzip.open(file, "wt") as stream:
        stream.write(TREE.replace("dog", "cat") + "\n")
    with pytest.raises(FormatError, match="has other words than its d-tree"):
        [*penn_trees(file)]


def test_treebanks_have_their_shares(tmp_path: Path) -> None:
    files = [tmp_path / "a.mrg", tmp_path / "b.mrg"]
    for file in files:
        file.write_text("".join(f"(TOP (NP (NN {file.stem}{i})))\n" for i in range(4000)))
    train, dev = write_parts(dict(zip(files, (0.5, 2.0), strict=True)), CLEANED, tmp_path, 1)
    words = [[tree.tokens.forms[0] for tree in CLEANED(part)] for part in (train, dev)]
    assert [len(part) for part in words] == [1950 + 2 * 3900, 50 + 100]
    assert not {*words[0]} & {*words[1]}
    assert sum(word[0] == "b" for word in words[0]) == 2 * len({word for word in words[0] if word[0] == "b"})
    again = write_parts(dict(zip(files, (0.5, 2.0), strict=True)), CLEANED, tmp_path, 1)[0]
    assert [tree.tokens.forms[0] for tree in CLEANED(again)] == words[0]
    gold, silver = {files[0]: 0.5}, {files[1]: 2.0}
    train, dev = write_parts(gold, CLEANED, tmp_path, 1, silver=silver)
    more = [[tree.tokens.forms[0] for tree in CLEANED(part)] for part in (train, dev)]
    assert len(more[0]) == 1950 + 2 * 4000 and more[1] == words[1][:50]


def test_a_single_block_is_held_out(tmp_path: Path) -> None:
    few, many = files = tmp_path / "few.mrg", tmp_path / "many.mrg"
    for file, count in zip(files, (10, 100), strict=True):
        file.write_text("".join(f"(TOP (NP (NN {file.stem}{i})))\n" for i in range(count)))
    train, dev = write_parts({few: 1.5, many: 1.0}, CLEANED, tmp_path, 1)
    assert {tree.tokens.forms[0].rstrip("0123456789") for tree in CLEANED(train)} == {"many"}
    assert len([*CLEANED(train)]) == 50 and len([*CLEANED(dev)]) == 10 + 50


def test_some_sentences_come_in_other_letters_too(tmp_path: Path) -> None:
    file = tmp_path / "a.mrg"
    file.write_text("(TOP (NP (NNP Ann) (-LRB- -LRB-) (NN sees) (-RRB- -RRB-)))\n" * 1000)
    train, _ = write_parts({file: 1.0}, CLEANED, tmp_path, 1, recased=0.1)
    forms = [tree.tokens.forms for tree in CLEANED(train)]
    changed = [one for one in forms if one != ("Ann", "(", "sees", ")")]
    assert {*changed} == {("ann", "(", "sees", ")"), ("ANN", "(", "SEES", ")")}
    assert 60 < len(changed) < 140
    assert {tree.tokens.tags for tree in CLEANED(train)} == {("NNP", "-LRB-", "NN", "-RRB-")}


class Teacher:
    """Finds one tag for all words, and a phrase around them."""

    def __init__(self, label: str = "NP", converts: bool = False) -> None:
        self.label, self.dparser, self.route = (
            label,
            SimpleNamespace(abilities=DParserAbilities(given=converts)),
            self,
        )

    def decode_all(self, dtrees: list[DTree]) -> list[CTree]:
        return self.parse(dtree.tokens for dtree in dtrees)

    def parse(self, sentences: Iterable[Tokens]) -> list[CTree]:
        rows = (zip(one.tags, one.forms, strict=True) for one in sentences)
        words = (" ".join(f"({tag or 'NN'} {word})" for tag, word in row) for row in rows)
        return [parse_bracket(f"(TOP ({self.label} {one}))") for one in words]


def test_a_teacher_s_trees_are_kept_where_it_is_sure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = tmp_path / "some-text.txt.gz"
    with gzip.open(text, "wt") as stream:
        stream.write("cats_NN dogs_NN\none_NN\n_NN b_NN\n\"_'' a_b_NN\ncats_NN sleep_VBP\n")
    typed = tmp_path / "typed.txt.gz"
    typed.write_bytes(gzip.compress("“_NN cats_NNS ”_NN ’s_POS\n".encode()))
    assert [one.tokens.forms for one in read_tagged_text(typed)] == [("``", "cats", "''", "’s")]
    assert [(one.tokens.forms, one.tokens.tags) for one in read_tagged_text(text)][1] == (
        ("''", "a_b"),
        ("''", "NN"),
    )
    monkeypatch.setattr(teaching, "find", Path)
    monkeypatch.setattr(Model, "load", lambda directory, allow_pipeline: Teacher())
    lesson, said = Lesson("some", text.name, ("en",)), list[str]()
    file = taught(lesson, tmp_path, tmp_path, unasked, said.append)
    assert file == tmp_path / "kept" / "some.mrg"
    assert file.read_text() == "(TOP (NP (NN cats) (NN dogs)))\n"
    assert said == [
        "some: en parse 3 sentences of some-text.txt.gz",
        "some: 1 sentence, of which they are sure, in 0 seconds",
    ]
    assert taught(lesson, tmp_path, tmp_path, unasked, said.append) == file and len(said) == 2  # made once


def unasked(name: str) -> Any:
    raise AssertionError(f"nobody needs the parser of {name}")


def test_d_trees_of_lessons_have_their_labels(tmp_path: Path) -> None:
    """Converters see relations; of words that hyphens make, those of the token whose head is elsewhere."""
    rows = [("Cat", "NN", 4, "nsubj"), ("-", "HYPH", 3, "punct"), ("like", "JJ", 1, "amod")]
    rows.append(("ate", "VBD", 0, "root"))
    with gzip.open(tmp_path / "some.ud.conllu.gz", "wt") as stream:
        for i, (word, tag, head, label) in enumerate(rows, 1):
            stream.write(f"{i}\t{word}\t{word[0]}\t_\t{tag}\tA={i}\t{head}\t{label}\t_\t_\n")
        stream.write("\n")
    (one,) = teaching.read_dtrees(tmp_path / "some.ud.conllu.gz")
    assert (one.heads, one.labels, one.symbols) == ((4, 3, 1, 0), ("nsubj", "punct", "amod", "root"), None)
    assert one.tokens.morphs == ("A=1", "A=2", "A=3", "A=4")  # which tell imperatives
    whole = joined(one)
    assert (whole.tokens.forms, whole.tokens.lemmas) == (("Cat-like", "ate"), ("C", "a"))
    assert (whole.heads, whole.labels) == ((2, 0), ("nsubj", "root"))


def test_teachers_vote_and_some_convert_gold_dtrees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("cats", "NN", 0), ("-", "HYPH", 3), ("eat", "VB", 1), ("mice", "NNS", 1)]
    with gzip.open(tmp_path / "some.ud.conllu.gz", "wt") as stream:
        lines = (f"{i}\t{w}\t_\t_\t{t}\t_\t{h}\tx\t_\t_\n" for i, (w, t, h) in enumerate(rows, 1))
        stream.write("".join(lines) + "\n")
    teachers = {"a": Teacher("NP"), "b": Teacher("FRAG"), "c": Teacher("FRAG", converts=True)}
    asked: list[tuple[str, str | None]] = []

    def load(directory: Path, allow_pipeline: str | None) -> Teacher:
        asked.append((directory.name, allow_pipeline))
        return teachers[directory.name]

    monkeypatch.setattr(teaching, "find", Path)
    monkeypatch.setattr(Model, "load", load)
    monkeypatch.setattr(teaching, "agrees", lambda ctree, dtree: dtree.heads == (0, 1))
    lesson = Lesson("some", "some.ud.conllu.gz", ("a", "b over spacy:x", "c"), tags=0.0, agree=1 / 3)
    file = taught(lesson, tmp_path, tmp_path, unasked, print)
    assert file.read_text() == "(TOP (FRAG (NN cats-eat) (NN mice)))\n"
    assert asked == [("a", None), ("b", "spacy:x"), ("c", None)]
    monkeypatch.setattr(teaching, "constructions_of", lambda dtree: {"gapping", "expletive it"})
    often = taught(replace(lesson, name="often", counted=3), tmp_path, tmp_path, unasked, print)
    assert often.read_text() == 3 * file.read_text()
    for stricter in (replace(lesson, agree=0.4), replace(lesson, tags=0.6)):
        file = taught(replace(stricter, name="stricter"), tmp_path, tmp_path, unasked, print)
        assert file.read_text() == ""
        file.unlink()


def test_a_converter_has_a_parser_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose tags it sees; what is a hyphen to it stays the word that it is to others."""
    with gzip.open(tmp_path / "some-text.txt.gz", "wt") as stream:
        stream.write('cats_NN -_: mice_NNS\n"_NN mice_NNS eat_VBP\ncats_NN -_: mice_NNS\n')
    teachers = {"a": Teacher("NP"), "b": Teacher("FRAG"), "c": Teacher("FRAG", converts=True)}
    monkeypatch.setattr(teaching, "find", Path)
    monkeypatch.setattr(Model, "load", lambda directory, allow_pipeline: teachers[directory.name])

    def parse(sentences: Iterable[Tokens]) -> list[DTree]:
        tags = [("NN", "HYPH", "NNS"), ("``", "NN", "NNS"), ("NN", "HYPH", "NNS")]
        return [
            DTree(Tokens(one.forms, own), (0, *[1] * (len(own) - 1)))
            for one, own in zip(sentences, tags, strict=True)
        ]

    lesson = Lesson("some", "some-text.txt.gz", ("a", "b", "c over its parser"), tags=0.0, agree=0.0)
    parsers, said = {"c": SimpleNamespace(parse=parse)}, list[str]()
    file = taught(lesson, tmp_path, tmp_path, parsers.__getitem__, said.append)
    assert file.read_text() == 2 * "(TOP (FRAG (NN cats) (NN -) (NN mice)))\n"
    assert "1 sentence, whose words they see otherwise, left out" in said[-1]


@pytest.mark.parametrize(("name", "size", "kinds"), [("everyday", 200, 10), ("constructions", 150, 13)])
def test_everyday_sentences(name: str, size: int, kinds: int) -> None:
    sentences = [*read_everyday(name)]
    assert len(sentences) == size and len({one.text for one in sentences}) == size
    assert all(one.wanted and "[" not in one.text and "]" not in one.text for one in sentences)
    assert len({one.kind for one in sentences}) == kinds


def test_what_is_wanted_of_everyday_sentences() -> None:
    texts = {one.text: one for name in LISTS for one in read_everyday(name)}
    assert len(texts) == 350
    assert texts["Dogs bark."].wanted == ((("NP",), 0, 4), (("VP",), 4, 8))
    assert texts["Yes, i'll be there."].wanted[1:3] == ((("NP",), 3, 4), (("ADVP",), 8, 13))
    assert texts["It costs £5."].wanted == ((("NP",), 0, 2), (("NP",), 7, 8), (("VP",), 2, 8))


def test_what_is_found_of_an_everyday_sentence() -> None:
    sentence = Everyday("", "Dogs bark.", ((("NP", "S"), 0, 4), (("VP",), 4, 8)))
    assert found(sentence, parse_bracket("(TOP (S (NP (NNS Dogs)) (VP (VBP bark)) (. .)))")) == 2
    assert found(sentence, parse_bracket("(TOP (NP (NNS Dogs) (NN bark) (. .)))")) == 0
    assert found(sentence, parse_bracket("(TOP (FRAG (S (NN Dogs)) (NN bark) (. .)))")) == 1
