"""The output of `d2c parse`: standard output, or OUT.part, which becomes OUT when all is done.

OUT.part grows by whole batches. The journal OUT.part.log has the settings in its header and, for each batch,
a row that says how much is finished. After a kill, all that the last whole row says is there; the rest of
OUT.part is cut off.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO

from d2c.base.counting import many
from d2c.base.errors import FormatError
from d2c.base.files import open_output, writing
from d2c.base.store import Journal
from d2c.parsing.options import told_changes
from d2c.parsing.stream import Batch, Done
from d2c.trees.repair import Repairs

Write = Callable[[Done], None]
Handler = Callable[[int, FrameType | None], Any]


@dataclass
class Finished:
    """How much of the input is parsed.

    sentences: how many sentences of the input; digest: the digest of these
    refused:   how many of these could not be parsed
    length:    the length of OUT.part in bytes
    """

    sentences: int = 0
    digest: str = ""
    refused: int = 0
    length: int = 0
    repairs: Repairs = field(default_factory=Repairs)

    def add(self, done: Done) -> None:
        """Count one more batch."""
        self.sentences += done.sentences
        self.digest = done.digest
        self.refused += len(done.errors)
        self.repairs.add(done.repairs)

    def rest(self, batches: Iterator[Batch], file: str) -> Iterator[Batch]:
        """Yield the unfinished batches. Raises FormatError if others than the finished ones precede."""
        sentences, digest = 0, ""
        while sentences < self.sentences and (batch := next(batches, None)):
            sentences, digest = sentences + len(batch.sentences), batch.digest
        if (sentences, digest) != (self.sentences, self.digest):
            message = f"does not begin with the {many(self.sentences, 'sentence')} that --resume goes on from"
            raise FormatError(file, 0, 0, message)
        yield from batches

    @classmethod
    def of_row(cls, row: Any) -> Finished:
        """Return what a row of the journal says. Raises ValueError, TypeError, KeyError for anything else."""
        repairs = Repairs(**row["repairs"])
        repairs.counts = Counter(repairs.counts)
        return cls(**row | {"repairs": repairs})


def is_finished(output: Path, sources: Iterable[Path]) -> bool:
    """Return whether an output is whole, and no older than any of its sources."""
    target = Path(os.path.realpath(output))
    if not target.is_file() or Path(f"{target}.part").exists():
        return False
    written = target.stat().st_mtime_ns
    return all(path.exists() and path.stat().st_mtime_ns <= written for path in sources)


@contextmanager
def written(
    output: Path, header: str, settings: Mapping[str, Any], resume: bool
) -> Iterator[tuple[Finished, Write]]:
    """Provide how much an earlier run finished, and a function that writes batches to a file (`-`: stdout).

    header:   text before all sentences
    settings: what the output depends on, besides the input
    resume:   whether to continue an interrupted run, if there is one

    Raises FormatError for an output that cannot be written, and for one that an interrupted run left with
    other settings, or left at all if it is not to be resumed.
    """
    target = Path(os.path.realpath(output))  # through a link, the file it leads to is replaced
    if str(output) != "-" and (target.is_file() or not target.exists()):
        with _part(target, header, settings, resume) as part:
            yield part
        return
    if resume:
        raise FormatError(str(output), 0, 0, "--resume needs an output file; name one with -o")
    finished = Finished()
    with open_output(output) as stream, whole_texts(stream.buffer) as write:

        def put(done: Done) -> None:
            write(done.text)
            finished.add(done)

        write(header)
        yield finished, put


@contextmanager
def _part(
    target: Path, header: str, settings: Mapping[str, Any], resume: bool
) -> Iterator[tuple[Finished, Write]]:
    path, log = (Path(f"{target}{suffix}") for suffix in (".part", ".part.log"))
    if path.exists() and not (log.exists() and path.is_file()):
        raise FormatError(str(path), 0, 0, f"is in the way of {target}, and was not left by d2c; move it")
    with Journal(log, str(target)) as journal, writing(str(target)):
        finished = _finished(journal, path, settings, resume)
        with open(path, "ab") as stream:

            def put(text: str) -> None:
                data = text.encode("utf-8")
                stream.write(gzip.compress(data, mtime=0) if target.suffix == ".gz" else data)
                stream.flush()
                finished.length = stream.tell()

            def add(done: Done) -> None:
                put(done.text)
                finished.add(done)
                journal.append(vars(finished) | {"repairs": vars(finished.repairs)})

            try:
                stream.truncate(finished.length)
                if not finished.sentences:
                    journal.begin(settings)
                    put(header)
                yield finished, add
            except BaseException:
                if not finished.sentences:
                    path.unlink(missing_ok=True)
                    journal.remove()
                raise
        os.replace(path, target)
        journal.remove()


def _finished(journal: Journal, path: Path, settings: Mapping[str, Any], resume: bool) -> Finished:
    """Return what a journal's last row says is finished. Raises FormatError where a run cannot resume."""
    if len(journal.lines) < 2 or not path.exists():
        return Finished()
    problem, changes = f"is not what {path.name}.log says; delete it to begin anew", journal.changes(settings)
    if not resume:
        problem = "is left of an interrupted run; say --resume to go on from there, or delete it"
    elif changes:
        problem = f"was made {told_changes(changes)}; keep to that, or delete it to begin anew"
    elif changes is not None:
        with suppress(ValueError, TypeError, KeyError, RecursionError):
            finished = Finished.of_row(json.loads(journal.lines[-1]))
            if finished.length <= path.stat().st_size:
                return finished
    raise FormatError(str(path), 0, 0, problem)


@contextmanager
def whole_texts(stream: BinaryIO) -> Iterator[Callable[[str], None]]:
    """Provide a function that writes a text and flushes; a signal waits until the current text is written.

    A second signal does not wait: the program that reads the output may have stopped reading.
    """
    waiting: list[tuple[int, FrameType | None]] = []
    handlers: dict[int, Handler] = {}
    writing = False

    def receive(number: int, frame: FrameType | None) -> None:
        if writing and not waiting:
            waiting.append((number, frame))
        else:
            handlers[number](number, frame)

    def write(text: str) -> None:
        nonlocal writing
        writing = True
        rest = text.encode()
        try:
            while rest:  # without a buffer (PYTHONUNBUFFERED) a signal may cut a write short
                rest = rest[stream.write(rest) :]
            stream.flush()
        finally:
            writing = False
        if waiting:
            number, frame = waiting.pop()
            handlers[number](number, frame)

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            before = signal.getsignal(number)
            if callable(before):  # not if the signal is ignored
                handlers[number] = before
                signal.signal(number, receive)
    try:
        yield write
    finally:
        for caught, before in handlers.items():
            signal.signal(caught, before)
