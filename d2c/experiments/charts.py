"""Charts as SVG elements: lines over classes, and points over a number.

A series has, by its order, a colour, a marker and dashes, so that none is told apart by colour alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from math import ceil, floor, log10

from d2c.base.errors import shortened

# On a light and on a dark ground. Found by search: for any two, seen with any dichromacy (Machado et al.,
# 2009), the distance in CIELAB is at least 30, and the contrast with the ground at least 3.
COLOURS = (
    ("#00a0d6", "#51e0bc"),
    ("#ff4f14", "#ffb770"),
    ("#260099", "#8937db"),
    ("#990000", "#d60000"),
    ("#a851ff", "#adc1fe"),
    ("#c18470", "#b85a5a"),
    ("#9c1b7b", "#406b95"),
    ("#3d000f", "#feff14"),
)
_DASHES = ("none", "7 3", "2 3", "10 3 2 3", "5 2", "14 4", "6 3 2 3 2 3", "1 2")
_MARKERS = (  # paths around (0, 0)
    "M-4,0 a4,4 0 0 0 8,0 a4,4 0 0 0 -8,0 Z",
    "M-4,-4 h8 v8 h-8 Z",
    "M0,-5 L5,4 H-5 Z",
    "M0,-5.5 L5.5,0 L0,5.5 L-5.5,0 Z",
    "M0,5 L5,-4 H-5 Z",
    "M-5,-1.5 h3.5 v-3.5 h3 v3.5 h3.5 v3 h-3.5 v3.5 h-3 v-3.5 h-3.5 Z",
    "M-6,-2.5 h12 v5 h-12 Z",
    "M-2.5,-6 h5 v12 h-5 Z",
)
_WIDTH, _HEIGHT = 560, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 14, 26, 44  # margins around the plotting area
_ROW = 18  # of the legend
_LONGEST = 72  # characters of a name in the legend: more are wider than the picture

Points = Sequence[tuple[float, float]]
Scale = Callable[[float], float]


def line_chart(names: Sequence[str], series: Mapping[str, Sequence[float]], x: str, y: str) -> str:
    """Return a chart of one line for each series over the named classes. The y axis need not begin at 0."""
    ticks = _ticks([value for values in series.values() for value in values])
    across = _scale(-0.5, len(names) - 0.5, _LEFT, _WIDTH - _RIGHT)
    up = _scale(ticks[0], ticks[-1], _HEIGHT - _BOTTOM, _TOP)
    pieces = [*_frame(x, y, ticks, up), *_below(map(across, range(len(names))), names)]
    for k, (name, values) in enumerate(series.items()):
        points = [(across(i), up(value)) for i, value in enumerate(values)]
        titles = (f"{name}, {of_class}: {value:.2f}" for of_class, value in zip(names, values, strict=True))
        pieces.append(_series(k, zip(points, titles, strict=True), points))
    return _svg(pieces, series, line=True)


def scatter_chart(series: Mapping[str, Points], x: str, y: str) -> str:
    """Return a chart of the points of each series; both axes begin at 0."""
    ticks, bottom = (
        _ticks([0.0, *(point[axis] for points in series.values() for point in points)]) for axis in (1, 0)
    )
    across, up = _scale(0, bottom[-1], _LEFT, _WIDTH - _RIGHT), _scale(0, ticks[-1], _HEIGHT - _BOTTOM, _TOP)
    pieces = [*_frame(x, y, ticks, up), *_below(map(across, bottom), map(_number, bottom))]
    for k, (name, points) in enumerate(series.items()):
        marks = (((across(a), up(b)), f"{name}: {a:g}, {b:.2f}") for a, b in points)
        pieces.append(_series(k, marks))
    return _svg(pieces, series)


def _ticks(values: Sequence[float]) -> list[float]:
    """Return four to eight round numbers around all values."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    if high <= low:
        low, high = low - 1, high + 1
    step = 10 ** floor(log10((high - low) / 2))
    step = next(step * factor for factor in (0.5, 1, 2, 5, 10) if (high - low) / (step * factor) <= 6)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return [number * step for number in range(first, last + 1)]


def _scale(low: float, high: float, start: float, end: float) -> Scale:
    return lambda value: start + (value - low) / (high - low) * (end - start)


def _number(value: float) -> str:
    return f"{value:.6g}"


def _frame(x: str, y: str, ticks: Sequence[float], up: Scale) -> Iterator[str]:
    for tick in ticks:
        yield (
            f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{up(tick):.1f}" y2="{up(tick):.1f}" '
            f'stroke="currentColor" stroke-opacity="0.15"/>'
        )
        yield _text(_LEFT - 6, up(tick) + 4, _number(tick), "end")
    yield _text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 8, x, "middle")
    yield _text(4, 14, y, "start")


def _below(xs: Iterable[float], texts: Iterable[str]) -> Iterator[str]:
    """Yield what stands below the plotting area."""
    return (_text(x, _HEIGHT - _BOTTOM + 16, text, "middle") for x, text in zip(xs, texts, strict=True))


def _series(k: int, marks: Iterable[tuple[tuple[float, float], str]], line: Points = ()) -> str:
    """Return markers with titles, and a line; colours are those of the page's class s0, s1, ..."""
    k %= len(COLOURS)
    pieces = []
    if line:
        way = " ".join(f"{x:.1f},{y:.1f}" for x, y in line)
        dashes = f'stroke="currentColor" stroke-width="2" stroke-dasharray="{_DASHES[k]}"'
        pieces.append(f'<polyline points="{way}" fill="none" {dashes}/>')
    for (x, y), title in marks:
        place = f'transform="translate({x:.1f} {y:.1f})"'
        pieces.append(f'<path d="{_MARKERS[k]}" {place}><title>{escape(title)}</title></path>')
    return f'<g class="s{k}" fill="currentColor">{"".join(pieces)}</g>'


def _legend(names: Iterable[str], line: bool) -> tuple[list[str], int]:
    """Return names with markers, in rows that end above the plotting area, and how high the rows are."""
    rows: list[list[tuple[int, str, float]]] = [[]]
    for k, name in enumerate(names):
        width = 7.0 * min(len(name), _LONGEST) + 50
        if rows[-1] and sum(one[2] for one in rows[-1]) + width > _WIDTH - _LEFT:
            rows.append([])
        rows[-1].append((k, name, width))
    pieces = list[str]()
    for number, row in enumerate(reversed(rows)):
        x, y = _WIDTH - sum(width for *_, width in row), 10.0 - _ROW * number
        for k, name, width in row:
            sample = [(x, y), (x + 28, y)] if line else ()
            shown = _text(x + 34, y + 4, shortened(name, _LONGEST), "start")
            pieces += [_series(k, [((x + 14, y), name)], sample), shown]
            x += width
    return pieces, _ROW * (len(rows) - 1)


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(pieces: Sequence[str], names: Iterable[str], line: bool = False) -> str:
    legend, above = _legend(names, line)
    height = _HEIGHT + above
    size = f'viewBox="0 {-above} {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    style = 'font-family="sans-serif" font-size="12" fill="currentColor"'
    shown = "".join([*pieces, *legend])
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} {style}>{shown}</svg>'
