"""Model cards: `card.json` for programs, `README.md` for people, in the directory of a model."""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import metadata
from pathlib import Path

from d2c.base.model_files import size_of
from d2c.models.model import read_settings
from d2c.models.names import CARD
from models.recipes import Recipe
from models.scores import Score

_REPOSITORY = Path(__file__).resolve().parents[2]
_HEADER = ("part", "sentences", "F1", "exact", "tags", "F1 from text", "words per CPU second")


def write_card(directory: Path, recipe: Recipe, scores: Sequence[Score], notes: Mapping[str, str]) -> None:
    """Writes both into the directory of a model; notes: what else was measured, by what it is."""
    settings = read_settings(directory)
    card = {
        "name": recipe.name,
        "what": recipe.what,
        "language": recipe.language,
        "licence": recipe.licence,
        "f1": {one.part: round(one.f1, 2) for one in scores},
        "scores": [asdict(one) for one in scores],
        "notes": dict(notes),
        "data": [asdict(one) for one in recipe.data],
        "route": settings.route,
        "dparser": settings.dparser,
        "settings": {name: str(value) for name, value in recipe.settings.items()},
        "MB": round(size_of(directory) / 1e6, 1),
        "command": f"python scripts/build_models.py {recipe.name}",
        "commit": commit(),
        "versions": {"python": platform.python_version()}
        | {name: metadata.version(name) for name in ("d2c", *recipe.packages)},
    }
    text = json.dumps(card, ensure_ascii=False, indent=1)
    (directory / CARD).write_text(text + "\n", encoding="utf-8")
    (directory / "README.md").write_text(_readme(card, recipe, scores), encoding="utf-8")


def commit() -> str:
    """The commit of this repository, "unknown" where it is none."""
    run = subprocess.run(["git", "rev-parse", "HEAD"], cwd=_REPOSITORY, capture_output=True, text=True)
    return run.stdout.strip() or "unknown"


def _readme(card: Mapping[str, object], recipe: Recipe, scores: Sequence[Score]) -> str:
    rows = [
        *[("language", recipe.language), ("licence", recipe.licence), ("route", card["route"])],
        *[("d-parser", card["dparser"]), ("size", f"{card['MB']} MB"), ("built by", f"`{card['command']}`")],
        *[("commit", card["commit"]), ("versions", _listed(card["versions"]))],
        ("settings", _listed(card["settings"])),
    ]
    notes = card["notes"]
    assert isinstance(notes, dict)
    parts = [
        f"# {recipe.name}\n\n{recipe.what}\n",
        _table(("", ""), rows),
        "\n## Scores\n\n" + recipe.measured + "\n",
        _table(_HEADER, [_row(one) for one in scores]),
        *([_table(("", ""), [*notes.items()])] if notes else []),
        "\n## Data\n",
        _table(
            ("treebank", "licence", "attribution"), [(d.name, d.licence, d.attribution) for d in recipe.data]
        ),
    ]
    return "\n".join(parts)


def _row(one: Score) -> tuple[object, ...]:
    text = "" if one.text_f1 is None else f"{one.text_f1:.2f}"
    numbers = (f"{one.f1:.2f}", f"{one.exact:.2f}", f"{one.tags:.2f}", text, f"{one.speed:,.0f}")
    return one.part, f"{one.sentences:,}", *numbers


def _table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def _listed(values: object) -> str:
    assert isinstance(values, dict)
    return ", ".join(f"{name} {value}" for name, value in values.items())
