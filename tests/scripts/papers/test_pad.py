"""PAD's tables of accuracy on a piece of the sample: their lines and columns, and what is known of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Self

import pytest

from d2c.base.errors import ModelError
from d2c.base.settings import Settings
from d2c.experiments.rows import Parses
from d2c.routes.dparsers import DPARSERS, DParserRow
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from experiments.experiment import CUBED
from papers.charts import chart
from papers.experiment import PaperExperiment
from papers.pad import _quickest, _with_beams
from papers.page import TABLES, make_table, published
from tests.scripts.papers.tiny import MISSING, TOLD, Told, experiment

SAMPLE = Path(__file__).parents[3] / "data" / "sample" / "train.mrg"
OF_PAD = [name for name in TABLES if name.startswith("pad-")]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shared")


@pytest.fixture
def sample(told: dict[tuple[str, ...], tuple[int, ...]], shared: Path) -> PaperExperiment:
    """What one test has made of it the next ones find."""
    return made_in(shared, told)


@pytest.fixture
def fresh(told: dict[tuple[str, ...], tuple[int, ...]], tmp_path: Path) -> PaperExperiment:
    """The same, of which nothing is made yet."""
    return made_in(tmp_path, told)


def made_in(directory: Path, told: dict[tuple[str, ...], tuple[int, ...]]) -> PaperExperiment:
    """60 sentences to learn from and ten more, of which the d-parser knows five."""
    with open(SAMPLE, encoding="utf-8") as stream:
        lines = [line.rstrip() for line in islice(stream, 70)]
    made = experiment(
        directory, {"train": lines[:60], "dev": lines[60:]}, dparsers=(MISSING, TOLD), jackknife=2
    )
    for dtree in list(made.encoded("direct", "dev"))[:5]:
        told[dtree.tokens.forms] = dtree.heads
    return made


def column(experiment: PaperExperiment, name: str, title: str) -> list[object]:
    table = make_table(name, experiment)
    return [row[table.header.index(title)] for row in table.rows]


def test_gold_d_trees(sample: PaperExperiment) -> None:
    """Table 2: more trees are not worse here, and the chart is better than rules."""
    table = make_table("pad-2", sample)
    assert [row[:2] for row in table.rows] == [
        [route, trees] for route in ("rules", "cky") for trees in ("a tenth of train", "train")
    ]
    assert {row[2] for row in table.rows} == {"gold"}
    f1 = [row[-1] for row in table.rows]
    assert f1[0] <= f1[1] <= 100 and f1[2] <= f1[3] <= 100 and f1[1] <= f1[3]


def test_gold_d_trees_have_gold_tags_whatever_the_settings(sample: PaperExperiment) -> None:
    """As in Table 2 of the paper; the predicted ones come after them."""
    own = sample.with_tags("predicted")
    gold, both = make_table("pad-2", sample), make_table("pad-2", own)
    assert both.rows[:4] == gold.rows and [row[2] for row in both.rows[4:]] == ["predicted"] * 4
    assert [row[3:] for row in both.rows[4:]] != [row[3:] for row in gold.rows]
    assert "predicted tags (accuracy" in both.notes[0]


def test_labels_are_features_if_asked_for(sample: PaperExperiment) -> None:
    """Those of the d-parsers, phrase symbol and attachment."""
    own = replace(sample, chart={"labels": True, "max_unaries": 2})
    bare, labelled = chart(sample), chart(own)
    assert (bare.route.settings.labels, bare.route.settings.max_unaries) == (False, 3)
    assert (labelled.route.settings.labels, labelled.route.settings.max_unaries) == (True, 2)
    assert {"NP#1", "NP#2"} & {*labelled.route.vocabulary_.labels}


def test_dparsers(sample: PaperExperiment) -> None:
    """Table 4."""
    table = make_table("pad-4", sample)
    assert [row[0] for row in table.rows] == [TOLD, "gold"]
    by_title = {title: [row[i] for row in table.rows] for i, title in enumerate(table.header)}
    for title in ("UAS", "F1", "oracle", "F1 of reduction", "F1 of labeler"):
        assert 0 < by_title[title][0] < by_title[title][1] <= 100, title
    assert by_title["UAS"][1] == 100 and by_title["F1"][0] <= by_title["oracle"][0]
    assert [note for note in table.notes if note.startswith(f"{MISSING}: ")]
    assert table.draw is not None


@dataclass(frozen=True, kw_only=True)
class BeamSettings(Settings):
    beam: int = 5


class Beamed(Told):
    """Says what it was told with a beam of 4 and more; otherwise the first word heads all others."""

    @classmethod
    def load(cls, directory: Path) -> Self:
        return cls(BeamSettings())

    def parse(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        given = list(sentences)
        nothing = [replace(dtree, heads=(0, *[1] * (len(dtree.heads) - 1))) for dtree in super().parse(given)]
        yield from super().parse(given) if self.settings.beam >= 4 else nothing


def test_beams_of_one_training(fresh: PaperExperiment, monkeypatch: pytest.MonkeyPatch) -> None:
    """Table 4 of PAD has three parsers with beams."""
    monkeypatch.setitem(DPARSERS, "beamed", DParserRow(path=f"{__name__}:Beamed", settings=BeamSettings))
    own = replace(fresh, dparsers=("beamed", TOLD))
    found = {parses.source: [dtree.heads for dtree in parses.dtrees] for parses in _with_beams(own)}
    assert [*found] == ["beamed", *(f"beamed, beam {beam}" for beam in (1, 4, 16)), TOLD]
    greedy = found.pop("beamed, beam 1")
    assert all(heads == found[TOLD] != greedy for heads in found.values())
    assert len([*fresh.store.directory.glob("dparser-*")]) == 2


def test_the_quickest_dparser_is_no_matter_of_time() -> None:
    def asked(*names: str) -> str:
        parses = [Parses(name, []) for name in names]
        return _quickest(SimpleNamespace(some_parses=lambda: parses)).source  # type: ignore[arg-type]

    assert asked("stanza", "spacy", "udpipe:swap", "transition:eager") == "transition:eager"
    assert asked("stanza", "spacy", "udpipe:swap") == "udpipe:swap"
    assert asked("stanza", "cmd:x") == "stanza"


def test_without_a_dparser(told: dict[tuple[str, ...], tuple[int, ...]], tmp_path: Path) -> None:
    trees = {"train": ["(TOP (NP (NN a)))"], "dev": ["(TOP (NP (NN a)))"]}
    for given in ((MISSING,), ("gold",)):
        made = experiment(tmp_path, trees, dparsers=given)
        with pytest.raises(ModelError, match="no-such-package" if MISSING in given else "no d-parser"):
            made.some_parses()
        table = make_table("pad-4", made)
        assert [row[0] for row in table.rows] == ["gold"] and table.draw is None


def test_the_best_dparser_has_the_highest_uas(sample: PaperExperiment) -> None:
    assert sample.best_parses().source == TOLD and [*sample.missing] == [MISSING]


def test_few_trees(sample: PaperExperiment) -> None:
    table = make_table("pad-recovery", sample)
    assert [row[:2] for row in table.rows] == [["5 %", 3], ["10 %", 6], ["20 %", 12], ["100 %", 60]]
    assert all(0 < row[2] < row[3] <= 100 for row in table.rows)


def test_grammars(sample: PaperExperiment) -> None:
    """Markovized symbols say more, so there are more of them; collapsed ones, too."""
    table = make_table("pad-binarization", sample)
    by_name = {row[0]: row for row in table.rows}
    assert by_name.keys() == {"simple", "markovized", "vertical", "collapsed"}
    for name in by_name.keys() - {"simple"}:
        assert by_name[name][1] > by_name["simple"][1] and by_name[name][2] > by_name["simple"][2]


def test_jackknifing(fresh: PaperExperiment, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of d-trees that are right all is learned as from gold ones."""
    for dtree in fresh.encoded("direct", "train"):
        Told.heads[dtree.tokens.forms] = dtree.heads
    gold, jackknifed = make_table("pad-jackknife", fresh).rows
    assert [gold[0], jackknifed[0]] == ["gold", "jackknifed"] and gold[1:] == jackknifed[1:]


def test_labels_of_arcs(sample: PaperExperiment) -> None:
    """Draft, section 3.2: each row's chart sees the labels that its d-parser has learned."""
    table = make_table("pad-labels", sample)
    assert [row[:3] for row in table.rows] == [
        [labels, count, learned]
        for labels, count in (("unlabelled", 2), ("direct", 17), ("cubed", 66))
        for learned in ("gold", "jackknifed")
    ]
    assert all(0 < row[4] < row[5] <= 100 for row in table.rows)
    labels = chart(sample, labels=True, arc_labels=CUBED).route.vocabulary_.labels
    assert {"NP#%#DT#NN", "S#%#NP#S[bar]"} <= {*labels}


@pytest.mark.parametrize("name", OF_PAD)
def test_published_figures_are_rows_of_one_length(name: str) -> None:
    text = published(name)
    assert (text is None) == (TABLES[name].figures is None)
    if text is not None:
        header, *rows = csv.reader(io.StringIO(text))
        assert rows and all(len(row) == len(header) for row in rows)
