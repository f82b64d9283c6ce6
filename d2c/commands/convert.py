"""`d2c convert`: a treebank in another format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TextIO, TypeVar

import click

from d2c.base.errors import FormatError, refusing
from d2c.base.files import open_output
from d2c.base.inputs import is_called, names_of, of_each
from d2c.commands.options import (
    FilePath,
    continuous_option,
    file_options,
    format_of_trees,
    heads_option,
    move_punctuation_option,
)
from d2c.commands.progress import shown
from d2c.commands.terminal import say
from d2c.trees.binarization import FIRST_PARTS, binarized
from d2c.trees.ctree import CTree
from d2c.trees.formats.conllu import CONLLU, format_conllu, read_conllu
from d2c.trees.formats.constituency import CONSTITUENCY
from d2c.trees.formats.conversion import UNPARSED, convert_treebank, told_left_out
from d2c.trees.formats.format import Format
from d2c.trees.formats.reading import Reading
from d2c.trees.formats.registry import DTREE_SUFFIXES, TARGETS, format_to_write, treebank_called, treebank_in
from d2c.trees.formats.universal import UNIVERSAL
from d2c.trees.heads import load_head_rules
from d2c.trees.patterns.edits import Editing, edit_of
from d2c.trees.universal.rules import PennTags

Item = TypeVar("Item")  # a c-tree or a d-tree


def _editing(
    _context: click.Context, _option: click.Parameter, given: tuple[tuple[str, str], ...]
) -> tuple[Editing, ...]:
    try:
        return tuple([Editing(edit_of(*one)) for one in given])
    except ValueError as error:
        raise click.BadParameter(f"{error}.") from None


@click.command()
@click.argument("sources", type=FilePath, nargs=-1, required=True)
@click.argument("target", type=FilePath)
@format_of_trees(also=("--from",))
@click.option(
    "--to",
    "target_format",
    type=click.Choice(list(TARGETS)),
    help="The format of TARGET.  [default: by the name]",
)
@click.option("--clean", is_flag=True, help="Remove traces, function tags and co-indices.")
@click.option("--traces", is_flag=True, help="Move antecedents to the places of their traces, then clean.")
@move_punctuation_option
@continuous_option
@click.option(
    "--edit",
    "edits",
    nargs=2,
    multiple=True,
    callback=_editing,
    metavar="PATTERN OPERATIONS",
    help="Edit trees where a pattern matches, as in 'NP=n < PP=p' 'relabel n NX; delete p'; may be repeated.",
)
@click.option("--merge", is_flag=True, help="Join nodes that `--continuous split` split.")
@click.option(
    "--heads", type=FilePath, help="Mark the heads that these d-trees induce (CoNLL-U, same tokens)."
)
@click.option(
    "--binarize",
    "binary",
    type=click.Choice([*FIRST_PARTS]),
    help="Give each node two children at most: parts of an NP become nodes @NP, the lowest of them on this "
    "side or at the head.",
)
@click.option("--unbinarize", is_flag=True, help="Remove the nodes @... that --binarize makes.")
@heads_option
@file_options
def convert(
    sources: tuple[Path, ...],
    target: Path,
    target_format: str | None,
    clean: bool,
    heads: Path | None,
    binary: str | None,
    head_rules: str,
    reading: Reading,
) -> None:
    """Rewrite treebanks in another format. What TARGET cannot hold is counted on standard error; with
    --strict, it is an error. Trees with gaps need a format that holds them, or --continuous.

    The output of `d2c parse --to json` or `d2c corpus` is a treebank, too: X.jsonl or a directory.

    Formats are recognised by name and content; that of TARGET by its name: *.mrg, *.discbracket, *.export,
    *.tiger.xml, *.alpino.xml or *.trees.conllu (trees in comments), each also with .gz. D-trees (*.conllu,
    *.conll) become CoNLL-U with all its columns; `encode` and `decode` convert between c-trees and d-trees.
    `--to ud` makes Universal Dependencies, by rules, from English trees with the labels of the Penn Treebank.
    """
    reading = replace(reading, raw=not clean, unparsed=True, binarize=_binarize(binary, head_rules))
    tags = PennTags()
    if target_format == UNIVERSAL.name:
        reading = replace(reading, over=tags.over)
    files = reading.files(sources, *DTREE_SUFFIXES)
    to_conllu = is_called(target, CONLLU.suffixes) and not treebank_called(target)
    to_conllu &= target_format not in (CONSTITUENCY.name, UNIVERSAL.name)
    # If --from is given, the names of files do not matter.
    kinds = [
        not reading.format_name and is_called(path, DTREE_SUFFIXES) and (to_conllu or not treebank_in(path))
        for path in files
    ]
    kinds.append(to_conllu)
    if len({*kinds}) > 1 and "-" not in map(str, (*files, target)):
        raise click.UsageError("use `d2c encode` and `d2c decode` between trees and CoNLL-U")
    transforms = reading.traces, reading.edits, reading.steps
    if any(kinds) and any((clean, heads, target_format, reading.format_name, *transforms)):
        raise click.UsageError(
            "CoNLL-U has no c-trees; leave out --to, --from, --clean, --traces, --merge, --heads, "
            "--edit, --move-punctuation, --continuous and --(un)binarize"
        )
    form = None if any(kinds) else TARGETS[target_format or format_to_write(target)]
    if heads and form:
        _check_for_heads(reading, files, target, form)
    with open_output(target) as stream:
        if form is None:
            left_out = _convert_dtrees(reading, files, stream)
        else:
            left_out = convert_treebank(reading, files, form, stream, heads, partial(_watched, files=files))
    for edit in reading.edits:
        say(f"{names_of(files)}: {edit}")
    for file, note in tags.notes.items():
        say(f"{file}: {note}")
    _tell(left_out, names_of(files))


def _tell(left_out: Counter[str], names: str) -> None:
    """Print what was left out, and how many sentences were not parsed; their marked trees stay."""
    if unparsed := left_out.pop(UNPARSED, 0):
        was = ("sentence was", "it") if unparsed == 1 else ("sentences were", "each")
        say(f"{names}: {unparsed:,} {was[0]} not parsed; the tree (ERROR (ERROR ERROR)) stands for {was[1]}")
    if left_out:
        say(f"{names}: left out: {told_left_out(left_out)}")


def _convert_dtrees(reading: Reading, files: tuple[Path, ...], stream: TextIO) -> Counter[str]:
    """Write d-trees as CoNLL-U; return counts of what was left out of their files. Raises FormatError."""
    left_out = Counter[str]()
    read = partial(read_conllu, left_out=left_out, charset=reading.charset)
    dtrees = of_each(lambda path: refusing(read, path, reading.faults))(files)
    stream.writelines(map(format_conllu, _watched(dtrees, files)))
    left_out = +left_out  # without counts of 0
    if reading.strict and left_out:
        message = f"CoNLL-U does not hold {told_left_out(left_out)}; see --strict"
        raise FormatError(names_of(files), 0, 0, message)
    return left_out


def _watched(trees: Iterator[Item], files: tuple[Path, ...]) -> Iterator[Item]:
    return shown(trees, "trees", f"converting {names_of(files)}", files)


def _check_for_heads(reading: Reading, files: Sequence[Path], target: Path, form: Format[CTree]) -> None:
    """Raise UsageError for what does not go with --heads, and FormatError for a format without heads."""
    if reading.traces or reading.merge:
        raise click.UsageError("--traces and --merge lose heads; first convert with these, then with --heads")
    if reading.edits:
        raise click.UsageError(
            "--heads needs the words that --edit may change; first convert with one, then with the other"
        )
    if reading.faults.skipped:
        raise click.UsageError("--heads needs all sentences of both files; leave out --skip-bad")
    if len(files) > 1:
        raise click.UsageError("--heads is for a single file; convert each by itself")
    if "heads" not in form.holds:
        raise FormatError(str(target), 0, 0, f"the format {form.name} cannot mark heads; leave out --heads")


def _binarize(how: str | None, head_rules: str) -> Callable[[CTree], CTree] | None:
    """Return a function that binarizes trees in one of the ways FIRST_PARTS; None for none. Heads that rules
    find only guide it, and are not kept."""
    if not how:
        return None
    rules = load_head_rules(head_rules) if how == "head" else None

    def binary(ctree: CTree) -> CTree:
        made = binarized(rules.headed(ctree) if rules else ctree, how)
        return made if ctree.head_children is not None else replace(made, head_children=None)

    return binary
