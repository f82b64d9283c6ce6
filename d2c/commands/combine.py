"""`d2c combine`: several parses of the same sentences become one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click

from d2c.base.files import file_name, open_output
from d2c.base.inputs import is_called, names_of
from d2c.commands.options import (
    FilePath,
    check_dtrees,
    finite,
    format_option,
    output_option,
    reading_options,
    to_option,
)
from d2c.commands.progress import shown
from d2c.parsing.json_lines import format_json
from d2c.parsing.options import JSON_LINES
from d2c.trees.ctree import CTree
from d2c.trees.formats.conllu import format_conllu
from d2c.trees.formats.reading import Reading
from d2c.trees.formats.registry import WRITABLE, Place, format_of, format_to_write, write_treebank


@click.command()
@click.argument("files", type=FilePath, nargs=-1, required=True, metavar="FILE FILE...")
@output_option
@to_option((*WRITABLE, "json"), "that of the first FILE, or brackets")
@click.option(
    "--learn",
    "gold",
    type=FilePath,
    metavar="GOLD",
    help="Learn weights from these gold trees, and write them to -o instead of trees.",
)
@click.option(
    "--weights", type=click.Path(path_type=Path), help="A file of learned weights.  [default: equal votes]"
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    callback=finite,  # no share is greater than nan: all trees would be flat
    help="Keep constituents whose share of the votes is larger.  [default: 0.5, or that of --weights]",
)
@format_option
@reading_options
def combine(
    files: tuple[Path, ...],
    output: Path,
    to: str | None,
    gold: Path | None,
    weights: Path | None,
    threshold: float | None,
    reading: Reading,
) -> None:
    """Combine the output of several parsers by voting: FILEs with the same sentences in the same order.

    For c-trees (treebank formats, or JSON lines of `parse`, whose confidences are votes), the result is the
    tree whose constituents have the most votes; `--to json` gives the share of each. For d-trees (CoNLL-U),
    the result is the maximum spanning tree of the voted arcs.

    --learn GOLD learns a weight for each parser and label from FILEs that are parses of the sentences in
    GOLD; pass it with --weights to combine parses of other text. If a parser could not parse a sentence, only
    the others vote on it.
    """
    from d2c.parsing.combining import VOTINGS, combined, load_weights, parses_of, voting_of

    if len(files) < 2:
        raise click.UsageError("give the files of two or more parsers")
    if gold and (weights or threshold is not None or to):
        raise click.UsageError("--learn writes weights; leave out --weights, --threshold and --to")
    reading = replace(reading, unparsed=True, wordless=True)
    name = voting_of(files if gold is None else (gold, *files), reading)
    voting = VOTINGS[name]
    if gold:
        rows = parses_of((gold, *files), reading)
        learned = voting.learn((first, parses) for first, *parses in rows if first)
        with open_output(output) as stream:
            stream.write(learned.text())
        return
    if name == "arcs" and (to or threshold is not None):
        raise click.UsageError(
            "d-trees are written as CoNLL-U and need no threshold; leave out --to and --threshold"
        )
    if name == "arcs":
        check_dtrees(output)
    learned_weights = load_weights(weights, name, len(files))
    voted = combined(voting, parses_of(files, reading), file_name(files[0]), learned_weights, threshold)
    doing = f"voting on {names_of(files)}"
    with open_output(output) as stream:
        if name == "arcs":
            for sentence in shown(voted, "sentences", doing, files[:1]):
                if sentence.dtree:
                    stream.write(format_conllu(sentence.dtree))
            return
        form = to or _like(output, files[0], reading.format_name)
        if form == "json":
            stream.writelines(map(format_json, shown(voted, "sentences", doing, files[:1])))
        else:
            ctrees: Iterator[CTree] = (sentence.ctree for sentence in voted if sentence.ctree)
            write_treebank(shown(ctrees, "sentences", doing, files[:1]), form, stream, Place(files[0]))


def _like(output: Path, first: Path, format_name: str | None) -> str:
    """Return the format that the output's name shows, else the first file's if it is written, or brackets."""
    if is_called(output, JSON_LINES):
        return "json"
    name = format_name or format_of(first)
    if str(output) == "-" and name == "json":
        return name
    return format_to_write(output, name if name in WRITABLE else "brackets")
