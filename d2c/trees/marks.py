"""What treebanks mark as head children: by functions of edges (`HD`), or by functions in labels (`NP-HD`,
`NP[Head]`, `H:np`).

Linear time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from d2c.trees.cleaning import punctuates
from d2c.trees.ctree import CTree

HEAD = "HD"  # the function of head children in NEGRA and TIGER
NOTHING_MARKED = "no head child is marked in it; --head-rules names a table that finds them"

# The surest first: NEGRA, TIGER and SPMRL; VISL, where a clause has only a predicator; Sinica, whose `head`
# is the head of what 的 makes of it; Alpino, where coordinations and units of several words have none.
_HEADS = {name: 0 for name in ("HD", "Hd", "hd", "H", "HEAD", "Head", "OH")}
_HEADS |= {name: 1 for name in ("head", "P", "MV")}
_RELATIONS = ("cmp", "whd", "rhd", "crd", "nucl", "cnj", "mwp", "body", "dp", "tag")
_HEADS |= {name: rank for rank, name in enumerate(_RELATIONS, 1)}
_AFTER = ("-HD", "-hd", "-H")  # endings of other functions on head children
UNMARKED = len(_HEADS)  # the rank of functions that mark no head
# A mark after a category, or a function before a form, as VISL has them
_IN_LABEL = re.compile(
    r"(?<=.)-(HD|hd|HEAD|Head|H)(?=[-=|#[]|$)|(?<=.)\[(HD|hd|HEAD|Head|head|H)\]|^([^-=|:+[]+)[:+](?=.)"
)


@lru_cache(maxsize=1 << 12)
def head_rank(function: str) -> int:
    """Return a rank, the lower the surer, of a function as the mark of a head child: 0 for HD, or H in VISL;
    UNMARKED for no mark."""
    return 0 if function.endswith(_AFTER) else _HEADS.get(function, UNMARKED)


def shown_heads(
    functions: Sequence[str], forms: Sequence[str], children: Sequence[Sequence[int]]
) -> tuple[list[int], int]:
    """Return [K] the head child of each node by functions [n + K]: the leftmost child of the lowest rank, or,
    where none is marked, the leftmost that is not punctuation; and the lowest rank of all."""
    ranks, n, lowest = list(map(head_rank, functions)), len(forms), UNMARKED
    heads = list[int]()
    for kids in children:
        head = min(kids, key=ranks.__getitem__)
        if ranks[head] == UNMARKED:
            head = next((kid for kid in kids if kid >= n or not punctuates(forms[kid])), head)
        elif ranks[head] < lowest:
            lowest = ranks[head]
        heads.append(head)
    return heads, lowest


def marked_heads(
    functions: Sequence[str], forms: Sequence[str], children: Sequence[Sequence[int]]
) -> tuple[int, ...] | None:
    """Return [K] the head child of each node, None where no child of any node is marked."""
    heads, lowest = shown_heads(functions, forms, children)
    return tuple(heads) if not heads or lowest < UNMARKED else None


@lru_cache(maxsize=1 << 12)
def function_in(label: str) -> str:
    """Return the function in a label that may mark it as a head child; "" for none."""
    match = _IN_LABEL.search(label)
    return (match[1] or match[2] or match[3]) if match else ""


def _functions(ctree: CTree) -> Sequence[str]:
    """Return [n + K] functions of edges, or, where these mark no head child, those in labels."""
    functions = ctree.functions
    if functions and min(map(head_rank, functions)) < UNMARKED:
        return functions
    return [function_in(label) for label in (*ctree.tokens.tags, *ctree.labels)]


def with_marked_heads(ctree: CTree) -> CTree:
    """Return a raw tree with the head children that functions or labels mark, if any and if it has none."""
    if ctree.head_children is not None:
        return ctree
    heads = marked_heads(_functions(ctree), ctree.tokens.forms, ctree.children)
    return ctree if heads is None else replace(ctree, head_children=heads)


def has_mark(ctree: CTree) -> list[bool]:
    """Return [K] whether one of a node's children is marked as its head child."""
    marked = [head_rank(function) < UNMARKED for function in _functions(ctree)]
    return [any([marked[kid] for kid in kids]) for kids in ctree.children]


def count_marked(ctrees: Iterable[CTree]) -> Counter[str]:
    """Count the trees in which a head child can be marked (`trees`), and those in which one is (`marked`)."""
    counts = Counter(trees=0, marked=0)
    for ctree in ctrees:
        if any(len(kids) > 1 for kids in ctree.children):
            counts["trees"] += 1
            counts["marked"] += with_marked_heads(ctree).head_children is not None
    return counts
