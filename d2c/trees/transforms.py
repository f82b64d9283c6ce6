"""Transformations of c-trees: punctuation, gaps, unwanted nodes. Each function returns a c-tree."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import compress

from d2c.trees.cleaning import punctuates
from d2c.trees.ctree import CTree, Tokens, ordered

_BLOCK = re.compile(r"(.+)\*([0-9]+)(?:\.([0-9]+))?", re.DOTALL)


def move_punctuation(ctree: CTree) -> CTree:
    """Hang each punctuation mark from the smallest constituent that covers its neighbours.

    Its neighbours are the nearest tokens on either side that are not moved; at the ends of the sentence it
    hangs from the root. A mark stays if its node is over marks alone. This is disco-dop's `move`. If a head
    child goes, the leftmost of the node's new children becomes the head child. Where treebanks leave
    punctuation unattached, it causes most of their gaps.
    """
    n = len(ctree.tokens)
    marks = [punctuates(form) for form in ctree.tokens.forms]
    parents = ctree.parents()
    solid = [not mark for mark in marks]  # whether something else than marks is below
    for kids in ctree.children:
        solid.append(any(solid[kid] for kid in kids))
    if not any(marks) or not solid[-1]:
        return ctree
    moved = [marks[i] and solid[parents[i]] for i in range(n)]
    children = [[kid for kid in kids if kid >= n or not moved[kid]] for kids in ctree.children]
    depths = ctree.depths()
    following = iter([*(i for i in range(n) if not moved[i]), n])
    right, target = next(following), ctree.root
    for i in range(n):
        if i == right:
            right = next(following)
            target = _lowest_common(i, right, parents, depths) if i + 1 < right < n else ctree.root
        else:
            children[target - n].append(i)
    heads = ctree.head_children
    if heads is not None:
        first = _firsts(n, children)
        heads = tuple(
            head if head in kids else min(kids, key=first.__getitem__)
            for head, kids in zip(heads, children, strict=True)
        )
    return _with_children(ctree, children, heads)


def under_one_root(ctrees: Sequence[CTree], label: str, given: Tokens) -> CTree:
    """Return one tree over the words of several trees: their roots become the children of a new root, which
    is the last node; all others keep their order. Its head child is the first tree's root. Linear time.

    given: the whole sentence, as it was before it had tags
    """
    tokens = given.of_parts([ctree.tokens for ctree in ctrees])
    labels, children, heads = list[str](), list[tuple[int, ...]](), list[int]()
    roots, word = list[int](), 0
    for ctree in ctrees:
        n, node = len(ctree.tokens), len(tokens) + len(labels)
        place = [*range(word, word + n), *range(node, node + len(ctree.labels))]
        labels += ctree.labels
        children += [tuple([place[kid] for kid in kids]) for kids in ctree.children]
        heads += [place[head] for head in ctree.head_children or ()]
        roots.append(place[-1])
        word += n
    headed = all(ctree.head_children is not None for ctree in ctrees)
    return CTree(
        tokens,
        (*labels, label),
        (*children, tuple(roots)),
        (*heads, roots[0]) if headed else None,
        ctrees[0].top,
    )


def raise_gaps(ctree: CTree) -> CTree:
    """Make a tree continuous: of a node with gaps, raise the blocks without the head child to its parent.

    Where head children are not known, the longest block stays, the first of equally long ones.
    """
    n = len(ctree.tokens)
    first, last = list(range(n)), list(range(n))
    children: list[list[int]] = []
    raised: dict[int, list[int]] = {}  # by parent: the nodes raised to it
    parents = ctree.parents()
    for k, kids in enumerate(ctree.children):
        every = sorted([*kids, *raised.pop(n + k, [])], key=first.__getitem__)
        blocks = _runs(every, first, last)
        if ctree.head_children is not None:
            staying = next(block for block in blocks if ctree.head_children[k] in block)
        else:
            staying = max(blocks, key=lambda block: last[block[-1]] - first[block[0]])
        for block in blocks:
            if block is not staying:
                raised.setdefault(parents[n + k], []).extend(block)
        children.append(staying)
        first.append(first[staying[0]])
        last.append(last[staying[-1]])
    return _with_children(ctree, children, ctree.head_children)


def split_gaps(ctree: CTree) -> CTree:
    """Make a tree continuous: a node X with k blocks becomes k nodes X*1 to X*k (Boyd 2007).

    Where a parent has several such children with the same label, the parts of the second are X*1.2 and so on.
    All parts have X's function, the first one X's secondary edges; the head child of a part without that of X
    is its first child. Raises ValueError where a label has such a form already.
    """
    if any(map(_BLOCK.fullmatch, ctree.labels)):
        raise ValueError("a label ends in *NUMBER, which marks the blocks of split nodes")
    n = len(ctree.tokens)
    labels: list[str] = []
    children: list[list[int]] = []
    first, last = list(range(n)), list(range(n))
    split: list[list[int]] = [[i] for i in range(n)]  # new nodes of each old one
    heads, headed = list[int](), list(range(n))  # of new nodes; of each old one, the new one with its head
    old_heads = ctree.head_children or [kids[0] for kids in ctree.children]
    for label, kids, old_head in zip(ctree.labels, ctree.children, old_heads, strict=True):
        label_counts: Counter[str] = Counter()
        for kid in kids:
            if len(split[kid]) > 1:
                base = ctree.label(kid)
                label_counts[base] += 1
                for number, node in enumerate(split[kid], 1):
                    nth = f".{label_counts[base]}" if label_counts[base] > 1 else ""
                    labels[node - n] = f"{base}*{number}{nth}"
        new_nodes = []
        every = sorted((node for kid in kids for node in split[kid]), key=first.__getitem__)
        for block in _runs(every, first, last):
            new_nodes.append(n + len(labels))
            labels.append(label)
            children.append(block)
            heads.append(headed[old_head] if headed[old_head] in block else block[0])
            if heads[-1] == headed[old_head]:
                headed.append(new_nodes[-1])
            first.append(first[block[0]])
            last.append(last[block[-1]])
        split.append(new_nodes)
    functions = ctree.functions
    if functions is not None:
        functions = tuple([name for name, nodes in zip(functions, split, strict=True) for _ in nodes])
    edges = tuple([(split[node][0], name, split[above][0]) for node, name, above in ctree.secondary])
    head_children = None if ctree.head_children is None else tuple(heads)
    rows = tuple(map(tuple, children))
    new = CTree(ctree.tokens, tuple(labels), rows, head_children, ctree.top, functions, edges)
    return ordered(new, split[-1][0])


def merge_gaps(ctree: CTree) -> CTree:
    """Undo `split_gaps`: children X*1, X*2, ... of a node become one node again.

    Its head child is that of the part that was a head child itself, else that of the first part.
    """
    n = len(ctree.tokens)
    heads, joined = list(ctree.head_children or ()), dict[int, int]()  # a part, and the one that it joined
    labels, children = list(ctree.labels), [list(kids) for kids in ctree.children]
    order = [ctree.root]  # parents first: the blocks of a node are together before those of its children
    for node in order if labels else ():
        groups: dict[tuple[str, str], int] = {}
        merged = []
        for kid in children[node - n]:
            match = _BLOCK.fullmatch(labels[kid - n]) if kid >= n else None
            key = (match[1], match[3] or "1") if match else ("", "")
            if match and key in groups:
                joined[kid] = groups[key]
                children[joined[kid] - n] += children[kid - n]
                if heads and heads[node - n] == kid:
                    heads[joined[kid] - n] = heads[kid - n]
                continue
            merged.append(kid)
            if match:
                groups[key] = kid
                labels[kid - n] = match[1]
        children[node - n] = merged
        order += [kid for kid in merged if kid >= n]
    new_heads = ctree.head_children and [joined.get(head, head) for head in heads]
    return _with_children(replace(ctree, labels=tuple(labels)), children, new_heads)


def collapse(ctree: CTree, kept: Sequence[bool]) -> CTree:
    """Take some nodes out; their children go to the nearest node above that is kept.

    kept: [K] whether each proper node is kept; the root always is. The kept nodes' ids keep their order, and
          the nodes keep their functions, and secondary edges to each other

    Linear time except for sorting children.
    """
    n, root = len(ctree.tokens), ctree.root
    stays = [*[True] * n, *kept]
    stays[root] = True
    if all(stays):
        return ctree
    new_id, above = [-1] * (root + 1), ctree.parents()
    for new, node in enumerate(node for node in range(root + 1) if stays[node]):
        new_id[node] = new
    children: list[list[int]] = [[] for stay in stays[n:] if stay]
    for node in range(root - 1, -1, -1):
        if not stays[above[node]]:
            above[node] = above[above[node]]
        if stays[node]:
            children[new_id[above[node]] - n].append(new_id[node])
    first = _firsts(n, children)
    heads = None
    if ctree.head_children is not None:
        stands = list(range(n))  # for each node itself, or the highest that stays on the way to its head
        for node, head in enumerate(ctree.head_children, n):
            stands.append(node if stays[node] else stands[head])
        heads = tuple(new_id[stands[head]] for head in compress(ctree.head_children, stays[n:]))
    in_order = tuple(tuple(sorted(kids, key=first.__getitem__)) for kids in children)
    functions = ctree.functions and tuple(compress(ctree.functions, stays))
    edges = [
        (new_id[node], name, new_id[up]) for node, name, up in ctree.secondary if stays[node] and stays[up]
    ]
    labels = tuple(compress(ctree.labels, stays[n:]))
    return CTree(ctree.tokens, labels, in_order, heads, ctree.top, functions, tuple(edges))


def _with_children(
    ctree: CTree, children: Sequence[Sequence[int]], head_children: Sequence[int] | None
) -> CTree:
    """Return the tree with other children for its nodes; nodes that have no parent any more are dropped."""
    heads = None if head_children is None else tuple(head_children)
    return ordered(replace(ctree, children=tuple(map(tuple, children)), head_children=heads), ctree.root)


def _lowest_common(a: int, b: int, parents: list[int], depths: list[int]) -> int:
    """Find the smallest constituent that covers both tokens."""
    a, b = parents[a], parents[b]
    while a != b:
        if depths[a] >= depths[b]:
            a = parents[a]
        else:
            b = parents[b]
    return a


def _runs(nodes: list[int], first: list[int], last: list[int]) -> list[list[int]]:
    """Cut a sorted list of continuous nodes at its gaps."""
    runs: list[list[int]] = []
    for node in nodes:
        if runs and first[node] == last[runs[-1][-1]] + 1:
            runs[-1].append(node)
        else:
            runs.append([node])
    return runs


def _firsts(n: int, children: list[list[int]]) -> list[int]:
    """Return the leftmost token of each node, n for a node without children; children have lower ids."""
    first = list(range(n))
    for kids in children:
        first.append(min((first[kid] for kid in kids), default=n))
    return first
