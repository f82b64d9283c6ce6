"""Tables as text, progress."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

Line = Sequence[Any]  # of a table: words, numbers, None for an empty cell


def print_table(header: Sequence[str], rows: Sequence[Line]) -> None:
    """Columns side by side, words left, numbers right."""
    shown = [list(header), *([_shown(cell) for cell in row] for row in rows)]
    columns = list(zip(*shown, strict=True))
    marks = [
        "<" if any(isinstance(cell, str) for cell in column) else ">" for column in zip(*rows, strict=True)
    ]
    widths = [f"{mark}{max(map(len, column))}" for mark, column in zip(marks, columns, strict=True)]
    for line in shown:
        print("  ".join(f"{cell:{width}}" for cell, width in zip(line, widths, strict=True)).rstrip())
    sys.stdout.flush()


def _shown(cell: Any) -> str:
    """Numbers with two digits behind the point, if they are no integers."""
    if cell is None or isinstance(cell, str):
        return cell or ""
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:,.2f}"


def say(progress: object) -> None:
    """Shows how training goes on."""
    print(progress, file=sys.stderr, flush=True)
