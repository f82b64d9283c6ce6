"""Pictures of c-trees, crossing branches included, and of d-trees with their event indices: as text,
SVG, PDF and PNG; c-trees without gaps also for LaTeX."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from itertools import accumulate
from typing import Any

from nltk.tree import Tree
from nltk.tree.prettyprinter import TreePrettyPrinter

from d2c.base.columns import in_columns, width_of, width_of_character
from d2c.base.errors import NOT_XML, ModelError, needs

# A `CTree` and a `DTree`, whose modules import this one.
DrawnCTree = Any
DrawnDTree = Any

ENDINGS = (".txt", ".svg", ".pdf", ".png", ".tex")  # of files with pictures
_COLUMN, _LEVEL, _MARGIN = 36, 30, 16  # pixels, of c-trees: least width, height of a level, room around
_SIZE = re.compile(r'width="([0-9.]+)" height="([0-9.]+)"')
_LONGEST = 1_000  # letters of a word that stand on one line; NLTK takes no more than 100,000
_DEEPEST = 300  # levels of a c-tree: NLTK recurses
_LETTER, _ROW, _GAP = 9, 22, 24  # pixels: width of a letter, height of a level of arcs, space between words
_CELL, _FILL = "\U000f0000", 0xFFFFE  # unused characters: the first that stands for others, one for nothing
_MOST_PIXELS = 30_000  # of a side: cairo takes no more than 32,767
_LATEX = {char: f"\\{char}" for char in "{}$&#_%"} | {  # how to write LaTeX's special characters
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}
_DOCUMENT = r"""\documentclass[border=4pt]{{standalone}}
\usepackage{{forest,iftex}}
\iftutex\else\usepackage[T1]{{fontenc}}\fi
\begin{{document}}
\begin{{forest}}
{}
\end{{forest}}
\end{{document}}
"""
_UNKNOWN = "?"  # stands for a head outside the sentence
_COLOURS = (  # in light and dark: paper, branches, text, labels, words
    ("#ffffff", "#8a8f98", "#1f2328", "#0b57a4", "#1f2328"),
    ("#1b1d21", "#7d838c", "#e3e6ea", "#86b8f5", "#e3e6ea"),
)


def drawing(ctree: DrawnCTree, dtree: DrawnDTree, what: str, ending: str, sentence: str = "") -> bytes:
    """Return the content of a file that shows a `ctree`, a `dtree` or `both`, one above the other.

    ending: of the file's name, one of ENDINGS; sentence: stands above a c-tree in SVG, PDF and PNG

    Raises ValueError for a c-tree that is too deep and for what LaTeX cannot show, ModelError where a library
    that PNG and PDF need is not installed.
    """
    if ending == ".tex":
        if what != "ctree":
            raise ValueError("a d-tree cannot be drawn by LaTeX's forest; write .svg, .pdf or .png")
        return ctree_latex(ctree).encode()
    svg = ending != ".txt"
    upper = (ctree_svg(ctree, sentence) if svg else ctree_text(ctree)) if what != "dtree" else ""
    lower = (dtree_svg if svg else dtree_text)(dtree) if what != "ctree" else ""
    drawn = upper or lower
    if what == "both":
        drawn = stacked_svg(upper, lower) if svg else f"{upper}\n\n{lower}\n"
    return (drawn + "\n").encode() if ending in (".svg", ".txt") else _rendered(drawn, ending)


def _rendered(svg: str, ending: str) -> bytes:
    """Return an SVG element as PDF, or as PNG of twice its size, or less if that is too large for cairo."""
    try:
        cairosvg = needs("cairosvg", "pictures")
    except OSError:  # the Python binding is installed, cairo itself is not
        message = "this needs the library cairo, of the system: apt install libcairo2, or brew install cairo"
        raise ModelError(message) from None
    width, height = _pixels(svg)
    scale = min(2, _MOST_PIXELS / max(width, height), (_MOST_PIXELS * 4000 / (width * height)) ** 0.5)
    made = cairosvg.svg2pdf(svg.encode()) if ending == ".pdf" else cairosvg.svg2png(svg.encode(), scale=scale)
    return bytes(made)


def ctree_latex(ctree: DrawnCTree) -> str:
    """Return a LaTeX document with a c-tree, without its wrapper. Raises ValueError where it is too deep, and
    for a tree with gaps, which the package forest cannot draw."""
    _check_depth(ctree)
    if not ctree.is_continuous():
        raise ValueError("a tree with gaps cannot be drawn by LaTeX's forest; write .svg, .pdf or .png")
    tags, forms, labels = [
        ["{" + "".join([_LATEX.get(char, char) for char in text]) + "}" for text in column]
        for column in (ctree.tokens.tags, ctree.tokens.forms, ctree.labels)
    ]
    nodes = [f"[{tag} [{form}]]" for tag, form in zip(tags, forms, strict=True)]
    for label, kids in zip(labels, ctree.children, strict=True):
        nodes.append(f"[{label} {' '.join([nodes[kid] for kid in kids])}]")
    return _DOCUMENT.format(NOT_XML.sub("\ufffd", nodes[-1]))


def ctree_text(ctree: DrawnCTree) -> str:
    """Return a c-tree in characters; a word stands whole on one line, unless it has more than _LONGEST
    letters."""
    longest = max(map(width_of, (*ctree.tokens.forms, *ctree.tokens.tags, *ctree.labels)))
    cells = dict[str, str]()
    printer = _printer(ctree, lambda text: _in_cells(text, cells))
    drawn = str(printer.text(unicodelines=True, maxwidth=min(longest, _LONGEST))).rstrip("\n")
    return drawn.translate({_FILL: None, **{ord(cell): text for text, cell in cells.items()}})


def dtree_text(dtree: DrawnDTree) -> str:
    """Return a d-tree as a table: number, form, tag, head, and symbol and event index of the attachment."""
    forms = dict(enumerate(dtree.tokens.forms, 1))
    rows = [
        (str(i), form, tag, f"← {forms.get(head, _UNKNOWN)}" if head else "root", _attachment(dtree, i - 1))
        for i, (form, tag, head) in enumerate(
            zip(dtree.tokens.forms, dtree.tokens.tags, dtree.heads, strict=True), 1
        )
    ]
    return "\n".join(in_columns(rows, None, range(len(rows[0]))))


def ctree_svg(ctree: DrawnCTree, sentence: str = "", dark: bool = True) -> str:
    """Return a c-tree as an SVG element, in light colours or, if `dark` allows it and the reader prefers it,
    in dark ones; its sentence may stand above it."""
    printer = _printer(ctree)
    texts = {n: str(node.label() if isinstance(node, Tree) else node) for n, node in printer.nodes.items()}
    xs, width = _placed(printer.coords, texts)
    first = _MARGIN + (_LEVEL if sentence else 0) + 10
    ys = {node: first + _LEVEL * row for node, (row, _) in printer.coords.items()}
    elements = [f'<text class="sentence" x="{_MARGIN}" y="{_MARGIN + 10}">{escape(sentence)}</text>']
    elements = elements if sentence else []
    below = defaultdict[int, list[int]](list)
    for child, parent in printer.edges.items():
        below[parent].append(child)
    for parent, kids in below.items():
        ends, bar = [xs[kid] for kid in kids], ys[parent] + 10
        elements.append(f'<path d="M{xs[parent]:g},{bar - 5} V{bar} M{min(ends):g},{bar} H{max(ends):g}"/>')
    for child, parent in printer.edges.items():  # these lines cross bars of other nodes
        line, bar = f"M{xs[child]:g},{ys[child] - 13} V", ys[parent] + 10
        elements.append(f'<path class="halo" d="{line}{bar + 4}"/><path d="{line}{bar}"/>')
    for node, text in texts.items():
        kind = "label" if isinstance(printer.nodes[node], Tree) else "word"
        place = f'x="{xs[node]:g}" y="{ys[node]}" text-anchor="middle"'
        elements.append(f'<text class="{kind}" {place}>{escape(text)}</text>')
    longest = _LETTER * width_of(sentence) + 2 * _MARGIN
    return _svg(max(width, longest), max(ys.values()) + _MARGIN, elements, dark)


def dtree_svg(dtree: DrawnDTree) -> str:
    """Return a d-tree as an SVG element: an arc from each head to its modifier, with symbol and event
    index."""
    n, tokens = len(dtree.heads), dtree.tokens
    labels = [_attachment(dtree, i) for i in range(n)]
    widths = [
        _LETTER * max(map(width_of, texts)) + _GAP
        for texts in zip(tokens.forms, tokens.tags, labels, strict=True)
    ]
    centres = [end - width / 2 for end, width in zip(accumulate(widths), widths, strict=True)]
    levels = _levels(dtree.heads)
    base = _ROW * (max(levels) + 2)
    elements = []
    for m, head in enumerate(dtree.heads):
        x, top = centres[m], base - _ROW * levels[m]
        start = centres[head - 1] if levels[m] else x
        if levels[m]:
            elements.append(f'<path d="M{start},{base} V{top} H{x} V{base}"/>')
        if head:
            text = escape(labels[m] if levels[m] else f"{_UNKNOWN} {labels[m]}".strip())
            place = f'x="{(start + x) / 2}" y="{min(top, base - 7) - 4}" text-anchor="middle"'
            elements.append(f'<text class="label" {place}>{text}</text>')
        elements.append(f'<path class="tip" d="M{x - 4},{base - 7} L{x},{base} L{x + 4},{base - 7} Z"/>')
        for row, text in enumerate((tokens.forms[m], tokens.tags[m])):
            y = base + 18 * (row + 1)
            elements.append(f'<text x="{x}" y="{y}" text-anchor="middle">{escape(text)}</text>')
    return _svg(sum(widths), base + 48, elements)


def stacked_svg(upper: str, lower: str) -> str:
    """Return two SVG elements, one above the other."""
    sizes = [_pixels(picture) for picture in (upper, lower)]
    width, height = max(w for w, _ in sizes), sum(h for _, h in sizes) + _GAP
    moved = f'<g transform="translate(0,{sizes[0][1] + _GAP})">{lower}</g>'
    return _svg(width, height, (upper, moved))


def _svg(width: float, height: float, elements: Iterable[str], dark: bool = True) -> str:
    """Return an SVG element with its colours. These are bound to its own classes, because in a page the style
    of an element applies to the whole page."""
    style = _style(*_COLOURS[0])
    style += f"@media (prefers-color-scheme:dark){{{_style(*_COLOURS[1])}}}" if dark else ""
    paper = f'<rect class="paper" width="{width:.0f}" height="{height:.0f}"/>'
    # Notebooks give pictures max-width: 100%: a wide tree would be cut or shrunk until nobody can read it.
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    font = 'class="d2c" font-family="sans-serif" font-size="13"'
    inside = NOT_XML.sub("\ufffd", f"<style>{style}</style>{paper}{''.join(elements)}")
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} style="max-width:none" {font}>{inside}</svg>'


def _style(paper: str, line: str, text: str, label: str, word: str) -> str:
    return (
        f".d2c .paper{{fill:{paper}}}.d2c path{{fill:none;stroke:{line}}}.d2c text{{fill:{text}}}"
        f".d2c .halo{{stroke:{paper};stroke-width:7}}.d2c .tip{{fill:{line}}}"
        f".d2c .label{{fill:{label}}}.d2c .word{{fill:{word};font-weight:600}}"
    )


def _printer(ctree: DrawnCTree, shown: Callable[[str], str] = str) -> TreePrettyPrinter:
    """Return NLTK's printer of a tree; shown: label or word → the text to draw."""
    _check_depth(ctree)
    nodes: list[Tree] = [Tree(shown(tag), [i]) for i, tag in enumerate(ctree.tokens.tags)]
    for label, kids in zip(ctree.labels, ctree.children, strict=True):
        nodes.append(Tree(shown(label), [nodes[kid] for kid in kids]))
    return TreePrettyPrinter(nodes[-1], [*map(shown, ctree.tokens.forms)])


def _check_depth(ctree: DrawnCTree) -> None:
    levels = ctree.height()
    if levels > _DEEPEST:
        raise ValueError(f"a tree of {levels:,} levels cannot be drawn; {_DEEPEST} is the most")


def _in_cells(text: str, cells: dict[str, str]) -> str:
    """Return a text with as many characters as it takes columns, because NLTK counts characters.

    cells: characters that take two columns or are followed by combining ones → what stands for them; extended
    """
    if text.isascii():
        return text
    found = list[str]()
    for char in text:
        if found and not width_of_character(char):
            found[-1] += char
        else:
            found.append(char)
    for i, one in enumerate(found):
        if len(one) > 1 or width_of_character(one) > 1 or one >= _CELL:
            cell = cells.setdefault(one, chr(ord(_CELL) + len(cells)))
            found[i] = cell + chr(_FILL) * (width_of_character(one[0]) - 1)
    return "".join(found)


def _placed(
    coords: Mapping[int, tuple[int, int]], texts: Mapping[int, str]
) -> tuple[dict[int, float], float]:
    """Return the centre of each node, such that the texts of different columns do not overlap (NLTK's columns
    are equally wide), and the total width."""
    widths: defaultdict[int, int] = defaultdict(int)
    for node, (_, column) in coords.items():
        widths[column] = max(widths[column], width_of(texts[node]))
    centres, end = dict[int, float](), float(_MARGIN)
    for column in sorted(widths):
        pixels = max(_COLUMN, _LETTER * (widths[column] + 1))
        centres[column] = end + pixels / 2
        end += pixels
    return {node: centres[column] for node, (_, column) in coords.items()}, end + _MARGIN


def _attachment(dtree: DrawnDTree, m: int) -> str:
    if not dtree.heads[m]:
        return ""
    if dtree.symbols is not None and dtree.events is not None:
        return f"{dtree.symbols[m]}#{dtree.events[m]}"
    return dtree.labels[m] if dtree.labels else ""


def _levels(heads: Sequence[int]) -> list[int]:
    """Return [n] a height from 1 for each arc, above the shorter arcs that it overlaps; 0 for the root and
    for heads outside the sentence. Takes time proportional to the sum of the arcs' lengths."""
    spans = dict[int, tuple[int, int]]()  # of places: 2i is word i, 2i + 1 the gap between it and the next
    for m, head in enumerate(heads):
        if 1 <= head <= len(heads):
            first, last = min(m, head - 1), max(m, head - 1)
            # An arc is over all between its words; that of a word to itself is over this word.
            spans[m] = (2 * first + 1, 2 * last) if first < last else (2 * first, 2 * first + 1)
    levels, heights = [0] * len(heads), [0] * (2 * len(heads))  # of arcs; of the highest arc over each place
    for m, (begin, end) in sorted(spans.items(), key=lambda span: span[1][1] - span[1][0]):
        levels[m] = 1 + max(heights[begin:end])
        heights[begin:end] = [levels[m]] * (end - begin)
    return levels


def _pixels(picture: str) -> tuple[float, float]:
    """Return width and height of an SVG element."""
    match = _SIZE.search(picture)
    return (float(match[1]), float(match[2])) if match else (0.0, 0.0)
