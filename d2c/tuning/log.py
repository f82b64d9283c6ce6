"""The log of trials: a line of JSON for each, written when it is done; such trials are not made again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from d2c.base.errors import FormatError
from d2c.base.files import writing
from d2c.base.model_files import typed
from d2c.base.temporary import lock

_BEGIN = b'{"trial"'  # of a line
_KINDS = {
    "trial": str,
    "settings": dict,
    "f1": int | float | None,
    "uas": int | float | None,
    "seconds": int | float,
    "error": str | None,
}


@dataclass(frozen=True)
class Trial:
    """What came of some settings.

    trial:   digest of all that it depends on: treebank, settings, what is not tried, version of d2c
    f1, uas: in percent, of c-trees and d-trees; None where the settings do not fit the treebank
    seconds: of training the route, converting and scoring; without the d-parser
    error:   why they do not fit
    """

    trial: str
    settings: Mapping[str, Any]
    f1: float | None
    uas: float | None
    seconds: float
    error: str | None = None


@dataclass
class Log:
    """The trials that are done, by their digests."""

    path: Path
    trials: dict[str, Trial] = field(default_factory=dict)
    _stream: BinaryIO | None = None

    def add(self, trial: Trial) -> None:
        """Writes the line of a trial. Raises FormatError where it cannot."""
        assert self._stream is not None
        with writing(str(self.path)):
            self._stream.write(json.dumps(asdict(trial), ensure_ascii=False).encode() + b"\n")
            self._stream.flush()
        self.trials[trial.trial] = trial


@contextmanager
def opened(path: Path) -> Iterator[Log]:
    """A log to go on with, made if absent, and away again if nothing is found out; locked.

    Half a line at its end, of a run that was killed, goes.

    Raises FormatError for what cannot be written, for a file that is no such log, and for a log in use.
    """
    log = Log(path)
    try:
        with open(path, "ab") as stream:
            lock(stream)
            lines = path.read_bytes().splitlines(keepends=True)
            for number, line in enumerate(lines, 1):
                if not line.endswith(b"\n") and line.startswith(_BEGIN):  # a run was killed
                    stream.truncate(sum(map(len, lines[:-1])))
                else:
                    trial = _read(line, path, number)
                    log.trials[trial.trial] = trial
            log._stream = stream
            try:
                yield log
            finally:
                if not log.trials:
                    path.unlink(missing_ok=True)
    except BlockingIOError:
        raise FormatError(str(path), 0, 0, "is being written by another process") from None
    except OSError as error:
        if error.filename is None or Path(error.filename) != path:
            raise
        raise FormatError(str(path), 0, 0, f"cannot be written: {error.strerror or error}") from None


def _read(line: bytes, path: Path, number: int) -> Trial:
    try:
        return Trial(**typed(json.loads(line), _KINDS))
    except (ValueError, TypeError, KeyError, RecursionError):
        raise FormatError(str(path), number, 0, "is no line of d2c tune's log; name another -o") from None
