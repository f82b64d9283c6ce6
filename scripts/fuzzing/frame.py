"""The frame of the fuzzer: cases of many kinds are made, tried in children, counted, kept and tried again.

Another kind is a function that makes cases, one that judges them, and an entry of a `Group`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from fuzzing.children import Ended, Limits, run_all

FAULT, CASE, FILES = "fault.txt", "case.json", "files"


class Case(NamedTuple):
    """Something that is tried.

    kind:  the kind under which it is counted, and whose judge tries it
    files: their contents, by path; None: the file is deleted
    given: what else the judge has to know, as JSON has it
    """

    kind: str
    files: Mapping[str, bytes | None]
    given: Mapping[str, Any] = {}

    def put(self, directory: Path) -> None:
        """Write the files below a directory, in place of those that are there."""
        for name, content in self.files.items():
            file = directory / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.unlink(missing_ok=True)  # it may be a link to a good file
            if content is not None:
                file.write_bytes(content)

    def save(self, directory: Path) -> None:
        """Keep the case in a directory, made if absent."""
        self.put(directory / FILES)
        said = {"kind": self.kind, "files": [*self.files], "given": self.given}
        (directory / CASE).write_text(json.dumps(said) + "\n")

    @classmethod
    def load(cls, directory: Path) -> Case:
        """Return what `save` kept."""
        said = json.loads((directory / CASE).read_text())
        paths = {name: directory / FILES / name for name in said["files"]}
        files = {name: path.read_bytes() if path.exists() else None for name, path in paths.items()}
        return cls(said["kind"], files, said["given"])


class Kind(NamedTuple):
    """How cases are made, given the kind's name, and judged in an empty directory.

    The judge returns `read` or `refused`, or raises `children.Fault`.
    """

    make: Callable[[Random, str], Case]
    judge: Callable[[Case], str]


class Group(NamedTuple):
    """Kinds that are tried in turn.

    limits: of a case; size: cases that one child tries
    """

    name: str
    kinds: Mapping[str, Kind]
    limits: Limits
    size: int = 1

    def judge(self, numbered: tuple[object, Case]) -> str:
        """Try a case in an empty directory of a child: `read` or `refused`. Raises Fault."""
        _, case = numbered
        return self.kinds[case.kind].judge(case)


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
        """Count a try."""
        self.tried += 1
        self.read += ended.said == "read"
        self.refused += ended.said == "refused"
        self.failures += bool(ended.fault)
        self.seconds += ended.seconds
        self.slowest = max(self.slowest, ended.seconds)


def try_all(group: Group, seed: int, count: int, jobs: int, failures: Path) -> list[Row]:
    """Try so many cases of all kinds of a group in turn; what fails is kept."""
    names, rows = [*group.kinds], dict[str, Row]()

    def cases() -> Iterator[tuple[int, Case]]:
        for number in range(count):
            name = names[number % len(names)]
            yield number, group.kinds[name].make(Random(f"{seed} {number}"), name)

    for (number, case), ended in run_all(group.judge, cases(), group.limits, jobs, group.size):
        rows.setdefault(case.kind, Row(case.kind)).add(ended)
        if ended.fault:
            kept = failures / f"{group.name}-{seed}" / f"{number}-{case.kind.strip('-').replace(' ', '-')}"
            case.save(kept)
            (kept / FAULT).write_text(ended.fault)
    return [*rows.values()]


def replay(kept: Path, groups: Iterable[Group], jobs: int) -> Iterator[str]:
    """Try again what was kept in a directory; yield what came of it."""
    found = [(file.parent, Case.load(file.parent)) for file in sorted(kept.rglob(CASE))]
    for group in groups:
        own = [(place, case) for place, case in found if case.kind in group.kinds]
        for (place, _), ended in run_all(group.judge, own, group.limits, jobs):
            yield f"{place}: {ended.fault or ended.said}"
