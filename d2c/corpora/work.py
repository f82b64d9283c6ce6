"""What a worker does: makes sentences of records, parses them, and answers with a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from d2c.base.errors import ModelError
from d2c.base.model_files import first_line
from d2c.base.workers import Failed
from d2c.corpora.records import Fields, Record, items_of
from d2c.corpora.rows import table_of
from d2c.models.names import find
from d2c.parsing.input import KINDS
from d2c.parsing.text import PENN

if TYPE_CHECKING:
    import pyarrow as pa

    from d2c.parsing.output import Parsed


class Task(NamedTuple):
    """What is asked of a worker.

    records:    none: it makes itself ready
    begin, end: only so many of their sentences, counted from 0; None: to the last one
    error:      do not parse them: say that they cannot be, for this reason
    """

    records: tuple[Record, ...] = ()
    begin: int = 0
    end: int | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """What workers need to know. It is pickled.

    model, options: a name or directory, and how `Model.load` loads it; digest: of the directory
    kind:           of text, one of `input.KINDS`; tagged: all sentences come with tags
    language:       of text; None: the model's
    """

    model: str
    digest: str
    options: Mapping[str, Any]
    kind: str
    tagged: bool
    fields: Fields
    language: str | None = None

    def worker(self) -> Callable[[Task], pa.Table | Failed]:
        """Loads the model. Raises ModelError, also where the directory has another one on this machine."""
        from d2c.models.model import Model
        from d2c.parsing.part import digest_of  # a second and more: d-parsers
        from d2c.parsing.rules import rules_of
        from d2c.parsing.stream import Batch, Request, batch_worker

        directory = find(self.model)
        if digest_of(directory) != self.digest:
            raise ModelError(f"{directory}: is another model here than where the job was started")
        model = Model.load(directory, **self.options)
        request = Request(Path(), "conllu" if self.tagged else self.kind, "json")
        parse = batch_worker(_kept, lambda: model, request)
        bracket = "discbracket" if model.route.gaps_ else "brackets"
        cut = KINDS[self.kind].cut and not self.tagged
        rules = rules_of(directory, lambda: model, self.language) if cut else PENN

        def work(task: Task) -> pa.Table | Failed:
            try:
                found = (items_of(record, self.kind, self.fields, rules) for record in task.records)
                items = [*chain.from_iterable(found)][task.begin : task.end]
                parsed: Sequence[Parsed | None] = [None] * len(items)
                if items and not task.error:
                    parsed = parse(Batch([item.sentence for item in items], 1, ""))
                return table_of(items, parsed, bracket, task.error)
            except ModelError:
                raise
            except Exception as error:  # of any kind: libraries are given what they have never seen
                return Failed(f"{type(error).__name__}: {first_line(error)}")

        return work


def _kept(parsed: Sequence[Parsed], *_: object) -> Sequence[Parsed]:
    return parsed
