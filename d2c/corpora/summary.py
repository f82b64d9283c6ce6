"""What a job has come to: DIR/.summary.json, and what the command says in the end."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path

from d2c.base.counting import many
from d2c.base.files import open_output
from d2c.corpora.inputs import Inputs
from d2c.corpora.manifest import Manifest

NAME = ".summary.json"


@dataclass(frozen=True, slots=True)
class JobSummary:
    """Counts of a finished job.

    files:   of the input, that were read; skipped, broken: the others, and why
    errors:  sentences that could not be parsed
    parts:   files of the output
    seconds: of this run, which may have gone on from others; so with `words_per_second`
    """

    files: int
    skipped: dict[str, str]
    broken: dict[str, str]
    sentences: int
    words: int
    errors: int
    parts: int
    digest: str
    seconds: float
    words_per_second: float

    def write(self, directory: Path) -> None:
        """Write it beside the output. Raises FormatError where that cannot be written."""
        with open_output(directory / NAME) as stream:
            stream.write(json.dumps(asdict(self), indent=1) + "\n")

    def __str__(self) -> str:
        """Return two lines."""
        elapsed, speed = timedelta(seconds=round(self.seconds)), many(round(self.words_per_second), "word")
        return (
            f"{many(self.files, 'file')} read, {len(self.skipped):,} skipped, {len(self.broken):,} broken\n"
            f"{many(self.sentences, 'sentence')}, {many(self.words, 'word')}, {many(self.errors, 'error')}; "
            f"{elapsed}, {speed}/s"
        )


def summary_of(manifest: Manifest, inputs: Inputs, words: int, seconds: float) -> JobSummary:
    """Return the summary of a job; words, seconds: of this run."""
    entries = manifest.entries.values()
    return JobSummary(
        files=inputs.read,
        skipped=inputs.skipped,
        broken=inputs.broken,
        sentences=sum(entry.sentences for entry in entries),
        words=sum(entry.tokens for entry in entries),
        errors=sum(entry.failed for entry in entries),
        parts=len(entries),
        digest=manifest.digest(),
        seconds=round(seconds, 3),
        words_per_second=round(words / seconds, 1) if seconds else 0.0,
    )
