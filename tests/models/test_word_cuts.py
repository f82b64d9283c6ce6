"""Words of a language without blanks, learned from a treebank."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d2c.base.errors import ModelError
from d2c.dparsers.spacy.pipeline import SpacyRules, pipeline_of_words
from d2c.models import word_cuts
from d2c.models.model import Model
from d2c.models.word_cuts import WordCuts, WordParts, cuts_of, load_cuts
from d2c.parsing.rules import rules_of
from d2c.trees.ctree import Tokens

pytest.importorskip("sklearn")
WORDS = ("猫", "が", "魚を", "食べ", "た", "カメラ", "2026", "。")
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9)


def treebank() -> list[Tokens]:
    rng = Random(1)
    return [Tokens.untagged(rng.choices(WORDS, k=rng.randint(1, 9))) for _ in range(400)]


@pytest.fixture(scope="module")
def cuts() -> WordCuts:
    return WordCuts.fit(treebank())


def forms(cuts: WordCuts, text: str) -> list[str]:
    found = cuts.words(text)
    assert all(text[begin:end] == form for form, begin, end in found)
    return [form for form, _, _ in found]


@given(words=sentences)
def test_words_of_the_treebank_come_back(cuts: WordCuts, words: list[str]) -> None:
    assert forms(cuts, "".join(words)) == words


@given(text=st.text())
def test_nothing_is_lost_of_any_text(cuts: WordCuts, text: str) -> None:
    """But blanks, which are in no word."""
    assert "".join(forms(cuts, text)) == "".join(text.split())
    assert not any(form.split() != [form] for form in forms(cuts, text))


def test_few_characters(cuts: WordCuts) -> None:
    assert cuts.words("") == [] and cuts.words(" \n") == []
    assert cuts.words("猫") == [("猫", 0, 1)] and cuts.words(" 猫 が ") == [("猫", 1, 2), ("が", 3, 4)]


def test_they_are_kept(cuts: WordCuts, tmp_path: Path) -> None:
    cuts.save(tmp_path / "words")
    loaded = WordCuts.load(tmp_path / "words")
    every = ["".join(tokens.forms) for tokens in treebank()]
    assert [loaded.words(text) for text in every] == [cuts.words(text) for text in every]
    WordCuts.fit(treebank()).save(tmp_path / "again")
    first, second = ((tmp_path / name / "words.npz").read_bytes() for name in ("words", "again"))
    assert first == second
    (tmp_path / "words" / "words.npz").write_bytes(first[:100])
    with pytest.raises(ModelError, match="words.npz: is broken"):
        WordCuts.load(tmp_path / "words")


def test_of_a_large_treebank_some_is_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_cuts, "_MOST", 1500)  # a third of it
    assert forms(WordCuts.fit(treebank()), "猫が魚を食べた。") == ["猫", "が", "魚を", "食べ", "た", "。"]


def test_all_boundaries_or_none() -> None:
    for words in ["猫", "が", "魚"], ["猫が魚"]:
        assert forms(WordCuts.fit([Tokens.untagged(words)]), "猫が魚") == words
    assert forms(WordCuts.fit([Tokens.untagged(["猫"])]), "猫が魚") == ["猫が魚"]  # nothing was seen


def test_they_are_learned_of_languages_without_blanks() -> None:
    assert isinstance(cuts_of("ja", treebank()), WordCuts)
    assert cuts_of("de", treebank()) is cuts_of(None, []) is None


def test_sentences(cuts: WordCuts) -> None:
    """Cut at full stops, but not where a particle shows that a quoted sentence goes on. Rules go to other
    processes."""
    rules = pickle.loads(pickle.dumps(SpacyRules(pipeline_of_words(cuts.words))))
    text = "猫が食べた。\n「猫。」と食べた。 魚を"
    assert [text[a:b] for a, b in rules.sentences(text)] == ["猫が食べた。", "「猫。」と食べた。", "魚を"]
    assert rules.words("猫 が") == [("猫", 0, 1), ("が", 2, 3)] and rules.sentences(" \n") == []


@pytest.mark.parametrize("language", [None, "ja", "de"])
def test_a_model_keeps_them(small_model: Path, cuts: WordCuts, tmp_path: Path, language: str | None) -> None:
    model = Model.load(small_model)
    model.language, model.cuts = language, cuts
    model.save(tmp_path / "model", small_model)
    copy = Model.load(tmp_path / "model")
    copy.save(tmp_path / "copy", tmp_path / "model")
    for place in (tmp_path / "model", tmp_path / "copy"):
        if language == "ja":
            assert words(place, None) == words(place, "ja") == ["猫", "が", "2026"]
        else:
            with pytest.raises(ModelError, match="^--language ja: .* has not learned its words"):
                words(place, "ja")
    with pytest.raises(ModelError, match="^--language zh: .* train a model with --language zh$"):
        words(tmp_path / "model", "zh")


def words(model: Path, language: str | None) -> Sequence[str]:
    return [form for form, _, _ in rules_of(model, lambda: Model.load(model), language).words("猫が2026")]


MARKED = [
    "bíl$ $inn hestur hest$ $inn dal$ $inn stein$ $inn",
    "Bíl$ $inn sá minn minn",
    "finn finn á$ $sýnt hús$ $ið hús$ $ið .",
]


def test_words_are_cut_where_their_endings_are() -> None:
    """`minn` and `finn` end as `bílinn` does; nothing is learned of what is seen once."""
    parts = cuts_of("is", (Tokens.untagged(text.split()) for text in MARKED))
    assert isinstance(parts, WordParts)
    text = "Vagninn minn, BÍLINN ásýnt húsið 2inn"
    given = [(one, text.index(one), text.index(one) + len(one)) for one in text.replace(",", " ,").split()]
    assert [form for form, _, _ in parts.over(given)] == (
        ["Vagn$", "$inn", "minn", ",", "BÍL$", "$INN", "ásýnt", "hús$", "$ið", "2inn"]
    )
    assert all(text[begin:end] == form.strip("$") for form, begin, end in parts.over(given))


@given(forms=st.lists(st.text(st.sampled_from("ab$"), min_size=1, max_size=4), max_size=6))
def test_any_words_are_kept_whole_or_in_two(forms: list[str]) -> None:
    parts = WordParts.fit([Tokens.untagged(forms or ["a"])] * 2)
    words = [(form, 0, len(form)) for form in ("a", "ab", "abab", "b$", "")]
    whole = "".join(form.replace("$", "") for form, _, _ in parts.over(words))
    assert whole == "aabababb"


def test_parts_are_kept_in_a_model(small_model: Path, tmp_path: Path) -> None:
    model = Model.load(small_model)
    model.cuts = WordParts.fit([Tokens.untagged(text.split()) for text in MARKED])
    model.save(tmp_path / "model", small_model)
    assert load_cuts(tmp_path / "model" / "words") == Model.load(tmp_path / "model").cuts == model.cuts
    rules = rules_of(tmp_path / "model", lambda: model)
    assert [form for form, _, _ in rules.words("The bílinn.")] == ["The", "bíl$", "$inn", "."]
    assert [*rules.sentences("A bílinn. So.")] == [(0, 9), (10, 13)] and rules.longest
    others = rules_of(tmp_path / "model", lambda: model, "is")
    assert [form for form, _, _ in others.words("bílinn")] == ["bílinn"]
    file = tmp_path / "model" / "words" / "parts.json"
    file.write_text('{"format": 1, "ends": {"inn": -1}}')
    with pytest.raises(ModelError, match="parts.json: is damaged"):
        Model.load(tmp_path / "model")
