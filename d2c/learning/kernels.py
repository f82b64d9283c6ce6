"""How kernels are compiled: by numba, without Python's lock, and once for all processes (`NUMBA_CACHE_DIR`).

Numba compiles a kernel together with all kernels that it calls, each of these again for each of its callers.
So large kernels are called from Python, one after the other, and only small ones call each other. Numba's own
cache knows the file of a kernel, not those of the kernels that it calls, and raises errors if it is damaged.
Ours is in a folder named by a digest of all these files; `NUMBA_CACHE_DIR` alone would not do as much. Only
this file uses private parts of numba; `tests/learning/test_kernels.py` checks them against the installed one.

Of several processes that need a kernel at the same time one compiles it, and the others wait for it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit, types
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.compiler_lock import global_compiler_lock

_ALONE: dict[str, Any] = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_UNCOUNTED: dict[str, Any] = {"_nrt": False}
_PATIENCE = 120.0  # seconds that a process waits for a kernel that another process compiles
_PACKAGE = Path(__file__).parents[1]  # d2c
# In a file that has kernels, or makes them:
_KERNEL = re.compile(rb"^(?:@(?:kernel|inner|lean|summing)|def kernel\(.*)$", re.MULTILINE)
_IMPORTED = re.compile(rb"^from d2c\.(\S+) import", re.MULTILINE)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a kernel that Python calls."""
    return _cached(njit(nogil=True, error_model="numpy")(function), function)


def inner(function: Callable[..., Any]) -> Any:
    """Compile what only kernels call: without what Python needs to call it, which takes long to compile."""
    return _cached(njit(nogil=True, error_model="numpy", **_ALONE)(function), function)


def lean(function: Callable[..., Any]) -> Any:
    """Compile as `inner` does, but without counting references to arrays: for what is called very often.

    The callers of such a function hold all arrays that it sees. It must not make arrays (numba refuses that),
    nor return any, or parts of any, as nobody counts these (`tests/learning/test_kernels.py` checks that).
    """
    return _cached(njit(nogil=True, error_model="numpy", **_ALONE, **_UNCOUNTED)(function), function)


def summing(function: Callable[..., Any]) -> Any:
    """Compile as `lean` does, but let sums be added up in any order, and so several numbers at a time, of
    which each would otherwise wait for the one before."""
    options = {"fastmath": {"reassoc", "nsz"}, "error_model": "numpy", **_ALONE, **_UNCOUNTED}
    return _cached(njit(nogil=True, **options)(function), function)


@cache
def sources() -> str:
    """Return a digest of all files with kernels, and of the files from which they import: kernels have the
    constants of these compiled in."""
    rooms = (room for room in _PACKAGE.iterdir() if room.is_dir())  # some may be links, which rglob passes by
    codes = {path: path.read_bytes() for room in rooms for path in room.rglob("*.py")}
    kernels = {path for path, code in codes.items() if _KERNEL.search(code)}
    names = {name.decode() for path in kernels for name in _IMPORTED.findall(codes[path])}
    files = kernels | codes.keys() & {_PACKAGE / f"{name.replace('.', '/')}.py" for name in names}
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(codes[path])
    return digest.hexdigest()[:16]


class _Cache(FunctionCache):
    """Numba's cache, in a folder of the present sources. What is damaged in it is compiled anew."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_path = os.path.join(self._cache_path, f"d2c-{sources()}")
        self._cache_file = IndexDataCacheFile(self._cache_path, self._impl.filename_base, sources())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # of any kind: it is what damaged data led to
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(OSError):
            self._make_folder()
            super().save_overload(sig, data)

    def _make_folder(self) -> None:
        """Make the folder, and remove those of other sources. Raises OSError."""
        if not os.path.isdir(self._cache_path):
            os.makedirs(self._cache_path, exist_ok=True)
            for folder in Path(self._cache_path).parent.glob("d2c-*"):
                if folder.name != f"d2c-{sources()}":
                    shutil.rmtree(folder, ignore_errors=True)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes from this kernel: they wait, but not without end, and find it in the cache.

        A process that waits for a kernel holds those that call it. As kernels call each other in no circle,
        no two processes wait for each other.
        """
        with ExitStack() as stack:
            with suppress(OSError):
                self._make_folder()
                lock = stack.enter_context(open(f"{self._cache_path}/{self._impl.filename_base}.lock", "wb"))
                until = time.monotonic() + _PATIENCE
                while time.monotonic() < until:
                    with suppress(BlockingIOError):
                        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        stack.callback(fcntl.flock, lock, fcntl.LOCK_UN)
                        break
                    time.sleep(0.02)
            yield


def _general(kind: types.Type) -> types.Type:
    """Return the type for which a kernel is compiled if another kernel gives it this type: otherwise numba
    would compile it once more for each constant, and for each size of integers."""
    plain = types.unliteral(kind)
    return types.int64 if plain == types.int32 else plain


def _cached(dispatcher: Any, function: Callable[..., Any]) -> Any:
    if dispatcher is function:  # NUMBA_DISABLE_JIT: kernels run as Python, as for scripts/mutations.py
        return function
    called = dispatcher.get_call_template
    dispatcher.get_call_template = lambda args, kws: called([_general(one) for one in args], kws)
    with suppress(RuntimeError):  # where no folder can be written, all is compiled in each process
        dispatcher._cache, compile_one = _Cache(function), dispatcher.compile

        def compile_once(signature: Any) -> Any:
            with global_compiler_lock, dispatcher._cache.alone():
                return compile_one(signature)

        dispatcher.compile = compile_once
    return dispatcher
