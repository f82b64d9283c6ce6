"""`d2c parse`: text or CoNLL-U to trees, with a model."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from d2c.base.counting import many
from d2c.base.errors import FormatError, install
from d2c.base.files import file_name, first_characters
from d2c.base.inputs import check_apart, check_link, find_files, is_called, is_pattern, names_of
from d2c.base.model_files import digest_of_directory
from d2c.commands.options import (
    FilePath,
    Sectioned,
    arcs_option,
    kind_option,
    language_option,
    model_called,
    option_of,
    output_option,
    timeout_option,
    to_option,
)
from d2c.commands.progress import ReadShare, heartbeat, progress
from d2c.commands.terminal import report_cut, report_repairs, say, warn_of_memory
from d2c.models.model import load_models, load_route, read_model_settings
from d2c.models.names import DEFAULTS, default, extra_of, find, is_model, known, nearest, passed_over
from d2c.parsing.options import CUT, JSON_LINES, TAGGED, TAGGED_NAMES, TEXT_NAMES, ParseOptions
from d2c.parsing.output import OUTPUTS, OutputFormat, format_by_name
from d2c.training.warm_up import warmed_up_for
from d2c.trees.formats.conllu import CONLLU
from d2c.trees.formats.registry import WRITABLE, format_to_write, treebank_called

if TYPE_CHECKING:  # importing these takes a second, for NLTK
    from d2c.models.model import Model
    from d2c.parsing.part import Finished, Write
    from d2c.parsing.stream import Done

    Load = Callable[[], list[Model]]

_FINISHED = "is finished, and no older than its input (options were not compared)"
SOME_FAILED = 3  # exit status where sentences could not be parsed


_STDIN = Path("-")
_NAMES = TAGGED_NAMES + TEXT_NAMES + JSON_LINES


def model_and_inputs(
    context: click.Context, _: click.Parameter, given: tuple[Path, ...]
) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Return MODELs and INPUTs, which may be left out: the callback of their argument. Raises ModelError."""
    for line in passed_over():
        say(f"d2c: {line}")
    if not given or (not known(given[0]) and _is_input(given[0])):
        return (default_model(),), given or (Path("-"),)
    named = [given[0], *takewhile(_is_model, given[1:])]
    models = tuple([model_called(name, "'MODEL'") for name in named])
    return models, given[len(named) :] or (Path("-"),)


def default_model() -> Path:
    """Return the directory of the default model; say if a better one could be installed."""
    if (name := default()) != DEFAULTS[0]:
        say(f"d2c: {name} parses; better is {DEFAULTS[0]}: {install(extra_of(find(DEFAULTS[0])))}")
    return find(name)


def _is_input(first: Path) -> bool:
    """Return whether an argument, no MODEL, is a file (or named so), a pattern, or a directory with such."""
    if first.is_dir():
        return any(is_called(file, _NAMES) for file in first.rglob("*"))
    return str(first) == "-" or first.is_file() or is_pattern(first) or is_called(first, _NAMES)


def _is_model(later: Path) -> bool:
    """Return whether an argument behind a MODEL means one more, and not a file with a model's name."""
    if later.exists():
        return is_model(later)
    return known(later) is not None or (not _is_input(later) and nearest(str(later)) != "")


@click.command(cls=Sectioned)
@click.argument("given", metavar="[MODEL]... [INPUT]...", type=FilePath, nargs=-1, callback=model_and_inputs)
@output_option
@to_option(tuple(OUTPUTS))
@kind_option("text", "INPUT is text with one sentence on each line.")
@kind_option("tokenized", "INPUT is text with one sentence on each line and blanks between tokens.")
@kind_option("split", "INPUT is free text; empty lines end paragraphs.")
@kind_option(
    "json",
    'INPUT has lines like {"tokens": ["They", "saw", "ducks"], "require": [[1, 3, "VP"]], "forbid": [[1, 3]]}'
    ". A span, from the first word (counted from 0) to before the second number, must be a constituent "
    "(require) or must not be one (forbid); labels may be left out. `tags`, if given, are used.",
)
@language_option
@option_of(ParseOptions, "best", show_default=False)
@option_of(ParseOptions, "min_confidence", show_default=False)
@option_of(ParseOptions, "functions")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="The number of processes; each loads the model and takes one core.",
)
@option_of(ParseOptions, "batch_size")
@option_of(ParseOptions, "max_words")
@click.option("--resume", is_flag=True, help="Continue an interrupted run.")
@click.option("--strict", is_flag=True, help="Stop at the first sentence that cannot be parsed or written.")
@option_of(ParseOptions, "device")
@option_of(ParseOptions, "parse_command")
@option_of(ParseOptions, "allow_pipeline")
@arcs_option
@timeout_option
def parse(
    given: tuple[tuple[Path, ...], tuple[Path, ...]],
    output: Path,
    to: str | None,
    strict: bool,
    jobs: int,
    resume: bool,
    **chosen: Any,
) -> None:
    """Parse CoNLL-U (words and tags) or text into c-trees or, with `--to conllu`, into d-trees.

    If no option says what INPUT is, its name and its beginning show whether it is CoNLL-U, JSON lines or free
    text (`--split`). On a terminal, each line that you type is answered at once.

    MODEL is a directory, or a name that `d2c models` lists. It defaults to `en` (or `en-small`) if the first
    argument is a file, a pattern, or a directory that has INPUT. Without INPUT, standard input is read. If
    INPUT is several files, directories or patterns (`'texts/**/*.txt'`), JSON lines name the file.

    Several MODELs vote on constituents: `d2c parse en en-clear --allow-pipeline spacy:en_core_web_sm`. The
    rules of the first one split text. A name after a MODEL means a model, too, unless a file is called so.

    Sentences that cannot be parsed are reported on standard error. A marked empty tree takes their place, and
    the exit status is 3. Words without tags need a model with a tagger, or one made for a pipeline.

    An interrupted run leaves what is finished in OUTPUT.part; the same command with --resume continues it, or
    says that nothing is left to do.

    Confidences, in `--to json`, are probabilities that a constituent is right, fitted on --dev in training.
    In models that were not fitted, they are numbers that only rank the constituents of one model.
    """
    from d2c.parsing.input import KINDS, read_sentences
    from d2c.parsing.part import is_finished, written
    from d2c.parsing.rules import rules_of
    from d2c.parsing.stream import batched, format_batch, parse_batches
    from d2c.parsing.text import PENN

    models, (source, chosen["kind"]) = given[0], _found(given[1], chosen["kind"], output)
    if resume and is_finished(output, (*source, *models)):
        say(f"{output}: {_FINISHED}; without --resume it is made anew")
        return
    options = ParseOptions(**{name: value for name, value in chosen.items() if value is not None})
    kind, typed = KINDS[options.kind], source == (_STDIN,) and sys.stdin.isatty()
    if options.language and not kind.cut:
        raise click.UsageError("--language splits text into words; it needs --text or --split")
    load, gaps = _loaded(models, options, jobs)
    to = to or _called(output, gaps)
    form, name = _format(to, options), names_of(source)
    options = replace(options, ctrees=form.ctrees, confidences=form.confidences)
    digest = "" if str(output) == "-" else " ".join(map(digest_of_directory, models))
    settings = {"d2c": version("d2c-parser"), "model": digest, "to": to, **options.to_json(), "timeout": None}
    rules = rules_of(models[0], lambda: load()[0], options.language) if kind.cut else PENN
    share, sentences = ReadShare(source), read_sentences(source, options.kind, rules)
    batches = batched(sentences, 1 if typed else options.batch_size)
    followed = share.over(batches, lambda batch: len(batch.sentences))
    with written(output, form.header, settings, resume) as (finished, write), _resumable(output, finished):
        share.done, rest = finished.sentences, finished.rest(followed, name)
        parsed = parse_batches(load, options, rest, partial(format_batch, to, name), jobs)
        with _shown(name, typed, share) as tell, closing(parsed):
            _write_all(parsed, write, tell, strict)
    _report(finished, options)


@contextmanager
def _resumable(output: Path, finished: Finished) -> Iterator[None]:
    """Say how much is finished if the run does not come to its end."""
    try:
        yield
    except BaseException:
        if finished.sentences and finished.length:
            done = many(finished.sentences, "sentence")
            say(f"{output}.part has what is finished: {done}; see --resume")
        raise


def _loaded(models: tuple[Path, ...], options: ParseOptions, jobs: int) -> tuple[Load, bool]:
    """Return a function that loads the models, which can be pickled if there are several jobs, and whether
    their trees may have gaps. Warn first if memory may be short."""
    warn_of_memory(models, jobs, "--jobs")
    load = partial(load_models, models, **options.of_model)
    with warmed_up_for(map(read_model_settings, models)):
        if jobs > 1:
            return load, any([load_route(model).gaps_ for model in models])
        trained = load()
    return lambda: trained, any(model.route.gaps_ for model in trained)


def _found(inputs: tuple[Path, ...], kind: str | None, output: Path) -> tuple[tuple[Path, ...], str]:
    """Return the files that are meant, and their kind: the given one, or the one they show. Empty files are
    of any kind. Files in directories that are no text are reported and left out.

    Raises FormatError, also if a file is the output, and UsageError for files of several kinds.
    """
    from d2c.parsing.input import KINDS, kind_of

    if inputs == (_STDIN,) and sys.stdin.isatty():
        return inputs, kind or "text"
    found = find_files(inputs, KINDS[kind].suffixes if kind else _NAMES, hint="name the files")
    check_apart(found, output)
    kinds = dict[str, Path]()  # with the first file of each
    read = list[Path]()
    for path in found:
        try:
            check_link(path)
            empty = path.is_file() and not first_characters(path, 1)
            if not empty:
                kinds.setdefault(kind or kind_of(path), path)
            read.append(path)
        except FormatError as error:
            if path in inputs:
                raise
            say(f"d2c: {error}; left out")
    if len(kinds) > 1:
        several = " and ".join(f"{file_name(path)} ({one})" for one, path in kinds.items())
        raise click.UsageError(f"{several} are of several kinds; parse them separately")
    if not read:
        raise FormatError(names_of(inputs), 0, 0, "no file in it is text")
    one = next(iter(kinds), kind or TAGGED)
    if not kind and one == "split":
        say(f"d2c: {names_of(tuple(read))}: free text (--split); say --text if each line is a sentence")
    return tuple(read), one


@contextmanager
def _shown(name: str, typed: bool, share: ReadShare) -> Iterator[Callable[[Done], None]]:
    """Provide a function that shows how far the input is parsed; it shows nothing if lines are typed."""
    if typed:
        say("d2c: type sentences, one on each line; Ctrl-D ends")
        yield lambda _: None
        return
    with heartbeat() as tell, progress(f"parsing {name}", tell=tell, initial=share.done) as more:
        yield lambda done: more(done.sentences, done.tokens, share.after(done.sentences))


def _write_all(parsed: Iterable[Done], write: Write, tell: Callable[[Done], None], strict: bool) -> None:
    """Write batches; report sentences that could not be parsed or, if strict, raise the first error."""
    for done in parsed:
        for error in done.errors:
            if strict:
                raise error
            say(f"d2c: {error}")
        write(done)
        tell(done)


def _report(finished: Finished, options: ParseOptions) -> None:
    """Say what was repaired and what could not be parsed; the latter also sets the exit status."""
    if options.ctrees:
        report_repairs(finished.repairs)
    report_cut(finished.repairs.counts[CUT], options.max_words)
    if finished.refused:
        say(f"{finished.refused:,} could not be parsed")
        if options.ctrees and options.kind == TAGGED and not finished.repairs.sentences:
            say("Is the input text? Say --text, --tokenized or --split; for JSON lines, --json.")
        click.get_current_context().exit(SOME_FAILED)


def _called(output: Path, gaps: bool) -> str:
    """Return the format that a file's name shows, as one of OUTPUTS unless it is that of a treebank, such as
    x.trees.conllu; if it shows none, discbracket for trees with gaps, brackets for others."""
    own = None if treebank_called(output) in WRITABLE else format_by_name(output)
    others = (*JSON_LINES, *CONLLU.suffixes)
    return own or format_to_write(output, "discbracket" if gaps else "brackets", others)


def _format(to: str, options: ParseOptions) -> OutputFormat:
    """Return a format of OUTPUTS. Raises UsageError if there is none, or it does not fit the options."""
    if to not in OUTPUTS:
        raise click.UsageError(f"parse does not write {to}; `d2c convert` does, from discbracket")
    if options.best > 1 and not OUTPUTS[to].confidences:
        raise click.UsageError(f"{to} has no place for several trees of a sentence; --best needs --to json")
    if options.best > 1 and options.min_confidence:
        raise click.UsageError("alternatives have no confidences to collapse by; leave out one of the two")
    if options.min_confidence and not OUTPUTS[to].ctrees:
        raise click.UsageError("d-trees have no constituents to collapse; leave out --min-confidence")
    if options.functions and not OUTPUTS[to].ctrees:
        raise click.UsageError("d-trees have no constituents with functions; leave out --functions")
    return OUTPUTS[to]
