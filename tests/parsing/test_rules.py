"""Other rules than those for English: a language's, and those of the pipeline that a model uses."""

from __future__ import annotations

import builtins
import json
import pickle
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

pytest.importorskip("spacy")

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from d2c.base.errors import ModelError
from d2c.commands.cli import cli
from d2c.models.model import Model
from d2c.parsing.rules import language_rules, rules_of
from d2c.parsing.sentence import Sentence
from d2c.parsing.text import PennRules
from d2c.plugins.pipeline_model import PipelineModel
from d2c.training.spec import TrainingSpec
from d2c.training.train import train_models
from d2c.trees.ctree import Tokens
from d2c.trees.formats.brackets import read_brackets, save_brackets
from tests.conftest import SAMPLE


@Language.component("chain", assigns=["token.head", "token.dep"])
def chain(doc: Doc) -> Doc:
    """Hangs each word on the one before it."""
    for sentence in doc.sents:
        for token in sentence:
            token.head = doc[max(token.i - 1, sentence.start)]
            token.dep_ = "dep"
    return doc


@Language.component("tags_by_case", assigns=["token.tag"])
def tags_by_case(doc: Doc) -> Doc:
    """Tags words with a capital as names, others as nouns."""
    for token in doc:
        token.tag_ = "NNP" if token.text[:1].isupper() else "NN"
    return doc


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A model of a pipeline, and what allows it."""
    directory = tmp_path_factory.mktemp("pipeline")
    nlp = spacy.blank("en")
    for name, pipe in (("sentencizer", "sentencizer"), ("tagger", "tags_by_case"), ("parser", "chain")):
        nlp.add_pipe(pipe, name=name)
    nlp.to_disk(directory / "nlp")
    files, ctrees = (directory / "train.mrg", directory / "dev.mrg"), read_brackets(SAMPLE)
    for file, count in zip(files, (20, 3), strict=True):
        save_brackets(islice(ctrees, count), file)
    name = f"spacy:{directory / 'nlp'}"
    train_models(TrainingSpec.of(*files, ("cky",), dparser=f"pipeline:{name}"), [directory / "model"])
    return directory / "model", name


def parse(trained: tuple[Path, str], text: str, *options: str) -> Result:
    model, name = trained
    command = ["parse", str(model), "--to", "json", "--allow-pipeline", name, *options]
    return CliRunner().invoke(cli, command, input=text)


def sentences(result: Result) -> Iterator[Any]:
    assert result.exit_code == 0, result.output
    for line in result.stdout.splitlines():
        read = json.loads(line)
        yield read["line"], read["tokens"], read["tags"], [tuple(pair) for pair in read["offsets"]]


def test_text_as_the_pipeline_reads_it(trained: tuple[Path, str]) -> None:
    text = 'Mary "can\'t"  sleep. It\nrains!\n\nWho?'
    first = (1, ["Mary", '"', "ca", "n't", '"', "sleep", "."], ["NNP", "NN", "NN", "NN", "NN", "NN", "NN"])
    words = [(0, 4), (5, 6), (6, 8), (8, 11), (11, 12), (14, 19), (19, 20)]
    assert [*sentences(parse(trained, text, "--split"))] == [
        (*first, words),
        (1, ["It", "rains", "!"], ["NNP", "NN", "NN"], [(21, 23), (24, 29), (29, 30)]),
        (4, ["Who", "?"], ["NNP", "NN"], [(32, 35), (35, 36)]),
    ]
    (line, *others) = sentences(parse(trained, "Mary sleeps. It rains.\n", "--text"))
    assert line[1] == ["Mary", "sleeps", ".", "It", "rains", "."] and not others
    (line,) = sentences(parse(trained, "Mary can't\n", "--tokenized"))
    assert line[1:3] == (["Mary", "can't"], ["NNP", "NN"])


def test_in_a_pipeline_it_tags_what_has_no_tags(trained: tuple[Path, str]) -> None:
    directory, name = trained
    model = PipelineModel(directory, "model", allow_pipeline=name)
    (ctree,) = model.parse([Sentence(Tokens(("It", "is"), ("", "")))])
    assert ctree.tokens == Tokens(("It", "is"), ("NNP", "NN"))


def test_a_language_given_in_parsing(trained: tuple[Path, str]) -> None:
    (one, two) = sentences(parse(trained, "Er kommt z.B. am 3. Mai. Gut?\n", "--split", "--language", "de"))
    assert one[1] == ["Er", "kommt", "z.B.", "am", "3.", "Mai", "."] and two[1] == ["Gut", "?"]
    result = parse(trained, "x\n", "--tokenized", "--language", "de")
    assert result.exit_code == 2 and "needs --text or --split" in result.output


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("is", ["Hann er t.d. ekki heima.", "Hún kom."]),
        ("de", ["„Kommst du?“, fragte er.", "„Ja.“", "„Nein.“", "Dann ging er.", "(Ende.)"]),
        ("nl", ["Hij vroeg: “Kom je?” en ging weg.", "Wat nu?", "niets"]),
        ("es", ["¿Vienes?", "¡Sí!", "«No.»"]),
    ],
)
def test_marks_and_abbreviations_between_sentences(language: str, sentences: list[str]) -> None:
    """spaCy's rules end a sentence at all full stops, and put what opens after one before its end."""
    text = " ".join(sentences)
    found = language_rules(language).sentences(text)
    assert [text[begin:end] for begin, end in found] == sentences


def test_indonesian_words_are_cut_at_all_hyphens() -> None:
    """As ICON has them; spaCy keeps a list of them whole. Rules go to other processes."""
    rules = pickle.loads(pickle.dumps(language_rules("id")))
    found = [word for word, _, _ in rules.words("Anak-anak dan wartawan-wartawan di PDI-P :-)")]
    assert " ".join(found) == "Anak - anak dan wartawan - wartawan di PDI - P :-)"


def test_languages_that_cannot_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError, match="^--language zz: spaCy has no rules: .*E048"):
        language_rules("zz")
    with pytest.raises(ModelError, match="^--language ../de: a language is two or three small letters"):
        language_rules("../de")
    real = builtins.__import__

    def without_spacy(name: str, *others: Any) -> Any:
        if name == "spacy":
            raise ImportError("No module named 'spacy'")
        return real(name, *others)

    monkeypatch.setattr(builtins, "__import__", without_spacy)
    with pytest.raises(
        ModelError, match=r"^--language de: needs a package \(.*\): .*install -e '\.\[spacy\]'$"
    ):
        language_rules("de")


def test_a_model_keeps_its_language(small_model: Path, tmp_path: Path) -> None:
    model = Model.load(small_model)
    assert model.language is None and isinstance(rules_of(small_model, lambda: model), PennRules)
    model.language = "de"
    model.save(tmp_path / "german", small_model)
    assert Model.load(tmp_path / "german").language == "de"
    for language, text, words in ((None, "z.B. hier", ["z.B.", "hier"]), ("en", "don't", ["do", "n't"])):
        rules = rules_of(tmp_path / "german", lambda: model, language)
        assert [word for word, *_ in rules.words(text)] == words
