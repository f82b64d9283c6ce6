"""The work that `bench_house.py` times, in a process of its own, with whichever d2c is installed there.

    python -P scripts/measuring/house.py ROW TRAIN DEV SENTENCES

Models learn from the first SENTENCES of TRAIN. The work of a row is done once, then for each line on standard
input once more, with seconds, seconds of CPU time and the peak of memory in MB on standard output; at the end
of input, a checksum of the results. Older versions have the packages `trees`, `reduction`,
`cky` instead of `d2c.trees`, `d2c.reduction`, `d2c.cky`.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import zlib
from collections.abc import Callable, Iterable
from importlib import import_module
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

COMPARED = 40  # sentences on which trained models are compared


class Work(NamedTuple):
    """What is timed, over how many tokens, and what of its result is compared."""

    run: Callable[[], Any]
    tokens: int
    shown: Callable[[Any], Iterable[object]]


def known(*places: str) -> Any:
    """The first of these (module:name) that there is, in `d2c` or beside it."""
    for place in (prefix + place for place in places for prefix in ("d2c.", "")):
        module, _, name = place.partition(":")
        try:
            return getattr(import_module(module), name)
        except ModuleNotFoundError:
            continue
    raise ModuleNotFoundError(f"none of {', '.join(places)} is installed")


class House:
    """The d2c that is installed, and a treebank."""

    def __init__(self, train: Path, dev: Path, sentences: int) -> None:
        read = known("trees.formats.brackets:read_brackets")
        self.train = list(islice(read(train, clean=True), sentences))
        self.dev = list(read(dev, clean=True))
        self.bracket = known("trees.formats.brackets:format_bracket")
        self.strip = known("trees.unaries:strip_unaries")
        self.reduction = known("reduction.reduction:Reduction")("direct")
        self.tokens = sum(len(ctree.tokens) for ctree in self.dev)

    def encode(self) -> Work:
        """c-trees → d-trees with labels."""
        return Work(lambda: list(map(self.reduction.encode, self.dev)), self.tokens, labels)

    def decode(self) -> Work:
        """Gold d-trees with labels → c-trees without unary nodes."""
        dtrees = list(map(self.reduction.encode, self.dev))
        return Work(lambda: list(self.reduction.decode_all(dtrees)), self.tokens, self.brackets)

    def unaries(self) -> Work:
        """Unary nodes of gold unaryless trees."""
        classifier = known("reduction.unary.classifier:UnaryClassifier", "reduction.unary:UnaryClassifier")
        predict = classifier(seed=1).fit(self.train).predict
        bare = [self.strip(ctree)[0] for ctree in self.dev]
        parts = [bare[begin : begin + 500] for begin in range(0, len(bare), 500)]
        return Work(lambda: list(map(predict, parts)), self.tokens, list)

    def labeler(self) -> Work:
        """Labels of gold heads."""
        labeler = self.fit_labeler()
        dtrees = list(map(self.reduction.encode, self.dev))
        return Work(lambda: list(labeler.label_all(dtrees)), self.tokens, labels)

    def cky(self) -> Work:
        """Gold d-trees without labels → c-trees."""
        chart = self.fit_cky(self.train)
        dtrees = list(map(chart.encode, self.dev))
        return Work(lambda: list(chart.decode_all(dtrees)), self.tokens, self.brackets)

    def train_cky(self) -> Work:
        """One epoch of constrained CKY, on half of the sentences."""
        ctrees = self.train[: len(self.train) // 2]

        def shown(chart: Any) -> Iterable[object]:
            return self.brackets(chart.decode_all(map(chart.encode, self.dev[:COMPARED])))

        return Work(lambda: self.fit_cky(ctrees), sum(len(ctree.tokens) for ctree in ctrees), shown)

    def train_labeler(self) -> Work:
        """The labeler."""

        def shown(labeler: Any) -> Iterable[object]:
            return labels(labeler.label_all(map(self.reduction.encode, self.dev[:COMPARED])))

        return Work(self.fit_labeler, sum(len(ctree.tokens) for ctree in self.train), shown)

    def transition_greedy(self) -> Work:
        """The words and tags of dev → d-trees, greedily."""
        return self.transition("greedy")

    def transition_exact(self) -> Work:
        """The same by exact search."""
        return self.transition("exact")

    def transition(self, search: str) -> Work:
        """A search of a d-parser that learned from gold d-trees."""
        parser, sentences = self.fit_transition(), [ctree.tokens for ctree in self.dev]
        parser.search = search
        return Work(lambda: list(parser.parse(sentences)), self.tokens, arcs)

    def train_transition(self) -> Work:
        """The same d-parser's training."""

        def shown(parser: Any) -> Iterable[object]:
            return arcs(parser.parse(ctree.tokens for ctree in self.dev[:COMPARED]))

        return Work(self.fit_transition, sum(len(ctree.tokens) for ctree in self.train), shown)

    def fit_transition(self) -> Any:
        """Trained with the small preset."""
        new = known("training.transition_parser:TransitionParser", "transition_parser:TransitionParser")
        write = known("trees.formats.conllu:format_conllu")
        with TemporaryDirectory() as directory:
            files = Path(directory, "train.conllu"), Path(directory, "dev.conllu")
            for file, ctrees in zip(files, (self.train, self.dev[:COMPARED]), strict=True):
                text = "".join(map(write, map(self.reduction.encode, ctrees)))
                file.write_text(text, encoding="utf-8")
            return new(preset="small").train(*files, Path(directory, "model"))

    def fit_labeler(self) -> Any:
        """Trained on gold d-trees."""
        labeler = known("reduction.labeler.labeler:Labeler", "reduction.labeler:Labeler")
        return labeler("direct", seed=1).fit(map(self.reduction.encode, self.train))

    def fit_cky(self, ctrees: list[Any]) -> Any:
        """Trained for one epoch."""
        chart = known("cky.constrained_cky:ConstrainedCKY")
        return chart(epochs=1, seed=1).fit(ctrees)

    def brackets(self, ctrees: Iterable[Any]) -> Iterable[str]:
        """The trees in brackets."""
        return map(self.bracket, ctrees)


ROWS = {
    "encode": House.encode,
    "decode": House.decode,
    "unaries": House.unaries,
    "labeler": House.labeler,
    "cky": House.cky,
    "train-cky": House.train_cky,
    "train-labeler": House.train_labeler,
    "transition-greedy": House.transition_greedy,
    "transition-exact": House.transition_exact,
    "train-transition": House.train_transition,
}


def labels(dtrees: Iterable[Any]) -> Iterable[object]:
    """The labels of d-trees."""
    return (dtree.labels for dtree in dtrees)


def arcs(dtrees: Iterable[Any]) -> Iterable[object]:
    """The heads and labels of d-trees."""
    return ((dtree.heads, dtree.labels) for dtree in dtrees)


def peak_megabytes(reset: bool = False) -> float:
    """The most memory since it was reset, where the system can do that, or of the whole process."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        status = Path("/proc/self/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1e3
    except (OSError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def answer(work: Work) -> None:
    """Works once for each line of standard input."""
    result = work.run()
    print(json.dumps({"tokens": work.tokens}), flush=True)
    for _ in sys.stdin:
        del result
        peak_megabytes(reset=True)
        wall, cpu = time.perf_counter(), time.process_time()
        result = work.run()
        times = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        print(json.dumps(times | {"memory": peak_megabytes()}), flush=True)
    checksum = 0
    for one in work.shown(result):
        checksum = zlib.crc32(repr(one).encode(), checksum)
    print(json.dumps({"checksum": checksum}), flush=True)


if __name__ == "__main__":
    _, row, treebank, other_part, sentences = sys.argv
    answer(ROWS[row](House(Path(treebank), Path(other_part), int(sentences))))
