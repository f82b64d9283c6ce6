"""The work of a worker: it makes sentences of records, parses them, and answers with a table."""

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
    """A task for a worker.

    records:    what it parses; none: it only makes itself ready; size: about how many sentences they have
    begin, end: the range of their sentences that is wanted, counted from 0; None: to the last one
    error:      if given, nothing is parsed: all sentences get this error
    """

    records: tuple[Record, ...] = ()
    begin: int = 0
    end: int | None = None
    error: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    """What workers need to know. It is pickled.

    model:   a name or directory; digest: the digest of the directory
    options: how the input is read and parsed; tagged: whether all records are sentences of CoNLL-U
    """

    model: str
    digest: str
    options: CorpusOptions
    tagged: bool

    def worker(self) -> Callable[[WorkerTask], pa.Table | Failed]:
        """Load the model; return what does tasks. Raises ModelError, also if this machine has another one."""
        from d2c.models.model import Model  # takes a second or more, for d-parsers
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
            except Exception as error:  # of any kind: the input is new to libraries
                if is_short_of_memory(error):
                    return Failed(SHORT, gone=True)  # the worker's fault, not the sentences'
                return Failed(f"{type(error).__name__}: {first_line(error)}")

        return work


def _failed(sentence: Sentence, why: str) -> Sentence:
    """Return a sentence with an error for this reason, unless it has an error of its own."""
    return sentence if sentence.error else sentence.failed(FormatError(sentence.file, sentence.line, 0, why))
