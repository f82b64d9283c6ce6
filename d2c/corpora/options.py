"""How a corpus is read, cut and parsed."""

from __future__ import annotations

from dataclasses import dataclass

from d2c.base.settings import setting
from d2c.parsing.options import TAGGED, TEXTS, ParseOptions


@dataclass(frozen=True, kw_only=True)
class CorpusOptions(ParseOptions):
    """Those of `ParseOptions`, and those of a job.

    patience:     seconds; like `retry_failed` and `strict` it is no part of what the output depends on
    retry_failed: batches of finished files in which sentences could not be parsed are parsed again
    """

    kind: str = setting("text", choices=(TAGGED, *TEXTS))
    confidences: bool = True
    format_name: str | None = setting(
        None,
        "Of all files.  [default: by their names; others in directories are left out]",
        choices=("text", "jsonl", "conllu", "parquet"),
    )
    text_field: str = setting("text", "JSON, Parquet: text, or a list of words.")
    id_field: str = setting("id", "JSON, Parquet: the document's id.")
    shard_size: int = setting(20_000, "Of a file of the output.", least=1)
    batch_size: int = setting(256, "That a worker gets at a time.", least=1)
    patience: float = setting(600.0, "A worker that takes longer for a batch counts as hung.", above=0)
    retry_failed: bool = setting(False, "With --resume: try again what could not be parsed.")
    strict: bool = setting(False, "End at the first file that is skipped or broken.")
