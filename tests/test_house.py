"""The arrows between packages, as docs and design have them: none points upward, none runs in a circle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 400  # lines of a file

# Each package, and the packages below that it may import. `d2c` itself, the roof, may import all.
BELOW = {
    "base": (),
    "trees": ("base",),
    "linear": ("base", "trees"),
    "forests": ("base", "trees", "linear"),
    "packed": ("base", "trees", "linear", "forests"),
    "reduction": ("base", "trees", "linear", "forests", "packed"),
    "cky": ("base", "trees", "linear", "forests", "packed"),
    "combination": ("base", "trees", "packed"),
    "rules": ("base", "trees", "linear", "forests"),
    "automata": ("base", "trees", "linear", "forests", "packed"),
    "dparsers": ("base", "trees", "linear", "forests", "packed"),
}


@cache
def modules() -> dict[str, Path]:
    """The modules of the house by the names under which they are imported."""
    found = {}
    for package in ("d2c", *BELOW):
        for path in (ROOT / package).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts if package == "d2c" else ("d2c", *parts))
            found[name.removesuffix(".__init__")] = path
    return found


@cache
def imported(module: str) -> frozenset[str]:
    """The modules of the house that a module imports, in functions and for types, too."""
    found: set[str] = set()
    nodes: list[ast.AST] = [ast.parse(modules()[module].read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        nodes += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module}: imports are absolute here"
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            inside = names & modules().keys()
            found |= inside or {str(node.module)}
    return frozenset(found & modules().keys())


def package_of(module: str) -> str:
    """`trees` of `d2c.trees.ctree`; `d2c` of the roof's modules."""
    name = module.split(".")[1:2]
    return name[0] if name and name[0] in BELOW else "d2c"


def lower_modules() -> Iterator[str]:
    return (module for module in modules() if package_of(module) != "d2c")


def test_all_modules_are_found() -> None:
    assert {"d2c", "d2c.trees.ctree", "d2c.trees.scores.evalb"} <= modules().keys()
    assert "d2c.trees.ctree" in imported("d2c.trees.dtree")
    assert "d2c.trees.pictures" in imported("d2c.trees.ctree")


@pytest.mark.parametrize("package", BELOW)
def test_no_arrow_points_upward(package: str) -> None:
    arrows = [
        f"{module} -> {target}"
        for module in lower_modules()
        if package_of(module) == package
        for target in imported(module)
        if target != "d2c.data" and package_of(target) not in (package, *BELOW[package])
    ]
    assert not arrows


def test_nothing_imports_in_a_circle() -> None:
    graph = {module: imported(module) - {module} for module in modules()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_no_file_is_long() -> None:
    folders = ("d2c", *BELOW, "data", "scripts", "tests")
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
    }
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST} == {}
