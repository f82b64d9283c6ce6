"""Packages that not every installation has, imported where they are used: they take a second."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from d2c.base.errors import ModelError


def needs(module: str, extra: str = "corpora") -> Any:
    """A module of an optional package. Raises ModelError that says how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ModelError(f'a package is needed ({error}): pip install "d2c[{extra}]"') from None
