"""Throughput of the spaCy component against its d-parser alone plus the conversion alone, on CRAFT dev.

    python scripts/bench_component.py [--dparser spacy] [--routes reduction,labeler,cky] [--models models]

The d-parser is trained once (small preset, gold tags) and kept in --models; documents of ten sentences have
their tags. The three are timed --repeats times in turn; the run with the median ratio is shown.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import click
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from d2c.training.model import Model, make_route
from d2c.trees.ctree import CTree
from scripts.craft import Craft, print_table

HEADER = ["route", "d-parser", "encoding", "d-parser s", "conversion s", "component s", "tokens/s", "ratio"]
Item = TypeVar("Item")
ENCODING, DOCUMENT = "direct", 10  # sentences of a document


@click.command()
@click.option("--dparser", default="spacy", show_default=True)
@click.option("--routes", default="reduction,labeler,cky", show_default=True)
@click.option("--sentences", default=5000, show_default=True, help="Of CRAFT train.")
@click.option("--repeats", default=5, show_default=True)
@click.option("--models", type=click.Path(path_type=Path), default=Path("models"), show_default=True)
def main(dparser: str, routes: str, sentences: int, repeats: int, models: Path) -> None:
    """Trains what is not trained yet, and prints the table."""
    craft, rows = Craft.read(sentences), list[list[object]]()
    parser = craft.dparser(dparser, ENCODING, None, models)
    for name in routes.split(","):
        route = make_route(name, ENCODING, "collins", 1)
        route.fit(craft.train, craft.dev)
        with tempfile.TemporaryDirectory() as scratch:
            trained, model = Path(scratch) / "trained", Path(scratch) / "model"
            shutil.copytree(models / f"{dparser}.{ENCODING}.{len(craft.train)}", trained / "dparser")
            Model(name, route, dparser, parser).save_with(trained, model)
            times = [measure(Model.load(model), model, craft.dev) for _ in range(repeats)]
        alone, conversion, whole = sorted(times, key=ratio)[repeats // 2]
        speed = round(sum(len(ctree.tokens) for ctree in craft.dev) / whole)
        rows.append(
            [name, dparser, ENCODING, alone, conversion, whole, speed, ratio((alone, conversion, whole))]
        )
    print_table(HEADER, rows, None)
    print("ratio: of the component's time to that of its d-parser plus that of the conversion")


def ratio(times: tuple[float, float, float]) -> float:
    """Of the component's time to that of its d-parser plus that of the conversion."""
    alone, conversion, whole = times
    return whole / (alone + conversion)


def measure(model: Model, directory: Path, dev: Sequence[CTree]) -> tuple[float, float, float]:
    """Seconds of the d-parser, of the conversion of its d-trees, and of the component; all loaded before."""
    nlp = spacy.blank("en")
    component = nlp.add_pipe("d2c", config={"model": str(directory)})
    list(component.pipe(documents(nlp, dev[:DOCUMENT])))
    docs, tokens = documents(nlp, dev), [ctree.tokens for ctree in dev]
    dtrees, alone = timed(model.parse_dependencies(tokens))
    _, conversion = timed(model.route.decode_all(dtrees))
    _, whole = timed(component.pipe(docs))
    return alone, conversion, whole


def timed(stream: Iterable[Item]) -> tuple[list[Item], float]:
    """What a stream holds, and in how many seconds it came."""
    start = time.perf_counter()
    return list(stream), time.perf_counter() - start


def documents(nlp: Language, ctrees: Sequence[CTree]) -> list[Doc]:
    """Documents of ten sentences with tags."""
    docs = []
    for begin in range(0, len(ctrees), DOCUMENT):
        sentences = [ctree.tokens for ctree in ctrees[begin : begin + DOCUMENT]]
        docs.append(
            Doc(
                nlp.vocab,
                words=[form for tokens in sentences for form in tokens.forms],
                tags=[tag for tokens in sentences for tag in tokens.tags],
                sent_starts=[place == 0 for tokens in sentences for place in range(len(tokens))],
            )
        )
    return docs


if __name__ == "__main__":
    main()
