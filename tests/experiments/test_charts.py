"""Charts: eight series that are told apart by everybody, by colour, marker, dashes and name."""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from d2c.experiments.charts import COLOURS, line_chart, scatter_chart

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
VISION = {
    "any": np.eye(3),
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour: str) -> Any:
    rgb = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(rgb: Any) -> Any:
    xyz = TO_XYZ @ np.clip(rgb, 0, 1) / TO_XYZ.sum(1)
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(*colours: str) -> float:
    dark, light = sorted(float(TO_XYZ[1] @ linear(colour)) for colour in colours)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(("side", "ground"), [(0, "#ffffff"), (1, "#17191c")])
def test_colours_are_told_apart_with_any_vision(side: int, ground: str) -> None:
    colours = [pair[side] for pair in COLOURS]
    assert len(colours) == 8 and min(contrast(colour, ground) for colour in colours) >= 2.99
    for vision in VISION.values():
        seen = [lab(np.array(vision) @ linear(colour)) for colour in colours]
        assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 30


def test_series_have_dashes_and_markers_of_their_own() -> None:
    names = [f"route {k}" for k in range(8)]
    chart = line_chart(["1", "2"], {name: [90.0, 91.0 + k] for k, name in enumerate(names)}, "x", "F1")
    assert len(set(re.findall(r'stroke-dasharray="([^"]+)"', chart))) == 8
    assert len(set(re.findall(r'<path d="([^"]+)"', chart))) == 8
    assert re.findall(r'<g class="s(\d)"', chart) == [*"01234567", *sorted_rows(chart)]
    assert [name for name in names if f">{name}</text>" in chart] == names
    points = scatter_chart({name: [(1.0, 2.0)] for name in names}, "x", "y")
    assert len(set(re.findall(r'<path d="([^"]+)"', points))) == 8 and "polyline" not in points


def test_long_names_are_within_the_picture() -> None:
    name = "a" * 100 + "b" * 100
    chart = scatter_chart({name: [(1.0, 2.0)]}, "x", "y")
    assert re.findall(r'<text x="([^"]+)"[^>]*>(a+\.\.\.b+)<', chart) == [
        ("40.0", "a" * 34 + "..." + "b" * 34)
    ]
    assert f"<title>{name}</title>" in chart


def sorted_rows(chart: str) -> list[str]:
    """The series in the legend, whose rows are written from the lowest one up."""
    lines = re.findall(r'y="([-\d.]+)" text-anchor="start">route (\d)<', chart)
    assert len({y for y, _ in lines}) > 1  # they do not fit in one row
    top = min(float(y) for y, _ in lines)
    assert float(re.findall(r'viewBox="0 ([-\d]+)', chart)[0]) < top - 8  # nothing is cut off
    return [k for _, k in lines]
