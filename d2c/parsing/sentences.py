"""Sentences of files that may be treebanks, CoNLL-U, or what d2c has parsed: JSON lines of `d2c parse --to
json`, or the Parquet of `d2c corpus`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from d2c.base.errors import NoTree, Refusals
from d2c.base.files import file_name
from d2c.base.inputs import is_called
from d2c.parsing.json_lines import read_parsed
from d2c.parsing.sentence import Sentence
from d2c.trees.formats.conllu import CONLLU, read_conllu
from d2c.trees.formats.constituency import CONSTITUENCY
from d2c.trees.formats.format import Options
from d2c.trees.formats.parsed import PARSED
from d2c.trees.formats.reading import Reading
from d2c.trees.formats.registry import DTREE_SUFFIXES, treebank_format, treebank_in


def has_dtrees(file: Path, reading: Reading, beside: bool = True) -> bool:
    """Return whether a file is read as d-trees in CoNLL-U, by the format given or by its name and content.

    beside: whether that includes a file whose comments hold c-trees, if no format is given
    """
    if reading.format_name or not is_called(file, DTREE_SUFFIXES):
        return reading.format_name == CONLLU.name
    return treebank_in(file) in (("", CONSTITUENCY.name) if beside else ("",))


def is_parsed(file: Path, reading: Reading) -> bool:
    """Return whether a file holds sentences that d2c has parsed: JSON lines or Parquet."""
    return treebank_format(file, reading.format_name).name in PARSED


def sentences_in(
    file: Path, reading: Reading, refusals: Refusals, dtrees: bool = True, beside: bool = True
) -> Iterator[Sentence]:
    """Yield the sentences of a file, also those that could not be parsed. Raises FormatError.

    dtrees: whether d-trees in CoNLL-U are read, too; otherwise they are refused, as no treebank
    beside: whether d-trees are read even if there are c-trees, as for `has_dtrees`
    """
    if dtrees and has_dtrees(file, reading, beside):
        read = read_conllu(file, refusals, charset=reading.charset)
        return (Sentence(dtree.tokens, dtree=dtree) for dtree in read)
    form = treebank_format(file, reading.format_name)
    if form.name in PARSED:
        return read_parsed(file, form, Options(charset=reading.charset, bare=reading.bare), refusals)
    ctrees = reading.transformed(reading.read(file, refusals), file, refusals)
    return (Sentence(ctree.tokens, ctree=ctree) for ctree in ctrees)


def numbered_sentences(file: Path, reading: Reading, dtrees: bool = False) -> Iterator[tuple[int, Sentence]]:
    """Yield the sentences of a file that have trees, each after its number in the file, from 1.

    dtrees: whether CoNLL-U without c-trees is read, too

    Numbers count all sentences, also those that cannot be read. Sentences that were not parsed are left out
    and reported. Raises FormatError.
    """
    refusals, told = Refusals(reading.faults), reading.faults.skipped or reading.faults.no_tree
    read = sentences_in(file, reading, refusals, dtrees, beside=False)
    for count, sentence in enumerate(refusals.over(read), 1):
        number = count + refusals.count
        if sentence.error:
            told(NoTree(file_name(file), 0, number, sentence.why))
        else:
            yield number, sentence
