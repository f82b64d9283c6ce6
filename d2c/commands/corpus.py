"""`d2c corpus`: text of any size to Parquet, on all cores or on a cluster."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from contextlib import AbstractContextManager, ExitStack, closing
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from d2c.commands.options import language_option, model_path
from d2c.commands.parse import SOME_FAILED
from d2c.commands.pulse import Pulse
from d2c.commands.terminal import progress, say
from d2c.models.names import DEFAULT

if TYPE_CHECKING:
    from d2c.base.workers import Crew
    from d2c.corpora.inputs import Inputs
    from d2c.corpora.work import Job

BACKENDS = ("ray", "processes")
_MOST_SAID = 20  # sentences that are named
_FORMATS = ("text", "jsonl", "conllu", "parquet")


@click.command()
@click.argument("inputs", metavar="INPUT...", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option("-o", "--output", metavar="DIR", type=click.Path(path_type=Path), required=True)
@click.option("--model", default=DEFAULT, show_default=True, help="A name or a directory.")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(_FORMATS),
    help="Of all files.  [default: by their names; others in directories are left out]",
)
@click.option("--tokenized", "kind", flag_value="tokenized", help="Text has blanks between tokens.")
@click.option(
    "--split",
    "kind",
    flag_value="split",
    help="Free text.  [default: a sentence on each line, in fields, too]",
)
@language_option
@click.option(
    "--text-field", default="text", show_default=True, help="JSON, Parquet: text, or a list of words."
)
@click.option("--id-field", default="id", show_default=True, help="JSON, Parquet: the document's id.")
@click.option("--workers", type=click.IntRange(1), show_default="all cores", help="Each loads the model.")
@click.option(
    "--address", help="Of a Ray cluster: auto, HOST:PORT, ray://HOST:PORT.  [default: this machine]"
)
@click.option("--backend", type=click.Choice(BACKENDS), help="[default: ray where it is installed]")
@click.option(
    *("--shard-size", "shard_size"),
    metavar="SENTENCES",
    type=click.IntRange(1),
    default=20_000,
    show_default=True,
    help="Of a file of the output.",
)
@click.option(
    *("--batch-size", "batch_size"),
    metavar="SENTENCES",
    type=click.IntRange(1),
    default=256,
    show_default=True,
    help="That a worker gets at a time.",
)
@click.option(
    "--patience",
    metavar="SECONDS",
    type=click.FloatRange(0, min_open=True),
    default=600.0,
    show_default=True,
    help="A worker that takes longer for a batch hangs.",
)
@click.option("--resume", is_flag=True, help="Go on with what is in DIR, if there is something.")
@click.option("--device", help="cpu, cuda, ...  [default: cuda where there is one]")
@click.option("--allow-pipeline", metavar="NAME", help="As for `parse`.")
def corpus(
    inputs: tuple[Path, ...],
    output: Path,
    model: str,
    workers: int | None,
    address: str | None,
    backend: str | None,
    resume: bool,
    **options: Any,
) -> None:
    """Parses files, and those in directories, into Parquet: a row for each sentence, with its c-tree.

    Text (.txt), JSON lines (.jsonl), CoNLL-U (.conllu), each also with .gz, and Parquet. Files of the output
    have --shard-size sentences each. Workers are actors on Ray, or processes.

    Whenever the job is interrupted or killed, the same command with --resume goes on. The same input makes
    the same bytes, with any number of workers; the digest in the end shows it. A sentence that cannot be
    parsed, or that kills its worker, has a row that says so; the exit status is 3 then.
    """
    from d2c.corpora.job import Plan, run
    from d2c.corpora.manifest import opened

    backend = _backend(backend, address)
    given, job, settings = _asked(inputs, output, model, options)
    sizes = options["shard_size"], options["batch_size"]
    crew = partial(_crew, backend, workers, address, job)
    plan = Plan(given, *sizes, options["patience"], crew)
    with ExitStack() as stack:
        manifest = stack.enter_context(opened(output, settings, resume))
        tell = say if sys.stderr.isatty() else stack.enter_context(Pulse()).say
        more, said = stack.enter_context(progress(tell=tell)), 0
        try:
            for done in stack.enter_context(closing(run(plan, manifest))):
                for error in done.errors[: max(0, _MOST_SAID - said)]:
                    tell(f"d2c: {error}")
                said += len(done.errors)
                more(done.sentences, done.tokens, done.share)
        except BaseException:
            if manifest.entries:
                say(f"{output} has {len(manifest.entries):,} finished files; --resume goes on from there")
            raise
    entries = manifest.entries.values()
    sentences, tokens = (sum(entry.sentences for entry in entries), sum(entry.tokens for entry in entries))
    say(f"{sentences:,} sentences, {tokens:,} tokens in {len(entries):,} files of {output}")
    click.echo(f"digest {manifest.digest()}")
    if failed := sum(entry.failed for entry in entries):
        say(f"{failed:,} could not be parsed; the column `error` says why")
        click.get_current_context().exit(SOME_FAILED)


def _backend(name: str | None, address: str | None) -> str:
    if name == "processes" and address:
        raise click.UsageError("--address is of a Ray cluster; leave out --backend processes")
    return name or ("ray" if address or find_spec("ray") else "processes")


def _asked(
    paths: tuple[Path, ...], output: Path, model: str, options: dict[str, Any]
) -> tuple[Inputs, Job, dict[str, Any]]:
    """The input, what workers are told, and what the output depends on."""
    from d2c.corpora.inputs import Inputs, find_files, format_of
    from d2c.corpora.packages import needs
    from d2c.corpora.records import FORMATS, TEXT, Fields
    from d2c.corpora.work import Job
    from d2c.models.model import Model, read_settings
    from d2c.parsing.input import KINDS
    from d2c.parsing.part import digest_of
    from d2c.parsing.rules import rules_of
    from d2c.parsing.text import PENN
    from d2c.training.warm_up import warmed_up

    context = click.get_current_context()
    directory = model_path(context, click.Option(["--model"]), Path(model))
    assert directory is not None
    kind, language = options["kind"] or "text", options["language"]
    if language and not KINDS[kind].cut:
        raise click.UsageError("--language cuts text into words; leave out --tokenized")
    format_name = options["format_name"]
    files = find_files(paths, format_name, output)
    tagged = all(FORMATS[format_name or format_of(file) or TEXT].tagged for file in files)
    load = {name: options[name] for name in ("device", "allow_pipeline")}
    pyarrow = needs("pyarrow").__version__
    with warmed_up([read_settings(directory).route], train=False):
        digest = digest_of(directory)
        cut = KINDS[kind].split and not tagged
        rules = rules_of(directory, partial(Model.load, directory, **load), language) if cut else PENN
    fields = Fields(options["text_field"], options["id_field"])
    inputs = Inputs(files, format_name, kind, fields, rules)
    named = json.dumps([[str(file), size] for file, size in zip(files, inputs.sizes, strict=True)])
    settings = {
        "d2c": version("d2c"),
        "pyarrow": pyarrow,
        "model": digest,
        "kind": kind,
        "language": language,
    }
    settings |= {name: options[name] for name in ("text_field", "id_field", "format_name")}
    settings |= {name: options[name] for name in ("shard_size", "batch_size")} | load
    settings["inputs"] = hashlib.sha256(named.encode("utf-8", "backslashreplace")).hexdigest()
    return inputs, Job(model, digest, load, kind, tagged, fields, language), settings


def _crew(backend: str, workers: int | None, address: str | None, job: Job) -> AbstractContextManager[Crew]:
    if backend == "ray":
        from d2c.corpora.actors import actors

        say(f"Ray: {f'{workers:,} workers' if workers else 'a worker on each core'}")
        return actors(workers, job, address)
    from d2c.base.workers import Pool

    workers = workers or os.cpu_count() or 1
    say(f"{workers:,} processes")
    return Pool(job.worker, workers, fresh=True)
