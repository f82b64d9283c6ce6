"""The work that `bench_house.py` times, in a process of its own, with whichever d2c is installed there.

    python -P scripts/benchmarks/house.py ROW TRAIN DEV SENTENCES

Models learn from the first SENTENCES of TRAIN. The work of a row is done once; then a line on standard output
has the number of its words. For each line on standard input it is done once more; a line has seconds, seconds
of CPU time and the peak of memory in kilobytes. At the end of input, a line has a checksum of the results.
`known` finds what has different places in different versions.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import zlib
from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

COMPARED = 40  # sentences on which trained models are compared
PARSED = 500  # sentences that included models parse


class Work(NamedTuple):
    """What is timed, and what of its result is compared. words: how many it works on; 0: not counted"""

    run: Callable[[], Any]
    shown: Callable[[Any], Iterable[object]]
    words: int = 0


def known(*places: str) -> Any:
    """Return the first of these (module:name, in `d2c`) that there is."""
    for module, _, name in (place.partition(":") for place in places):
        try:
            return getattr(import_module(f"d2c.{module}".rstrip(".")), name)
        except ModuleNotFoundError:
            continue
    raise ModuleNotFoundError(f"none of {', '.join(places)} is installed")


class House:
    """The d2c that is installed, and a treebank."""

    def __init__(self, train: Path, dev: Path, sentences: int) -> None:
        read = known("trees.formats.brackets:read_brackets")
        self.train = list(islice(read(train, clean=True), sentences))
        self.dev = list(read(dev, clean=True))
        self.reduction = known("reduction.reduction:Reduction")("direct")

    def encoded(self) -> list[Any]:
        """Return the gold d-trees of dev, with labels."""
        return list(map(self.reduction.encode, self.dev))

    def encode(self) -> Work:
        """Return c-trees → d-trees with labels."""
        return Work(self.encoded, arcs)

    def decode(self) -> Work:
        """Return gold d-trees with labels → c-trees without unary nodes."""
        dtrees = self.encoded()
        return Work(lambda: list(self.reduction.decode_all(dtrees)), brackets)

    def unaries(self) -> Work:
        """Return unary nodes of gold unaryless trees."""
        classifier = known("reduction.unary.classifier:UnaryClassifier", "reduction.unary:UnaryClassifier")
        predict, strip = classifier(seed=1).fit(self.train).predict, known("trees.unaries:strip_unaries")
        bare = [strip(ctree)[0] for ctree in self.dev]
        parts = [bare[begin : begin + 500] for begin in range(0, len(bare), 500)]
        return Work(lambda: list(map(predict, parts)), list)

    def labeler(self) -> Work:
        """Return labels of gold heads."""
        labeler, dtrees = self.fit_labeler(), self.encoded()
        return Work(lambda: list(labeler.label_all(dtrees)), arcs)

    def cky(self) -> Work:
        """Return gold d-trees without labels → c-trees."""
        chart = self.fit_cky(self.train)
        dtrees = list(map(chart.encode, self.dev))
        return Work(lambda: list(chart.decode_all(dtrees)), brackets)

    def train_cky(self) -> Work:
        """Return one epoch of constrained CKY, on half of the sentences."""
        ctrees, few = self.train[: len(self.train) // 2], self.dev[:COMPARED]
        return Work(
            lambda: self.fit_cky(ctrees),
            lambda chart: brackets(chart.decode_all(map(chart.encode, few))),
        )

    def train_labeler(self) -> Work:
        """Return the training of the labeler."""
        few = list(map(self.reduction.encode, self.dev[:COMPARED]))
        return Work(self.fit_labeler, lambda labeler: arcs(labeler.label_all(few)))

    def transition(self, search: str) -> Work:
        """Return words and tags of dev → d-trees, by a d-parser that learned from gold d-trees."""
        parser, sentences = self.fit_transition(), [ctree.tokens for ctree in self.dev]
        parser.search = search
        return Work(lambda: list(parser.parse(sentences)), arcs)

    def train_transition(self) -> Work:
        """Return the same d-parser's training."""
        few = [ctree.tokens for ctree in self.dev[:COMPARED]]
        return Work(self.fit_transition, lambda parser: arcs(parser.parse(few)))

    def texts(self, how: str) -> Work:
        """Return parsing by `en`: eighty sentences of dev as one text, as eighty that `pipe` takes, or one
        by one."""
        parser = known(":load")("en")
        texts = [" ".join(ctree.tokens.forms) for ctree in self.dev[:80]]
        ways: dict[str, Callable[[], list[Any]]] = {
            "one": lambda: [parser("\n\n".join(texts))],
            "piped": lambda: [*parser.pipe(texts)],
            "alone": lambda: [*map(parser, texts)],
        }
        return Work(ways[how], lambda documents: (str(one.sentences) for one in documents))

    def parse(self, name: str, to: str) -> Work:
        """Return words of dev → what `d2c parse --tokenized` writes, by an included model."""
        model = known("models.model:Model").load(known("models.names:find")(name))
        batched, format_batch, parse_batches = (
            known(f"parsing.stream:{one}") for one in ("batched", "format_batch", "parse_batches")
        )
        asked = known("parsing.options:ParseOptions")(kind="tokenized", confidences=to == "json")
        sentence, untagged = known("parsing.sentence:Sentence"), known("trees.ctree:Tokens").untagged
        given = [sentence(untagged(ctree.tokens.forms)) for ctree in self.dev[:PARSED]]
        finish = partial(format_batch, to, "")

        def run() -> list[Any]:
            return [*parse_batches(lambda: [model], asked, batched(given, asked.batch_size), finish)]

        words = sum(len(one.tokens) for one in given)
        return Work(run, lambda batches: (batch.text for batch in batches), words)

    def fit_transition(self) -> Any:
        """Train with the small preset."""
        new = known("automata.transition_parser:TransitionParser")
        small = known("automata.settings:TransitionSettings")(preset="small")
        write = known("trees.formats.conllu:format_conllu")
        with TemporaryDirectory() as directory:
            files = Path(directory, "train.conllu"), Path(directory, "dev.conllu")
            for file, ctrees in zip(files, (self.train, self.dev[:COMPARED]), strict=True):
                text = "".join(map(write, map(self.reduction.encode, ctrees)))
                file.write_text(text, encoding="utf-8")
            return new(small).train(*files, Path(directory, "model"))

    def fit_labeler(self) -> Any:
        """Train on gold d-trees."""
        labeler = known("reduction.labeler.labeler:Labeler", "reduction.labeler:Labeler")
        return labeler("direct", seed=1).fit(map(self.reduction.encode, self.train))

    def fit_cky(self, ctrees: list[Any]) -> Any:
        """Train for one epoch."""
        return known("cky.constrained_cky:ConstrainedCKY")(epochs=1, seed=1).fit(ctrees)


ROWS: dict[str, Callable[[House], Work]] = {
    "encode": House.encode,
    "decode": House.decode,
    "unaries": House.unaries,
    "labeler": House.labeler,
    "cky": House.cky,
    "train-cky": House.train_cky,
    "train-labeler": House.train_labeler,
    "transition-greedy": lambda house: house.transition("greedy"),
    "transition-exact": lambda house: house.transition("exact"),
    "train-transition": House.train_transition,
    "text": lambda house: house.texts("one"),
    "texts-piped": lambda house: house.texts("piped"),
    "texts-alone": lambda house: house.texts("alone"),
    "en-brackets": lambda house: house.parse("en", "brackets"),
    "en-json": lambda house: house.parse("en", "json"),
    "en-small-brackets": lambda house: house.parse("en-small", "brackets"),
    "en-small-json": lambda house: house.parse("en-small", "json"),
}


def arcs(dtrees: Iterable[Any]) -> Iterable[object]:
    """Return the heads and labels of d-trees."""
    return ((dtree.heads, dtree.labels) for dtree in dtrees)


def brackets(ctrees: Iterable[Any]) -> Iterable[str]:
    """Return c-trees in brackets."""
    return map(known("trees.formats.brackets:format_bracket"), ctrees)


def peak_kilobytes(reset: bool = False) -> int:
    """Return the most memory since it was reset, where the system can do that, or of the whole process."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        status = Path("/proc/self/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0])
    except (OSError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def answer(work: Work) -> None:
    """Work once for each line of standard input."""
    result = work.run()
    print(json.dumps([work.words]), flush=True)
    for _ in sys.stdin:
        del result
        peak_kilobytes(reset=True)
        wall, cpu = time.perf_counter(), time.process_time()
        result = work.run()
        times = time.perf_counter() - wall, time.process_time() - cpu
        print(json.dumps([*times, peak_kilobytes()]), flush=True)
    checksum = 0
    for one in work.shown(result):
        checksum = zlib.crc32(repr(one).encode(), checksum)
    print(json.dumps([checksum]), flush=True)


if __name__ == "__main__":
    _, row, train, dev, sentences = sys.argv
    answer(ROWS[row](House(Path(train), Path(dev), int(sentences))))
