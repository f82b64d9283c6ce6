"""Options that several scripts have."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import click

from d2c.reduction.encodings import ENCODINGS

FilePath = click.Path(path_type=Path)


def names(known: Collection[str]) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Reads known names with commas between them; what follows a colon is a name's own business."""

    def convert(_: click.Context, parameter: click.Parameter, value: str) -> list[str]:
        given = value.split(",")
        for name in given:
            if name.partition(":")[0] not in known:
                raise click.BadParameter(f"{name!r} is none of {', '.join(known)}", param=parameter)
        return given

    return convert


def names_option(option: str, known: Collection[str], default: str) -> Callable[[Any], Any]:
    """An option of known names with commas between them."""
    return click.option(option, callback=names(known), default=default, show_default=True)


encodings_option = names_option("--encodings", ENCODINGS, "direct,delta,spine")
sentences_option = click.option("--sentences", default=5000, show_default=True, help="Of CRAFT train.")
epochs_option = click.option("--epochs", type=float, help="Of the d-parsers.")
models_option = click.option(
    "--models", type=FilePath, default="models", show_default=True, help="Where d-parsers are kept."
)
