"""Ranges of the numbers in files, which `d2c.base.model_files.read_as` checks as it reads them."""

from __future__ import annotations

from typing import Annotated

import msgspec

LARGEST = 1e30  # of a weight: the sum of many is finite even in single precision

Weight = Annotated[float, msgspec.Meta(ge=-LARGEST, le=LARGEST)]  # what was learned
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]  # a probability
Scale = Annotated[float, msgspec.Meta(ge=0, le=1_000)]  # the weight of a number beside others
Switch = Annotated[float, msgspec.Meta(ge=0, le=1, multiple_of=1)]  # 1: in use
Count = Annotated[int, msgspec.Meta(ge=0, le=(1 << 53) - 1)]  # as far as double precision is exact
