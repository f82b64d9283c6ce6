"""Classes that are imported only where they are used: their packages are large, and some are extras."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from trees.errors import ModelError


def import_class(role: str, name: str, path: str, package: str) -> type[Any]:
    """The class at `module:Class`. Raises ModelError that says what to install where it needs a package."""
    module, class_name = path.split(":")
    try:
        return getattr(import_module(module), class_name)  # type: ignore[no-any-return]
    except ImportError as error:
        message = f'the {role} {name} needs a package ({error}): pip install "{package}"'
        raise ModelError(message) from None
