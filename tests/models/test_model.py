"""The main job end to end, small: treebank → labels → a real Stanza parser → constituents → score."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pytest
from click.testing import CliRunner

from d2c.base.errors import FormatError, ModelError
from d2c.base.settings import Settings
from d2c.cky.settings import ChartSettings
from d2c.commands.cli import cli
from d2c.dparsers.file_parser import GoldParser
from d2c.experiments.comparison import compare_on
from d2c.experiments.rows import table_lines
from d2c.models.model import Model
from d2c.packed.arcs import LEAST
from d2c.packed.scoring import ArcScoring
from d2c.protocols.abilities import DParserAbilities
from d2c.protocols.route import Progress
from d2c.protocols.settings import SharedSettings
from d2c.reduction.reduction import Reduction
from d2c.routes.dparsers import DPARSERS, DParserRow, make_dparser
from d2c.routes.registry import RouteSettings, make_route
from d2c.training.spec import Data, TrainingSpec
from d2c.training.train import Trained, train_models
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import read_brackets, save_brackets
from d2c.trees.formats.conllu import write_conllu
from d2c.trees.formats.reading import Reading

SAMPLE = Path(__file__).parents[2] / "data" / "sample" / "train.mrg"
TRAIN, DEV = 200, 40


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    directory = tmp_path_factory.mktemp("treebank")
    ctrees = read_brackets(SAMPLE)
    files = directory / "train.mrg", directory / "dev.mrg"
    for file, count in zip(files, (TRAIN, DEV), strict=True):
        save_brackets(islice(ctrees, count), file)
    return files


def train(
    treebank: tuple[Path, Path], directory: Path, progress: Progress | None = None, epochs: int = 10
) -> Model:
    spec = TrainingSpec.of(*treebank, dparser="stanza", preset="small", epochs=epochs, device="cpu")
    return train_models(spec, [directory], progress).models[0]


@pytest.fixture(scope="module")
def model(treebank: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    directory = tmp_path_factory.mktemp("models") / "model"
    train(treebank, directory)
    yield directory


@pytest.fixture(scope="module")
def beginner(treebank: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that has seen the treebank once, where it does not matter how good its trees are."""
    directory = tmp_path_factory.mktemp("models") / "beginner"
    train(treebank, directory, epochs=1)
    return directory


@pytest.mark.slow
def test_it_learns_and_scores(treebank: tuple[Path, Path], model: Path) -> None:
    comparison = compare_on(treebank[1], Trained([Model.load(model, device="cpu")], 0.0, [0.0]))
    gold, stanza = comparison.rows
    assert gold.attachment.uas == gold.attachment.las == 100
    assert gold.brackets.f1 > 97 and gold.repairs.counts.total() == 0
    assert stanza.attachment.uas > 50 and 40 < stanza.brackets.f1 < gold.brackets.f1
    table = list(table_lines(comparison))
    assert [line.split()[:2] for line in table[2:4]] == [["reduction", "gold"], ["reduction", "stanza"]]


def test_parse_and_info_commands(treebank: tuple[Path, Path], beginner: Path, tmp_path: Path) -> None:
    model = beginner
    gold = list(read_brackets(treebank[1]))
    source, out, arcs = tmp_path / "in.conllu", tmp_path / "out.mrg", tmp_path / "out.conllu"
    with open(source, "w", encoding="utf-8") as stream:
        write_conllu(map(Reduction().encode, gold), stream)
    run = CliRunner().invoke(cli, ["parse", str(model), str(source), "-o", str(out), "--device", "cpu"])
    assert run.exit_code == 0, run.output
    parsed = list(read_brackets(out))
    assert [tree.tokens for tree in parsed] == [tree.tokens for tree in gold]
    run = CliRunner().invoke(cli, ["parse", str(model), str(source), "--to", "conllu", "-o", str(arcs)])
    assert run.exit_code == 0, run.output
    run = CliRunner().invoke(cli, ["decode", str(arcs), "-m", str(model)])
    assert run.exit_code == 0, run.output
    save_brackets(parsed, tmp_path / "again.mrg")
    assert (tmp_path / "again.mrg").read_text() in run.output
    run = CliRunner().invoke(cli, ["info", str(model)])
    assert "reduction" in run.output and "route.encoding" in run.output


def test_interrupted_training_leaves_nothing(treebank: tuple[Path, Path], tmp_path: Path) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train((treebank[1], treebank[1]), tmp_path / "model", interrupt)
    assert list(tmp_path.iterdir()) == []


def test_other_directories_are_left_alone(treebank: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("x")
    with pytest.raises(ModelError, match="cannot become a model: it holds other files"):
        train(treebank, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]
    with pytest.raises(ModelError, match="is no model of d2c's: .*/model.json is no file"):
        Model.load(tmp_path)


def test_routes_are_registered_by_name(beginner: Path) -> None:
    loaded = Model.load(beginner, device="cpu")
    assert (loaded.route_name, loaded.dparser_name) == ("reduction", "stanza")
    tree: CTree = next(read_brackets(SAMPLE))
    assert next(loaded.parse([tree.tokens])).tokens == tree.tokens


@pytest.mark.slow
def test_all_routes_side_by_side(treebank: tuple[Path, Path], model: Path, tmp_path: Path) -> None:
    first = Model.load(model, device="cpu")
    models = [first]
    for name in ("cky", "combined"):
        route = make_route(name, RouteSettings(chart=ChartSettings(epochs=2)))
        route.fit(*map(Reading(), treebank))
        models.append(Model(name, route, first.dparser_name, first.dparser))
        models[-1].save(tmp_path / name, model)
    comparison = compare_on(treebank[1], Trained(models, 0.5, [1.0, 2.0, 3.0]))
    rows = comparison.rows
    names = ["reduction", "cky", "combined"]
    assert [(row.route, row.d_trees) for row in rows] == [
        *((name, "gold") for name in names),
        *((name, "stanza") for name in names),
        ("oracle", "stanza"),
    ]
    f1 = [row.brackets.f1 for row in rows]
    assert min(f1[:3]) > 90 and f1[6] >= max(f1[4:6])
    lines = list(table_lines(comparison))
    assert sum(" against " in line for line in lines) == 6  # three pairs on either d-trees
    assert lines[8].startswith("oracle") and lines[9] == ""
    for name, trained in zip(names[1:], models[1:], strict=True):
        loaded = Model.load(tmp_path / name, device="cpu")
        assert loaded.route_name == name
        dtrees = [first.route.encode(ctree) for ctree in islice(read_brackets(treebank[1], clean=True), 10)]
        assert list(loaded.route.decode_all(dtrees)) == list(trained.route.decode_all(dtrees))
        info = CliRunner().invoke(cli, ["info", str(tmp_path / name)])
        assert info.exit_code == 0 and ["route", name] in map(str.split, info.output.splitlines())


def test_treebanks_of_other_formats(treebank: tuple[Path, Path], tmp_path: Path) -> None:
    source = tmp_path / "x.discbracket"
    source.write_text("(S (VP (V 0=a) (P 2=c)) (N 1=b) (. 3=.))\n")
    (ctree,) = Reading(move_punctuation=True)(source)
    route = make_route("reduction", RouteSettings(encoding="direct", head_rules="leftmost")).fit([ctree])
    assert next(route.decode_all([route.encode(ctree)])).yields() == ctree.yields()  # gaps are kept
    with pytest.raises(FormatError, match="sentence 1: the delta encoding takes continuous trees only"):
        delta = RouteSettings(encoding="delta", head_rules="leftmost")
        list(Data(train=source, dev=()).each(make_route("reduction", delta).encode, "train"))
    with pytest.raises(FormatError, match="no head child is marked in it"):
        list(Reading(marked=True)(source))


@pytest.mark.parametrize("routes", [("reduction",), ("cky", "combined")])
def test_no_d_parser_is_trained_before_a_route_that_cannot_encode(
    routes: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "x.discbracket"
    source.write_text("(S (VP (V 0=a) (P 2=c)) (N 1=b))\n")
    monkeypatch.setattr(GoldParser, "train", None)
    spec = TrainingSpec.of(source, source, routes, encoding="delta", dparser="gold")
    with pytest.raises(FormatError, match="sentence 1: the delta encoding takes continuous trees only"):
        train_models(spec, [tmp_path / route for route in routes])


def test_a_model_whose_d_parser_takes_no_device(small_model: Path) -> None:
    with pytest.raises(ModelError, match="^the d-parser spacy takes no device$"):
        Model.load(small_model, device="cuda")


@dataclass(frozen=True, kw_only=True)
class TwoSettings(Settings):
    train: str
    parse: str


def test_parameters_after_the_name_of_a_dparser(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = make_dparser("stanza:joint", SharedSettings(preset="small", seed=7))
    assert (parser.settings.model_type, parser.settings.preset, parser.settings.seed) == ("joint", "small", 7)

    class Command:
        def __init__(self, settings: TwoSettings) -> None:
            self.templates = settings.train, settings.parse

    class Gold:
        def __init__(self, settings: Settings) -> None: ...

    module = type(sys)("dparsers.other")
    module.Command, module.Gold = Command, Gold  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "dparsers.other", module)
    row = DParserRow(path="dparsers.other:Command", settings=TwoSettings, own=("train", "parse"))
    monkeypatch.setitem(DPARSERS, "cmd", row)
    monkeypatch.setitem(DPARSERS, "gold", DParserRow(path="dparsers.other:Gold"))
    command = make_dparser("cmd:a {train} : b;c; d", SharedSettings(preset="small"))
    assert command.templates == ("a {train} : b", "c; d")  # type: ignore[attr-defined]
    assert isinstance(make_dparser("gold", SharedSettings(preset="small")), Gold)
    for wrong in ("cmd", "cmd:", "cmd:a", "cmd:a;"):
        with pytest.raises(ModelError, match=f"^the d-parser '{wrong}' is not of the form cmd:TRAIN;PARSE$"):
            make_dparser(wrong)
    with pytest.raises(ModelError, match="^the d-parser 'gold:x' is not of the form gold$"):
        make_dparser("gold:x")
    with pytest.raises(ModelError, match=r"^the d-parser 'stanza:x' is not of the form stanza:graph\|joint$"):
        make_dparser("stanza:x")
    with pytest.raises(ModelError, match="^the d-parser gold takes no epochs$"):
        make_dparser("gold", SharedSettings(epochs=3))
    assert type(make_dparser("gold", SharedSettings(device="cpu"))) is type(make_dparser("gold"))
    with pytest.raises(ModelError, match="^the d-parser gold takes no device$"):
        make_dparser("gold", SharedSettings(device="cuda"))
    with pytest.raises(ModelError, match="^unknown d-parser 'other'; known are stanza, spacy, udpipe, "):
        make_dparser("other:x")


def test_long_names_from_broken_files_are_cut() -> None:
    message = r"^unknown d-parser 'x+\.\.\.x+'; known are stanza, .*, transition$"
    with pytest.raises(ModelError, match=message) as error:
        make_dparser("x" * 100_000)
    assert len(str(error.value)) == 999


def test_a_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ufal.udpipe", None)
    for module in ("parser", "program"):
        monkeypatch.delitem(sys.modules, f"d2c.dparsers.udpipe.{module}", raising=False)
    with pytest.raises(ModelError, match=r"udpipe needs a package \(.*\): .*pip install -e '\.\[udpipe\]'$"):
        make_dparser("udpipe")


def test_a_dparser_gives_the_arcs_that_the_route_looks_at() -> None:
    asked = list[float]()

    class Asked(GoldParser):
        abilities = DParserAbilities(packed_arcs=True)

        def parse_packed(self, sentences: Iterable[Tokens], least: float = LEAST) -> Iterator[DTree]:
            asked.append(least)
            return iter(())

    cky, reduction = make_route("cky"), make_route("reduction")
    cky.arcs_ = ArcScoring(least=0.085)
    for route in (cky, reduction):
        model = Model("any", route, "any", Asked(None), arcs="packed")
        assert [*model.parse_dependencies([], model.least)] == [*model.parse_dependencies([])] == []
    assert asked == [0.085, LEAST, LEAST, LEAST]
    assert Model("any", cky, "any", Asked(None)).least == LEAST  # it looks at no arcs
