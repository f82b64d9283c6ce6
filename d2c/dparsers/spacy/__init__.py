"""spaCy's dependency parser and tagger.

spaCy's networks are thinc's, which imports torch where it is installed. That takes two seconds, and no
network here has layers of torch's. So thinc is imported as if there were no torch, and is told when somebody
imports torch after all: then its wrappers of torch's layers work, which other components may use.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from threading import get_ident
from types import ModuleType


class _TorchFinder(MetaPathFinder):
    """Hides torch from one thread for a while; afterwards tells thinc when torch is imported.

    hidden_from: the number of the thread; None: torch is no longer hidden
    """

    def __init__(self) -> None:
        self.hidden_from: int | None = get_ident()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find torch as the other finders do. Raises ModuleNotFoundError in the thread it is hidden from."""
        if fullname != "torch":
            return None
        if self.hidden_from == get_ident():
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        others = (finder for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, (finder.find_spec(fullname, path, target) for finder in others)), None)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_tell(module: ModuleType) -> None:
                execute(module)
                _tell_thinc()
                sys.meta_path.remove(self)  # thinc is told; if torch's import fails, the finder stays

            spec.loader.exec_module = execute_and_tell  # type: ignore[method-assign]
        return spec


def _tell_thinc() -> None:
    """Set what thinc's modules know of torch to what they would find now."""
    spec = sys.modules["thinc.compat"].__spec__
    assert spec is not None and spec.loader is not None
    compat = module_from_spec(spec)  # a second one: what has been set in thinc's own since stays
    spec.loader.exec_module(compat)
    found = {name: value for name, value in vars(compat).items() if "torch" in name or name == "has_gpu"}
    for name, module in [*sys.modules.items()]:
        if name.partition(".")[0] == "thinc":
            vars(module).update({key: value for key, value in found.items() if key in vars(module)})


if not {"thinc", "torch"} & sys.modules.keys():
    _finder = _TorchFinder()
    sys.meta_path.insert(0, _finder)
    try:
        import thinc.compat  # noqa: F401
    finally:
        _finder.hidden_from = None
