"""Small fitted routes and trained models, made of the first trees of the bundled sample."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import NamedTuple

from d2c.dparsers.registry import load_dparser, load_tagger, make_dparser, make_tagger
from d2c.models.model import Model
from d2c.routes.registry import RouteSettings, make_route, route_class
from d2c.training.tagging import save_abbreviations
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import read_brackets
from d2c.trees.formats.conllu import save_conllu
from d2c.trees.heads import load_head_rules
from d2c.trees.route import Route

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample" / "train.mrg"
TREES = 120  # that routes learn from
EPOCHS = 0.5


class RouteName(NamedTuple):
    """A route, and the encoding of its labels."""

    route: str
    encoding: str

    def __str__(self) -> str:
        return f"{self.route}-{self.encoding}" if self.route == "reduction" else self.route


ROUTES = {
    str(name): name
    for name in (
        *(RouteName("reduction", encoding) for encoding in ("direct", "delta", "spine")),
        *(RouteName(route, "direct") for route in ("labeler", "cky", "rules", "combined")),
    )
}


def sample(count: int = TREES) -> list[CTree]:
    """The first trees of the bundled treebank."""
    return [*islice(read_brackets(SAMPLE), count)]


def with_gaps(rng: Random, ctree: CTree) -> CTree:
    """The tree with two of its tokens exchanged, which makes gaps if they are not sisters."""
    n = len(ctree.tokens)
    order = [*range(n)]
    i, j = rng.randrange(n), rng.randrange(n)
    order[i], order[j] = order[j], order[i]
    children = [tuple(order[kid] if kid < n else kid for kid in kids) for kids in ctree.children]
    first = [*range(n)]
    rows = []
    for kids in children:
        rows.append(tuple(sorted(kids, key=first.__getitem__)))
        first.append(first[rows[-1][0]])
    return replace(ctree, children=tuple(rows))


def fit(name: RouteName, ctrees: list[CTree]) -> Route:
    """The route, fitted."""
    rules = load_head_rules("collins")
    headed = [rules.apply(ctree) for ctree in ctrees]
    settings = RouteSettings(encoding=name.encoding, seed=1)
    return make_route(name.route, settings).fit(headed, headed[:10])


def saved_and_loaded(name: RouteName, route: Route, directory: Path) -> Route:
    """What `load` makes of what `save` wrote."""
    route.save(directory)
    return route_class(name.route).load(directory)


def treebank_with_gaps(seed: int = 1) -> list[CTree]:
    """Trees of which every second has gaps, most of them."""
    rng = Random(seed)
    return [with_gaps(rng, ctree) if i % 2 else ctree for i, ctree in enumerate(sample())]


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


def train_models(names: Iterable[str], directory: Path) -> Iterator[Path]:
    """Makes models in directories of these names; each d-parser and tagger is trained once."""
    ctrees = sample()
    for name in names:
        if (directory / name).exists():
            continue
        made = MODELS[name]
        route_name = ROUTES[made.route]
        route = fit(route_name, ctrees)
        scratch = directory / "parts"
        train = scratch / "train.conllu"
        if not train.exists():
            scratch.mkdir(parents=True, exist_ok=True)
            encoded = fit(ROUTES["reduction-direct"], ctrees)
            save_conllu(map(encoded.encode, ctrees[:40]), train)
        parts = scratch / name
        shutil.rmtree(parts, ignore_errors=True)
        parts.mkdir()
        given = {"preset": "small", "epochs": EPOCHS, "seed": 1}
        dparser, tagger = scratch / f"dparser {made.dparser}", scratch / f"tagger {made.tagger}"
        if not dparser.exists():
            make_dparser(made.dparser, **given).train(train, train, dparser)
        if not tagger.exists():
            make_tagger(made.tagger, given).train(train, train, tagger)
            save_abbreviations([ctree.tokens for ctree in ctrees], tagger)
        for part, source in (("dparser", dparser), ("tagger", tagger)):
            (parts / part).symlink_to(source)
        dparser_name = made.dparser.partition(":")[0]
        model = Model(
            *(route_name.route, route, dparser_name),
            load_dparser(dparser_name, dparser, {}),
            *(made.tagger, load_tagger(made.tagger, tagger)),
        )
        with tempfile.TemporaryDirectory(dir=directory) as staging:
            model.save(Path(staging) / name, parts)
            os.replace(Path(staging) / name, directory / name)
        yield directory / name
