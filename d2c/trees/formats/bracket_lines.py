"""Which lines of a bracket file belong to the same tree, and which to none.

    %% Sent 1                      before a tree: outside
    (S (NN Cats)                   a tree,
       (VP (VBP sleep)))           which goes on
    nsubj(sleep-2, Cats-1)         behind it: outside
    wsj_1 -3.5 (S (NN Cats))       an id and a score, outside, and a tree

Linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import TypeVar

from d2c.trees.cleaning import WRAPPERS
from d2c.trees.formats.format import Malformed

BLANKS = " \t\r\n"
LONGEST_RUN = 1 << 18  # lines
NOT_PARSED = "(())"
_TREE_BEGINS = ("((", "( (", "(\n", *(f"({name}{mark}" for name in WRAPPERS if name for mark in " \n("))
_REMARKS = ("#", "%", ";", "//", "<", "*")  # no tree stands on a line that begins so
# At most three words, then a phrase: an opening bracket, perhaps a label, another or the end of the line
_BESIDE = re.compile(r"(?:[^ \t\r\n()]++[ \t]++){1,3}+(?=\([ \t]*+[^ \t\r\n()]*+[ \t]*+[(\n])")
_SKIPPED = "SENTENCE_SKIPPED_OR_UNPARSABLE"  # what CoreNLP writes in place of a tree

Note = TypeVar("Note")  # what is made of a line outside of trees
Outside = Callable[[str, int], Iterable[tuple[int, Note]]]


def tree_lines(stream: Iterable[str], outside: Outside[Note]) -> Iterator[tuple[int, str | Malformed | Note]]:
    """Yield runs of lines with as many closing as opening brackets, each with the number of its first line.

    A run can no longer close at the end of the file, after very many lines, or where a line begins with a
    wrapper, which never stands inside a tree. Such a run is cut before each line that begins with neither a
    blank nor a closing bracket: most trees begin so, and a missing bracket is then reported where it is
    missing, and costs one sentence. In a text without any tree the first line is the fault.

    outside: is given each text outside of trees and its line number; what it yields is yielded here
    """
    run, start, depth = list[str](), 0, 0
    no_tree: tuple[int, str] | None = None  # the first line outside, as long as there is no tree
    for number, line in enumerate(stream, 1):
        opens = line.startswith("(")
        if run and (opens and line.startswith(_TREE_BEGINS) or len(run) == LONGEST_RUN):
            yield from _cut(start, run, outside)
            run, depth = [], 0
        if not run:
            start = number
            if not opens:
                before, line = _before_and_tree(line)
                if before:
                    no_tree = no_tree or (number, before)
                    yield from _said(before, number, outside)
                if not line:
                    continue
        run.append(line)
        depth += line.count("(") - line.count(")")
        if depth <= 0:
            after = line[line.rfind(")") + 1 :].strip(BLANKS)
            if after:
                run[-1] = line.rstrip(BLANKS).removesuffix(after)
            yield start, run[0] if len(run) == 1 else "\n".join([line.strip(BLANKS) for line in run])
            run, depth, no_tree = [], 0, (0, "")
            if after:
                yield from _said(after, number, outside)
    yield from _cut(start, run, outside)
    if no_tree and no_tree[0] and not run:
        yield no_tree[0], _no_bracket(no_tree[1])


def _before_and_tree(line: str) -> tuple[str, str]:
    """Return the text before the tree on a line, and the line from the tree on; each may be empty."""
    text = line.strip(f"{BLANKS}\ufeff")  # a byte order mark, where files were joined
    if text.startswith(("(", ")")):
        return "", text
    if text.startswith(_SKIPPED):
        return "", NOT_PARSED
    beside = None if text.startswith(_REMARKS) or _is_broken(text) else _BESIDE.match(text + "\n")
    return (text[: beside.end()], text[beside.end() :] + "\n") if beside else (text, "")


def _is_broken(text: str) -> bool:
    """Return whether a line without a tree is one that lost its first bracket."""
    return text.count("(") < text.count(")") and not text.startswith(_REMARKS)


def _no_bracket(text: str) -> Malformed:
    return Malformed(f"expected '(', found {text[:20]!r}")


def _said(text: str, number: int, outside: Outside[Note]) -> Iterator[tuple[int, Malformed | Note]]:
    if _is_broken(text):
        yield number, _no_bracket(text)
    else:
        yield from outside(text.strip(BLANKS), number)


def _cut(start: int, run: list[str], outside: Outside[Note]) -> Iterator[tuple[int, str | Malformed | Note]]:
    """Yield the trees that may be in a run that does not close."""
    begins = [k for k, line in enumerate(run) if not k or not line.startswith((*BLANKS, ")"))]
    for begin, end in pairwise([*begins, len(run)]):
        if not run[begin].startswith("("):
            yield from _said(run[begin], start + begin, outside)
            begin += 1
        if text := "".join(run[begin:end]).rstrip(BLANKS):
            yield start + begin, text
