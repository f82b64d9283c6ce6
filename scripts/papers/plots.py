"""What several tables draw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from papers.table import Draw

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTH = 0.8  # of all bars of a group


def bars(series: Mapping[str, Mapping[str, float]], ylabel: str) -> Draw:
    """Bars side by side: of each series, by its title, a number for each group. The axis begins where they
    begin to differ."""
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
