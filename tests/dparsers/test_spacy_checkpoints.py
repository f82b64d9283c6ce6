"""spaCy's trainings that were killed go on, with real ones on made-up sentences."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import srsly

pytest.importorskip("spacy")

import d2c.dparsers.spacy.parser as spacy_parser
import d2c.dparsers.spacy.tagger as spacy_tagger
import d2c.dparsers.spacy.training as spacy_training
from d2c.base.errors import ModelError
from d2c.dparsers.settings import SpacySettings, SpacyTaggerSettings
from d2c.dparsers.spacy.parser import SpacyParser
from d2c.dparsers.spacy.tagger import SpacyTagger
from d2c.protocols import training
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from tests.dparsers.sentences import treebank_files


def parser_of(**options: Any) -> SpacyParser:
    return SpacyParser(SpacySettings(**options))


def tagger_of(**options: Any) -> SpacyTagger:
    return SpacyTagger(SpacyTaggerSettings(**options))


MAKE: dict[str, Callable[..., Any]] = {"parser": parser_of, "tagger": tagger_of}
CLASSES: dict[str, Any] = {"parser": SpacyParser, "tagger": SpacyTagger}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Networks and batches of the size of the treebanks here."""
    sizes = {"width": 16, "depth": 1, "rows": 200}
    monkeypatch.setattr(spacy_parser, "SIZES", {"narrow": sizes | {"hidden": 16}})
    monkeypatch.setattr(spacy_tagger, "SIZES", sizes)
    monkeypatch.setattr(spacy_training, "_BATCH_WORDS", 37)  # batches end within no pass


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return treebank_files(tmp_path_factory.mktemp("treebank"), "root")


def numbers(reports: list[Any]) -> list[object]:
    """What reports say, but the time."""
    return [repr(one).rpartition(", seconds=")[0] for one in reports]


def killed_after(count: int, seen: list[Any]) -> Callable[[Any], None]:
    """Return what keeps reports, and ends the training at one."""

    def see(report: Any) -> None:
        seen.append(report)
        if len(seen) == count:
            raise KeyboardInterrupt

    return see


@pytest.mark.parametrize(("kind", "minutes"), [("parser", 0.0), ("tagger", 5.0)])  # 0: after each step, too
def test_it_ends_as_if_it_had_not_been_killed(
    kind: str, minutes: float, files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "_MINUTES", minutes)
    reports, seen = list[Any](), list[Any]()
    whole = MAKE[kind](epochs=6).train(*files, tmp_path / "whole", reports.append)
    one = MAKE[kind](epochs=6, checkpoints=tmp_path / "kept")
    with pytest.raises(KeyboardInterrupt):
        one.train(*files, tmp_path / "model", killed_after(4, seen))
    assert not (tmp_path / "model").exists()
    again = MAKE[kind](epochs=6, checkpoints=tmp_path / "kept")
    again.train(*files, tmp_path / "model", seen.append)
    assert len(reports) == 6  # the evaluation in which it was killed comes twice
    assert numbers(seen) == numbers([*reports[:4], *reports[3:]])
    assert seen[4].seconds > seen[2].seconds  # those before it was killed count
    assert again._component.model.to_bytes() == whole._component.model.to_bytes()
    done = MAKE[kind](epochs=6, checkpoints=tmp_path / "kept")
    done.train(*files, tmp_path / "model", seen.append)
    assert len(seen) == 7  # nothing is left to learn
    assert done._component.model.to_bytes() == whole._component.model.to_bytes()


@pytest.mark.parametrize("other", ["seed", "epochs", "train", "dev"])
def test_another_training_begins_anew(other: str, files: tuple[Path, Path], tmp_path: Path) -> None:
    kept, seen = tmp_path / "kept", list[Any]()
    tagger_of(epochs=2, checkpoints=kept).train(*files, tmp_path / "a")
    given = {"train": (files[1], files[1]), "dev": (files[0], files[0])}.get(other, files)
    parameters = {"epochs": 2} | ({other: 3} if other in ("seed", "epochs") else {})
    tagger_of(checkpoints=kept, **parameters).train(*given, tmp_path / "b", seen.append)
    assert len(seen) == parameters["epochs"] and len([*kept.iterdir()]) == 2


class Evil:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("pwned",)


def changed(part: str, change: Callable[[Any], Any]) -> Callable[[bytes], bytes]:
    """Return what changes a part of a checkpoint."""

    def written(data: bytes) -> bytes:
        state = srsly.msgpack_loads(data)
        return srsly.msgpack_dumps(state | {part: change(state[part])})

    return written


def shorter(array: Any) -> Any:
    """Return an array without its last number, if it is one."""
    return None if array is None else array[:-1]


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (lambda data: data[:1000], ""),
        (lambda data: pickle.dumps(Evil()), ""),
        (changed("weights", lambda two: [two[0], two[1][:-9]]), ""),
        (changed("moments", lambda all_: [[shorter(one[0]), *one[1:]] for one in all_]), "of other shapes"),
        (changed("moments", lambda all_: all_[:-1]), "shorter"),
        (changed("order", lambda two: [two[0] * 0, two[1]]), "another order"),
        (changed("order", lambda two: [two[0], -1]), "another order"),
        (changed("drawn", lambda two: [two[0], ["MT", *two[1][1:]]]), ""),
        (changed("numbers", lambda of_course: of_course | {"done": "1"}), ""),
        (changed("numbers", lambda of_course: of_course | {"steps": 1}), ""),
    ],
)
def test_a_broken_checkpoint_is_one_clear_error(
    fault: Callable[[bytes], bytes],
    says: str,
    files: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    parser = parser_of(epochs=1, checkpoints=tmp_path / "kept")
    parser.train(*files, tmp_path / "model")
    [path] = (tmp_path / "kept").iterdir()
    path.write_bytes(fault(path.read_bytes()))
    with pytest.raises(ModelError, match=rf"{path.name}: is broken; remove it \(.*{says}.*\)$") as error:
        parser.train(*files, tmp_path / "model")
    assert "\n" not in str(error.value) and not (tmp_path / "pwned").exists()


def test_a_checkpoint_that_cannot_be_written(files: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("")
    with pytest.raises(ModelError, match="msgpack: cannot be written: "):
        tagger_of(epochs=1, checkpoints=tmp_path / "kept").train(*files, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_vectors_tell_trainings_apart(files: tuple[Path, Path], tmp_path: Path) -> None:
    text, kept = tmp_path / "vectors.txt", tmp_path / "kept"
    for number in (1, 2):
        text.write_text(f"the {number} 0\n", encoding="utf-8")
        parser_of(epochs=1, vectors=text, checkpoints=kept).train(*files, tmp_path / str(number))
    assert len([*kept.iterdir()]) == 2


def test_a_sentence_is_told_apart_by_all_that_is_learned_of_it() -> None:
    """Checkpoints are told apart by what trees look like when they are printed."""
    tokens = Tokens(("a", "b"), ("A", "B"))
    trees = [DTree(tokens, (2, 0)), DTree(tokens, (0, 1)), DTree(tokens, (2, 0), labels=("x", "y"))]
    trees.append(DTree(Tokens(("a", "b"), ("A", "A")), (2, 0)))
    assert len({*map(repr, trees)}) == 4
