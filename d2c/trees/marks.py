"""What treebanks mark as head children: by functions of edges, `HD`, or by those in labels, `NP-HD`.

Linear time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from d2c.trees.cleaning import punctuates

# The surest first: NEGRA, TIGER and SPMRL; VISL, where a clause has only a predicator; Sinica, whose `head`
# is the head of what 的 makes of it; Alpino, where coordinations and units of several words have none.
_HEADS = {name: 0 for name in ("HD", "Hd", "hd", "H", "HEAD", "Head", "OH")}
_HEADS |= {name: 1 for name in ("head", "P", "MV")}
_RELATIONS = ("cmp", "whd", "rhd", "crd", "nucl", "cnj", "mwp", "body", "dp", "tag")
_HEADS |= {name: rank for rank, name in enumerate(_RELATIONS, 1)}
_AFTER = ("-HD", "-hd", "-H")  # other functions, on head children
UNMARKED = len(_HEADS)  # the rank of what is no head; of punctuation one more


@lru_cache(maxsize=1 << 12)
def head_rank(function: str) -> int:
    """Return how surely a function says that a child is the head; 0: HD, or H in VISL; UNMARKED: not at
    all."""
    return 0 if function.endswith(_AFTER) else _HEADS.get(function, UNMARKED)


def ranks_of(functions: Sequence[str], forms: Sequence[str]) -> list[int]:
    """Return [n + K] the rank of each token and node: the head child is the leftmost of the lowest."""
    ranks = list(map(head_rank, functions))
    for i, form in enumerate(forms):
        ranks[i] += ranks[i] == UNMARKED and punctuates(form)
    return ranks


def marked_heads(
    functions: Sequence[str], forms: Sequence[str], children: Sequence[Sequence[int]]
) -> tuple[int, ...] | None:
    """Return [K] the head child of each node, None where none of all children is marked."""
    ranks = ranks_of(functions, forms)
    heads = tuple([min(kids, key=ranks.__getitem__) for kids in children])
    return heads if not heads or min([ranks[head] for head in heads]) < UNMARKED else None
