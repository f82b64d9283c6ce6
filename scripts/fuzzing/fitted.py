"""Small fitted routes and trained models, made of the first trees of the bundled sample."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from d2c.protocols.route import Route
from d2c.routes.registry import RouteSettings, make_route, route_class
from d2c.training.spec import TrainingSpec
from d2c.training.train import train_models
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import read_brackets, save_brackets

__all__ = ["MODELS", "ROUTES", "fit", "route_class", "sample", "trained"]

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample" / "train.mrg"
TREES = 120  # to learn from
ROUTES = {  # routes with the encodings of their labels
    **{f"reduction-{encoding}": ("reduction", encoding) for encoding in ("direct", "delta", "spine")},
    **{route: (route, "direct") for route in ("labeler", "cky", "rules", "combined")},
}
MODELS: dict[str, tuple[str, str, str | None]] = {  # one of ROUTES, the d-parser and the tagger
    "reduction, spaCy": ("reduction-direct", "spacy", "spacy"),
    "spine, UDPipe": ("reduction-spine", "udpipe", "spacy"),
    "labeler, Stanza": ("labeler", "stanza", "stanza"),
    "cky, Stanza": ("cky", "stanza:graph", "stanza"),
    "rules, spaCy": ("rules", "spacy", "spacy"),
    "combined, spaCy": ("combined", "spacy", "stanza"),
    "labeler, transition": ("labeler", "transition:eager", "spacy"),
    "cky, joint": ("cky", "stanza:joint", None),
    "rules, gold": ("rules", "gold", None),
    "cky, cmd": ("cky", "cmd:true;cp {input} {output}", "spacy"),
    "spine, exact": ("reduction-spine", "transition:standard;exact", "spacy"),
}


def sample(count: int = TREES) -> list[CTree]:
    """Return the first trees of the bundled treebank."""
    return [*islice(read_brackets(SAMPLE), count)]


def fit(name: str, ctrees: list[CTree]) -> Route:
    """Return one of ROUTES, fitted."""
    route, encoding = ROUTES[name]
    return make_route(route, RouteSettings(encoding=encoding)).fit(ctrees, ctrees[:10])


def trained(directory: Path) -> Iterator[Path]:
    """Yield the models' directories, made where missing."""
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / "sample.mrg"
    save_brackets(sample(), file)
    short: dict[str, Any] = {"preset": "small", "epochs": 0.5, "seed": 1}
    for name, (key, dparser, tagger) in MODELS.items():
        if not (directory / name).exists():
            route, encoding = ROUTES[key]
            of_model = {"dparser": dparser, "tagger": tagger, "encoding": encoding, **short}
            if dparser.partition(":")[0] in ("gold", "cmd"):  # which learn nothing
                del of_model["epochs"]
            train_models(TrainingSpec.of(file, file, (route,), **of_model), [directory / name])
        yield directory / name
