"""What `d2c parse` writes: trees in several formats, and JSON lines for other programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from d2c.base.inputs import ending_of
from d2c.parsing.json_lines import format_json
from d2c.parsing.options import JSON_LINES
from d2c.parsing.sentence import Sentence
from d2c.trees.ctree import CTree
from d2c.trees.formats.conllu import CONLLU, format_conllu
from d2c.trees.formats.format import Writer
from d2c.trees.formats.registry import FORMATS


def format_dtree(sentence: Sentence) -> str:
    """Return a sentence in CoNLL-U with the comments and columns of the input, and the heads, labels and tags
    of the d-tree; for a failed sentence, a comment says why it could not be parsed."""
    dtree, tokens = sentence.dtree, sentence.tokens
    assert dtree is not None
    if sentence.error:
        return f"# error = {sentence.why}\n{format_conllu(dtree, tokens.comments)}"
    return format_conllu(replace(dtree, tokens=replace(tokens, tags=dtree.tokens.tags)))


class OutputFormat(NamedTuple):
    """A format of `d2c parse`.

    text:        writes a sentence with the trees that are shown; raises ValueError for what cannot be held
    header:      text before all sentences; suffixes: endings of files, if it is no format of treebanks
    ctrees:      whether it shows c-trees, not d-trees
    confidences: whether it shows the confidences of nodes, and several c-trees of a sentence
    """

    text: Callable[[Any], str]
    header: str = ""
    suffixes: tuple[str, ...] = ()
    ctrees: bool = True
    confidences: bool = False


def _of_ctrees(write: Writer[CTree]) -> OutputFormat:
    def text(one: Sentence) -> str:
        tree = one.tree
        if not one.error:  # the columns and comments of the input, with the tags of the tree
            tree = replace(tree, tokens=replace(one.tokens, tags=tree.tokens.tags))
        return write.text(tree, one.number)

    return OutputFormat(text, write.before)


OUTPUTS = {
    **{name: _of_ctrees(row.write) for name, row in FORMATS.items() if row.write and not row.write.after},
    "conllu": OutputFormat(format_dtree, "", CONLLU.suffixes, ctrees=False),
    "json": OutputFormat(format_json, suffixes=JSON_LINES, confidences=True),
}


def format_by_name(path: Path, formats: Mapping[str, Any] = OUTPUTS) -> str | None:
    """Return the format with the ending of a file's name, or None; in OUTPUTS, treebank formats have none."""
    return next((name for name, form in formats.items() if ending_of(path) in form.suffixes), None)
