"""Traces of PTB-style trees become gaps: antecedents are moved to where their traces were.

The idea: K. Evang and L. Kallmeyer, "PLCFRS Parsing of English Discontinuous Constituents" (IWPT 2011).
Linear time, plus the depth of the tree at each trace.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from d2c.trees.cleaning import choose_tokens
from d2c.trees.conventions import PENN_TREEBANK, Convention
from d2c.trees.ctree import CTree
from d2c.trees.formats.graphs import Graph, Name
from d2c.trees.marks import HEAD

_TRACE = re.compile(r"\*?(?:T|ICH|RNR|EXP)\*(-[0-9]+)?\*?")
_INDEX = re.compile(r"(?<=.)([-=][0-9]+)(?=[-=]|$)")  # that of NP-1=2 is -1; =2 is another index, of gapping


def resolve_traces(ctree: CTree, convention: Convention = PENN_TREEBANK) -> CTree | None:
    """Turn a tree with traces into the discontinuous tree that they mean: `fill_traces`, then
    `Convention.without_functions`. None where no word is left."""
    no_text = convention.no_text(ctree)
    filled = fill_traces(ctree, no_text) if no_text else ctree
    return filled and convention.without_functions(filled)


def fill_traces(ctree: CTree, no_text: set[int]) -> CTree | None:
    """Put antecedents where their traces are, and remove empty elements and the nodes over nothing else.

    None where no word is left.

    no_text: the tokens that are no words

    The traces are *T*, *ICH*, *RNR* and *EXP* with the index of a constituent; the index is on the trace (as
    in the WSJ) or on the node over it (as in CRAFT). Of several traces of one antecedent, the first counts; a
    trace inside its antecedent does not. An antecedent that moves over no word, like a relative clause's
    subject, leaves no gap. If a head child goes, the leftmost child that is not punctuation replaces it.
    """
    n, tokens = len(ctree.tokens), ctree.tokens
    parents = ctree.parents()
    empty = [i in no_text for i in range(n)]  # of tokens, and then of nodes
    for kids in ctree.children:
        empty.append(all(empty[kid] for kid in kids))
    antecedents: dict[str, int] = {}
    for node in range(n, ctree.root + 1):
        index = None if empty[node] else _index(ctree.label(node))
        if index:
            antecedents.setdefault(index, node)
    for i in range(n):
        trace = _TRACE.fullmatch(tokens.forms[i]) if empty[i] else None
        if trace and parents[i] >= 0:
            over = parents[i] if empty[parents[i]] else i
            index = trace[1] or (_index(ctree.label(over)) if over >= n else None)
            antecedent = antecedents.get(index or "")
            if antecedent is not None and not _is_below(over, antecedent, parents):
                parents[antecedent] = parents[over]
                del antecedents[index or ""]
    words_left = [i for i in range(n) if not empty[i]]
    if not words_left:
        return None
    names: dict[int, Name] = {node: str(node) for node in range(n, len(parents))}
    names |= {i: number for number, i in enumerate(words_left)}
    labels = {str(node): ctree.label(node) for node in range(n, len(parents))}
    above = {names[node]: str(p) if p >= 0 else None for node, p in enumerate(parents) if node in names}
    heads = {names[head]: HEAD for head in ctree.head_children or () if head in names}
    filled = Graph([("", "")] * len(words_left), labels, above, heads).tree(marked=bool(heads))
    top = filled.top if ctree.top is None else ctree.top
    return replace(filled, tokens=choose_tokens(tokens, [not one for one in empty[:n]]), top=top)


def _index(label: str) -> str | None:
    match = _INDEX.search(label)
    return match[1] if match else None


def _is_below(node: int, above: int, parents: Sequence[int]) -> bool:
    while node >= 0 and node != above:
        node = parents[node]
    return node == above
