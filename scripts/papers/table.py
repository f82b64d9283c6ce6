"""Tables as values, and as CSV, Markdown and a plot."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from d2c.base.temporary import staged_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Cell = str | int | float | None  # None: an empty cell
Draw = Callable[["Axes"], None]


@dataclass(frozen=True)
class Table:
    """What a table says.

    header: titles of the columns
    rows:   as many cells each; numbers as they are, to be rounded where they are shown
    notes:  what stands under it, a sentence each
    draw:   draws its picture; None where it has none
    """

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = field(default_factory=tuple)
    draw: Draw | None = None

    def csv(self) -> str:
        """Header and rows, numbers with all their digits."""
        stream = io.StringIO()
        csv.writer(stream, lineterminator="\n").writerows([self.header, *self.rows])
        return stream.getvalue()

    def markdown(self) -> str:
        """Header and rows, numbers as people read them; then the notes."""
        lines = [
            self.header,
            ["---"] * len(self.header),
            *([shown(cell) for cell in row] for row in self.rows),
        ]
        table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        return "\n\n".join([table, *self.notes])

    def write(self, stem: Path) -> None:
        """Writes stem.csv, stem.md and, where there is a picture, stem.png. Raises OSError."""
        write_text(stem.with_suffix(".csv"), self.csv())
        write_text(stem.with_suffix(".md"), self.markdown() + "\n")
        if self.draw:
            picture(self.draw, stem.with_suffix(".png"))


def shown(cell: Cell) -> str:
    """A number with two digits behind the point, or, if it is large or an integer, none."""
    if isinstance(cell, float):
        return f"{cell:.2f}" if abs(cell) < 1000 else f"{cell:,.0f}"
    return f"{cell:,}" if isinstance(cell, int) else (cell or "").replace("|", "\\|")


def write_text(path: Path, text: str) -> None:
    """Writes a file, which appears whole or not at all. Raises OSError."""
    with staged_file(path) as staged:
        staged.write_text(text, encoding="utf-8")
        staged.replace(path)


def picture(draw: Draw, path: Path) -> None:
    """Draws into a file, with a legend. Raises ImportError where matplotlib is not installed."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    draw(axes)
    axes.legend()
    with staged_file(path) as staged:
        figure.savefig(staged, dpi=120, bbox_inches="tight")
        staged.replace(path)
    pyplot.close(figure)
