"""Tables as text and CSV, progress, plots."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Line = Sequence[Any]  # of a table: words, numbers, None for an empty cell


def print_table(header: Sequence[str], rows: Sequence[Line], file: Path | None = None) -> None:
    """Columns side by side, words left, numbers right; the same as CSV into a file."""
    shown = [list(header), *([_shown(cell) for cell in row] for row in rows)]
    columns = list(zip(*shown, strict=True))
    marks = [
        "<" if any(isinstance(cell, str) for cell in column) else ">" for column in zip(*rows, strict=True)
    ]
    widths = [f"{mark}{max(map(len, column))}" for mark, column in zip(marks, columns, strict=True)]
    for line in shown:
        print("  ".join(f"{cell:{width}}" for cell, width in zip(line, widths, strict=True)).rstrip())
    sys.stdout.flush()
    if file:
        with open(file, "w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows([header, *rows])


def _shown(cell: Any) -> str:
    """Numbers with two digits behind the point, if they are no integers."""
    if cell is None or isinstance(cell, str):
        return cell or ""
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:,.2f}"


def say(progress: object) -> None:
    """Shows how training goes on."""
    print(progress, file=sys.stderr, flush=True)


@contextmanager
def picture(file: Path, width: float = 6.4, height: float = 4.8) -> Iterator[Axes]:
    """Axes to draw on; the picture is written, with a legend, at the end."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(width, height))
    yield axes
    axes.legend()
    figure.savefig(file, dpi=120, bbox_inches="tight")
    pyplot.close(figure)
