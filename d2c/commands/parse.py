"""`d2c parse`: text or CoNLL-U to trees, with a model."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from d2c.commands.options import FilePath, format_for, model_path, output_option, timeout_option, to_option
from d2c.commands.terminal import report_repairs, say, shown
from d2c.parsing.output import FORMATS, format_by_name
from d2c.training.model import Model, read_settings
from d2c.training.warm_up import warmed_up
from d2c.trees.errors import FormatError
from d2c.trees.files import open_output


@click.command()
@click.argument("model", type=click.Path(path_type=Path), callback=model_path)
@click.argument("source", metavar="[INPUT]", type=FilePath, default="-")
@output_option
@to_option(tuple(FORMATS))
@click.option("--text", "kind", flag_value="text", help="INPUT is text with one sentence on each line.")
@click.option("--tokenized", "kind", flag_value="tokenized", help="The same, with blanks between tokens.")
@click.option("--split", "kind", flag_value="split", help="Free text; empty lines end paragraphs.")
@click.option(
    "--min-confidence",
    "least",
    type=click.FloatRange(0, 1),
    default=0.0,
    help="Collapse constituents of less: their children go to what is above. The root stays.",
)
@click.option("--strict", is_flag=True, help="Stop at the first line that cannot be read or written.")
@click.option("--device", help="cpu, cuda, ...  [default: cuda where there is one]")
@click.option(
    "--parse-command", "parse_template", help="Of a d-parser `cmd`; a model directory keeps no commands."
)
@click.option(
    "--allow-pipeline",
    metavar="NAME",
    help="Of a d-parser `pipeline`: spacy:NAME or stanza:LANGUAGE. It may run code of its own.",
)
@timeout_option
def parse(
    model: Path,
    source: Path,
    output: Path,
    kind: str | None,
    to: str | None,
    least: float,
    strict: bool,
    **of_dparser: Any,
) -> None:
    """Parses CoNLL-U (words and tags) or text into c-trees, or into d-trees with `--to conllu`.

    What cannot be read is left out and named on standard error. Text needs a model with a tagger.

    Confidences, in `--to json`, are posteriors of the chart (cky, combined), or shares of the labeler's and
    the unary classifier's scores (reduction, labeler; 1 for what the d-parser's labels say). They rank
    constituents of one model; they are not calibrated.
    """
    from d2c.parsing.stream import Request, parse_file

    with warmed_up([read_settings(model)["route"]], train=False):
        trained, refused = Model.load(model, **of_dparser), 0
    to = to or format_by_name(output) or format_for(trained.route, output)
    if to not in FORMATS:
        raise click.UsageError(f"parse does not write {to}; `d2c convert` does, from discbracket")
    ctrees = FORMATS[to].ctrees
    if least and not ctrees:
        raise click.UsageError("d-trees have no constituents to collapse; leave out --min-confidence")

    def refuse(error: FormatError) -> None:
        nonlocal refused
        if strict:
            raise error
        refused += 1
        say(f"d2c: {error}")

    with open_output(output) as stream:
        request, watch = Request(source, kind or "conllu", to, least), partial(shown, unit="sentences")
        repairs = parse_file(trained, request, stream, refuse, watch)
    if ctrees:
        report_repairs(repairs)
    if refused:
        say(f"{refused:,} left out")
    if refused and ctrees and not kind and not repairs.sentences:
        say("Is the input text? Say --text, --tokenized or --split.")
