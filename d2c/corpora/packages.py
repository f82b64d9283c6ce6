"""Packages that only `d2c corpus` needs, imported where they are used: they take a second."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from d2c.base.errors import ModelError


def needs(module: str, extra: str = "corpora") -> Any:
    """A module of an optional package. Raises ModelError that says how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        message = f'd2c corpus needs a package ({error}): pip install "d2c[{extra}]"'
        raise ModelError(message) from None
