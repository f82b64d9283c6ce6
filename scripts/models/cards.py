"""Model cards: `card.json` for programs, `README.md` for people, in the directory of a model."""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

from d2c import __version__
from d2c.base.model_files import read_json, size_of
from d2c.models.model import read_model_settings
from d2c.models.names import CARD
from models.recipes import Recipe
from models.scores import Score
from papers.table import Cell, Table

_HEADER = ("part", "sentences", "F1", "exact", "tags", "F1 from text", "words per CPU second")
_SHOWN = "language", "licence", "route", "dparser", "MB", "command", "commit", "versions", "settings"
_LABELS = {"dparser": "d-parser", "MB": "size", "command": "built by"}


def write_card(
    directory: Path,
    recipe: Recipe,
    scores: Sequence[Score],
    notes: Mapping[str, str],
    log: Sequence[str] = (),
) -> None:
    """Write `card.json` and `README.md` into the directory of a model.

    notes: other measurements, by their descriptions; log: the lines that were said while it was built
    """
    settings = read_model_settings(directory)
    own = {name: str(value) for name, value in recipe.settings.items()} | _drawn(recipe)
    packages = {"d2c": __version__} | {name: metadata.version(name) for name in recipe.packages}
    built = {
        "name": recipe.name,
        "what": recipe.what,
        "language": recipe.language,
        "licence": recipe.licence,
        "route": settings.route,
        "dparser": settings.dparser,
        "command": f"python scripts/build_models.py {recipe.name}",
        "commit": commit(),
        "versions": {"python": platform.python_version()} | packages,
        "settings": own,
        "log": [*log],
    }
    _write(directory, recipe, built | _scored(scores, notes))


def renew(
    directory: Path, recipe: Recipe, scores: Sequence[Score] = (), notes: Mapping[str, str] | None = None
) -> None:
    """Write both files of an existing model anew. If it was scored again, these scores replace its own, and
    these notes are added to its own. Raises ModelError where it has no card."""
    card = read_json(directory / CARD)
    again = _scored(scores, {**card["notes"], **(notes or {})}) if scores else {}
    _write(directory, recipe, card | again)


def _scored(scores: Sequence[Score], notes: Mapping[str, str]) -> dict[str, Any]:
    f1 = {one.part: round(one.f1, 2) for one in scores}
    return {"f1": f1, "scores": [asdict(one) for one in scores], "notes": dict(notes)}


def _write(directory: Path, recipe: Recipe, built: Mapping[str, Any]) -> None:
    """Write both files: what was found when the model was built, its size, and what the recipe says."""
    said = {"elsewhere": recipe.elsewhere, "data": [*recipe.data, *recipe.texts], "ablation": recipe.ablation}
    card = {**built, "MB": _megabytes(directory), **said}
    text = json.dumps(card, ensure_ascii=False, indent=1, default=asdict)
    (directory / CARD).write_text(text + "\n", encoding="utf-8")
    (directory / "README.md").write_text(_readme(recipe, json.loads(text)), encoding="utf-8")


def _megabytes(directory: Path) -> float:
    cards = (directory / name for name in (CARD, "README.md"))
    return round((size_of(directory) - sum(card.stat().st_size for card in cards if card.exists())) / 1e6, 1)


def _drawn(recipe: Recipe) -> dict[str, str]:
    """Return how the training set was drawn: shares, recased sentences and lessons, if any."""
    made = {f"{name} times": str(share) for name, share in recipe.shares.items()}
    made |= {"recased": str(recipe.recased)} if recipe.recased else {}
    made |= {one.name: f"{one.text}, parsed by {one}" for one in recipe.lessons}
    return made


def commit() -> str:
    """Return the commit of this repository, "unknown" outside of Git."""
    command = ["git", "rev-parse", "HEAD"]
    run = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True)
    return run.stdout.strip() or "unknown"


def _readme(recipe: Recipe, card: Mapping[str, Any]) -> str:
    shown = {name: card[name] for name in _SHOWN}
    shown |= {"MB": f"{shown['MB']} MB", "command": f"`{shown['command']}`"}
    rows = [[_LABELS.get(name, name), _listed(value)] for name, value in shown.items()]
    scored: list[list[Cell]] = [[*one.values()][:-1] + [round(one["speed"])] for one in card["scores"]]
    notes = [*card["notes"].items(), *card["elsewhere"].items()]
    data = [[one["name"], one["licence"], one["attribution"]] for one in card["data"]]
    parts = [
        f"# {recipe.name}\n\n{recipe.what}",
        Table(("", ""), rows).markdown(),
        f"## Scores\n\n{recipe.measured}",
        Table(_HEADER, scored).markdown(),
        *([Table(("", ""), notes).markdown()] if notes else []),
        *_ablation(card["ablation"]),
        "## Data",
        Table(("treebank", "licence", "attribution"), data).markdown(),
        *_log(card.get("log")),  # older cards have none
    ]
    return "\n\n".join(parts) + "\n"


def _ablation(said: Mapping[str, Any] | None) -> list[str]:
    if said is None:
        return []
    return ["## What each source gives", said["what"], Table(said["header"], said["rows"]).markdown()]


def _log(lines: Sequence[str] | None) -> list[str]:
    return ["## Log", "\n".join(["```", *lines, "```"])] if lines else []


def _listed(value: object) -> str:
    return ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else str(value)
