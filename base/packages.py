"""Packages that not every installation has, imported where they are used: they take a second."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from d2c.base.errors import needing


def needs(module: str, extra: str = "corpora") -> Any:
    """A module of an optional package. Raises ModelError that says how to install it."""
    with needing("this", f"d2c[{extra}]"):
        return import_module(module)
