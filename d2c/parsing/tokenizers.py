"""NLTK's tokeniser, without the rest of NLTK.

`import nltk` imports all of NLTK, and SciPy's statistics and scikit-learn where they are installed: two
seconds. So, unless NLTK is imported already, the few modules needed are executed here in packages whose
`__init__` does nothing: a tenth of a second. Then they are forgotten: who imports NLTK later has it whole.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

_PACKAGES = ("nltk", "nltk.tokenize")


@contextmanager
def _without_the_rest() -> Iterator[None]:
    """Import NLTK's modules as those of bare packages."""
    spec = None if "nltk" in sys.modules else find_spec("nltk")
    if spec is None or not spec.origin:
        yield
        return
    for name in _PACKAGES:
        package = sys.modules[name] = ModuleType(name)
        package.__path__ = [str(Path(spec.origin).parent.joinpath(*name.split(".")[1:]))]
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "nltk"]:
            del sys.modules[name]


with _without_the_rest():
    from nltk.tokenize.destructive import NLTKWordTokenizer

__all__ = ["NLTKWordTokenizer"]
