"""Constrained CKY on d-trees of another convention, from parsers that are trained already."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

pytest.importorskip("spacy")

import spacy
from spacy.tokens import Doc

import d2c.plugins.spacy.component  # noqa: F401 (makes the component known)
from d2c.base.errors import ModelError
from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.commands.cli import cli
from d2c.models.model import Model, load_route
from d2c.training.conventions import fit_to_convention, with_induced_heads
from d2c.training.spec import TrainingSpec
from d2c.training.train import train_models
from d2c.trees.conversion import to_dependencies
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import format_bracket, read_brackets, save_brackets
from d2c.trees.formats.conllu import write_conllu
from d2c.trees.formats.discbracket import parse_discbracket
from d2c.trees.scores.brackets import bracket_scores
from tests.conftest import SAMPLE
from tests.training.ud_like import train_spacy, ud_like

Treebank = tuple[list[CTree], list[CTree], Path]


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Treebank:
    """Training and dev trees, and where they are in files, also as UD-like CoNLL-U."""
    directory = tmp_path_factory.mktemp("conventions")
    ctrees = read_brackets(SAMPLE, clean=True)
    parts = list(islice(ctrees, 200)), list(islice(ctrees, 30))
    for name, part in zip(("train", "dev"), parts, strict=True):
        save_brackets(part, directory / f"{name}.mrg")
        with open(directory / f"{name}.conllu", "w", encoding="utf-8") as stream:
            write_conllu(map(ud_like, part), stream)
    return *parts, directory


@pytest.fixture(scope="module")
def pipeline(treebank: Treebank, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train_spacy(treebank[0], 8, tmp_path_factory.mktemp("spacy") / "pipeline")


@pytest.fixture(scope="module")
def model(treebank: Treebank, pipeline: Path) -> tuple[Path, float]:
    """A model with spaCy's parser, and the oracle F1 that its training said first."""
    return train(treebank[2], f"pipeline:spacy:{pipeline}", "spacy")


def train(directory: Path, dparser: str, name: str) -> tuple[Path, float]:
    files = [str(directory / "train.mrg"), "--dev", str(directory / "dev.mrg"), "-o", str(directory / name)]
    run = CliRunner().invoke(cli, ["train", *files, "--dparser", dparser, "--route", "cky"])
    assert run.exit_code == 0, (run.output, run.exception)
    lines = run.stderr.splitlines()
    oracle, epoch = (next(line for line in lines if line.startswith(begin)) for begin in ("oracle", "cky: e"))
    said = re.fullmatch(r"oracle F1 on dev ([0-9.]+), of the nearest c-trees that .*: the ceiling", oracle)
    left_out, first = lines[lines.index(oracle) + 1 :][:2]  # trees of which these d-trees allow none
    assert said and first == epoch and left_out.startswith("cky: nothing is learned from "), lines
    return directory / name, float(said[1])


def with_pipeline(model: Path, pipeline: Path) -> Model:
    """The model names no directory, so that the pipeline must be given again."""
    return Model.load(model, allow_pipeline=f"spacy:{pipeline}")


def f1(gold: Sequence[CTree], guess: Sequence[CTree]) -> float:
    return bracket_scores(gold, guess).f1


def test_induced_heads_are_the_ud_like_ones(treebank: Treebank) -> None:
    dtrees = list(map(ud_like, treebank[0]))
    assert all(dtree.is_tree() and dtree.is_projective() for dtree in dtrees)
    headed = with_induced_heads(treebank[0], dtrees)
    same = [to_dependencies(a).heads == b.heads for a, b in zip(headed, dtrees, strict=True)]
    by_collins = map(ConstrainedCKY().encode, treebank[0])
    unchanged = [a.heads == b.heads for a, b in zip(by_collins, dtrees, strict=True)]
    # In the other one a clause's "was" counts as auxiliary of the next clause's: its S has several heads.
    assert (sum(same), sum(unchanged)) == (199, 41)
    # Heads that form no tree are repaired first: the cycle of both words, the head outside.
    tokens = next(ctree.tokens for ctree in treebank[0])
    wrong = DTree(tokens, (2, 1, 99, *[1] * (len(tokens) - 3)))
    (repaired,) = with_induced_heads(treebank[0][:1], [wrong])
    assert repaired.head_children is not None


@pytest.mark.slow
def test_spacys_pipeline_as_d_parser(treebank: Treebank, model: tuple[Path, float], pipeline: Path) -> None:
    _, dev, _ = treebank
    directory, ceiling = model
    loaded = with_pipeline(directory, pipeline)
    dtrees = list(loaded.parse_dependencies(ctree.tokens for ctree in dev))
    right = [
        a == b
        for d, c in zip(dtrees, dev, strict=True)
        for a, b in zip(d.heads, ud_like(c).heads, strict=True)
    ]
    assert sum(right) / len(right) > 0.5
    assert isinstance(loaded.route, ConstrainedCKY)
    nearest = list(map(loaded.route.oracle, with_induced_heads(dev, dtrees), dtrees))
    assert f1(dev, nearest) == pytest.approx(ceiling, abs=0.005)
    converted = list(loaded.parse(ctree.tokens for ctree in dev))
    print(f"UAS {100 * sum(right) / len(right):.2f}, oracle F1 {ceiling}, F1 {f1(dev, converted):.2f}")
    assert 50 < ceiling < 100
    assert ceiling - 20 < f1(dev, converted) <= ceiling


def test_the_pipelines_own_parse_is_converted_where_it_runs(
    treebank: Treebank, model: tuple[Path, float], pipeline: Path
) -> None:
    """What the spaCy component makes of the parse is what `d2c parse` makes of the sentences."""
    nlp = spacy.load(pipeline)
    nlp.add_pipe("d2c", config={"model": str(model[0]), "dparser": "pipeline"})
    sentences = [ctree.tokens for ctree in treebank[1]]
    for tokens, ctree in zip(sentences, with_pipeline(model[0], pipeline).parse(sentences), strict=True):
        starts: list[bool | int | None] = [i == 0 for i in range(len(tokens))]
        doc = nlp(Doc(nlp.vocab, [*tokens.forms], tags=[*tokens.tags], sent_starts=starts))
        assert f"(TOP {doc[:]._.parse_string})" == format_bracket(ctree)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_d_trees_of_the_input_are_converted_where_no_pipeline_is_named(
    treebank: Treebank, model: tuple[Path, float], jobs: str
) -> None:
    """As `decode` does; the words and tags alone are not enough."""
    dev, route = treebank[1], load_route(model[0])
    file = treebank[2] / "dev.conllu"
    run = CliRunner().invoke(cli, ["parse", str(model[0]), str(file), "--jobs", jobs, "--batch-size", "10"])
    assert run.exit_code == 0, run.output
    decoded = [*map(format_bracket, route.decode_all(map(ud_like, dev)))]
    assert run.stdout.splitlines() == decoded


def test_what_of_the_input_cannot_be_converted(model: tuple[Path, float]) -> None:
    rows = {"UPOS": "INTJ\t_\t_\t0\troot", "nothing": "_\t_\t_\t0\troot", "heads": "_\tNN\t_\t_\t_"}
    text = "".join(f"# {name}\n1\tHi\t_\t{row}\t_\t_\n\n" for name, row in rows.items())
    ranges = "1-2\tdunno\t_\t_\t_\t_\t_\t_\t_\t_\n1\tdun\t_\tVERB\tVBP\t_\t0\troot\t_\t_\n"
    text += f"{ranges}1.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n2\tno\t_\tADV\tRB\t_\t1\tadvmod\t_\t_\n"
    run = CliRunner().invoke(cli, ["parse", str(model[0])], input=text)
    assert run.exit_code == 3
    errors = [line for line in run.stderr.splitlines() if line.startswith("d2c: ")]
    assert errors == [
        "d2c: <stdin>:1: the tags are UPOS's (INTJ); XPOS needs those that the model has learned",
        "d2c: <stdin>:4: there are no tags; XPOS needs those that the model has learned",
        "d2c: <stdin>:7: there is no d-tree, and no pipeline that parses: --allow-pipeline spacy:NAME",
    ]
    assert [line.count("ERROR") for line in run.stdout.splitlines()] == [3, 3, 3, 0]
    assert "(VBP dun)" in run.stdout and "(RB no)" in run.stdout
    run = CliRunner().invoke(cli, ["parse", str(model[0]), "--text"], input="Hi\n")
    assert isinstance(run.exception, ModelError) and "--allow-pipeline spacy:NAME" in str(run.exception)


def test_files_as_d_parser(treebank: Treebank) -> None:
    """The right d-trees of this convention: every c-tree can be had."""
    _, dev, directory = treebank
    dparser = f"file:{directory / 'train.conllu'};{directory / 'dev.conllu'}"
    model, ceiling = train(directory, dparser, "files")
    assert ceiling > 99
    run = CliRunner().invoke(cli, ["decode", str(directory / "dev.conllu"), "-m", str(model), "--jobs", "1"])
    assert run.exit_code == 0, run.output
    (directory / "guess.mrg").write_text(run.stdout, encoding="utf-8")
    guess = list(read_brackets(directory / "guess.mrg"))
    print(f"oracle F1 {ceiling}, F1 {f1(dev, guess):.2f}")
    assert f1(dev, guess) > 85
    parsed = Model.load(model).parse(ctree.tokens for ctree in dev)
    assert list(map(format_bracket, parsed)) == list(map(format_bracket, guess))


def test_labels_of_a_foreign_convention_are_features(tmp_path: Path) -> None:
    """Words, tags and heads are the same in both trees: only the label of the arc tells S from Q."""
    tokens = Tokens(("a", "b"), ("A", "B"))
    labels = ("nsubj", "obj") * 3
    (tmp_path / "trees.mrg").write_text("(S (A a) (B b))\n(Q (A a) (B b))\n" * 3, encoding="utf-8")
    with open(tmp_path / "trees.conllu", "w", encoding="utf-8") as stream:
        write_conllu((DTree(tokens, (2, 0), labels=(label, "root")) for label in labels), stream)
    files, dparser = [tmp_path / "trees.mrg"] * 2, "file:" + ";".join([str(tmp_path / "trees.conllu")] * 2)
    spec = TrainingSpec.of(*files, ("cky",), dparser=dparser)
    [model] = train_models(spec, [tmp_path / "model"]).models
    for route in (model.route, load_route(tmp_path / "model")):
        assert isinstance(route, ConstrainedCKY) and route.settings.labels
        assert [*route.vocabulary_.labels] == ["nsubj", "obj", "root"]
        dtrees = [DTree(tokens, (2, 0), labels=(label, "root")) for label in ("obj", "nsubj")]
        assert [ctree.labels for ctree in route.decode_all(dtrees)] == [("Q",), ("S",)]


def test_stanzas_pipeline_as_d_parser(treebank: Treebank, monkeypatch: pytest.MonkeyPatch) -> None:
    stanza = pytest.importorskip("stanza")
    train_trees, dev, directory = treebank
    known = {ctree.tokens.forms: ud_like(ctree) for ctree in [*train_trees, *dev]}

    def parse(sentences: list[list[str]]) -> SimpleNamespace:
        found = [known[tuple(words)] for words in sentences]
        return SimpleNamespace(
            sentences=[SimpleNamespace(words=list(map(word, d.heads, d.labels))) for d in found]
        )

    def word(head: int, label: str) -> SimpleNamespace:
        return SimpleNamespace(head=head, deprel=label, xpos=None)

    monkeypatch.setattr(stanza, "Pipeline", lambda *_, **options: parse)
    model, ceiling = train(directory, "pipeline:stanza:en", "stanza")
    assert ceiling > 99
    loaded = Model.load(model, allow_pipeline="stanza:en")
    assert [*loaded.parse_dependencies([dev[0].tokens])] == [ud_like(dev[0])]
    assert f1(dev, list(loaded.parse(ctree.tokens for ctree in dev))) > 85


def test_what_foreign_d_trees_are_no_use_for(treebank: Treebank, tmp_path: Path) -> None:
    directory = treebank[2]
    files = [str(directory / name) for name in ("train.mrg", "dev.mrg")]
    dparser = ["--dparser", f"file:{directory / 'train.conllu'};{directory / 'dev.conllu'}"]
    command = ["train", files[0], "--dev", files[1], "-o", str(tmp_path / "model"), *dparser]
    for wrong in (["--route", "reduction"], ["--route", "cky", "--jackknife", "2"]):
        run = CliRunner().invoke(cli, [*command, *wrong])
        assert isinstance(run.exception, ModelError)
        assert str(run.exception).startswith("the d-parser file is trained elsewhere; only the route cky")
    run = CliRunner().invoke(cli, ["compare", *files, *dparser])
    assert isinstance(run.exception, ModelError) and "train, parse and evaluate" in str(run.exception)
    swapped = ["--dparser", f"file:{directory / 'dev.conllu'};{directory / 'train.conllu'}", "--route", "cky"]
    run = CliRunner().invoke(cli, [*command[:-2], *swapped])
    assert re.search(r"dev.conllu: sentence 1: (has|word)", str(run.exception))
    assert not (tmp_path / "model").exists()


def test_what_a_route_that_learned_gaps_guesses_is_scored_with_its_gaps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Dev has none. If the gap of X were raised it would be the gold tree."""
    texts = "(S (X (A 0=a)) (B 1=b) (C 2=c))\n", "(S (X (A 0=a) (C 2=c)) (B 1=b))\n"
    dev, guess = (parse_discbracket(text) for text in texts)
    route, said = ConstrainedCKY(), list[object]()
    dtrees = [DTree(tree.tokens, (2, 0, 2)) for tree in (dev, guess)]
    dparser = SimpleNamespace(parse_training=lambda _: dtrees[1:], parse=lambda _: dtrees[:1])
    reading = {"train": [guess], "dev": [dev]}
    monkeypatch.setattr(route, "oracle", lambda ctree, dtree: guess)
    monkeypatch.setattr(route, "decode_all", lambda dtrees: [guess])
    spec = TrainingSpec.of(Path("train"), Path("dev"), reading=lambda path: iter(reading[path.name]))
    fit_to_convention(route, dparser, spec.data, said.append)  # type: ignore[arg-type]
    assert route.gaps_ and bracket_scores([dev], [guess]).f1 == 100
    assert str(said[0]).startswith("oracle F1 on dev 50.00, ")
    assert all("F1 50.00" in str(epoch) for epoch in said[1:]) and said[1:]
