"""C-trees as the tree objects of other libraries: `nltk.Tree` and Stanza's `Tree`. Linear time.

A c-tree's wrapper is their outermost node. Their leaves stand in the order of the words, so these trees
cannot have gaps. NLTK reads and prints brackets without escapes, so words and labels of its trees have -LRB-
and -RRB- for round brackets, as in NLTK's own treebanks. Reading undoes this, except in labels that are just
that, as in `d2c.trees.formats.brackets`. Stanza's trees hold words as they are, and escape them when printed.

The libraries are imported only where a tree of theirs is made: both are slow to start.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from d2c.base.errors import install
from d2c.trees.cleaning import unescape, unescape_label
from d2c.trees.ctree import CTree
from d2c.trees.formats.graphs import Graph

if TYPE_CHECKING:
    import nltk
    from stanza.models.constituency import parse_tree

_Node = tuple[str, str | None, Sequence[Any]]  # label, its word if it is a pre-terminal, its children


def to_nltk(ctree: CTree) -> nltk.Tree:
    """Return a tree as an `nltk.Tree`. Raises ValueError for a tree with gaps."""
    from nltk.tree import Tree

    return _build(
        ctree,
        lambda tag, form: Tree(_escape(tag), [_escape(form)]),
        lambda label, kids: Tree(_escape(label), kids),
    )


def from_nltk(tree: nltk.Tree) -> CTree:
    """Return the c-tree, without head children, of an `nltk.Tree` whose words have tags.

    Raises TypeError for any other object, and ValueError for empty nodes, for words that stand beside other
    words or nodes, for leaves or labels that are no strings, and for empty labels below the root.
    """
    from nltk.tree import Tree

    if not isinstance(tree, Tree):
        raise TypeError(f"from_nltk takes an nltk.Tree, not {type(tree).__name__}")

    def read_node(node: nltk.Tree) -> _Node:
        kids, label = list(node), node.label()
        if not isinstance(label, str) or not (label or node is tree):
            raise ValueError(f"{label!r} is not a label of a node, which is a str that is not empty")
        if odd := [kid for kid in kids if not isinstance(kid, str | Tree)]:
            raise ValueError(f"{odd[0]!r} is neither a word, which is a str, nor a tree")
        words = [kid for kid in kids if isinstance(kid, str)]
        if words and len(kids) > 1:
            raise ValueError(f"the word {words[0]!r} stands beside other words or nodes")
        if words:
            return unescape_label(label), unescape(words[0]), ()
        return unescape_label(label), None, kids

    return _read(tree, read_node)


def to_stanza(ctree: CTree) -> parse_tree.Tree:
    """Return a tree as Stanza's `Tree`. Raises ValueError for a tree with gaps."""
    try:
        from stanza.models.constituency.parse_tree import Tree
    except ImportError as error:
        raise ImportError(f"to_stanza needs Stanza ({error}): {install('stanza')}") from None
    return _build(ctree, lambda tag, form: Tree(tag, [Tree(form)]), Tree)


def from_stanza(tree: parse_tree.Tree) -> CTree:
    """Return the c-tree, without head children, of Stanza's `Tree`. Raises as `from_nltk` does."""
    if not hasattr(tree, "is_preterminal"):  # whoever has one has imported Stanza, others need not
        raise TypeError(f"from_stanza takes a Tree of Stanza's, not {type(tree).__name__}")

    def read_node(node: Any) -> _Node:  # of Stanza, whose attributes have wrong types
        if node.is_preterminal():
            return node.label, node.children[0].label, ()
        if any(kid.is_leaf() for kid in node.children):
            raise ValueError(f"the node {node.label!r} has words beside other words or nodes")
        return node.label or "", None, node.children

    return _read(tree, read_node)


def _build(ctree: CTree, leaf: Callable[[str, str], Any], inner: Callable[[str, list[Any]], Any]) -> Any:
    if not ctree.is_continuous():
        raise ValueError("a tree with gaps cannot be a tree whose leaves are in the order of the words")
    nodes = [leaf(tag, form) for tag, form in zip(ctree.tokens.tags, ctree.tokens.forms, strict=True)]
    for label, kids in zip(ctree.labels, ctree.children, strict=True):
        nodes.append(inner(label, [nodes[kid] for kid in kids]))
    return nodes[-1] if ctree.top is None else inner(ctree.top, [nodes[-1]])


def _read(root: Any, read_node: Callable[[Any], _Node]) -> CTree:
    """Return the c-tree of another library's tree, visited parents first and from left to right."""
    graph, stack = Graph(), list[tuple[Any, str | None]]([(root, None)])
    while stack:
        node, above = stack.pop()
        label, word, kids = read_node(node)
        if word is not None:
            graph.add_word((word, label), above)
        elif kids:
            name = graph.add_node(label, above)
            stack += [(kid, name) for kid in reversed(kids)]
        else:
            raise ValueError(f"the node {label!r} has no children")
    return graph.tree()


def _escape(text: str) -> str:
    return text.replace("(", "-LRB-").replace(")", "-RRB-")
