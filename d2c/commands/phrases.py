"""`d2c phrases`: the constituents with some labels, a line each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from d2c.base.files import file_name
from d2c.base.inputs import names_of
from d2c.base.tables import TABLES, table_format
from d2c.commands.counts import CountTable
from d2c.commands.options import (
    format_option,
    heads_option,
    output_option,
    reading_options,
    table_option,
    trees_argument,
)
from d2c.commands.progress import shown
from d2c.commands.terminal import say
from d2c.parsing.sentence import Sentence
from d2c.parsing.sentences import is_parsed, numbered_sentences
from d2c.trees.formats.reading import Reading
from d2c.trees.heads import load_head_rules
from d2c.trees.spans import Span, labelled, similar, spans_of


@click.command()
@trees_argument
@click.option("--label", "labels", multiple=True, help="The label of the phrases; may be repeated.")
@click.option("--nested", is_flag=True, help="Include phrases inside others with one of the labels.")
@click.option("--head", is_flag=True, help="Add the head token and its governor.")
@click.option(
    "--count",
    "counted",
    is_flag=True,
    help="Count for each file and label (by default for all labels): phrases, sentences with one, sentences, "
    "words, and phrases per 1,000 words.",
)
@table_option
@click.option(
    "--safe-cells/--plain-cells",
    default=None,
    help="Put ' before cells that a spreadsheet would take for a formula, which begin with = + - or @.  "
    "[default: in csv]",
)
@output_option
@heads_option
@format_option
@reading_options
def phrases(
    trees: tuple[Path, ...],
    labels: tuple[str, ...],
    nested: bool,
    head: bool,
    output: Path,
    head_rules: str,
    reading: Reading,
    **cells: Any,
) -> None:
    """List the phrases in treebanks, such as the output of `d2c parse`, from left to right. Of phrases that
    begin at the same token, the largest comes first.

    For the output of `parse --to json` and `corpus`, the table also says where phrases are in the text.
    """
    to, safe = cells["to"] or table_format(output), cells["safe_cells"]
    counted, counts, known = cells["counted"], CountTable("label", "phrases"), dict[str, None]()
    if not labels and not counted:
        raise click.UsageError("--label says which phrases; only --count goes without")
    files, rules = reading.files(trees), load_head_rules(head_rules)
    columns = _columns(len(files) > 1, any(is_parsed(file, reading) for file in files), head)
    safe = to == "csv" if safe is None else safe
    table = counts.opened(output, to, safe) if counted else TABLES[to].opened(output, columns, safe)
    reading = replace(reading, bare=counted)
    with table as put:
        for file, number, sentence in _sentences(files, reading):
            ctree = rules.headed(sentence.tree) if head else sentence.tree
            n = len(ctree.tokens)
            nodes = labelled(ctree, labels, nested) if labels else [*range(n, ctree.root + 1)]
            known.update(dict.fromkeys(ctree.labels))
            if counted:
                counts.add(sentence.file or file, sentence.tree, map(ctree.label, nodes))
                continue
            place = {"file": file if "file" in columns else None, "sentence": number}
            place |= {"source": sentence.file} if sentence.file else {}
            for node in spans_of(ctree, nodes, sentence.confidences, sentence.source):
                put(place | _row(node, head))
        for row in counts.rows(map(file_name, files), labels) if counted else ():
            put(row)
    for label in [one for one in labels if one not in known]:
        meant = similar(label, known)
        others = "`d2c search` also finds tags, words, and ROOT above the sentence"
        said = f"did you mean {meant}?" if meant else others
        say(f"{names_of(files)}: no constituent is called {label}; {said}")


def _sentences(files: Iterable[Path], reading: Reading) -> Iterator[tuple[str, int, Sentence]]:
    """Yield the sentences of files, each after the file's name and its number there."""
    for file in files:
        numbered = numbered_sentences(file, reading)
        for number, sentence in shown(numbered, "trees", f"reading {file_name(file)}", [file]):
            yield file_name(file), number, sentence


def _columns(several: bool, parsed: bool, head: bool) -> dict[str, type]:
    """Return the columns of a table: for several files or one, for d2c's output or not, with heads or not."""
    asked = {
        **({"file": str} if several or parsed else {}),
        "sentence": int,
        **({"source": str} if parsed else {}),
        "label": str,
        "start": int,
        "end": int,
        **({"start_char": int, "end_char": int} if parsed else {}),
        "text": str,
    }
    if head:
        asked |= {"head": int, "head_word": str, "governor": int, "governor_word": str}
    return asked | ({"confidence": float} if parsed else {})


def _row(span: Span, head: bool) -> dict[str, Any]:
    """Return the cells of a phrase, with its head and what that depends on if they are asked for."""
    row = span.to_dict() | {"text": span.text}
    if not head:
        return row | {"head": None}
    governor = span.governor
    word = None if governor is None else span.source.forms[governor]
    return row | {"head_word": span.head_word, "governor": governor, "governor_word": word}
