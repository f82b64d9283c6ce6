"""Second readers: each reads a format of treebanks without a line of d2c, by another library.

nltk reads brackets, xml.etree graphs in XML, udapi CoNLL-U, treetools what d2c wrote as export and TIGER XML.
The conventions of each treebank are written down here anew, from its documentation.
"""

from __future__ import annotations

import gzip
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click
from nltk import Tree

Yield = tuple[int, ...]  # token indices below a node


@dataclass
class Sentence:
    """What is compared of a sentence.

    nodes: how many nodes have this label over these words
    heads: how many of these have a head child over those words; of d-trees: relation, word and head
    """

    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    nodes: Counter[tuple[str, Yield]] = field(default_factory=Counter)
    heads: Counter[tuple[str, Yield, Yield]] = field(default_factory=Counter)

    def gaps(self) -> int:
        """Return how many nodes have gaps."""
        return sum(count for (_, over), count in self.nodes.items() if over[-1] - over[0] + 1 > len(over))


class Refused(ValueError):
    """A sentence that neither reader takes."""


def opened(path: Path, encoding: str = "utf-8") -> Iterator[str]:
    """Yield the lines of a file, which may be packed by gzip."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding=encoding) as stream:
        yield from stream


# A node of a tree without gaps is (label, children), and a word is (tag, word); see `sentence_of`.
Node = tuple[str, Any]
WRAPPERS = ("", "TOP", "ROOT", "S1", "VROOT")


def sentence_of(top: Node, is_head: Callable[[Node], bool] | None = None) -> Sentence | None:
    """Return the sentence of a tree without gaps, its wrapper left out; None if the tree has no words."""
    found = Sentence()

    def walk(node: Node) -> Yield:
        label, below = node
        if isinstance(below, str):
            found.words.append(below)
            found.tags.append(label)
            return (len(found.words) - 1,)
        parts = [walk(child) for child in below]
        over = tuple(token for part in parts for token in part)
        if over and not (node is top and label in WRAPPERS and len(below) == 1):
            found.nodes[label, over] += 1
        marked = [part for child, part in zip(below, parts, strict=True) if is_head and is_head(child)]
        if len(marked) == 1:
            found.heads[label, over, marked[0]] += 1
        return over

    walk(top)
    return found if found.words else None


def sentence_over(
    words: list[tuple[str, str]], labels: dict[str, str], edges: Iterable[tuple[str | None, str | int, bool]]
) -> Sentence:
    """Return the sentence of a graph. VROOT stands above several nodes without parents; wrappers are dropped.

    edges: parent, child and whether it is marked as the head
    """
    below: defaultdict[str | None, list[tuple[str | int, bool]]] = defaultdict(list)
    for parent, child, marked in edges:
        below[parent].append((child, marked))
    found = Sentence([word for word, _ in words], [tag for _, tag in words])

    def walk(name: str | int | None) -> Yield:
        if isinstance(name, int):
            return (name,)
        parts = [(walk(child), marked) for child, marked in below[name]]
        over = tuple(sorted(token for part, _ in parts for token in part))
        label = "VROOT" if name is None else labels[name]
        alone = len(parts) == 1
        if over and not (alone and (name is None or (label in WRAPPERS and below[None] == [(name, False)]))):
            found.nodes[label, over] += 1
        heads = [part for part, marked in parts if marked]
        if len(heads) == 1:
            found.heads[label, over, heads[0]] += 1
        return over

    walk(None)
    return found


def texts_of_trees(path: Path) -> Iterator[str]:
    """Yield the texts of trees in brackets, each over one line or several."""
    lines, depth = list[str](), 0
    for line in opened(path):
        lines.append(line)
        depth += line.count("(") - line.count(")")
        if depth == 0 and (text := "".join(lines)).strip():
            yield text
            lines = []


def parsed(text: str) -> Any:
    """Return the nltk.Tree of a text; only ASCII blanks separate."""
    return Tree.fromstring(text, node_pattern=r"[^ \t\r\n()]+", leaf_pattern=r"[^ \t\r\n()]+")


def node_of(tree: Any) -> Node:
    """Return the node of an nltk.Tree. Raises Refused where a child has no label, or a word has sisters."""
    if len(tree) == 1 and isinstance(tree[0], str):
        return tree.label(), tree[0].replace("-LRB-", "(").replace("-RRB-", ")")
    if any(isinstance(child, str) or not child.label() for child in tree):
        raise Refused("a node without a label")
    return tree.label(), [node_of(child) for child in tree]


def pruned(
    node: Node, keeps: Callable[[str, str], bool], rename: Callable[[str], str], drops: Any
) -> Node | None:
    """Return a node without words that are not kept, without nodes of dropped labels, with labels renamed."""
    label, below = node
    if label in drops:
        return None
    if isinstance(below, str):
        return (label, below) if keeps(label, below) else None
    kids = [kid for child in below if (kid := pruned(child, keeps, rename, drops))]
    return (rename(label), kids) if kids else None


_EMPTY = re.compile(r"\*(T|U|PRO|ICH|RNR|EXP|PPA|\?)\*(-\d+)?|\*-\d+")


def penn(path: Path, clean: bool) -> Iterator[Sentence]:
    """Yield the sentences of the Penn Treebank's brackets; clean: without empty elements and functions."""
    for text in texts_of_trees(path):
        try:
            node: Node | None = node_of(parsed(text))
        except Refused:
            continue
        if clean and node:
            node = pruned(
                node,
                lambda tag, word: tag != "-NONE-" and not _EMPTY.fullmatch(word),
                lambda label: label[:1] + re.split("[-=|]", label[1:])[0] or "TOP",
                (),
            )
        if node and (found := sentence_of(node)):
            yield found


_INDEX = re.compile(r"-?=[0-9A-Z]+|-([0-9]+|NaN)(?=-|$)")
_NO_TEXT = ("ID", "CODE", "REF")


def historical(path: Path, clean: bool) -> Iterator[Sentence]:
    """Yield the sentences of Penn-historical brackets, whose words are `form-lemma`, without the ID of each
    tree; clean: without ID, CODE, REF, empty elements and indices."""

    def bare(label: str) -> str:
        return label[:1] + _INDEX.sub("", label[1:])

    def is_word(tag: str, word: str) -> bool:
        return not (
            (word[:1] == "*" and word != "*-*") or word.startswith("ICH*") or (word == "0" and tag != "NUM")
        )

    def cut(node: Node) -> Node:
        label, below = node
        if not isinstance(below, str):
            return label, [cut(child) for child in below]
        if not is_word(label, below) or re.match(r"\{|<(?!dash/?>)", below):  # as <P_1> below CODE
            return node
        end = below.rfind("-", 1, -1)
        return label, re.sub("<dash/?>", "-", below[:end] if end > 0 else below)

    for text in texts_of_trees(path):
        label, below = node_of(parsed(text))
        node: Node | None = cut((label, [child for child in below if label or child[0] != "ID"]))
        if clean and node:
            node = pruned(node, is_word, bare, _NO_TEXT)
        if node and (found := sentence_of(node)):
            found.tags = list(map(bare, found.tags)) if clean else found.tags
            yield found


def sinica(path: Path, _clean: bool) -> Iterator[Sentence]:
    """Yield the sentences of Sinica's notation: `#1:1.[2] NP(role:DM:x|Head:Nab:y)#。(PERIODCATEGORY)`."""
    for line in filter(str.strip, opened(path)):
        body = line.strip().partition(" ")[2].strip().removesuffix("#").rstrip()
        mark = re.search(r"#([^#]*)\((\w*)\)$", body)
        parts = list(filter(str.strip, re.split(r"([()|])", body[: mark.start()] if mark else body)))
        text = list[str]()
        for part, after in zip(parts, [*parts[1:], ""], strict=True):
            if part not in "()|":
                role, tag, *word = ["", *part.split(":")][-3:]
                text.append(f"({part} " if after == "(" else f"({role}:{tag} {word[0]})")
            elif part == ")":
                text.append(")")
        top = _with_heads(parsed("".join(text)))
        if mark and mark[1].strip():
            last: Node = mark[2], mark[1].strip()
            top = ("VROOT", [top, last]) if isinstance(top[1], str) else (top[0], [*top[1], last])
        yield sentence_of(top, lambda node: isinstance(node, _Head))  # type: ignore[misc]


class _Head(tuple[Any, ...]):
    """A node that is marked as the head."""


def _with_heads(tree: Any) -> Node:
    """Return the node of an nltk.Tree whose labels are `role:category`."""
    role, _, label = tree.label().rpartition(":")
    word = len(tree) == 1 and isinstance(tree[0], str)
    node = label, tree[0] if word else [_with_heads(child) for child in tree]
    return _Head(node) if role in ("Head", "head") else node


_ITEM = re.compile(r"#[0-9]+ ")


def floresta(path: Path, _clean: bool) -> Iterator[Sentence]:
    """Yield the sentences of Floresta's brackets, whose heads have the function H; the pieces of a
    constituent with gaps, `P-+vp` and `-P+vp`, are one node."""
    items: list[list[str]] = []
    for line in opened(path, "latin-1"):
        if _ITEM.match(line):
            items.append([])
        elif items:
            items[-1].append(line)
    for item in items:
        if "".join(item).strip():
            yield _of_floresta("".join(item))


def _of_floresta(text: str) -> Sentence:
    """Return the sentence of an item."""
    marks = re.sub(r"\(([^\s()]+)\s*(\)|$)", r"(MARK= \1\2", text)
    depth = marks.count("(") - marks.count(")")
    top = parsed(f"(? {marks}{')' * depth})")
    words: list[tuple[str, str]] = []
    labels: dict[str, str] = {}
    edges: list[tuple[str | None, str | int, bool]] = []
    going: dict[tuple[str, str], str] = {}

    def walk(node: Any, above: str | None) -> None:
        function, plus, form = node.label().rpartition("+") if "+" in node.label() else (node.label(), "", "")
        bare = function.partition("+")[0]
        is_head = bare.strip("-") == "H"
        texts = [child for child in node if isinstance(child, str)]
        if len(texts) == len(node):
            if texts:
                mark = _MARKS.get(texts[0], (texts[0], texts[0]))
                words.append(mark if node.label() == "MARK=" else ("_".join(texts), form.rstrip("-") or bare))
                edges.append((above, len(words) - 1, is_head and bool(plus)))
            return
        key = bare.strip("-"), form.rstrip("-")
        name = going.pop(key, None) if bare.startswith("-") else None
        if name is None:
            name = str(len(labels))
            labels[name] = form.rstrip("-") or bare
            edges.append((above, name, is_head and bool(plus)))
        if bare.endswith("-") or form.endswith("-"):
            going[key] = name
        for child in node:
            if isinstance(child, str):
                words.append((child, labels[name]))
                edges.append((name, len(words) - 1, False))
            else:
                walk(child, name)

    for child in top:
        walk(child, None)
    return sentence_over(words, labels, edges)


_MARKS = {"{": ("(", "-LRB-"), "}": (")", "-RRB-")}


def tigerxml(path: Path, _clean: bool) -> Iterator[Sentence]:
    """Yield the sentences of TIGER XML, in which edges HD lead to heads."""
    with gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb") as stream:
        root = ElementTree.parse(stream).getroot()
    for element in root.iter("s"):
        terminals = list(element.iter("t"))
        if not terminals:
            continue
        names: dict[str, str | int] = {one.attrib["id"]: i for i, one in enumerate(terminals)}
        labels = {one.attrib["id"]: one.attrib["cat"] for one in element.iter("nt")}
        names |= {name: name for name in labels}
        edges = [
            (nt.attrib["id"], names[edge.attrib["idref"]], edge.get("label") == "HD")
            for nt in element.iter("nt")
            for edge in nt.iter("edge")
        ]
        under = {child for _, child, _ in edges}
        tops = [(None, name, False) for name in names.values() if name not in under]
        yield sentence_over([(t.attrib["word"], t.attrib["pos"]) for t in terminals], labels, [*edges, *tops])


def alpino(path: Path, _clean: bool) -> Iterator[Sentence]:
    """Yield the sentences of Alpino XML, whose heads are the nodes with rel="hd"."""
    with gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb") as stream:
        root = ElementTree.parse(stream).getroot()
    for element in root.iter("alpino_ds"):
        words: dict[int, tuple[str, str]] = {}
        labels: dict[str, str] = {}
        edges: list[tuple[str | None, str | int, bool]] = []
        above = {child: node for node in element.iter() for child in node}
        for number, node in enumerate(element.iter("node")):
            node.set("number", str(number))
            parent = above[node].get("number") if above[node].tag == "node" else None
            marked = node.get("rel") == "hd"
            if "word" in node.attrib:
                begin = int(node.attrib["begin"])
                words[begin] = node.attrib["word"], node.get("pt") or node.get("pos") or "--"
                edges.append((parent, begin, marked))
            elif "cat" in node.attrib:
                labels[str(number)] = node.attrib["cat"]
                edges.append((parent, str(number), marked))
        yield sentence_over([words[i] for i in range(len(words))], labels, edges)


_NO_BREAK = "\ue000"


def treetools() -> Any:
    """Return treetools' readers, writers and trees. Raises ClickException where it is not installed."""
    try:
        from treetools import treeinput, treeoutput, trees
    except ImportError:
        raise click.ClickException("treetools is missing: pip install treetools==1.0.2") from None
    return treeinput, treeoutput, trees


def by_treetools(name: str) -> Callable[[Path, bool], Iterator[Sentence]]:
    """Return treetools' reader of a format. Files must not be packed; their no-break spaces are rewritten."""

    def read(path: Path, _clean: bool) -> Iterator[Sentence]:
        treeinput, _, trees = treetools()
        text = path.read_text("utf-8")  # treetools takes no-break spaces for the ends of columns
        path.write_text(text.replace("\N{NO-BREAK SPACE}", _NO_BREAK), "utf-8")
        for tree in getattr(treeinput, name)(str(path), "utf-8", quiet=True):
            leaves = trees.terminals(tree)
            index = {id(leaf): i for i, leaf in enumerate(leaves)}
            nodes = [node for node in trees.preorder(tree) if trees.has_children(node)]
            edges: list[tuple[str | None, str | int, bool]] = [
                (str(id(node)), index.get(id(child), str(id(child))), child.data["edge"] == "HD")
                for node in nodes
                for child in node.children
            ]
            words = [
                (leaf.data["word"].replace(_NO_BREAK, "\N{NO-BREAK SPACE}"), leaf.data["label"])
                for leaf in leaves
            ]
            labels = {str(id(node)): node.data["label"] for node in nodes}
            yield sentence_over(words, labels, [*edges, (None, str(id(tree)), False)])

    return read


def write_discobrackets(export: Path, target: Path) -> None:
    """Write the trees of an export file as treetools' discobrackets."""
    treeinput, treeoutput, _ = treetools()
    with open(target, "w", encoding="utf-8") as stream:
        for tree in treeinput.export(str(export), "utf-8", quiet=True):
            treeoutput.discobrackets(tree, stream)


def of_discobrackets(sentence: Sentence) -> Sentence:
    """Return what treetools' discobrackets hold of a sentence: no heads, and brackets in tags by name."""
    names = treetools()[2].BRACKETS
    tags = list(sentence.tags)
    for bracket, name in names.items():
        tags = [tag.replace(bracket, name) for tag in tags]
    return replace(sentence, tags=tags, heads=Counter())


def discbracket(path: Path, _clean: bool) -> Iterator[Sentence]:
    """Yield the sentences of discbracket, whose words are `0=What`."""
    for text in texts_of_trees(path):
        found = sentence_of(node_of(parsed(text)))
        if found:
            places = [int(word.partition("=")[0]) for word in found.words]
            words = [word.partition("=")[2] for word in found.words]
            order = sorted(range(len(places)), key=places.__getitem__)
            nodes = Counter[tuple[str, Yield]]()
            for (label, over), count in found.nodes.items():
                nodes[label, tuple(sorted(places[token] for token in over))] += count
            yield Sentence([words[i] for i in order], [_unescaped(found.tags[i]) for i in order], nodes)


def _unescaped(tag: str) -> str:
    """Return a tag with brackets, such as $( for $-LRB-; the Penn Treebank's own tag -LRB- stays."""
    return tag if tag in ("-LRB-", "-RRB-") else tag.replace("-LRB-", "(").replace("-RRB-", ")")


def by_udapi(path: Path, _clean: bool) -> Iterator[Sentence]:
    """Yield the sentences of CoNLL-U, whose arcs are in `heads`: relation, word and head."""
    from udapi.block.read.conllu import Conllu

    reader = Conllu(files=[str(path)])
    for bundle_text in _blocks(path):
        root = reader.read_tree_from_lines(bundle_text)
        if root is None:
            continue
        tokens = root.descendants
        yield Sentence(
            [one.form for one in tokens],
            [one.xpos if one.xpos != "_" else one.upos for one in tokens],
            heads=Counter((one.deprel, (one.ord,), (one.parent.ord,)) for one in tokens),
        )


def _blocks(path: Path) -> Iterator[list[str]]:
    for empty, block in groupby(opened(path), lambda line: not line.strip()):
        if not empty:
            yield [line.rstrip("\n") for line in block]
