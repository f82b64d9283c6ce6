"""Types of the arrays of this package, named by what they hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Digests = NDArray[np.uint64]  # digests of strings
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
