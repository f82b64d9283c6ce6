"""`scripts/tune.py`: logs that stopped runs go on with, options to copy, no learning from what is scored."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Self

import pytest
from click.testing import CliRunner, Result

from d2c.base.errors import FormatError
from d2c.base.settings import Settings
from d2c.commands.cli import run
from d2c.commands.train import train
from d2c.protocols.abilities import TaggerAbilities
from d2c.protocols.dparser import DependencyParser
from d2c.protocols.settings import shared
from d2c.routes.dparsers import DPARSERS, TAGGERS, DParserRow
from d2c.training.spec import TrainingSpec
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import read_brackets, save_brackets
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.formats.reading import Reading
from experiments.experiment import Treebank
from experiments.store import Store
from experiments.tuning import Trial, Trials, opened
from tune import main as command

SAMPLE = Path(__file__).parents[3] / "data" / "sample" / "train.mrg"
HEADS = ["--head-rules", "rightmost", "--try", "head-rules=rightmost,collins,leftmost"]


@dataclass(frozen=True, kw_only=True)
class EpochSettings(Settings):
    epochs: float | None = shared("epochs")


class FirstWord(DependencyParser):
    """A d-parser: the first word heads all others, by the commonest label. Notes what it is given."""

    learned: ClassVar[list[list[tuple[str, ...]]]] = []
    parsed: ClassVar[list[list[tuple[str, ...]]]] = []
    tags: ClassVar[list[tuple[str, ...]]] = []

    @classmethod
    def load(cls, directory: Path) -> Self:
        raise NotImplementedError

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Any = None) -> Self:
        dtrees = [dtree for file in (train_conllu, dev_conllu) for dtree in read_conllu(file)]
        self.learned.append([dtree.tokens.forms for dtree in dtrees])
        self.tags.extend(dtree.tokens.tags for dtree in dtrees)
        counts = Counter(label for dtree in dtrees for label in dtree.labels or () if label != "root")
        self.label = counts.most_common(1)[0][0]
        return self

    def parse(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        given = list(sentences)
        self.parsed.append([tokens.forms for tokens in given])
        self.tags.extend(tokens.tags for tokens in given)
        for tokens in given:
            labels = ("root", *[self.label] * (len(tokens) - 1))
            yield DTree(tokens, (0, *[1] * (len(tokens) - 1)), labels=labels)


class Numbered:
    """A tagger: the tag of each word is the number of the training."""

    learned: ClassVar[list[list[tuple[str, ...]]]] = []

    abilities = TaggerAbilities()

    def __init__(self, settings: object) -> None: ...

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Any = None) -> Self:
        self.number = str(len(self.learned))
        self.learned.append([dtree.tokens.forms for dtree in read_conllu(train_conllu)])
        return self

    def tag(self, sentences: Iterable[Sequence[str]]) -> Iterator[Tokens]:
        for forms in sentences:
            yield Tokens(tuple(forms), (self.number,) * len(forms))


@pytest.fixture
def first_word(monkeypatch: pytest.MonkeyPatch) -> type[FirstWord]:
    monkeypatch.setitem(DPARSERS, "first", DParserRow(path=f"{__name__}:FirstWord", settings=EpochSettings))
    monkeypatch.setattr(FirstWord, "learned", [])
    monkeypatch.setattr(FirstWord, "parsed", [])
    monkeypatch.setattr(FirstWord, "tags", [])
    return FirstWord


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    file = tmp_path / "trees.mrg"
    save_brackets(islice(read_brackets(SAMPLE), 40), file)
    return file


def tune(trees: Path, log: Path, *options: str) -> Result:
    arguments = [str(trees), "-o", str(log), "--dparser", "first", *options]
    return CliRunner().invoke(command, arguments, catch_exceptions=False)


def logged(log: Path) -> list[dict[str, Any]]:
    """The lines without the seconds that trials took."""
    lines = map(json.loads, log.read_text(encoding="utf-8").splitlines())
    return [{name: value for name, value in line.items() if name != "seconds"} for line in lines]


def test_a_stopped_run_goes_on_and_ends_as_one_that_was_not(
    trees: Path, tmp_path: Path, first_word: type[FirstWord]
) -> None:
    whole = tune(trees, tmp_path / "whole.jsonl", *HEADS)
    assert whole.exit_code == 0, whole.output
    lines = logged(tmp_path / "whole.jsonl")
    assert [line["settings"]["head_rules"] for line in lines] == ["rightmost", "collins", "leftmost"]
    assert len(first_word.learned) == 3
    log = tmp_path / "parts.jsonl"
    assert tune(trees, log, *HEADS, "--trials", "2").exit_code == 0
    assert logged(log) == lines[:2] and len(first_word.learned) == 5
    with open(log, "a", encoding="utf-8") as stream:
        stream.write('{"trial": "of a run that was killed')
    again = tune(trees, log, *HEADS)
    assert (again.exit_code, again.stdout) == (0, whole.stdout)
    assert logged(log) == lines and len(first_word.learned) == 6


def test_trials_in_the_log_are_not_made_again(
    trees: Path, tmp_path: Path, first_word: type[FirstWord], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log.jsonl"
    done = tune(trees, log, *HEADS)
    before = log.read_bytes()
    monkeypatch.setattr(Store, "_make", None)
    again = tune(trees, log, *HEADS)
    assert (again.exit_code, again.stdout, log.read_bytes()) == (0, done.stdout, before)


def test_nothing_is_learned_from_what_is_scored(
    trees: Path, tmp_path: Path, first_word: type[FirstWord]
) -> None:
    done = tune(trees, tmp_path / "log.jsonl", "--sentences", "30", "--trials", "1")
    assert done.exit_code == 0, done.output
    forms = [ctree.tokens.forms for ctree in Treebank("", {"train": trees}, sentences=30).trees("train")]
    assert first_word.learned == [forms[:27]] and first_word.parsed == [forms[27:]]


def test_tags_are_predicted_by_taggers_that_have_not_learned_from_them(
    trees: Path, tmp_path: Path, first_word: type[FirstWord], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TAGGERS, "spacy", DParserRow(path=f"{__name__}:Numbered"))
    monkeypatch.setattr(Numbered, "learned", [])
    options = ["--sentences", "30", "--tagger", "spacy", "--tags", "predicted", *HEADS]
    done = tune(trees, tmp_path / "log.jsonl", *options)
    assert done.exit_code == 0, done.output
    forms = [ctree.tokens.forms for ctree in Treebank("", {"train": trees}, sentences=30).trees("train")]
    whole, *folds = Numbered.learned  # whatever the heads are, they are tagged once
    assert len(folds) == 10 and whole == forms[:24]
    for tags in (first_word.tags[:30], first_word.tags[30:60], first_word.tags[60:]):
        for own, of_words in zip(forms, tags, strict=True):
            (number,) = {*of_words}
            others = Numbered.learned[int(number)]
            assert own not in others and (number == "0") == (own in forms[24:])
    assert done.stdout.splitlines()[-1].count("--tagger spacy --tags predicted") == 1


def test_packed_arcs_are_tried_over_the_same_dtrees(tmp_path: Path) -> None:
    trees, log = tmp_path / "trees.mrg", tmp_path / "log.jsonl"
    save_brackets(islice(read_brackets(SAMPLE), 100), trees)
    asked = ["--route", "labeler", "--dparser", "transition:standard;exact", "--epochs", "1", "--try", "arcs"]
    done = tune(trees, log, *asked)
    assert done.exit_code == 0, done.output
    single, packed = logged(log)
    assert (single["settings"]["arcs"], packed["settings"]["arcs"]) == ("single", "packed")
    assert single["uas"] == packed["uas"]
    assert [round(one["f1"], 2) for one in (single, packed)] == [78.54, 78.9]
    assert [path.name[:6] for path in sorted(Path(f"{log}.steps").iterdir())] == [
        "parsed",
        "trial-",
        "trial-",
    ]
    best = "--route labeler --epochs 1.0 --dparser 'transition:standard;exact' --arcs packed"
    assert done.stdout.splitlines()[-1] == best


def test_packed_arcs_of_a_dparser_without_any_do_not_fit(
    trees: Path, tmp_path: Path, first_word: type[FirstWord]
) -> None:
    done = tune(trees, tmp_path / "log.jsonl", "--route", "labeler", "--try", "arcs")
    assert done.exit_code == 0, done.output
    _, packed = logged(tmp_path / "log.jsonl")
    assert packed["error"].startswith("--arcs packed: the d-parser first does not say how probable")


def test_the_last_line_is_of_options_of_train(
    trees: Path, tmp_path: Path, first_word: type[FirstWord]
) -> None:
    given = ["--encoding", "delta", "--epochs", "3", "--move-punctuation", "--preset", "small"]
    done = tune(trees, tmp_path / "log.jsonl", *HEADS, *given, "--try", "encoding")
    first, second, options = done.stdout.splitlines()
    lines = logged(tmp_path / "log.jsonl")
    assert [line["settings"]["encoding"] for line in lines] == ["delta"] * 3 + ["direct"] * 3
    assert [round(line["f1"], 2) for line in lines] == [16.28] * 3 + [21.74] * 3
    assert first == "as given: F1 16.28, UAS 0.00"
    assert second == (
        "best: F1 21.74, UAS 0.00, +5.46 F1 (p = 0.2518, paired approximate randomisation, 10,000 trials; "
        "the best of 6, so p is too small)"
    )
    assert options == "--preset small --epochs 3.0 --dparser first --head-rules rightmost --move-punctuation"
    context = train.make_context("train", ["t.mrg", "--dev", "d.mrg", "-o", "m", *options.split()])
    assert lines[3]["settings"].items() <= context.params.items()
    assert context.params["move_punctuation"] and context.params["preset"] == "small"


def test_settings_that_do_not_fit_are_logged_with_the_reason(
    tmp_path: Path,
    first_word: type[FirstWord],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    trees, log = tmp_path / "gaps.dbr", tmp_path / "log.jsonl"
    trees.write_text("(S (A (X 0=a) (Y 2=c)) (B 1=b))\n" * 20, encoding="utf-8")
    read = ["--format", "discbracket", "--head-rules", "leftmost"]
    done = tune(trees, log, *read, "--try", "encoding=delta")
    assert done.exit_code == 0 and "nothing better in 2 trials" in done.stdout
    given, delta = logged(log)
    assert given["f1"] is not None and given["error"] is None
    assert delta["f1"] is None and delta["error"].startswith(f"{trees}: sentence 1: the delta encoding takes")
    message = f"d2c: {trees}: sentence 1: the delta encoding takes continuous trees only"
    check_refused(
        monkeypatch, capsys, trees, tmp_path / "none.jsonl", [*read, "--encoding", "delta"], message
    )
    assert not (tmp_path / "none.jsonl").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--try", "penalty"], "Error: --try penalty: the route reduction has no such setting; it has"),
        (["--try", "overwrite"], "Error: --try overwrite: the route reduction has no such setting"),
        (["--try", "head-rules"], "Error: --try head-rules: name its values, as in head-rules=A,B"),
        (["--try", "encoding=direct,delat"], "Error: Invalid value for '--encoding': 'delat' is not one of"),
        (["--route", "cky", "--try", "penalty=1e-5,-1"], "Error: Invalid value for '--penalty': -1.0 is"),
        (["--try", "head-rules=collins,absent.txt"], "d2c: absent.txt: no such head rules; known are"),
        (["--dparser", "pipeline:spacy:en"], "d2c: the d-parser pipeline is trained elsewhere"),
        (["--tags", "predicted"], "Error: --tags predicted needs --tagger stanza or"),
        (["--sentences", "9"], "d2c: {trees}: 9 sentences cannot be cut into 10 parts to hold out a tenth"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(
    options: list[str],
    message: str,
    trees: Path,
    tmp_path: Path,
    first_word: type[FirstWord],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    check_refused(monkeypatch, capsys, trees, tmp_path / "log.jsonl", options, message.format(trees=trees))
    assert list(tmp_path.iterdir()) == [trees]


def check_refused(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    trees: Path,
    log: Path,
    options: list[str],
    message: str,
) -> None:
    monkeypatch.setattr("sys.argv", ["tune.py", str(trees), "-o", str(log), "--dparser", "first", *options])
    assert run(command) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.splitlines()[-1].startswith(message)


def test_files_that_are_none_of_its_own_are_left_alone(
    trees: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.txt"
    for text in ("some words\n", "some words", '{"trial": "a"}\n'):
        other.write_text(text)
        message = f"d2c: {other}:1: is no line of a log of tune.py; name another -o"
        check_refused(monkeypatch, capsys, trees, other, ["--dparser", "gold"], message)
        assert other.read_text() == text
    absent, log = tmp_path / "absent.mrg", tmp_path / "log.jsonl"
    check_refused(
        monkeypatch,
        capsys,
        absent,
        log,
        ["--dparser", "gold"],
        f"d2c: {absent}: cannot be read: No such file",
    )
    check_refused(
        *(monkeypatch, capsys, trees, tmp_path / "no" / "log", ["--dparser", "gold"]),
        f"d2c: {tmp_path / 'no' / 'log'}: cannot be written: No such file",
    )


def test_two_processes_do_not_share_a_log(tmp_path: Path) -> None:
    with opened(tmp_path / "log") as log:
        log.add(Trial("a", {}, 80.0, 90.0, 1.0))
        with (
            pytest.raises(FormatError, match="is being written by another process"),
            opened(tmp_path / "log"),
        ):
            pass
    with opened(tmp_path / "log") as log:
        assert log.trials == {"a": Trial("a", {}, 80.0, 90.0, 1.0)}


def test_runs_are_told_apart_by_what_they_do_not_try(
    trees: Path, tmp_path: Path, first_word: type[FirstWord]
) -> None:
    """Else a run would print what another one with other settings has found."""

    def key(route: str, **changes: Any) -> str:
        spec = TrainingSpec.of(trees, trees, (route,), Reading(), dparser="first").changed(**changes)
        return Trials(spec, None, Store(tmp_path)).key({})

    assert key("labeler") == key("labeler", constrained=True) != key("labeler", constrained=False)
    cubed = key("cky", arc_labels="cubed", labels=True)
    assert key("cky") == key("cky", encoding="delta") != cubed != key("cky", labels=True)
