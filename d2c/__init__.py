"""Constituency parsing with an off-the-shelf dependency parser: command line, Python, pipelines, comparison.

    parser = d2c.load()
    for sentence in parser("They saw the cat with glasses. She slept.").sentences:
        print(sentence.tree)

The names in `__all__` are imported at their first use, so `import d2c` is quick; docs/python.md has them.
"""

TYPE_CHECKING = False  # instead of `typing`'s: importing `typing` would take most of the time of `import d2c`
if TYPE_CHECKING:
    from d2c.api.document import Document, Sentence
    from d2c.api.parser import Parser, load
    from d2c.api.read import read
    from d2c.api.search import search
    from d2c.api.tree import Tree
    from d2c.base.errors import FormatError, ModelError
    from d2c.trees.patterns.matches import Match
    from d2c.trees.spans import Span

__version__ = "0.2.0"
__all__ = [
    "Document",
    "FormatError",
    "Match",
    "ModelError",
    "Parser",
    "Sentence",
    "Span",
    "Tree",
    "__version__",
    "load",
    "read",
    "search",
]

_MODULES = {
    "Document": "d2c.api.document",
    "FormatError": "d2c.base.errors",
    "Match": "d2c.trees.patterns.matches",
    "ModelError": "d2c.base.errors",
    "Parser": "d2c.api.parser",
    "Sentence": "d2c.api.document",
    "Span": "d2c.trees.spans",
    "Tree": "d2c.api.tree",
    "load": "d2c.api.parser",
    "read": "d2c.api.read",
    "search": "d2c.api.search",
}


def __getattr__(name: str) -> object:
    """Return the object with a public name, imported at its first use (PEP 562). Raises AttributeError."""
    from importlib import import_module

    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return found


def __dir__() -> list[str]:
    """Return the public names and those that begin with `__`, but no imported modules, which may change."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
