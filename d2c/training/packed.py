"""Packed arcs in training: what they count for, learned on the last tenth of the treebank.

Neither d-parser nor route may have learned from that tenth. Jackknifed d-trees are such; without them a
d-parser is trained once more, on the other nine tenths. The route is fitted to these once more, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from d2c.base.errors import ModelError
from d2c.base.progress import counted
from d2c.base.temporary import scratch
from d2c.dparsers.protocol import DependencyParser
from d2c.packed.dtree import with_packed_arcs
from d2c.routes.registry import ROUTES, route_class
from d2c.training.jackknife import Parse, blocks
from d2c.training.spec import TrainingSpec
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import save_conllu
from d2c.trees.route import Progress, Route

_PARTS = 10


def check_arcs(packed: bool, routes: Mapping[str, Route], dparser: DependencyParser, name: str) -> None:
    """Raises ModelError where packed arcs are wanted that the d-parser does not give, or no route takes."""
    if packed and not dparser.gives_arcs:
        message = "does not say how probable other heads are; stanza:graph and transition do"
        raise ModelError(f"--arcs packed: the d-parser {name} {message}")
    if packed and not any(route.supports_arcs for route in routes.values()):
        able = " and ".join(name for name in ROUTES if route_class(name).supports_arcs)
        raise ModelError(f"--arcs packed: the route {', '.join(routes)} takes one d-tree; {able} take more")


def parsing(dparser: DependencyParser, packed: bool) -> Parse:
    """How a d-parser parses: with its arcs, or without them."""
    return dparser.parse_packed if packed and dparser.gives_arcs else dparser.parse


def and_last_tenth(dtrees: Iterable[DTree], sentences: int) -> tuple[list[DTree], list[DTree]]:
    """The d-trees of a treebank of so many sentences, single, and those of its last tenth with their packed
    arcs: these take kilobytes. Raises ValueError for fewer than ten."""
    begin, single, packed = blocks(sentences, _PARTS)[-1].start, list[DTree](), list[DTree]()
    for i, dtree in enumerate(dtrees):
        single.append(with_packed_arcs(dtree, None))
        packed += [dtree] if i >= begin else []
    return single, packed


def parse_held_out(
    spec: TrainingSpec, sentences: Sequence[DTree], dev: Path, progress: Progress | None
) -> list[DTree]:
    """The last tenth by a d-parser that has learned from the others; errors as of `jackknife_dtrees`."""
    block = blocks(len(sentences), _PARTS)[-1]
    if progress is not None:
        progress("packed arcs: d-parser on nine tenths")
    with scratch() as directory:
        save_conllu(sentences[: block.start], directory / "others.conllu")
        dparser = spec.new_dparser()
        trained = dparser.train(directory / "others.conllu", dev, directory / "dparser", progress)
        tokens = (sentences[i].tokens for i in block)
        return list(counted(parsing(trained, True)(tokens), "packed arcs: parsing"))


def fit_arcs(
    name: str,
    route: Route,
    spec: TrainingSpec,
    dtrees: Sequence[DTree] | None,
    held_out: Sequence[DTree],
    progress: Progress | None,
) -> None:
    """Teaches a fitted route what arcs count for.

    dtrees: jackknifed ones of the whole treebank, or None; held_out: of its last tenth, with arcs
    """
    if not route.supports_arcs:
        return
    if progress is not None:
        progress(f"packed arcs: route {name} on nine tenths")
    gold = list(spec.reading(spec.train))
    begin = len(gold) - len(held_out)
    probe = replace(spec, checkpoints=None).new_routes()[name]
    probe.fit(gold[:begin], dtrees=None if dtrees is None else dtrees[:begin], progress=progress)
    route.arcs_ = probe.fit_arcs(gold[begin:], held_out).arcs_
    if progress is not None:
        progress(f"packed arcs: {route.arcs_}")
