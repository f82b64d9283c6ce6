"""How kernels are compiled: by numba, without Python's lock, and once for all processes (`NUMBA_CACHE_DIR`).

Numba compiles a kernel together with all kernels that it calls, again for each that calls them. So the large
ones are called from Python, one after the other, and only small ones call each other.
"""

from __future__ import annotations

from typing import Any

from numba import njit

kernel = njit(cache=True, nogil=True, error_model="numpy")
# Called by kernels only: without what Python needs to call it, which takes long to compile
_ALONE: dict[str, Any] = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
inner = njit(cache=True, nogil=True, error_model="numpy", **_ALONE)
