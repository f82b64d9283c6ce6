"""Tables as values, and as CSV, Markdown and a plot."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from d2c.base.errors import needs
from d2c.base.temporary import staged_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Cell = str | int | float | None  # None: an empty cell
Draw = Callable[["Axes"], None]
_WIDTH = 0.8  # of all bars of a group


@dataclass(frozen=True)
class Table:
    """A table.

    header: titles of the columns
    rows:   as many cells each; numbers as they are, to be rounded where they are shown
    notes:  paragraphs under the table
    draw:   draws its picture; None where it has none
    """

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = field(default_factory=tuple)
    draw: Draw | None = None

    def csv(self) -> str:
        """Return header and rows, numbers with all their digits."""
        stream = io.StringIO()
        csv.writer(stream, lineterminator="\n").writerows([self.header, *self.rows])
        return stream.getvalue()

    def markdown(self) -> str:
        """Return header and rows, numbers as people read them; then the notes."""
        lines = [self.header, ["---"] * len(self.header), *(map(shown, row) for row in self.rows)]
        table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        return "\n\n".join([table, *self.notes])

    def write(self, stem: Path, png: Path) -> None:
        """Write stem.csv, stem.md and, where there is one, the picture. Raises OSError."""
        write_text(stem.with_suffix(".csv"), self.csv())
        write_text(stem.with_suffix(".md"), self.markdown() + "\n")
        if self.draw:
            png.parent.mkdir(exist_ok=True)
            picture(self.draw, png)


def shown(cell: Cell) -> str:
    """Return a cell as Markdown: a float with two decimals, or none from 1000 on; text with escaped bars."""
    if isinstance(cell, float):
        return f"{cell:.2f}" if abs(cell) < 1000 else f"{cell:,.0f}"
    return f"{cell:,}" if isinstance(cell, int) else (cell or "").replace("|", "\\|")


def write_text(path: Path, text: str) -> None:
    """Write a file, which appears whole or not at all. Raises OSError."""
    with staged_file(path) as staged:
        staged.write_text(text, encoding="utf-8")


def picture(draw: Draw, path: Path) -> None:
    """Draw into a file, with a legend. Raises ModelError where matplotlib is not installed."""
    needs("matplotlib", "dev").use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    draw(axes)
    axes.legend()
    with staged_file(path) as staged:
        figure.savefig(staged, dpi=120, bbox_inches="tight")
    pyplot.close(figure)


def bars(series: Mapping[str, Mapping[str, float]], ylabel: str) -> Draw:
    """Return a picture of bars side by side: each series, by its title, has a number for each group. The axis
    begins a little below the lowest number."""
    groups = list(dict.fromkeys(group for numbers in series.values() for group in numbers))
    every = [number for numbers in series.values() for number in numbers.values()]

    def draw(axes: Axes) -> None:
        width = _WIDTH / max(1, len(series))
        for i, (title, numbers) in enumerate(series.items()):
            places = [groups.index(group) + i * width for group in numbers]
            axes.bar(places, list(numbers.values()), width, label=title)
        middles = [group + (_WIDTH - width) / 2 for group in range(len(groups))]
        axes.set_xticks(middles, groups, rotation=20, ha="right")
        axes.set(ylabel=ylabel, ylim=(0.9 * min(every, default=0), 1.02 * max(every, default=1)))

    return draw
