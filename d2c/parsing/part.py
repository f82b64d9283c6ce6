"""Where `d2c parse` writes: standard output, or OUT.part, which becomes OUT when all is done.

OUT.part grows by whole batches. OUT.part.log says how far: a line with the settings, then one for each batch.
Whenever a run is killed, all that its last whole line says is there; what is beyond that is cut off.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from d2c.base.errors import FormatError
from d2c.base.files import open_output, writing
from d2c.base.model_files import digests
from d2c.base.temporary import lock
from d2c.parsing.output import whole_texts
from d2c.parsing.stream import Batch, Done
from d2c.trees.repair import Repairs

Write = Callable[[Done], None]


@dataclass
class Finished:
    """What was parsed so far.

    sentences: of the input; digest: of the batches that they were in
    refused:   how many of them could not be parsed
    length:    of OUT.part, in bytes
    """

    sentences: int = 0
    digest: str = ""
    refused: int = 0
    length: int = 0
    repairs: Repairs = field(default_factory=Repairs)

    def add(self, done: Done) -> None:
        """Counts one more batch."""
        self.sentences += done.sentences
        self.digest = done.digest
        self.refused += len(done.errors)
        self.repairs.add(done.repairs)

    def rest(self, batches: Iterator[Batch], file: str) -> Iterator[Batch]:
        """What is still to be parsed. Raises FormatError where what comes before is not what is finished."""
        sentences, digest = 0, ""
        while sentences < self.sentences and (batch := next(batches, None)):
            sentences, digest = sentences + len(batch.sentences), batch.digest
        if (sentences, digest) != (self.sentences, self.digest):
            message = f"does not begin with the {self.sentences:,} sentences that --resume goes on from"
            raise FormatError(file, 0, 0, message)
        yield from batches

    def line(self) -> str:
        """One line of JSON."""
        counts = [self.repairs.tokens, self.repairs.sentences, self.repairs.counts]
        return json.dumps([self.sentences, self.digest, self.refused, self.length, counts]) + "\n"

    @classmethod
    def of_line(cls, line: bytes) -> Finished:
        """What `line` wrote. Raises ValueError, TypeError for anything else."""
        done, digest, refused, length, (tokens, sentences, counts) = json.loads(line)
        return cls(done, digest, refused, length, Repairs(tokens, sentences, Counter(counts)))


@contextmanager
def written(
    output: Path, header: str, settings: Mapping[str, Any], resume: bool
) -> Iterator[tuple[Finished, Write]]:
    """A function that writes batches to a file (`-`: standard output); what is finished, from before, too.

    header:   before all sentences
    settings: what the output depends on beside the input
    resume:   go on where an interrupted run was, if there is one

    Raises FormatError for what cannot be written, and for what an interrupted run left of other settings, or
    left at all where nobody said `resume`.
    """
    target = Path(os.path.realpath(output))  # through a link, the file it leads to is replaced
    if str(output) != "-" and (target.is_file() or not target.exists()):
        with _part(target, header, settings, resume) as part:
            yield part
        return
    if resume:
        raise FormatError(str(output), 0, 0, "--resume needs a file")
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
    first = json.dumps(settings).encode() + b"\n"
    stream, logged, lines = _opened(path, log, str(target))
    with stream, logged:
        finished = Finished() if len(lines) < 2 else _finished(lines, first, path, resume)

        def put(text: str) -> None:
            data = text.encode("utf-8")
            stream.write(gzip.compress(data, mtime=0) if target.suffix == ".gz" else data)
            stream.flush()
            finished.length = stream.tell()

        def add(done: Done) -> None:
            put(done.text)
            finished.add(done)
            logged.write(finished.line().encode())
            logged.flush()

        try:
            with writing(str(target)):
                stream.truncate(finished.length)
                logged.truncate(sum(map(len, lines)) if finished.sentences else 0)
                if not finished.sentences:
                    logged.write(first)
                    logged.flush()
                    put(header)
                yield finished, add
                stream.close()
            os.replace(path, target)
            log.unlink(missing_ok=True)
        except BaseException:
            if not finished.sentences:
                for left in (path, log):
                    left.unlink(missing_ok=True)
            raise


def _opened(path: Path, log: Path, target: str) -> tuple[BinaryIO, BinaryIO, list[bytes]]:
    """OUT.part and its log, to append to; the log's lines; it is locked. Raises FormatError."""
    if path.exists() and not log.exists():
        raise FormatError(str(path), 0, 0, f"is in the way of {target}, and was not left by d2c; move it")
    try:
        logged = open(log, "ab")  # noqa: SIM115
        lock(logged)
        lines = _whole_lines(log) if path.exists() else []
        return open(path, "ab"), logged, lines
    except BlockingIOError:
        raise FormatError(target, 0, 0, "is being written by another process") from None
    except OSError as error:
        raise FormatError(target, 0, 0, f"cannot be written: {error.strerror or error}") from None


def _finished(lines: list[bytes], first: bytes, path: Path, resume: bool) -> Finished:
    """What the lines of a log say. Raises FormatError where a run cannot go on from there."""
    if not resume:
        problem = "is left of an interrupted run; say --resume to go on from there, or delete it"
    elif lines[0] != first:
        problem = "was made with another model or other options; delete it to begin anew"
    else:
        with suppress(ValueError, TypeError):
            finished = Finished.of_line(lines[-1])
            if finished.length <= path.stat().st_size:
                return finished
        problem = f"is not what {path.name}.log says; delete it to begin anew"
    raise FormatError(str(path), 0, 0, problem)


def _whole_lines(log: Path) -> list[bytes]:
    """Without the last one, where writing it was interrupted."""
    return [line for line in log.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]


def digest_of(directory: Path) -> str:
    """Of all files in a directory."""
    return hashlib.sha256(json.dumps(digests(directory, ["."])).encode()).hexdigest()
