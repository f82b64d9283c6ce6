"""Rows of the registries of routes, d-parsers and taggers: what is known of a class before it is imported,
since its package is large, or an extra, or needs numba."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from d2c.base.errors import ModelError, needing
from d2c.base.settings import Settings


@dataclass(frozen=True, kw_only=True)
class RegistryRow:
    """A registered class.

    path:     where it is, `module:Class`
    extra:    the one of d2c's extras that installs what it needs
    settings: the class of the one value that it is made of
    """

    path: str
    extra: str = "train"
    settings: type[Settings] = Settings


def class_of(role: str, registry: Mapping[str, RegistryRow], name: str) -> type[Any]:
    """Import a registered class; role: what it is. Raises ModelError, which may say what to install."""
    if name not in registry:
        raise ModelError(f"unknown {role} {name!r}; known are {', '.join(registry)}")
    row = registry[name]
    module, class_name = row.path.split(":")
    with needing(f"the {role} {name}", row.extra):
        return getattr(import_module(module), class_name)  # type: ignore[no-any-return]
