"""`d2c corpus`: text of any size to Parquet, on all cores or on a cluster."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, closing
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from d2c.base.counting import many
from d2c.base.errors import needs
from d2c.base.inputs import names_of
from d2c.commands.options import Sectioned, kind_option, language_option, model_called, option_of
from d2c.commands.parse import SOME_FAILED
from d2c.commands.progress import heartbeat, progress
from d2c.commands.terminal import report_cut, say, warn_of_memory
from d2c.corpora.options import CorpusOptions
from d2c.models.names import DEFAULTS, default, find, is_model, known

if TYPE_CHECKING:
    from d2c.base.workers import WorkerPool
    from d2c.corpora.inputs import Inputs
    from d2c.corpora.job import JobSummary
    from d2c.corpora.manifest import Manifest
    from d2c.corpora.worker import Job

    Start = Callable[[], AbstractContextManager[WorkerPool]]

BACKENDS = ("ray", "processes")
_MOST_NAMED = 20  # sentences, and files left out, that are named


@click.command(cls=Sectioned)
@click.argument("inputs", metavar="INPUT...", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(path_type=Path),
    required=True,
    help="The directory for the output.",
)
@click.option("--model", help=f"The model: a name or a directory.  [default: {DEFAULTS[0]}]")
@option_of(CorpusOptions, "format_name", "--format", "format_name")
@kind_option("tokenized", "Text has one sentence on each line and blanks between tokens.")
@kind_option("split", "Text is free text.  [default: one sentence on each line, also in text fields]")
@language_option
@option_of(CorpusOptions, "text_field")
@option_of(CorpusOptions, "id_field")
@click.option(
    "--workers",
    type=click.IntRange(1),
    show_default="all cores",
    help="The number of workers; each loads the model.",
)
@click.option(
    "--address", help="The Ray cluster: auto, HOST:PORT or ray://HOST:PORT.  [default: this machine]"
)
@click.option(
    "--backend", type=click.Choice(BACKENDS), help="What runs the workers.  [default: ray if installed]"
)
@option_of(CorpusOptions, "shard_size")
@option_of(CorpusOptions, "batch_size")
@option_of(CorpusOptions, "max_words")
@option_of(CorpusOptions, "patience")
@click.option("--resume", is_flag=True, help="Continue with what is in DIR, if anything.")
@option_of(CorpusOptions, "retry_failed")
@option_of(CorpusOptions, "strict")
@option_of(CorpusOptions, "device")
@option_of(CorpusOptions, "allow_pipeline", help="Load this pipeline, as `d2c parse` does.")
def corpus(
    inputs: tuple[Path, ...],
    output: Path,
    model: str | None,
    workers: int | None,
    address: str | None,
    backend: str | None,
    resume: bool,
    **chosen: Any,
) -> None:
    """Parse files and directories into Parquet: one row for each sentence, with its c-tree.

    Input is text (.txt), JSON lines (.jsonl) or CoNLL-U (.conllu), each also with .gz, or Parquet. Each
    output file has about --shard-size sentences. Workers are actors on Ray, or processes.

    If the job is interrupted or killed, the same command with --resume continues it; files that have since
    been added or repaired come last. The same input gives the same bytes with any number of workers, as the
    digest at the end shows. A sentence that cannot be parsed, or that kills its worker, has a row that says
    so; a file that cannot be read is left out and reported. In both cases the exit status is 3.
    --retry-failed tries such sentences again, for example after a lack of memory.
    """
    if chosen["retry_failed"] and not resume:
        raise click.UsageError("--retry-failed needs --resume, which continues with what is in DIR")
    needs("pyarrow")  # before modules that import it
    from d2c.corpora.manifest import opened

    backend = _backend(backend, address)
    options = CorpusOptions(**{name: value for name, value in chosen.items() if value is not None})
    given, job, settings = _planned(inputs, output, model or default(), options)
    with opened(output, settings, resume) as manifest:
        try:
            given.go_on_after(manifest.files, manifest.planned)
            manifest.plan(map(str, given.files))
            summary = _run(given, manifest, partial(_pool, backend, workers, address, job))
        except BaseException:
            if manifest.entries:
                finished = many(len(manifest.entries), "finished file")
                say(f"{output} has {finished}; --resume goes on from there")
            raise
        summary.write(output)
    for file, why in islice((summary.broken | summary.skipped).items(), _MOST_NAMED):
        say(f"{file}: {why}")
    say(summary)
    click.echo(f"digest {summary.digest}")
    if summary.errors or summary.broken:
        click.get_current_context().exit(SOME_FAILED)


def _run(inputs: Inputs, manifest: Manifest, start: Start) -> JobSummary:
    """Do the job; show its progress, and report the first sentences that cannot be parsed."""
    from d2c.corpora.job import SUMMARY, JobSummary, run

    begin, named, words, cut = time.monotonic(), 0, 0, 0
    with ExitStack() as stack:
        tell = stack.enter_context(heartbeat())
        more = stack.enter_context(progress(f"parsing {names_of(tuple(inputs.files))}", tell=tell))
        for done in stack.enter_context(closing(run(inputs, manifest, start))):
            (manifest.directory / SUMMARY).unlink(missing_ok=True)  # it held so far, as `run` may refuse
            for error in done.errors[: max(0, _MOST_NAMED - named)]:
                tell(f"d2c: {error}")
            named += len(done.errors)
            words += done.tokens
            cut += done.cut
            more(done.sentences, done.tokens, done.share)
    report_cut(cut, inputs.options.max_words)
    return JobSummary.of(manifest, inputs, words, time.monotonic() - begin)


def _backend(name: str | None, address: str | None) -> str:
    if name == "processes" and address:
        raise click.UsageError("--address is of a Ray cluster; leave out --backend processes")
    return name or ("ray" if address or find_spec("ray") else "processes")


def _planned(
    paths: tuple[Path, ...], output: Path, model: str, options: CorpusOptions
) -> tuple[Inputs, Job, dict[str, Any]]:
    """Return the input, what workers need to know, and what the output depends on."""
    from d2c.base.model_files import digest_of_directory
    from d2c.corpora.inputs import Inputs, corpus_files
    from d2c.corpora.records import RECORDS, format_of_records
    from d2c.corpora.worker import Job
    from d2c.models.model import Model, read_model_settings
    from d2c.parsing.input import KINDS
    from d2c.parsing.rules import rules_of
    from d2c.parsing.text import PENN
    from d2c.training.warm_up import warmed_up_for

    for path in paths:
        if is_model(path) or (not path.exists() and known(path)):
            raise click.UsageError(f"{path} is a model, not text; say --model {path}")
    directory = model_called(Path(model), "'--model'")
    if options.language and not KINDS[options.kind].cut:
        raise click.UsageError("--language splits text into words; leave out --tokenized")
    files, others = corpus_files(paths, options.format_name, output)
    tagged = all(RECORDS[format_of_records(file, options)].tagged for file in files)
    load = partial(Model.load, directory, **options.of_model)
    with warmed_up_for([read_model_settings(directory)]):
        digest = digest_of_directory(directory)
        cut = KINDS[options.kind].split and not tagged
        rules = rules_of(directory, load, options.language) if cut else PENN
    inputs = Inputs(files, options, rules, others)
    settings = {
        "d2c": version("d2c-parser"),
        "pyarrow": version("pyarrow"),
        "model": digest,
        **options.to_json(),
    }
    del settings["patience"], settings["retry_failed"], settings["strict"]
    return inputs, Job(model, digest, options, tagged), settings


def _pool(
    backend: str, workers: int | None, address: str | None, job: Job
) -> AbstractContextManager[WorkerPool]:
    if not address:
        warn_of_memory([find(job.model)], workers or os.cpu_count() or 1, "--workers")
    if backend == "ray":
        from d2c.corpora.actors import actors

        say(f"Ray: {many(workers, 'worker') if workers else 'a worker on each core'}")
        return actors(workers, job, address)
    from d2c.base.workers import ProcessPool

    workers = workers or os.cpu_count() or 1
    say(many(workers, "process"))
    return ProcessPool(job.worker, workers, fresh=True)
