"""Charts as SVG elements: lines over classes, and points over a number. Colours go by the order of series."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import cycle
from math import ceil, floor, log10

COLOURS = ("#2166ac", "#d6604d", "#1b7837", "#762a83")
_WIDTH, _HEIGHT = 560, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 14, 26, 44  # margins around the plotting area

Points = Sequence[tuple[float, float]]
Scale = Callable[[float], float]


def line_chart(names: Sequence[str], series: Mapping[str, Sequence[float]], x: str, y: str) -> str:
    """One line for each series over the named classes. The y axis need not begin at 0."""
    ticks = _ticks([value for values in series.values() for value in values])
    across = _scale(-0.5, len(names) - 0.5, _LEFT, _WIDTH - _RIGHT)
    up = _scale(ticks[0], ticks[-1], _HEIGHT - _BOTTOM, _TOP)
    pieces = [*_frame(x, y, ticks, up), *_below(map(across, range(len(names))), names), *_legend(series)]
    for colour, (name, values) in zip(cycle(COLOURS), series.items(), strict=False):
        way = " ".join(f"{across(i):.1f},{up(value):.1f}" for i, value in enumerate(values))
        pieces.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for i, (of_class, value) in enumerate(zip(names, values, strict=True)):
            pieces.append(_dot(across(i), up(value), colour, 3.5, f"{name}, {of_class}: {value:.2f}"))
    return _svg(pieces)


def scatter_chart(series: Mapping[str, Points], x: str, y: str) -> str:
    """Points of each series; both axes begin at 0."""
    ticks, bottom = (
        _ticks([0.0, *(point[axis] for points in series.values() for point in points)]) for axis in (1, 0)
    )
    across, up = _scale(0, bottom[-1], _LEFT, _WIDTH - _RIGHT), _scale(0, ticks[-1], _HEIGHT - _BOTTOM, _TOP)
    pieces = [*_frame(x, y, ticks, up), *_below(map(across, bottom), map(_number, bottom)), *_legend(series)]
    for colour, (name, points) in zip(cycle(COLOURS), series.items(), strict=False):
        pieces += [_dot(across(a), up(b), colour, 2.5, f"{name}: {a:g}, {b:.2f}") for a, b in points]
    return _svg(pieces)


def _ticks(values: Sequence[float]) -> list[float]:
    """Four to nine round numbers around all values."""
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
    """What stands below the plotting area."""
    return (_text(x, _HEIGHT - _BOTTOM + 16, text, "middle") for x, text in zip(xs, texts, strict=True))


def _legend(names: Iterable[str]) -> Iterator[str]:
    x = float(_WIDTH - _RIGHT)
    for colour, name in reversed(list(zip(cycle(COLOURS), names, strict=False))):
        yield _text(x, 14, name, "end")
        x -= 7.0 * len(name) + 8
        yield _dot(x, 10, colour, 4, name)
        x -= 14


def _dot(x: float, y: float, colour: str, radius: float, title: str) -> str:
    centre = f'cx="{x:.1f}" cy="{y:.1f}"'
    return f'<circle {centre} r="{radius}" fill="{colour}"><title>{escape(title)}</title></circle>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(pieces: Sequence[str]) -> str:
    size = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}"'
    style = 'font-family="sans-serif" font-size="12" fill="currentColor"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} {style}>{"".join(pieces)}</svg>'
