"""How a corpus is read, cut and parsed."""

from __future__ import annotations

from dataclasses import dataclass

from d2c.base.settings import setting
from d2c.parsing.options import TAGGED, TEXTS, ParseOptions


@dataclass(frozen=True, kw_only=True)
class CorpusOptions(ParseOptions):
    """The options of `ParseOptions`, and those of a job.

    patience:     in seconds; like `retry_failed` and `strict`, it may differ when a job is resumed
    retry_failed: whether batches of finished files are parsed again if some of their sentences failed
    """

    kind: str = setting("text", choices=(TAGGED, *TEXTS))
    confidences: bool = True
    format_name: str | None = setting(
        None,
        "The format of all files.  [default: by name; other files in directories are left out]",
        choices=("text", "jsonl", "conllu", "parquet"),
    )
    text_field: str = setting("text", "JSON, Parquet: the field with the text or the list of words.")
    id_field: str = setting("id", "JSON, Parquet: the field with the document's id.")
    shard_size: int = setting(20_000, "The approximate size of an output file.", metavar="SENTENCES", least=1)
    batch_size: int = setting(
        256, "About how many sentences a worker gets at a time.", metavar="SENTENCES", least=1
    )
    patience: float = setting(
        600.0, "A worker that takes longer for a batch counts as hung.", metavar="SECONDS", above=0
    )
    retry_failed: bool = setting(False, "Retry sentences that could not be parsed; needs --resume.")
    strict: bool = setting(False, "Stop at the first file that is skipped or broken.")
