"""Throughput of the spaCy component against its d-parser alone plus the conversion alone, on CRAFT dev.

    python scripts/bench_component.py [--dparser spacy] [--routes reduction,labeler,cky] [--models models]

The d-parser is trained once (small preset, gold tags) and kept in --models; documents of ten sentences have
their tags. The three are timed --repeats times in turn; the run with the median ratio is shown.
Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from d2c.models.model import Model
from d2c.routes.registry import ROUTES, RouteSettings, make_route
from d2c.trees.ctree import CTree
from measuring import options
from measuring.craft import Craft
from measuring.tables import print_table
from measuring.timing import timed

if TYPE_CHECKING:  # slow to import
    from spacy.language import Language
    from spacy.tokens import Doc

HEADER = ["route", "d-parser", "encoding", "d-parser s", "conversion s", "component s", "tokens/s", "ratio"]
ENCODING, DOCUMENT = "direct", 10  # sentences of a document


class Times(NamedTuple):
    """Seconds of the d-parser, of the conversion of its d-trees, and of the component."""

    dparser: float
    conversion: float
    component: float

    @property
    def ratio(self) -> float:
        """Of the component's time to that of its d-parser plus that of the conversion."""
        return self.component / (self.dparser + self.conversion)


@click.command()
@click.option("--dparser", default="spacy", show_default=True)
@options.names_option("--routes", ROUTES, "reduction,labeler,cky")
@options.sentences_option
@click.option("--repeats", default=5, show_default=True)
@options.models_option
def main(dparser: str, routes: list[str], sentences: int, repeats: int, models: Path) -> None:
    """Trains what is not trained yet, and prints the table."""
    craft, rows = Craft.read(sentences), []
    parser = craft.dparser(dparser, ENCODING, None, models)
    for name in routes:
        route = make_route(name, RouteSettings(encoding=ENCODING))
        route.fit(craft.train, craft.dev)
        with tempfile.TemporaryDirectory() as scratch:
            trained, model = Path(scratch) / "trained", Path(scratch) / "model"
            shutil.copytree(craft.place(dparser, ENCODING, models), trained / "dparser")
            Model(name, route, dparser, parser).save(model, trained)
            times = [measure(Model.load(model), model, craft.dev) for _ in range(repeats)]
        times.sort(key=lambda run: run.ratio)
        median = times[repeats // 2]
        speed = round(sum(len(ctree.tokens) for ctree in craft.dev) / median.component)
        rows.append([name, dparser, ENCODING, *median, speed, median.ratio])
    print_table(HEADER, rows)
    print("ratio: of the component's time to that of its d-parser plus that of the conversion")


def measure(model: Model, directory: Path, dev: Sequence[CTree]) -> Times:
    """Times all three; everything is loaded before."""
    import spacy

    nlp = spacy.blank("en")
    component: Any = nlp.add_pipe("d2c", config={"model": str(directory)})
    list(component.pipe(documents(nlp, dev[:DOCUMENT])))
    docs, tokens = documents(nlp, dev), [ctree.tokens for ctree in dev]
    dtrees, alone = timed(list, model.parse_dependencies(tokens))
    conversion = timed(list, model.route.decode_all(dtrees)).seconds
    return Times(alone, conversion, timed(list, component.pipe(docs)).seconds)


def documents(nlp: Language, ctrees: Sequence[CTree]) -> list[Doc]:
    """Documents of ten sentences with tags."""
    from spacy.tokens import Doc

    docs = []
    for begin in range(0, len(ctrees), DOCUMENT):
        sentences = [ctree.tokens for ctree in ctrees[begin : begin + DOCUMENT]]
        docs.append(
            Doc(
                nlp.vocab,
                words=[form for tokens in sentences for form in tokens.forms],
                tags=[tag for tokens in sentences for tag in tokens.tags],
                sent_starts=[position == 0 for tokens in sentences for position in range(len(tokens))],
            )
        )
    return docs


if __name__ == "__main__":
    main()
