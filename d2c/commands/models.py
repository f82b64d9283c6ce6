"""`d2c models`: which models have names here, and their cards."""

from __future__ import annotations

from typing import Any

import click

from d2c.base.errors import ModelError
from d2c.base.model_files import size_of
from d2c.commands.info import symbols_of
from d2c.commands.terminal import say
from d2c.models.model import read_model_settings
from d2c.models.names import DIRECTORIES, Available, available, find, unreadable

_COLUMNS = ("name", "MB", "licence", "d-parser", "route", "F1 on dev")


@click.command(
    epilog=f"Directories in ${DIRECTORIES} are looked through before the models that come with d2c."
)
@click.argument("name", required=False)
def models(name: str | None) -> None:
    """List the models that have names; with NAME, show that model's card."""
    if name is None:
        for line in unreadable():
            say(f"d2c: {line}")
        rows = [_COLUMNS, *map(_row, available())]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            cells = zip(row, widths, strict=True)
            click.echo("  ".join(cell.ljust(width) for cell, width in cells).rstrip())
        return
    directory = find(name)
    card = directory / "README.md"
    if not card.is_file():
        raise ModelError(f"{card.parent}: has no card; `d2c info {name}` says what the model holds")
    click.echo(card.read_text(encoding="utf-8"), nl=False)
    for kind, symbols in symbols_of(directory).items():
        click.echo(f"\n{len(symbols)} {kind}: {' '.join(symbols)}")


def _row(model: Available) -> tuple[str, ...]:
    """Return the cells of a model; a broken one has none but its name."""
    try:
        settings = read_model_settings(model.directory)
    except ModelError:
        return model.name, *("?" for _ in _COLUMNS[1:])
    size = f"{size_of(model.directory) / 1e6:.1f}"
    licence = str(model.card.get("licence", "-"))
    return model.name, size, licence, settings.dparser, settings.route, _scores(model.card.get("f1"))


def _scores(f1: Any) -> str:
    """Return F1 of each part that a card knows."""
    return ", ".join(f"{part} {score}" for part, score in f1.items()) if isinstance(f1, dict) else "-"
