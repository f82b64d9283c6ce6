"""`d2c info`: what a model holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from d2c.base.columns import in_columns, terminal_width
from d2c.base.model_files import read_json, reading, size_of
from d2c.commands.options import model_path
from d2c.commands.terminal import show
from d2c.models.model import MODEL_FORMAT, read_model_settings
from d2c.trees.refinement import HIDDEN, JOINT

_FEW, _SHOWN = 20, 100  # settings in a file; names that are listed


@click.command()
@click.argument("model", type=click.Path(path_type=Path), callback=model_path)
def info(model: Path) -> None:
    """Show what a model, given by its name or directory, holds."""
    settings = read_model_settings(model)
    rows = [(name, str(value)) for name, value in {"format": MODEL_FORMAT, **settings.named()}.items()]
    parts = sorted((model / "route").rglob("*.json")) + [model / "dparser" / "dparser.json"]
    parts += [model / "tagger" / "tagger.json"] if settings.tagger else []
    for part in parts:
        place = ".".join(part.relative_to(model).parts[:-1])
        for name, value in read_json(part).items():
            rows += _rows(f"{place}.{name}", value)
    for name, symbols in symbols_of(model).items():
        rows.append((f"known {name}", f"{len(symbols)}: {' '.join(symbols)}"))
    rows.append(("size", f"{size_of(model) / 1e6:.1f} MB"))
    show(in_columns(rows, terminal_width(), (0, 1)))


def _rows(name: str, value: Any) -> list[tuple[str, str]]:
    """Return a row for a value in a file, or one for each field if the value is a few settings."""
    if isinstance(value, dict) and 0 < len(value) <= _FEW and not any(map(_is_many, value.values())):
        return [(f"{name}.{field}", str(one)) for field, one in value.items()]
    if _is_many(value):
        listed = len(value) <= _SHOWN and all(isinstance(key, str) for key in value)
        value = f"{len(value)}: {' '.join(sorted(value))}" if listed else len(value)
    return [(name, str(value))]


def _is_many(value: object) -> bool:
    return isinstance(value, list | dict)


def symbols_of(model: Path) -> dict[str, list[str]]:
    """Return the labels of constituents and the tags that are in the files of a model. Raises ModelError."""
    labels, tags = set[str](), set[str]()
    for file in (*sorted((model / "route").rglob("*.json")), model / "tagger" / "tagger.json"):
        said = read_json(file) if file.is_file() else {}
        with reading(file):
            labels.update(said.get("symbols", ()))
            tags.update(said.get("tags", ()))
            for _, *symbols in said.get("rules", ()):
                for label, bar in filter(None, symbols):
                    (tags if bar == "tag" else labels).update(label.strip(HIDDEN).split(JOINT))
    known = {"labels": labels, "tags": tags}
    return {name: sorted({*map(str, found)} - {""}) for name, found in known.items() if found}
