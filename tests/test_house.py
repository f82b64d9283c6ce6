"""The house, as docs and design have it: arrows between packages point downward and never run in a circle;
files, functions and lists of parameters are short, nesting is shallow, names of classes tell them apart;
docstrings begin with a verb and say the shapes of arrays."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 450  # lines of a file: a file is one thought, and none that is longer was one
LONGEST_FUNCTION = 60  # lines
PARAMETERS, MORE_PARAMETERS = 6, 8  # of a function; of a command and of a kernel
DEEPEST = 4  # blocks inside blocks of a function

# The rooms of `d2c`, a line for each floor, from the ground up: a module imports from its own room and from
# floors below. The roof, `d2c` itself, imports what it likes.
FLOORS = (
    ("data",),
    ("base",),
    ("trees",),
    ("learning",),
    ("packed",),
    ("protocols",),
    ("reduction", "cky", "automata", "dparsers"),
    ("routes",),
    ("models",),
    ("training",),
    ("parsing",),
    ("corpora", "api", "plugins", "viewing"),
    ("experiments", "serving"),
    ("commands",),
)
FLOOR = {room: number for number, floor in enumerate(FLOORS) for room in floor}
ROOF = {"d2c", "d2c.__main__"}

# Two things of one name that other modules import, and why; what stands here without a good reason is to go.
SAME_IMPORT = {
    "FIELDS POSITIONS": "of the templates of one model each",
    "HEAD NONE ROOT KINDS NAME BLANKS ARGUMENTS SETTINGS FORMATS": "codes, names and tables of one room each",
    "attach": "a dependent, in a stack's tree and in a chart: the papers' word",
    "constituents": "the transition system; of a derivation; of a c-tree",
    "Chain Tables Counts Sentences Item": "types of one room each",
    "find run score table_of seeded": "the plain verbs of one room each",
    "Sentence": "d2c.Sentence shows the one of d2c.parsing",
    "load_weights read_vectors": "of d-parsers of two libraries",
    "digest_of find_files read_sentences rules_of": "to be told apart",
}
MANY = {
    "click.command()",
    "click.command(cls=Sectioned)",
    "kernel",
    "inner",
    "lean",
}  # decorators of what may have MORE_PARAMETERS
# What docstrings begin with; a new verb is added here
VERBS = """
Add Answer Append Attach Attempt Begin Build Change Check Choose Close Combine Compare Compile Complete
Convert Copy Count Cut Decide Decode Delete Do Draw Encode End Estimate Extend Fill Find Fit Follow Forget
Give Go Hand Handle Hang Have Hold Import Invert Judge Keep Kill Label Learn Leave Let List Load Lower Make
Mark Number Open Parse Pay Print Provide Put Raise Read Refuse Remove Return Rewrite Run Say Score See Seed
Send Serve Set Shift Show Silence Start Strip Sum Tag Take Teach Train Try Turn Undo Wait Warn Write Yield
"""
ARRAY = re.compile(r"\b(ndarray|NDArray|Bools|Ints|Longs|Ids|Floats|Doubles|Rows|Observed|Sites|Bits)\b")
SHAPE = re.compile(r"\[[^\]\s][^\]]*\]")
BLOCKS = ast.If | ast.For | ast.While | ast.With | ast.Try | ast.Match


@cache
def modules() -> dict[str, Path]:
    """The modules of the house by the names under which they are imported."""
    package = ROOT / "d2c"
    paths = [*package.glob("*.py"), *(path for room in package.iterdir() for path in room.rglob("*.py"))]
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in paths
    }


@cache
def parsed(module: str) -> ast.Module:
    return ast.parse(modules()[module].read_text(encoding="utf-8"))


@pytest.fixture(scope="module", autouse=True)
def trees() -> Iterator[None]:
    """Leaves no trees of modules: other tests would search them for garbage."""
    yield
    parsed.cache_clear()


@cache
def imported(module: str) -> frozenset[str]:
    """The modules of the house that a module imports, in functions and for types, too."""
    found: set[str] = set()
    nodes: list[ast.AST] = [parsed(module)]
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


def room_of(module: str) -> str:
    """`trees` of `d2c.trees.ctree`."""
    return module.split(".")[1]


def arrows() -> Iterator[tuple[str, str]]:
    """Modules below the roof, and each module that they import."""
    for module in modules().keys() - ROOF:
        yield from ((module, target) for target in imported(module) - ROOF)


def test_all_modules_are_found() -> None:
    assert {"d2c", "d2c.trees.ctree", "d2c.trees.scores.evalb"} <= modules().keys()
    assert "d2c.trees.ctree" in imported("d2c.trees.dtree")
    assert "d2c.trees.pictures" in imported("d2c.trees.ctree")


def test_every_module_is_in_a_room() -> None:
    assert {room_of(module) for module in modules().keys() - ROOF} == FLOOR.keys()


def test_no_arrow_points_upward() -> None:
    wrong = [
        f"{module} -> {target}"
        for module, target in arrows()
        if room_of(module) != room_of(target) and FLOOR[room_of(target)] >= FLOOR[room_of(module)]
    ]
    assert not wrong


def test_nothing_imports_in_a_circle() -> None:
    graph = {module: imported(module) - {module} for module in modules()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def definitions(kind: type[ast.FunctionDef] | type[ast.ClassDef]) -> Iterator[tuple[str, ast.AST]]:
    """All functions, or classes, by module and name."""
    for module in modules():
        for node in ast.walk(parsed(module)):
            if isinstance(node, kind):
                yield f"{module}.{node.name}", node


def parameters(function: ast.FunctionDef) -> int:
    """How many parameters a function has, beside the object or class that it belongs to."""
    of = function.args
    plain = [*of.posonlyargs, *of.args]
    bound = bool(plain) and plain[0].arg in ("self", "cls")
    return len(plain) - bound + len(of.kwonlyargs) + bool(of.vararg) + bool(of.kwarg)


def depth(node: ast.AST) -> int:
    """How deep blocks lie inside each other below a node; `elif` is no deeper than its `if`."""
    deepest = 0
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            chained = isinstance(node, ast.If) and node.orelse == [child] and isinstance(child, ast.If)
            deepest = max(deepest, depth(child) + (isinstance(child, BLOCKS) and not chained))
    return deepest


def is_large(function: ast.FunctionDef) -> bool:
    """Whether a function has too many lines, parameters, or blocks inside blocks."""
    decorators = set(map(ast.unparse, function.decorator_list))
    most = MORE_PARAMETERS if decorators & MANY else PARAMETERS
    lines = (function.end_lineno or 0) - function.lineno + 1
    return lines > LONGEST_FUNCTION or parameters(function) > most or depth(function) > DEEPEST


def test_no_function_is_large() -> None:
    large = {
        name
        for name, function in definitions(ast.FunctionDef)
        if isinstance(function, ast.FunctionDef) and is_large(function)
    }
    assert not large, sorted(large)


def test_names_tell_classes_apart() -> None:
    places = defaultdict[str, list[str]](list)
    for name, _ in definitions(ast.ClassDef):
        module, _, own = name.rpartition(".")
        places[own].append(module)
    twice = {own: found for own, found in places.items() if len(found) > 1 and not own.startswith("_")}
    twice.pop("Sentence", None)  # d2c.Sentence is a view of the one of d2c.parsing
    assert not twice, twice


def test_an_imported_name_means_one_thing() -> None:
    sources = defaultdict[str, set[str]](set)
    for module in modules():
        for node in ast.walk(parsed(module)):
            if isinstance(node, ast.ImportFrom) and str(node.module) in modules():
                for alias in node.names:
                    sources[alias.name].add(str(node.module))
    twice = {name: found for name, found in sources.items() if len(found) > 1}
    known = set(" ".join(SAME_IMPORT).split())
    assert twice.keys() <= known, {name: found for name, found in twice.items() if name not in known}


def test_no_file_is_long() -> None:
    folders = ("d2c", "reduction", "cky", "data", "scripts", "tests")
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
    }
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST} == {}


def worded() -> Iterator[tuple[str, ast.FunctionDef, str]]:
    """Functions and methods with docstrings, with these, by module and name."""
    for name, node in definitions(ast.FunctionDef):
        text = ast.get_docstring(node) if isinstance(node, ast.FunctionDef) else None
        if isinstance(node, ast.FunctionDef) and text:
            yield f"{name}:{node.lineno}", node, text


def test_docstrings_begin_with_a_verb() -> None:
    first = {name: text.split()[0].rstrip(",;:.") for name, _, text in worded()}
    assert not {name: word for name, word in first.items() if word not in VERBS.split()}


def test_docstrings_say_the_shapes_of_arrays() -> None:
    """A shape is `[n + 1]`; `[...]` stands for any."""
    wrong = []
    for name, function, text in worded():
        of = function.args
        annotations = [one.annotation for one in (*of.posonlyargs, *of.args, *of.kwonlyargs)]
        types = [ast.unparse(one) for one in (*annotations, function.returns) if one]
        if any(map(ARRAY.search, types)) and not SHAPE.search(text):
            wrong.append(name)
    assert not wrong


def literal_splats(tree: ast.AST) -> Iterator[int]:
    """The lines of splats of what is written out there, which only squeeze lines: `*("a", "b")`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Starred) and isinstance(node.value, ast.Tuple | ast.List | ast.Set):
            yield node.lineno
        elif isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            yield from (one.lineno for key, one in pairs if key is None and isinstance(one, ast.Dict))


def test_no_splat_squeezes_lines() -> None:
    wrong = [f"{module}:{line}" for module in modules() for line in literal_splats(parsed(module))]
    assert not wrong
