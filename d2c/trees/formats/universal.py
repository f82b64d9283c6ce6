"""Universal Dependencies in CoNLL-U, made of English c-trees by rules (`d2c.trees.universal`).

Sentences have ids and texts, as UD wants them: those that the file had, else numbers and the words with
blanks between them. If there is a text, words are as they stand in it, with `SpaceAfter=No`. C-trees are read
from such files only where comments hold them.
"""

from __future__ import annotations

from dataclasses import replace

from d2c.trees.ctree import CTree, Tokens, comment_of
from d2c.trees.formats.conllu import format_conllu
from d2c.trees.formats.constituency import CONSTITUENCY
from d2c.trees.formats.format import CFormat, Writer
from d2c.trees.formats.graphs import as_in_conllu
from d2c.trees.universal.conversion import to_universal


def format_universal(ctree: CTree, number: int) -> str:
    """Return a sentence. Raises ValueError for a tree of traces alone, and what CoNLL-U cannot express."""
    dtree = to_universal(replace(ctree, tokens=as_in_conllu(ctree.tokens)))
    return format_conllu(dtree, (*_missing(dtree.tokens, number), *dtree.tokens.comments))


def _missing(tokens: Tokens, number: int) -> list[str]:
    """Return the comments that UD wants and the tokens lack."""
    wanted = {"sent_id": str(number), "text": " ".join(tokens.forms)}
    return [
        f"{name} = {value}" for name, value in wanted.items() if comment_of(tokens.comments, name) is None
    ]


UNIVERSAL = CFormat(
    "ud",
    (),
    CONSTITUENCY.read,
    Writer(format_universal),
    holds=(
        "gaps",
        "functions",
        "traces",
        "indices",
        "lemmas",
        "morphology",
        "universal tags",
        "multi-word ranges",
        "MISC",
        "comments",
        "escapes",
        "blanks",
    ),
)
