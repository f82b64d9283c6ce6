"""`d2c info`: what a model holds."""

from __future__ import annotations

from pathlib import Path

import click

from d2c.base.model_files import read_json, size_of
from d2c.commands.options import model_path
from d2c.models.model import MODEL_FORMAT, read_model_settings


@click.command()
@click.argument("model", type=click.Path(path_type=Path), callback=model_path)
def info(model: Path) -> None:
    """Show what a model directory holds."""
    settings = read_model_settings(model)
    for name, value in {"format": MODEL_FORMAT, **settings.named()}.items():
        click.echo(f"{name:<14}{value}")
    parts = sorted((model / "route").rglob("*.json")) + [model / "dparser" / "dparser.json"]
    parts += [model / "tagger" / "tagger.json"] if settings.tagger else []
    for part in parts:
        file = part.relative_to(model)
        for name, value in read_json(part).items():
            shown = value
            if isinstance(value, list | dict):
                listed = len(value) <= 100 and all(isinstance(key, str) for key in value)
                shown = f"{len(value)}: {' '.join(sorted(value))}" if listed else len(value)
            click.echo(f"{'.'.join(file.parts[:-1])}.{name:<20}{shown}")
    click.echo(f"{'size':<14}{size_of(model) / 1e6:.1f} MB")
