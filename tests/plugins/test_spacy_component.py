"""d2c in spaCy's pipelines, with a real small model."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span, Token

import d2c.plugins.spacy.component
from d2c.base.errors import ModelError
from d2c.models.model import Model, load_route
from d2c.models.names import find
from d2c.trees.ctree import Tokens
from d2c.trees.formats.brackets import format_bracket, read_brackets
from tests.conftest import SAMPLE, give_tagger

pytestmark = pytest.mark.usefixtures("loaded_once")
ATTRIBUTES = "labels", "parse_string", "constituents", "children", "parent"
REPOSITORY = Path(__file__).parents[2]
TEXTS = [
    "The young dog saw a cat.  Mary met some doctors in the office.",
    "",
    "These girls said it.\n",
    " \n ",
]


@Language.component("tags_of_the_sample")
def tags_of_the_sample(doc: Doc) -> Doc:
    for token in doc:
        token.tag_ = TAGS.get(token.text, "_SP" if token.is_space else "NN")
    return doc


TAGS = {
    form: tag
    for ctree in read_brackets(SAMPLE)
    for form, tag in zip(ctree.tokens.forms, ctree.tokens.tags, strict=True)
}


def pipeline(model: Path, tagger: bool = True, **config: str) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    if tagger:
        nlp.add_pipe("tags_of_the_sample")
    nlp.add_pipe("d2c", config={"model": str(model), **config})
    return nlp


def parses(doc: Doc) -> list[str]:
    return [sentence._.parse_string for sentence in doc.sents if sentence._.parse_string]


def expected(doc: Doc, model: Path) -> list[str]:
    """What the model makes of the words of each sentence, by itself."""
    sentences = [[token for token in sentence if not token.is_space] for sentence in doc.sents]
    tokens = [
        Tokens(tuple(t.text for t in words), tuple(t.tag_ for t in words)) for words in sentences if words
    ]
    return [format_bracket(ctree).removeprefix("(TOP ")[:-1] for ctree in Model.load(model).parse(tokens)]


def test_one_document(small_model: Path) -> None:
    doc = pipeline(small_model)(TEXTS[0])
    first, second = doc.sents
    assert first.text == "The young dog saw a cat."
    assert second.text == " Mary met some doctors in the office."
    assert parses(doc) == expected(doc, small_model)
    assert first._.parse_string.startswith(f"({first._.labels[0]} ")
    assert Doc(doc.vocab).from_bytes(doc.to_bytes())[: len(first)]._.parse_string == first._.parse_string


def test_hyphens_cut_otherwise_than_the_model_does_are_warned_of_once(
    recwarn: pytest.WarningsRecorder,
) -> None:
    nlp = pipeline(find("en"), tagger=False)
    nlp("They slept - all of them - in 5 - 3 beds, -5 times.")
    assert not recwarn.list
    nlp("It is a well-known cat.")
    nlp("It is a well-known cat.")
    [warning] = recwarn.list
    assert str(warning.message) == (
        "well-known is one word for the model en, but three for this pipeline; en-clear has learned the "
        "words of spaCy's, for pipelines with a dependency parser; d2c.load() cuts text as en does"
    )
    assert warning.filename.endswith("language.py")


def test_pipelines_for_other_languages_are_warned_of(recwarn: pytest.WarningsRecorder) -> None:
    for language in ("xx", "en", "de"):
        assert not recwarn.list
        spacy.blank(language).add_pipe("d2c", config={"model": "en-small"})
    [warning] = recwarn.list
    assert str(warning.message) == (
        "the model en-small is for en text, and this pipeline for de; `d2c train --language de` makes one "
        "for that"
    )


def test_models_of_the_pipelines_words_do_not_warn(recwarn: pytest.WarningsRecorder) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    component = nlp.add_pipe("d2c", config={"model": "en-clear"})
    with pytest.raises(ModelError, match="let a tagger come before d2c"):
        nlp("It is a well-known cat.")
    assert not component.warned and not recwarn.list


def test_sentences_of_blanks(small_model: Path) -> None:
    """At the end, in the middle of others, at the beginning; and documents without words."""
    nlp = pipeline(small_model)
    last, first, *none = nlp.pipe(["Fine.\n\n", "\n\n Mary  met \n him.", " \n", ""])
    assert [sentence.text for sentence in last.sents] == ["Fine.", "\n\n"]
    assert [sentence._.parse_string for sentence in last.sents] == [*parses(nlp("Fine.")), ""]
    blanks = [*last.sents][1]
    known = blanks._.labels, blanks._.parent, [*blanks._.constituents], [*blanks._.children]
    assert known == ((), None, [], [])
    assert parses(first) == parses(nlp("Mary met him."))
    assert [[s._.parse_string for s in doc.sents] for doc in none] == [[""], []]


@pytest.mark.parametrize("batch_size", [1, 3, 100])
def test_batches(small_model: Path, batch_size: int) -> None:
    nlp = pipeline(small_model)
    texts = TEXTS * 3
    docs = [*nlp.pipe(texts, batch_size=batch_size)]
    assert [doc.text for doc in docs] == texts
    assert [parses(doc) for doc in docs] == [parses(nlp(text)) for text in texts]
    assert [len(parses(doc)) for doc in docs[:4]] == [2, 0, 1, 0]


def test_the_pipelines_own_parse(chart_model: Path) -> None:
    route = load_route(chart_model)
    gold = next(ctree for ctree in read_brackets(SAMPLE) if len(ctree.tokens) > 6)
    dtree = route.encode(gold)
    assert dtree.labels is not None
    nlp = spacy.blank("en")
    nlp.add_pipe("d2c", config={"model": str(chart_model), "dparser": "pipeline"})
    # A token of blanks in the middle, hanging on the one before it.
    forms, tags = [*gold.tokens.forms], [*gold.tokens.tags]
    forms.insert(2, "\n")
    tags.insert(2, "_SP")
    shifted = [head - 1 + (head > 2) if head else -1 for head in dtree.heads]
    heads = [m + (m >= 2) if head < 0 else head for m, head in enumerate(shifted)]
    heads.insert(2, 1)
    deps = ["ROOT" if head == 0 else label for head, label in zip(dtree.heads, dtree.labels, strict=True)]
    deps.insert(2, "dep")
    doc = nlp(Doc(nlp.vocab, forms, tags=tags, heads=heads, deps=deps))
    (converted,) = route.decode_all([dtree])
    assert f"(TOP {doc[:]._.parse_string})" == format_bracket(converted)


def test_a_pipeline_without_a_parse(chart_model: Path) -> None:
    with pytest.raises(ModelError, match="no dependency parse: let a dependency parser come before d2c"):
        pipeline(chart_model, dparser="pipeline")(TEXTS[0])


def test_a_pipeline_without_tags(small_model: Path) -> None:
    nlp = pipeline(small_model, tagger=False)
    with pytest.raises(ModelError, match="some words have no tags, and .*/model has no tagger"):
        nlp(TEXTS[0])


def test_a_pipeline_whose_parse_is_converted_has_its_own_tags(chart_model: Path) -> None:
    """Whatever tagger the model has: it has not read the words as the pipeline's parser has."""
    nlp = spacy.blank("en")
    nlp.add_pipe("d2c", config={"model": str(chart_model), "dparser": "pipeline"})
    doc = Doc(nlp.vocab, ["They", "slept"], heads=[1, 1], deps=["nsubj", "ROOT"], sent_starts=[True, False])
    with pytest.raises(ModelError) as caught:
        nlp(doc)
    said = "some words have no tags, and only a pipeline gives those of its own parse"
    assert str(caught.value) == f"{said}: let a tagger come before d2c"


def test_a_models_tagger_gives_the_tags(small_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nlp = pipeline(small_model, tagger=False)
    give_tagger(monkeypatch, _Tagger())
    doc = nlp(TEXTS[0])
    assert [token.tag_ for token in doc][:4] == ["DT", "JJ", "NN", "VBD"]
    assert parses(doc) == parses(pipeline(small_model)(TEXTS[0]))


class _Tagger:
    def tag(self, sentences: Iterable[tuple[str, ...]]) -> list[Tokens]:
        return [Tokens(forms, tuple(TAGS.get(form, "NN") for form in forms)) for forms in sentences]


def test_a_pipeline_without_sentences(small_model: Path) -> None:
    nlp = pipeline(small_model)
    nlp.remove_pipe("sentencizer")
    with pytest.raises(ValueError, match="E030"):
        nlp(TEXTS[0])


@pytest.mark.parametrize("size", [1, 2])
def test_documents_that_fail_can_be_left_out(small_model: Path, size: int) -> None:
    nlp = pipeline(small_model)
    failed: list[str] = []
    nlp.set_error_handler(lambda name, component, docs, error: failed.extend(doc.text for doc in docs))
    docs = [nlp.make_doc("It is cut."), Doc(nlp.vocab, ["not", "cut"])]
    nlp.remove_pipe("sentencizer")
    docs[0][0].is_sent_start = True
    docs[0][1].is_sent_start = False
    assert [doc.text for doc in nlp.pipe(docs, batch_size=size)] == ["It is cut."]
    assert failed == ["not cut "]


def test_bad_configurations(small_model: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="'stanza' of the pipeline is none of model, pipeline"):
        pipeline(small_model, dparser="stanza")
    with pytest.raises(ModelError, match='^the component d2c, "model": /.*/absent'):
        pipeline(tmp_path / "absent")
    with pytest.raises(ModelError, match="has the route reduction, but .*; only the route cky learns from"):
        pipeline(small_model, dparser="pipeline")


def test_saved_pipelines_hold_their_model(small_model: Path, tmp_path: Path) -> None:
    nlp = pipeline(small_model)
    expected = parses(nlp(TEXTS[0]))
    nlp.to_disk(tmp_path / "saved")
    nlp.to_disk(tmp_path / "saved")  # over itself
    settings = tmp_path / "saved" / "config.cfg"
    settings.write_text(settings.read_text().replace(str(small_model), "moved"))
    loaded = spacy.load(tmp_path / "saved")
    assert loaded.get_pipe_config("d2c")["model"] == "moved"
    component = loaded.get_pipe("d2c")
    assert isinstance(component, d2c.plugins.spacy.component.ConstituencyComponent)
    assert component.model.directory == tmp_path / "saved" / "d2c"
    loaded.to_disk(tmp_path / "saved")  # its model stays
    assert parses(loaded(TEXTS[0])) == expected


def test_spacy_knows_what_it_assigns(small_model: Path) -> None:
    analysis = pipeline(small_model).analyze_pipes()
    assert analysis["summary"]["d2c"]["assigns"] == [f"span._.{name}" for name in ATTRIBUTES]


# As in a plain install. It takes each process seconds to import, and spaCy does so where it can.
NO_TORCH = "import sys; sys.modules['torch'] = None"


def install(directory: Path) -> dict[str, str]:
    """Make a distribution that says what d2c's does; return the environment of a process that sees it."""
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    entry_points = settings["project"]["entry-points"]["spacy_factories"]
    assert entry_points == {"d2c": "d2c.plugins.spacy.component:make_component"}
    # As an installed distribution would say it.
    info = directory / "d2c_as_installed-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: d2c-as-installed\nVersion: 0\n")
    lines = [f"{name} = {target}" for name, target in entry_points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[spacy_factories]", *lines, ""]))
    return dict(os.environ, PYTHONPATH=f"{directory}{os.pathsep}{REPOSITORY}")


def test_spacy_finds_the_component_without_an_import(small_model: Path, tmp_path: Path) -> None:
    code = f"""
{NO_TORCH}
import spacy
nlp = spacy.blank("en")
nlp.add_pipe("sentencizer")
nlp.add_pipe("d2c", config={{"model": {str(small_model)!r}}})
doc = spacy.tokens.Doc(nlp.vocab, ["Mary", "saw", "it"], tags=["NNP", "VBD", "PRP"])
print(nlp(doc)[:]._.parse_string)
"""
    environment = install(tmp_path)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert run.stdout.startswith("(") and "(NNP Mary)" in run.stdout, run.stderr


UNUSED = f"""
{NO_TORCH}
import multiprocessing, sys
import spacy
from spacy.tokens import Span, Token

def labels(span):
    return "mine"

if __name__ == "__main__":
    Span.set_extension("labels", getter=labels)
    nlp = spacy.blank("en")
    assert not Token.has_extension("parse_string") and Span.get_extension("labels")[2] is labels
    for start in sys.argv[1:]:
        multiprocessing.set_start_method(start, force=True)
        print(*(doc[:]._.labels + doc.text for doc in nlp.pipe(["A.", "B."], n_process=2, batch_size=1)))
"""
USED = f"""
{NO_TORCH}
import multiprocessing, sys
import spacy

if __name__ == "__main__":
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("d2c", config={{"model": "en-small"}})
    for start in sys.argv[1:]:
        multiprocessing.set_start_method(start, force=True)
        print(*(doc[:1]._.labels[0] for doc in nlp.pipe(["They slept.", "Who?"], n_process=2, batch_size=1)))
"""


@pytest.mark.parametrize(
    ("code", "printed"),
    [(UNUSED, "mineA. mineB.\n"), pytest.param(USED, "NP WHNP\n", marks=pytest.mark.slow)],
    ids=["unused", "used"],
)
def test_processes_of_spacys_own(code: str, printed: str, tmp_path: Path) -> None:
    """However they start: with d2c installed but not used, too, whose names are the program's then."""
    (tmp_path / "script.py").write_text(code)
    command = [sys.executable, tmp_path / "script.py", "fork", "spawn", "forkserver"]
    run = subprocess.run(command, capture_output=True, text=True, env=install(tmp_path), timeout=300)
    assert run.stdout == printed * 3, run.stderr


def test_attributes_of_other_makers_stay(small_model: Path) -> None:
    """The component refuses to take their names, before it changes anything, and has others on request."""
    ours, mine = Token.get_extension("parent")[2], Span.get_extension("_constituents")
    Token.set_extension("parent", getter=str, force=True)
    Token.remove_extension("labels")
    try:
        with pytest.raises(ModelError) as caught:
            pipeline(small_model)
        said = "token._.parent is already something else than d2c's: give d2c's a prefix"
        assert str(caught.value) == f'{said}, config={{"prefix": "d2c_"}}'
        assert not Token.has_extension("labels") and Span.get_extension("_constituents") == mine
        doc = pipeline(small_model, prefix="d2c_")(TEXTS[0])
        assert doc[0]._.d2c_parse_string == "(DT The)" and doc[0]._.parent == "The"
    finally:
        Token.set_extension("parent", getter=ours, force=True)
        for kind in (Span, Token):
            for name in ATTRIBUTES:
                if kind.has_extension(f"d2c_{name}"):
                    kind.remove_extension(f"d2c_{name}")


def test_a_pickled_pipeline_has_its_attributes(small_model: Path) -> None:
    pickled = pickle.dumps(pipeline(small_model))
    Span.remove_extension("labels")
    restored = pickle.loads(pickled)
    assert Span.has_extension("labels") and parses(restored(TEXTS[0]))
