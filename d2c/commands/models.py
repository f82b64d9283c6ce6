"""`d2c models`: which models there are, and their cards."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from d2c.base.columns import in_columns, terminal_width
from d2c.base.errors import ModelError
from d2c.base.model_files import read_json, size_of
from d2c.commands.info import symbols_of
from d2c.commands.terminal import say, show
from d2c.models.model import read_model_settings
from d2c.models.names import CARD, DIRECTORIES, Available, available, card_of, find, passed_over

_COLUMNS = ("name", "MB", "licence", "d-parser", "route", "from", "F1 on dev")


@click.command(
    epilog=f"A name is looked up in the directories of ${DIRECTORIES}, among the models that come with d2c, "
    "and among those that other installed packages offer."
)
@click.argument("model", required=False)
def models(model: str | None) -> None:
    """List the models that have names. With MODEL, a name or a directory, show that model's card."""
    if model is None:
        for line in passed_over():
            say(f"d2c: {line}")
        _show_table(available())
        return
    directory = find(model)
    read_model_settings(directory)
    if (directory / CARD).is_file():
        read_json(directory / CARD)  # raises what is wrong with the card, which the list ignores
    symbols, card = symbols_of(directory), directory / "README.md"
    if card.is_file():
        show(card.read_text(encoding="utf-8", errors="backslashreplace").removesuffix("\n").split("\n"))
    else:
        say(f"d2c: {directory} has no README.md that would say more; `d2c info {model}` shows what it holds")
        _show_table([Available(model, directory, str(directory))])
    for kind, known in symbols.items():
        show(("", f"{len(known)} {kind}: {' '.join(known)}"))


def _show_table(shown: Iterable[Available]) -> None:
    rows = [_COLUMNS, *map(_row, shown)]
    show(in_columns(rows, terminal_width(), range(len(_COLUMNS))))


def _row(model: Available) -> tuple[str, ...]:
    """Return the cells of a model; those of a broken one are `?`, except name and source."""
    try:
        settings = read_model_settings(model.directory)
    except ModelError:
        return model.name, *"????", model.source, "?"
    size = f"{size_of(model.directory) / 1e6:.1f}"
    card = card_of(model.directory)
    licence, f1 = str(card.get("licence", "-")), _scores(card.get("f1"))
    return model.name, size, licence, settings.dparser, settings.route, model.source, f1


def _scores(f1: Any) -> str:
    """Return the F1 on each part of a treebank that a card names."""
    return ", ".join(f"{part} {score}" for part, score in f1.items()) if isinstance(f1, dict) else "-"
