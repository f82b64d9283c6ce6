"""Pictures of c-trees, crossing branches included, and of d-trees with their event indices: text and SVG."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Protocol

from nltk.tree import Tree
from nltk.tree.prettyprinter import TreePrettyPrinter


class Constituents(Protocol):
    """What is drawn of a c-tree: see `CTree`, which imports this module."""

    @property
    def tokens(self) -> Any: ...
    @property
    def labels(self) -> Sequence[str]: ...
    @property
    def children(self) -> Sequence[Sequence[int]]: ...


class Arcs(Protocol):
    """What is drawn of a d-tree: see `DTree`, which imports this module."""

    @property
    def tokens(self) -> Any: ...
    @property
    def heads(self) -> Sequence[int]: ...
    @property
    def symbols(self) -> Sequence[str] | None: ...
    @property
    def events(self) -> Sequence[int] | None: ...
    @property
    def labels(self) -> Sequence[str] | None: ...


_NLTK_COLUMN, _NLTK_LETTER = 40, 8  # pixels, in nltk's pictures
_SIZE = re.compile(r'width="([0-9.]+)(?:em)?" height="([0-9.]+)(?:em)?"')
_LONGEST = 1_000  # letters of a word that stand on one line; NLTK takes no more than 100,000
_DEEPEST = 300  # levels of a c-tree: NLTK recurses
_LETTER, _ROW, _GAP = 9, 22, 24  # pixels: width of a letter, height of a level of arcs, space between words


def drawing(ctree: Constituents, dtree: Arcs, what: str, svg: bool) -> str:
    """A `ctree`, a `dtree` or `both`, below each other. Raises ValueError for a c-tree too deep."""
    upper = (ctree_svg if svg else ctree_text)(ctree) if what != "dtree" else ""
    lower = (dtree_svg if svg else dtree_text)(dtree) if what != "ctree" else ""
    if what != "both":
        return upper or lower
    return stacked_svg(upper, lower) if svg else f"{upper}\n\n{lower}\n"


def ctree_text(ctree: Constituents) -> str:
    """A c-tree in characters; words stand whole on one line, unless they are longer than any word is."""
    longest = max(map(len, (*ctree.tokens.forms, *ctree.tokens.tags, *ctree.labels)))
    return str(_printer(ctree).text(unicodelines=True, maxwidth=min(longest, _LONGEST))).rstrip("\n")


def dtree_text(dtree: Arcs) -> str:
    """A d-tree as a table: number, form, tag, head, and symbol and event index of the attachment."""
    forms = ["ROOT", *dtree.tokens.forms]
    rows = [
        (str(i), form, tag, f"← {forms[head]}" if head else "root", _attachment(dtree, i - 1))
        for i, (form, tag, head) in enumerate(
            zip(dtree.tokens.forms, dtree.tokens.tags, dtree.heads, strict=True), 1
        )
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def ctree_svg(ctree: Constituents) -> str:
    """A c-tree as an SVG element."""
    printer = _printer(ctree)
    shown = {n: str(node.label() if isinstance(node, Tree) else node) for n, node in printer.nodes.items()}
    printer.coords = _widened(printer.coords, shown)
    return str(printer.svg())


def dtree_svg(dtree: Arcs) -> str:
    """A d-tree as an SVG element: an arc from each head to its modifier, with symbol and event index."""
    n, tokens = len(dtree.heads), dtree.tokens
    labels = [_attachment(dtree, i) for i in range(n)]
    widths = [
        _LETTER * max(map(len, texts)) + _GAP for texts in zip(tokens.forms, tokens.tags, labels, strict=True)
    ]
    centres = [sum(widths[:i]) + widths[i] / 2 for i in range(n)]
    levels = _levels(dtree)
    base = _ROW * (max(levels) + 2)
    pieces = []
    for m, head in enumerate(dtree.heads):
        x, top = centres[m], base - _ROW * levels[m]
        if head:
            start = centres[head - 1]
            pieces.append(f'<path d="M{start},{base} V{top} H{x} V{base}" fill="none" stroke="black"/>')
            middle = (start + x) / 2
            shown = escape(labels[m])
            pieces.append(
                f'<text x="{middle}" y="{top - 4}" text-anchor="middle" font-size="11">{shown}</text>'
            )
        pieces.append(f'<path d="M{x - 4},{base - 7} L{x},{base} L{x + 4},{base - 7} Z"/>')
        for row, text in enumerate((tokens.forms[m], tokens.tags[m])):
            y = base + 18 * (row + 1)
            pieces.append(f'<text x="{x}" y="{y}" text-anchor="middle">{escape(text)}</text>')
    size = f'width="{sum(widths)}" height="{base + 48}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">{"".join(pieces)}</svg>'


def stacked_svg(upper: str, lower: str) -> str:
    """Two SVG elements, one above the other."""
    sizes = [_pixels(picture) for picture in (upper, lower)]
    width, height = max(w for w, _ in sizes), sum(h for _, h in sizes) + _GAP
    moved = f'<g transform="translate(0,{sizes[0][1] + _GAP})">{lower}</g>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">{upper}{moved}</svg>'


def _printer(ctree: Constituents) -> TreePrettyPrinter:
    levels = [1] * len(ctree.tokens.tags)
    for kids in ctree.children:
        levels.append(1 + max(levels[kid] for kid in kids))
    if levels[-1] > _DEEPEST:
        raise ValueError(f"a tree of {levels[-1]:,} levels cannot be drawn; {_DEEPEST} is the most")
    nodes: list[Tree] = [Tree(tag, [i]) for i, tag in enumerate(ctree.tokens.tags)]
    for label, kids in zip(ctree.labels, ctree.children, strict=True):
        nodes.append(Tree(label, [nodes[kid] for kid in kids]))
    return TreePrettyPrinter(nodes[-1], list(ctree.tokens.forms))


def _widened(coords: Mapping[int, tuple[int, int]], texts: Mapping[int, str]) -> dict[int, tuple[int, float]]:
    """Row and column of each node such that the texts of different columns do not overlap: nltk draws all
    columns equally wide."""
    widths: defaultdict[int, int] = defaultdict(int)
    for node, (_, column) in coords.items():
        widths[column] = max(widths[column], len(texts[node]))
    centres, end = dict[int, float](), 0.0
    for column in sorted(widths):
        pixels = max(_NLTK_COLUMN, _NLTK_LETTER * widths[column] + _NLTK_LETTER)
        centres[column] = (end + pixels / 2) / _NLTK_COLUMN - 0.5
        end += pixels
    return {node: (row, centres[column]) for node, (row, column) in coords.items()}


def _attachment(dtree: Arcs, m: int) -> str:
    if not dtree.heads[m]:
        return ""
    if dtree.symbols is not None and dtree.events is not None:
        return f"{dtree.symbols[m]}#{dtree.events[m]}"
    return dtree.labels[m] if dtree.labels else ""


def _levels(dtree: Arcs) -> list[int]:
    """[n] a height for each arc, from 1 on, above the arcs that it overlaps and that are shorter."""
    spans = {m: (min(m, head - 1), max(m, head - 1)) for m, head in enumerate(dtree.heads) if head}
    levels = [0] * len(dtree.heads)
    for m in sorted(spans, key=lambda m: spans[m][1] - spans[m][0]):
        first, last = spans[m]
        below = [levels[k] for k, (a, b) in spans.items() if levels[k] and a < last and b > first]
        levels[m] = 1 + max(below, default=0)
    return levels


def _pixels(picture: str) -> tuple[float, float]:
    """Width and height of an SVG element; an em counts 16 pixels."""
    match = _SIZE.search(picture)
    if match is None:
        return 0.0, 0.0
    unit = 16.0 if "em" in match[0] else 1.0
    return float(match[1]) * unit, float(match[2]) * unit
