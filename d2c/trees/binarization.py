"""C-trees as derivations that attach one dependent at a time, as PAD binarizes them; and as binary trees.

Section 3.3 of "Transforming Dependencies into Phrase Structures" (Kong, Rush and Smith, 2015) and section
3.4 of its draft "Parsing Dependencies". Every node is binarized relative to its head child. A head word h
thus goes through a sequence of steps, bottom-up: a *unary* step puts a node over what h heads so far, an
*attachment* takes in the next dependent on the left or on the right. A d-tree and the steps of its words
determine a c-tree completely. The time is linear in the size of the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from d2c.trees.ctree import CTree
from d2c.trees.dtree import head_outward
from d2c.trees.marks import HEAD
from d2c.trees.transforms import collapse

LEFT, RIGHT, UNARY = 0, 1, 2
GLUE = "glue"
PART = "@"  # the label of a binarized node's part is this and the node's label
GRAMMARS = ("observed", "closed")  # the rules of binarized trees, or their closure (`d2c.cky.grammar`)
MOST_UNARIES = 100  # the most consecutive unary steps of a word that a user may ask for


class Symbol(NamedTuple):
    """A nonterminal of the binarized grammar.

    label: phrase symbol, or tag of a pre-terminal
    bar:   "" for a whole constituent, "tag" for a pre-terminal. A constituent that still takes dependents has
           "bar" in PAD's scheme, and direction and last sister in the Markovized one, as in "left NP". Only
           the parent of a step may have "glue": the dependent is added to the existing node
    """

    label: str
    bar: str = ""

    @property
    def is_tag(self) -> bool:
        """Return whether the symbol is that of a pre-terminal."""
        return self.bar == "tag"

    @property
    def is_whole(self) -> bool:
        """Return whether the symbol can be a dependent or the root: it is not a part of a constituent."""
        return self.bar in ("", "tag")

    def __str__(self) -> str:
        return self.label if self.is_whole else f"{self.label}[{self.bar}]"


class Step(NamedTuple):
    """The next step of a head word: an attachment (kind LEFT or RIGHT) or a UNARY step.

    After the step, the word heads a `parent`. An attachment takes the next dependent on its side.
    """

    kind: int
    parent: Symbol


Derivation = list[list[Step]]  # [n] the steps of each token, bottom-up
Binarization = Callable[[str, list[str], list[str]], list[Step]]


def simple(label: str, left: Sequence[str], right: Sequence[str]) -> list[Step]:
    """Return the steps of PAD's scheme: Ā → Ā* βi on the right side, then Ā → βi Ā* on the left, finally A.

    left, right: labels of the head child's sisters, from the head outward; here only their number matters.
    """
    kinds = [RIGHT] * len(right) + [LEFT] * len(left)
    bar = Symbol(label, "bar")
    return [Step(kind, bar) for kind in kinds[:-1]] + [Step(kinds[-1], Symbol(label))]


def markovized(label: str, left: Sequence[str], right: Sequence[str]) -> list[Step]:
    """Return the steps of the draft's scheme: a first-order Markov chain on each side, with the last sister
    as context."""
    bars = [f"right {sister}" for sister in right[:-1]] + ["right"] * bool(right)
    bars += [f"left {sister}" for sister in left]
    kinds = [RIGHT] * len(right) + [LEFT] * len(left)
    return [Step(kind, Symbol(label, bar)) for kind, bar in zip(kinds, [*bars[:-1], ""], strict=True)]


BINARIZATIONS: dict[str, Binarization] = {"simple": simple, "markovized": markovized}


def binarize(ctree: CTree, scheme: Binarization = simple) -> tuple[list[int], Derivation | None]:
    """Return the heads (1..n, 0 = root) of a c-tree with head children, and its derivation.

    The derivation is None where a tree with gaps attaches a dependent before another one nearer to the head:
    such an order is not nested (section 3.3 of "Parsing as Reduction"), and the chart has no item for it.
    Raises ValueError where the c-tree has no head children.
    """
    n = len(ctree.tokens.forms)
    lexical_head = ctree.lexical_heads()
    heads, derivation, nested = [0] * n, Derivation([] for _ in range(n)), True
    nearest, farthest = list(range(n)), list(range(n))  # the last dependents taken on the left, on the right
    for k, (label, kids, head_child) in enumerate(
        zip(ctree.labels, ctree.children, ctree.head_children or (), strict=True)
    ):
        h = lexical_head[n + k]
        if len(kids) == 1:
            derivation[h].append(Step(UNARY, Symbol(label)))
            continue
        name_of = {lexical_head[kid]: ctree.label(kid) for kid in kids if kid != head_child}
        for m in name_of:
            heads[m] = h + 1
        left, right = head_outward(h, sorted(name_of))
        nested = nested and not (left and left[0] > nearest[h]) and not (right and right[0] < farthest[h])
        nearest[h], farthest[h] = (left or [nearest[h]])[-1], (right or [farthest[h]])[-1]
        derivation[h] += scheme(label, [name_of[m] for m in left], [name_of[m] for m in right])
    return heads, derivation if nested else None


def binarized(ctree: CTree, how: str) -> CTree:
    """Return a c-tree in which no node has more than two children; `unbinarized` is the way back.

    how: one of FIRST_PARTS: the child with which a node's parts begin, as they begin with the head in PAD's
         scheme. The children on its right are added first, then those on its left

    Parts of a node with label X are nodes @X. The other nodes keep their order, heads, functions and
    secondary edges. A part that contains its node's head child has the function HD if functions are known.
    Any other part has as head child the part below it, or the child with which it begins. Raises ValueError
    where a label begins with @, for an unknown `how`, and for `head` without heads.
    """
    if how not in FIRST_PARTS:
        raise ValueError(f"{how!r} is none of {', '.join(FIRST_PARTS)}")
    if how == "head" and ctree.head_children is None:
        raise ValueError("this tree has no heads; d2c.Tree.with_heads finds some")
    first = FIRST_PARTS[how](ctree)
    if any(map(is_part, ctree.labels)):
        raise ValueError(f"a label begins with {PART}, which marks the parts of binarized nodes")
    n, labels, children, heads = len(ctree.tokens), list[str](), list[tuple[int, ...]](), list[int]()
    known, mark = ctree.functions or ("",) * (ctree.root + 1), HEAD if ctree.head_children else ""
    new_id, functions = list(range(n)), list(known[:n])
    rows = zip(ctree.labels, ctree.children, first, ctree.head_children or first, known[n:], strict=True)
    for label, kids, begin, head, function in rows:
        at, node, headed = kids.index(begin), new_id[begin], begin == head
        others = kids[at + 1 :] + kids[:at][::-1] or (begin,)  # a unary node has no parts
        for left, kid in zip(reversed(range(len(others))), others, strict=True):
            pair = (new_id[kid], node) if left < at else (node, new_id[kid])
            children.append(pair if len(kids) > 1 else (node,))
            heads.append(new_id[kid] if kid == head else node)
            headed = headed or kid == head
            labels.append(PART + label if left else label)
            functions.append(function if not left else mark if headed else "")
            node = n + len(labels) - 1
        new_id.append(node)
    return CTree(
        ctree.tokens,
        tuple(labels),
        tuple(children),
        None if ctree.head_children is None else tuple(heads),
        ctree.top,
        ctree.functions and tuple(functions),
        tuple([(new_id[node], name, new_id[above]) for node, name, above in ctree.secondary]),
    )


FIRST_PARTS: dict[str, Callable[[CTree], Sequence[int]]] = {  # [K] the child with which a node's parts begin
    "left": lambda ctree: tuple([kids[0] for kids in ctree.children]),
    "right": lambda ctree: tuple([kids[-1] for kids in ctree.children]),
    "head": lambda ctree: ctree.head_children or (),
}


def unbinarized(ctree: CTree) -> CTree:
    """Undo `binarized`: every node whose label begins with @, except the root, is dissolved."""
    return collapse(ctree, [not is_part(label) for label in ctree.labels])


def is_part(label: str) -> bool:
    """Return whether a label is that of a part of a binarized node."""
    return label.startswith(PART)
