"""Small fitted routes and trained models, made of the first trees of the bundled sample."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from d2c.dparsers.registry import load_dparser, load_tagger, make_dparser, make_tagger
from d2c.models.abbreviations import save_abbreviations
from d2c.models.model import Model
from d2c.routes.registry import RouteSettings, make_route, route_class
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import read_brackets
from d2c.trees.formats.conllu import save_conllu
from d2c.trees.route import Route

__all__ = ["MODELS", "ROUTES", "fit", "route_class", "sample", "train_models"]

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample" / "train.mrg"
TREES = 120  # that routes learn from
EPOCHS = 0.5
ROUTES = {  # routes with the encodings of their labels
    **{f"reduction-{encoding}": ("reduction", encoding) for encoding in ("direct", "delta", "spine")},
    **{route: (route, "direct") for route in ("labeler", "cky", "rules", "combined")},
}


def sample(count: int = TREES) -> list[CTree]:
    """Return the first trees of the bundled treebank."""
    return [*islice(read_brackets(SAMPLE), count)]


def fit(name: str, ctrees: list[CTree]) -> Route:
    """Return one of ROUTES, fitted."""
    route, encoding = ROUTES[name]
    return make_route(route, RouteSettings(encoding=encoding)).fit(ctrees, ctrees[:10])


class Trained(NamedTuple):
    """Which route, d-parser and tagger a model has."""

    route: str
    dparser: str
    tagger: str


MODELS: Mapping[str, Trained] = {
    "reduction, spaCy": Trained("reduction-direct", "spacy", "spacy"),
    "spine, UDPipe": Trained("reduction-spine", "udpipe", "spacy"),
    "labeler, Stanza": Trained("labeler", "stanza", "stanza"),
    "cky, Stanza transition": Trained("cky", "stanza:transition", "stanza"),
    "rules, spaCy": Trained("rules", "spacy", "spacy"),
    "combined, spaCy": Trained("combined", "spacy", "stanza"),
    "labeler, transition": Trained("labeler", "transition:eager", "spacy"),
    "spine, exact": Trained("reduction-spine", "transition:standard;exact", "spacy"),
}


def train_models(directory: Path) -> Iterator[Path]:
    """Yield the models' directories, made where missing; each d-parser and tagger is trained once."""
    ctrees, parts = sample(), directory / "parts"
    parts.mkdir(parents=True, exist_ok=True)
    train = parts / "train.conllu"
    save_conllu(map(fit("reduction-direct", ctrees).encode, ctrees[:40]), train)
    given = {"preset": "small", "epochs": EPOCHS, "seed": 1}
    for name, (route_name, dparser_name, tagger_name) in MODELS.items():
        if (directory / name).exists():
            continue
        dparser, tagger = parts / f"dparser {dparser_name}", parts / f"tagger {tagger_name}"
        if not dparser.exists():
            make_dparser(dparser_name, **given).train(train, train, dparser)
        if not tagger.exists():
            make_tagger(tagger_name, given).train(train, train, tagger)
            save_abbreviations([ctree.tokens for ctree in ctrees], tagger)
        kind = dparser_name.partition(":")[0]
        model = Model(
            *(ROUTES[route_name][0], fit(route_name, ctrees), kind, load_dparser(kind, dparser, {})),
            *(tagger_name, load_tagger(tagger_name, tagger)),
        )
        with tempfile.TemporaryDirectory(dir=directory) as staging:
            (Path(staging) / "dparser").symlink_to(dparser)
            (Path(staging) / "tagger").symlink_to(tagger)
            model.save(Path(staging) / name, Path(staging))
            os.replace(Path(staging) / name, directory / name)
        yield directory / name
