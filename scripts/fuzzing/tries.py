"""Many tries in children, counted by kind; what fails is kept, and can be tried again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from d2c.models.model import Model
from fuzzing import inputs, models
from fuzzing.children import Ended, Limits, Task, run_all
from fuzzing.fitted import MODELS

INPUT_LIMITS = Limits(20, 4_000_000_000)
BATCH = 10  # inputs that one child tries
MODEL_LIMITS = Limits(5, 4_000_000_000, 1_000_000_000)
FAULT = "fault.txt"
MODEL = next(iter(MODELS))  # parses broken input


@dataclass
class Row:
    """A line of the table: how many were tried, what came of them; seconds of work, and of the slowest."""

    kind: str
    tried: int = 0
    read: int = 0
    refused: int = 0
    failures: int = 0
    seconds: float = 0
    slowest: float = 0

    def add(self, ended: Ended) -> None:
        """Counts a try."""
        self.tried += 1
        self.read += ended.said == "read"
        self.refused += ended.said == "refused"
        self.failures += bool(ended.fault)
        self.seconds += ended.seconds
        self.slowest = max(self.slowest, ended.seconds)


def try_inputs(seed: int, count: int, jobs: int, failures: Path, model: Model) -> list[Row]:
    """Tries so many broken inputs, of all kinds in turn, with this model."""
    names = [*inputs.KINDS]
    [*model.parse(inputs.GOOD_TOKENS)]  # so that children need not import its libraries

    def tasks() -> Iterator[Task]:
        for number in range(count):
            kind = names[number % len(names)]
            case = inputs.KINDS[kind].make(Random(f"{seed} {number}"), kind)
            yield Task((kind, number, case), partial(inputs.judge, case, model))

    return _counted(run_all(tasks(), INPUT_LIMITS, jobs, BATCH), failures / f"inputs-{seed}", inputs.save)


def try_models(seed: int, count: int, jobs: int, failures: Path, directory: Path) -> list[Row]:
    """Breaks so many files of the models in a directory, of all models in turn."""
    names = sorted(path.name for path in directory.iterdir() if (path / "model.json").exists())
    for name in names if count else ():  # as above
        [*Model.load(directory / name).parse(inputs.GOOD_TOKENS)]

    def tasks() -> Iterator[Task]:
        for number in range(count):
            case = models.make(Random(f"{seed} {number}"), directory, names[number % len(names)])
            yield Task((case.model, number, case), partial(models.judge, case, directory))

    return _counted(run_all(tasks(), MODEL_LIMITS, jobs), failures / f"models-{seed}", models.save)


def _counted(
    tried: Iterable[tuple[Task, Ended]], failures: Path, save: Callable[[Any, Path], None]
) -> list[Row]:
    """Counts what came of tries by kind, and keeps what failed."""
    rows: dict[str, Row] = {}
    for task, ended in tried:
        kind, number, case = task.what
        rows.setdefault(kind, Row(kind)).add(ended)
        if ended.fault:
            kept = failures / f"{number}-{kind.strip('-').replace(' ', '-')}"
            save(case, kept)
            (kept / FAULT).write_text(ended.fault)
    return [*rows.values()]


def replay(kept: Path, directory: Path, jobs: int) -> Iterator[str]:
    """Tries again what was kept in a directory, with the models in another one; what came of it."""
    tasks, model = [], Model.load(directory / MODEL)
    for file in sorted(kept.rglob("case.json")):
        if "kind" in json.loads(file.read_text()):
            work = partial(inputs.judge, inputs.load(file.parent), model)
        else:
            work = partial(models.judge, models.load(file.parent), directory)
        tasks.append(Task(file.parent, work))
    for task, ended in run_all(tasks, INPUT_LIMITS, jobs):
        yield f"{task.what}: {ended.fault or ended.said}"


def table(rows: Iterable[Row]) -> str:
    """The rows in Markdown."""
    lines = ["| " + " | ".join(field.name for field in fields(Row)) + " |", "|---" * len(fields(Row)) + "|"]
    for row in rows:
        counts = (f"{count:,}" for count in (row.tried, row.read, row.refused, row.failures))
        lines.append(f"| {row.kind} | {' | '.join(counts)} | {row.seconds:.0f} | {row.slowest:.1f} |")
    return "\n".join(lines)
