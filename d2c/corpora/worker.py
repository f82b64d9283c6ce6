"""What a worker does: makes sentences of records, parses them, and answers with a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

import pyarrow as pa

from d2c.base.errors import FormatError, ModelError, is_short_of_memory
from d2c.base.model_files import digest_of_directory, first_line
from d2c.base.workers import SHORT, Failed
from d2c.corpora.options import CorpusOptions
from d2c.corpora.records import Record, sentences_of_record
from d2c.corpora.rows import table_of
from d2c.models.names import find
from d2c.parsing.input import KINDS
from d2c.parsing.options import TAGGED
from d2c.parsing.sentence import Sentence
from d2c.parsing.text import PENN


class WorkerTask(NamedTuple):
    """What is asked of a worker.

    records:    none: it makes itself ready; size: how many sentences they are, about
    begin, end: only so many of their sentences, counted from 0; None: to the last one
    error:      do not parse them: say that they cannot be, for this reason
    """

    records: tuple[Record, ...] = ()
    begin: int = 0
    end: int | None = None
    error: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    """What workers need to know. It is pickled.

    model:   a name or directory; digest: of the directory
    options: how the input is read and parsed; tagged: all sentences come with tags
    """

    model: str
    digest: str
    options: CorpusOptions
    tagged: bool

    def worker(self) -> Callable[[WorkerTask], pa.Table | Failed]:
        """Load the model. Raises ModelError, also where the directory has another one on this machine."""
        from d2c.models.model import Model  # a second and more: d-parsers
        from d2c.parsing.rules import rules_of
        from d2c.parsing.stream import Batch, parser_of

        directory, options = find(self.model), self.options
        if digest_of_directory(directory) != self.digest:
            raise ModelError(f"{directory}: is not the model that the job was started with; copy it here")
        model = Model.load(directory, **options.of_model)
        parser = parser_of([model], replace(options, kind=TAGGED) if self.tagged else options, alone=False)
        bracket = "discbracket" if model.route.gaps_ else "brackets"
        cut = KINDS[options.kind].cut and not self.tagged
        rules = rules_of(directory, lambda: model, options.language) if cut else PENN

        def work(task: WorkerTask) -> pa.Table | Failed:
            try:
                found = (sentences_of_record(record, options, rules) for record in task.records)
                sentences = [*chain.from_iterable(found)][task.begin : task.end]
                if task.error:
                    sentences = [_failed(sentence, task.error) for sentence in sentences]
                elif sentences:
                    [batch] = parser.over([Batch(sentences)])
                    sentences = batch.sentences
                return table_of(sentences, bracket)
            except ModelError:
                raise
            except Exception as error:  # of any kind: libraries are given what they have never seen
                if is_short_of_memory(error):
                    return Failed(SHORT, gone=True)  # the worker's fault, not the sentences'
                return Failed(f"{type(error).__name__}: {first_line(error)}")

        return work


def _failed(sentence: Sentence, why: str) -> Sentence:
    """Return a sentence that cannot be parsed for a reason, unless it has one of its own."""
    return sentence if sentence.error else sentence.failed(FormatError(sentence.file, sentence.line, 0, why))
