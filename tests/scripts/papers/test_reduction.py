"""The tables of "Parsing as Reduction" on pieces of the sample, with a d-parser that makes chains."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Self

import pytest

from d2c.experiments.rows import GOLD
from d2c.protocols.abilities import TaggerAbilities
from d2c.protocols.dparser import DependencyParser
from d2c.reduction.encodings import ENCODINGS
from d2c.reduction.labeler.two_stage import TwoStage
from d2c.reduction.reduction import Reduction
from d2c.routes.dparsers import DPARSERS, TAGGERS, DParserRow
from d2c.routes.registry import make_route
from d2c.trees.cleaning import is_punctuation
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import format_bracket, parse_bracket, read_brackets, save_brackets
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.formats.discbracket import parse_discbracket
from d2c.trees.scores.brackets import METRICS
from experiments.experiment import UNLABELLED, Treebank
from experiments.store import Store
from papers.experiment import PaperExperiment
from papers.reduction import crossing, encodings, gaps, spmrl, systems, unaries
from papers.scores import ALL, LENGTHS, PUNCTUATION, figures
from papers.table import Table
from tests.scripts.papers import tiny
from treebanks.files import known_treebanks, read_treebanks

SCRIPTS = Path(__file__).parents[3] / "scripts"
SAMPLE = SCRIPTS.parent / "data" / "sample"
GAPS = """\
(TOP (S (VP (WHNP (WP 0=What)) (VB 3=buy)) (MD 1=did) (NP (PRP 2=she)) (. 4=?)))
(TOP (S (NP (PRP 0=They)) (VP (VBD 1=slept)) (. 2=.)))
"""


SKIPPED = "labeler, unary nodes skipped"


class Chain(DependencyParser):
    """Every word's head is the next one; labels are the commonest that it has seen. Notes what it learned."""

    labels: Sequence[str] = ()

    def train(self, train: Path, dev: Path, directory: Path, progress: object = None) -> Self:
        self.labels = sorted({label for dtree in read_conllu(train) for label in dtree.labels or ()})
        directory.mkdir(parents=True)
        (directory / "labels.json").write_text(json.dumps(self.labels))
        return self

    @classmethod
    def load(cls, directory: Path) -> Self:
        parser = cls()
        parser.labels = json.loads((directory / "labels.json").read_text())
        return parser

    def parse(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        for tokens in sentences:
            n = len(tokens)
            yield DTree(tokens, (*range(2, n + 1), 0), labels=(self.labels[0],) * n)


class LastTag:
    """Tags every word as the last of the training treebank."""

    tag_ = ""
    abilities = TaggerAbilities()

    def __init__(self, settings: object) -> None: ...

    def train(self, train: Path, dev: Path, directory: Path, progress: object = None) -> Self:
        directory.mkdir(parents=True, exist_ok=True)
        *_, last = read_conllu(train)
        self.tag_ = last.tokens.tags[-1]
        return self

    def tag(self, sentences: Iterable[Sequence[str]]) -> Iterator[Tokens]:
        return (Tokens(tuple(forms), (self.tag_,) * len(forms)) for forms in sentences)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DPARSERS, "chain", DParserRow(path=f"{__name__}:Chain"))
    monkeypatch.setitem(TAGGERS, "last", DParserRow(path=f"{__name__}:LastTag"))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    directory = tmp_path_factory.mktemp("treebank")
    for part, count in (("train", 40), ("dev", 12)):
        save_brackets(islice(read_brackets(SAMPLE / f"{part}.mrg"), count), directory / f"{part}.mrg")
        (directory / f"{part}.discbracket").write_text(GAPS)
    return {part: directory / f"{part}.mrg" for part in ("train", "dev")}


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("steps")


@pytest.fixture
def experiment(files: dict[str, Path], steps: Path) -> PaperExperiment:
    """What one test has made the next ones find."""
    return PaperExperiment.of(
        Treebank("sample", files),
        Store(steps),
        dparsers=("chain",),
        tags="gold",
        tagger="last",
        jackknife=2,
        penalty=0.1,
        gamma=0.5,
    )


@pytest.fixture
def fresh(experiment: PaperExperiment, tmp_path: Path) -> PaperExperiment:
    """The same, of which nothing is made yet."""
    return experiment.anew(store=Store(tmp_path / "steps"))


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other systems are trained."""
    monkeypatch.setattr("papers.systems.SYSTEMS", {})


def with_gaps(experiment: PaperExperiment) -> PaperExperiment:
    files = {part: path.with_suffix(".discbracket") for part, path in experiment.treebank.files.items()}
    return experiment.anew(treebank=Treebank("gaps", files))


def by_name(table: Table, columns: int) -> dict[tuple[object, ...], dict[str, object]]:
    """The rows by their first columns."""
    return {tuple(row[:columns]): dict(zip(table.header, row, strict=True)) for row in table.rows}


def test_one_shot_and_two_stage(experiment: PaperExperiment) -> None:
    rows, names = by_name(table := encodings(experiment), 3), ("spine", "direct", "delta")
    assert list(rows) == [(name, "d-parser", "direct") for name in ("chain", GOLD)] + [
        (name, by, one) for by in ("labeler", "sequence model") for name in ("chain", GOLD) for one in names
    ]
    train = experiment.trees("train")
    for (_, _, encoding), row in rows.items():
        route = Reduction(str(encoding))
        assert row["labels"] == len({one for ctree in train for one in route.encode(ctree).labels or ()})
    right = [
        head == m + 2 or (not head and m == len(dtree.heads) - 1)
        for dtree in experiment.encoded("direct", "dev")
        for m, head in enumerate(dtree.heads)
        if not is_punctuation(dtree.tokens.forms[m])
    ]
    own = rows["chain", "d-parser", "direct"]
    assert own["UAS"] == pytest.approx(100 * fmean(right))
    gold = rows[GOLD, "d-parser", "direct"]
    assert (gold["UAS"], gold["LAS"], gold["tokens/s"]) == (100, 100, None)
    for encoding in ENCODINGS:  # the labeler's labels are held against those of its own encoding
        assert rows[GOLD, "labeler", encoding]["LAS"] > 70  # type: ignore[operator]
        assert rows["chain", "labeler", encoding]["UAS"] == own["UAS"]
        route = TwoStage(encoding, constrained=False).fit(train)  # section 4.2's model alone
        labelled = route.relabel(
            [replace(dtree, labels=None) for dtree in experiment.encoded(encoding, "dev")]
        )
        gold_labels = [dtree.labels for dtree in experiment.encoded(encoding, "dev")]
        pairs = [
            (a, b)
            for one, guess in zip(gold_labels, labelled, strict=True)
            for a, b, form in zip(one or (), guess.labels or (), guess.tokens.forms, strict=True)
            if not is_punctuation(form)
        ]
        las = 100 * fmean(a == b for a, b in pairs)
        assert rows[GOLD, "sequence model", encoding]["LAS"] == pytest.approx(las)
    assert table.notes[-1] == "sample: 40 sentences of train, 12 of dev; gold tags."


def test_the_first_stage_sees_no_labels(fresh: PaperExperiment) -> None:
    fresh.all_parses("dev", UNLABELLED)
    (file,) = fresh.store.directory.glob("dparser-*/dparser/labels.json")
    assert json.loads(file.read_text()) == ["dep", "root"]
    bare, direct = (list(fresh.encoded(name, "dev")) for name in (UNLABELLED, "direct"))
    assert [dtree.heads for dtree in bare] == [dtree.heads for dtree in direct]


def test_trees_with_gaps_have_no_delta(experiment: PaperExperiment) -> None:
    gapped = with_gaps(experiment)
    assert (gapped.gaps, gapped.continuous) == ({"train": 50, "dev": 50}, False)
    table = encodings(gapped)
    assert {tuple(row[1:3]) for row in table.rows} == {
        *(("d-parser", "direct"), ("labeler", "direct"), ("labeler", "spine"))
    }
    assert table.notes[2].startswith("The delta encoding is for continuous trees")


def test_other_systems_stand_beside(experiment: PaperExperiment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("papers.systems.SYSTEMS", {"absent": DParserRow(path="nowhere.to.be.found:Parser")})
    with_file = replace(experiment.treebank, systems={"Oracle": experiment.treebank.files["dev"]})
    table = systems(experiment.anew(treebank=with_file))
    ours = ("two-stage reduction, delta", "one-shot reduction, direct", "cky")
    assert [row[0] for row in table.rows] == [*(f"{route}, chain" for route in ours), "Oracle"]
    assert table.rows[-1][1:] == [100, 100, 100, 100, None]
    assert table.notes[-1].startswith("absent: ")


def test_other_systems_are_rows_of_many_treebanks(
    experiment: PaperExperiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {"shift-reduce": DParserRow(path="papers.shift_reduce:ShiftReduce")}
    monkeypatch.setattr("papers.systems.SYSTEMS", known)
    table = spmrl([experiment])
    rows = {tuple(row[:2]): row[2] for row in table.rows}
    assert len(rows) == 8 and all(rows["shift-reduce", tags] > 0 for tags in ("gold", "predicted"))
    gapped = with_gaps(experiment)
    both = spmrl([gapped, experiment])
    (row,) = (row for row in both.rows if row[:2] == ["shift-reduce", "gold"])
    assert row[2:] == [None, rows["shift-reduce", "gold"], None]  # under its treebank, without an average
    refused = gaps([gapped])
    assert "shift-reduce" not in {row[1] for row in refused.rows}
    assert [note for note in refused.notes if note.startswith("shift-reduce: ")]


def test_what_is_there_is_not_made_again(
    experiment: PaperExperiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = encodings(experiment)

    def never(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(Chain, "train", never)
    monkeypatch.setattr(Chain, "parse", never)
    monkeypatch.setattr("experiments.experiment.make_route", never)
    again = experiment.anew(store=Store(experiment.store.directory))
    assert encodings(again).csv() == first.csv()


@pytest.mark.usefixtures("alone")
def test_many_treebanks_with_both_kinds_of_tags(fresh: PaperExperiment) -> None:
    table = spmrl([fresh, with_gaps(fresh)])
    assert table.header == ("route", "tags", "sample", "gaps", "average")
    routes = ("reduction", "labeler", "cky")
    assert [row[:2] for row in table.rows] == [[r, t] for t in ("gold", "predicted") for r in routes]
    for _, _, *f1, average in table.rows:
        assert average == pytest.approx(fmean(f1))  # type: ignore[type-var]
    tagged = fresh.with_tags("predicted")
    parses, route = tagged.parses("chain", "dev"), make_route("reduction").fit(tagged.trees("train"))
    guess = [*route.decode_all(parses.dtrees)]
    gold = fresh.gold("dev")
    own = figures(gold, [replace(b, tokens=a.tokens) for a, b in zip(gold, guess, strict=True)])
    assert table.rows[3][2] == pytest.approx(own["spmrl"][ALL]["f1"])
    assert "50.0 % of the sentences of dev have gaps" in table.notes[1]
    made = [
        json.loads(file.read_text())["made of"] for file in fresh.store.directory.glob("route-*/step.json")
    ]
    charts = [step for step in made if step["route"] == "cky"]
    assert [(step["penalty"], step["gamma"]) for step in charts] == [(0.1, 0.5)] * 4  # the settings'


@pytest.mark.usefixtures("alone")
def test_gaps_up_to_some_lengths(experiment: PaperExperiment) -> None:
    table = gaps([experiment, with_gaps(experiment)])
    assert {row[0] for row in table.rows} == {"gaps"}
    titles = [f"{what}, {most}" for most in ("L ≤ 30", "L ≤ 40", "L ≤ 70", "all") for what in ("F1", "EX")]
    assert table.header[3:] == (*titles, "F1 of constituents with gaps")
    for row in table.rows:  # both sentences are short
        assert row[3:5] == row[5:7] == row[7:9] == row[9:11]
    skipped, kept = ([row for row in table.rows if row[1] == name] for name in (SKIPPED, "labeler"))
    assert [row[2] for row in skipped] == [row[2] for row in kept] == ["gold", "predicted"]
    assert skipped[0][3] < kept[0][3]  # the sample has unary nodes
    only = gaps([experiment])
    assert only.notes[0] == "None of these treebanks has gaps."
    assert {row[0] for row in only.rows} == {"sample"}


@pytest.mark.usefixtures("alone")
def test_punctuation_counts_where_the_treebank_says_so(
    experiment: PaperExperiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for TIGER-SPMRL, whose scores leave out the root alone."""
    gapped = with_gaps(experiment)
    scored = gapped.anew(treebank=replace(gapped.treebank, punctuation=True))
    without, counted = gaps([gapped]), gaps([scored])
    assert without.notes[-1] == "F1 and exact match: disco-dop, without root and punctuation."
    assert counted.notes[-1] == (
        "F1 and exact match: disco-dop, without root and punctuation, but of gaps with punctuation."
    )
    monkeypatch.setattr("papers.reduction.PUNCTUATION", "no such metric")
    assert gaps([gapped]).rows == without.rows
    with pytest.raises(KeyError, match="no such metric"):
        gaps([scored])
    verbs = "(VP (VBD 1=b)) (. 2=.)", "(VP (VBD 1=b) (. 2=.))"
    gold, guess = (parse_discbracket(f"(TOP (S (NP (PRP 0=a)) {one}))") for one in verbs)
    brackets = figures([gold], [guess])
    found = {name: brackets[name][ALL]["f1"] for name in ("disco", PUNCTUATION)}
    assert found == {"disco": 100, PUNCTUATION: pytest.approx(200 / 3)}


@pytest.mark.usefixtures("alone")
def test_treebanks_have_dparsers_and_systems_of_their_own(
    experiment: PaperExperiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(DPARSERS, "other", DParserRow(path=f"{__name__}:Chain"))
    plain = with_gaps(experiment)
    files = {"disco-dop": plain.treebank.files["dev"]}
    treebank = replace(plain.treebank, name="own", dparser="other", systems=files)
    own = plain.anew(treebank=treebank)
    table = gaps([plain, own])
    rows = by_name(table, 3)
    assert rows["own", "disco-dop", "its own"]["F1 of constituents with gaps"] == 100
    assert [key for key in rows if key[1] == "disco-dop"] == [("own", "disco-dop", "its own")]
    ends = [note.rpartition("; ")[2] for note in table.notes if "d-parser: " in note]
    assert ends == ["d-parser: chain.", "d-parser: other."]
    assert [row for row in spmrl([plain, own]).rows if row[0] == "disco-dop"] == [
        ["disco-dop", "its own", None, 100, None]
    ]


def test_gaps_by_a_dparser_whose_arcs_cross(experiment: PaperExperiment) -> None:
    assert crossing(("transition:standard;exact", "udpipe", "stanza:graph")) == "stanza:graph"
    assert crossing(("udpipe:link2;5", "stanza")) == "udpipe:link2;5"
    assert crossing(("transition", "udpipe")) == "transition"


def test_figures_of_short_sentences_are_of_these_alone() -> None:
    words = " ".join(f"(NN w{i})" for i in range(33))
    gold = [parse_bracket(f"(TOP (S (NP {words}) (VP (VB x))))"), *map(parse_discbracket, GAPS.splitlines())]
    flat = parse_bracket(f"(TOP (S {words} (VP (VB x))))")
    found = figures(gold, [flat, *gold[1:]])
    assert [round(found["disco"][str(most)]["exact"], 2) for most in (*LENGTHS, ALL)] == [
        100,
        66.67,
        66.67,
        66.67,
    ]
    for name, metric in METRICS.items():
        for most in (30, 40):
            pairs = [(a, b) for a, b in zip(gold, [flat, *gold[1:]], strict=True) if len(a.tokens) <= most]
            summary = metric.summary(metric.score(*zip(*pairs, strict=True)))
            assert found[name][str(most)]["f1"] == summary.f1
    assert found["gaps"][ALL] == {"recall": 100, "precision": 100, "f1": 100, "exact": 100}


def test_variables_and_own_head_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERE", str(tmp_path))
    (tmp_path / "t.mrg").write_text(format_bracket(parse_bracket("(S (NN a) (VB b))")) + "\n")
    (tmp_path / "own.txt").write_text("default right\n")
    text = '[x]\ntrain = "$HERE/t.mrg"\ndev = "t.mrg"\nhead-rules = "own.txt"\n'
    (tmp_path / "treebanks.toml").write_text(text)
    (treebank,) = read_treebanks(tmp_path / "treebanks.toml")
    assert set(treebank.files.values()) == {tmp_path / "t.mrg"}
    assert treebank.head_rules == str(tmp_path / "own.txt")
    before = treebank.made_of()
    (tmp_path / "own.txt").write_text("default left\n")
    assert treebank.made_of() != before


def test_the_treebanks_of_the_benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("D2C_TREEBANKS", "/folder")
    found = {treebank.name: treebank for treebank in read_treebanks(SCRIPTS / "treebanks.toml")}
    assert [*found] == ["alpino", "pcc", "craft", "icon", "icepahc", "floresta", "sinica"]
    for name, treebank in found.items():
        for part in ("train", "dev"):
            assert str(treebank.files[part]).startswith(f"/folder/{name}-{part}.")
    assert [name for name, one in found.items() if one.reading.marked] == ["alpino", "sinica"]
    formats = {name: one.reading.format_name for name, one in found.items() if one.reading.format_name}
    assert formats == {"floresta": "floresta", "sinica": "sinica"}
    assert found["craft"].head_rules == "collins" and found["craft"].sentences == 1000
    assert known_treebanks()["craft"] == replace(found["craft"], sentences=None)


def test_unary_nodes(tmp_path: Path) -> None:
    """Section 4.4: none, S and ADVP are classes; of the seven nodes of dev VP alone has two candidates."""
    trees = ["(TOP (S (VP (VB Go) (ADVP (RB now)))))", "(TOP (S (NP (DT a) (NN b)) (VP (VBD c) (NN d))))"]
    made = tiny.experiment(tmp_path, {"train": trees, "dev": trees[1:]})
    (row,) = unaries([made]).rows
    assert row == ["tiny", 3, 100 * 2 / 6, pytest.approx(8 / 7), 100]
