"""`d2c draw`: pictures of trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import click

from d2c.base.errors import FormatError, located
from d2c.base.files import file_name, open_binary_output
from d2c.base.inputs import ending_of, names_of
from d2c.commands.options import (
    check_ending,
    choice,
    format_of_trees,
    heads_option,
    output_option,
    reading_options,
    trees_argument,
)
from d2c.commands.terminal import say
from d2c.parsing.sentence import Sentence
from d2c.parsing.sentences import numbered_sentences
from d2c.reduction.reduction import Reduction
from d2c.trees.formats.reading import Reading
from d2c.trees.formats.registry import DTREE_SUFFIXES


@click.command()
@trees_argument
@output_option
@heads_option
@format_of_trees("conllu")
@reading_options
@choice("--what", ["ctree", "dtree", "both"], "ctree", "The trees to draw.")
@click.option(
    "--svg", is_flag=True, help="Draw one sentence as a picture, as in *.svg, instead of all as text."
)
@click.option(
    "--sentence",
    type=click.IntRange(1),
    help="Draw only the sentence with this number in each file; a picture shows a single sentence.  [default "
    "for pictures: the first]",
)
def draw(
    trees: tuple[Path, ...],
    output: Path,
    head_rules: str,
    reading: Reading,
    what: str,
    svg: bool,
    sentence: int | None,
) -> None:
    """Draw c-trees, also with crossing branches, d-trees with their event indices, or both.

    Standard output or a file called *.txt has all sentences; *.svg, *.pdf, *.png and *.tex (for LaTeX's
    package forest) have a single one. TREES are treebanks, the output of `d2c parse --to json` or `d2c
    corpus`, or CoNLL-U, which has d-trees.
    """
    from d2c.trees.pictures import ENDINGS, drawing

    check_ending(output, ENDINGS)
    ending = ending_of(output) or (".svg" if svg else ".txt")
    route, picture, drawn = Reduction("direct", head_rules), ending != ".txt", ""
    files = reading.files(trees, *DTREE_SUFFIXES)
    # One sentence is drawn as soon as it is read, so errors are not collected until the end of the file.
    faults = replace(reading.faults, limit=1) if sentence or picture else reading.faults
    chosen = _chosen(files, replace(reading, faults=faults), sentence)
    with open_binary_output(output) as stream:
        for drawn, number, read in chosen:
            with located(drawn, number):
                dtree = route.encode(read.ctree) if read.ctree else read.dtree
                stream.write(drawing(read.ctree, dtree, what if read.ctree else "dtree", ending))
            if picture:
                break
        if sentence and not drawn:
            raise FormatError(names_of(files), 0, sentence, "there is no such sentence")
    if picture and _has_more(chosen):
        shown = f"sentence {sentence}" if sentence else "the first sentence"
        of, other = (f" of {drawn}", "a file alone") if len(files) > 1 else ("", "--sentence N")
        say(f"{names_of(files)}: the picture shows {shown}{of}; {other} draws another")


def _chosen(
    files: Iterable[Path], reading: Reading, sentence: int | None
) -> Iterator[tuple[str, int, Sentence]]:
    """Yield all sentences of files, or one by number from each, after the file's name and the number."""
    for file in files:
        for number, read in numbered_sentences(file, reading, dtrees=True):
            if sentence in (None, number):
                yield file_name(file), number, read
            if number == sentence:
                break


def _has_more(chosen: Iterator[tuple[str, int, Sentence]]) -> bool:
    """Return whether sentences follow, including any that cannot be read."""
    try:
        return next(chosen, None) is not None
    except FormatError:
        return True
