"""UDPipe 1's dependency parser (Parsito), trained from scratch on CoNLL-U, on the CPU.

A transition parser: a feed-forward network chooses the next action from words, tags and labels around the top
of the stack (Straka et al. 2015, "Parsing Universal Dependency Treebanks using Neural Networks and
Search-Based Oracle"). The parser gives exactly one root and no cycle.

Of its transition systems, `projective` never crosses arcs: from a training tree with crossing arcs it learns
what it can. `swap` (Nivre 2009) can build any tree, `link2` (Gomez-Rodriguez et al. 2014) most.

UDPipe demands the label `root` on all roots and nowhere else, so it is taught `d2c.protocols.codes`; labels
stay in the settings. A model is one file in UDPipe's own binary format, which holds numbers and strings only.
"""

from __future__ import annotations

import json
import math
import random
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar, Self

from d2c.base.children import run
from d2c.base.counting import many
from d2c.base.errors import ModelError
from d2c.base.model_files import as_type, check_file
from d2c.base.progress import log
from d2c.base.temporary import whole_directory
from d2c.dparsers.settings import UDPipeSettings
from d2c.dparsers.udpipe import program
from d2c.dparsers.udpipe.program import Columns, sentence_of, udpipe
from d2c.protocols.codes import Codes, read_training, read_trees
from d2c.protocols.directories import SETTINGS, ModelFormat, loading
from d2c.protocols.dparser import DependencyParser, Report
from d2c.protocols.training import DEV_WORDS, reporting, thinned
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree

_MODEL = "parser.udpipe"
_MOST_BYTES, _PATIENCE = 1 << 29, 60.0  # of a model's file; seconds in which another process must read it

# Options of UDPipe's training. By default it follows each action to the end of every eighth sentence, which
# doubles the time, and lets `projective` err and learn to go on, which pays only after many passes.
PRESETS: dict[str, dict[str, Any]] = {
    "default": {"iterations": 10},
    "small": {"iterations": 4, "structured_interval": 0},
}
# -P: the program cannot import the modules beside it under their short names.
_PROGRAM = (sys.executable, "-P", program.__file__)
_EVALUATION = re.compile(r"Iteration (\d+): training logprob (\S+), heldout UAS (\S+)%, LAS (\S+)%")


class UDPipeParser(DependencyParser):
    """UDPipe 1's dependency parser.

    It sees words, tags (XPOS), and, where the training treebank has any, morphology (FEATS).
    """

    # The model directory: the settings and UDPipe's file.
    FORMAT: ClassVar[ModelFormat] = ModelFormat(
        "dparser", "udpipe", 1, ("system", "preset", "epochs", "beam", "seed")
    )

    def __init__(self, settings: UDPipeSettings) -> None:
        self.settings = settings
        self.codes_ = Codes((), None)
        self.model_: Any = None

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Report = None) -> Self:
        """Learn, and leave the model with the best LAS on the second file. Raises as `DependencyParser`."""
        options = self._options()
        train, dev = read_training(train_conllu), read_trees(dev_conllu)
        self.codes_ = Codes.of(train)
        random.Random(self.settings.seed).shuffle(train)
        options["embedding_feats"] = 20 if any(dtree.tokens.morphs for dtree in train) else 0
        with whole_directory(Path(directory), SETTINGS) as staging:
            data = self._rows(train), self._rows(thinned(dev, DEV_WORDS))
            _run_training(options, staging / _MODEL, data, progress, self.settings.timeout)
            self.FORMAT.write(staging, self.codes_.settings, self.settings)
            self.model_ = _load(staging / _MODEL)
        return self

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Return the parser that `train` left, whose files cannot bring code. Raises ModelError."""
        said = cls.FORMAT.read(directory)
        with loading(directory, "has broken settings"):
            parser = cls(UDPipeSettings(**cls.FORMAT.parameters_in(said)))
            parser.codes_ = as_type(said, Codes)
        parser.model_ = _load(Path(directory) / _MODEL)
        return parser

    def parse(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        """Yield the d-tree of each sentence, in order; one sentence is held at a time."""
        if self.model_ is None:
            raise ModelError("this parser is not trained yet")
        options, error = f"beam_search={self.settings.beam}", udpipe.ProcessingError()
        for tokens in sentences:
            sentence = sentence_of(*self._words(tokens))
            if len(tokens) and not self.model_.parse(sentence, options, error):
                raise ModelError(f"UDPipe cannot parse: {error.message}")
            words = [*sentence.words][1:]  # the first is its root
            heads, codes = [word.head for word in words], [word.deprel for word in words]
            yield self.codes_.decode(tokens, heads, codes)

    def _options(self) -> dict[str, Any]:
        """Return the options of UDPipe's training."""
        settings = self.settings
        options = {"transition_system": settings.system, **PRESETS[settings.preset]}
        if settings.preset == "small" and settings.system == "projective":
            options["transition_oracle"] = "static"
        if settings.epochs is not None:
            options["iterations"] = max(1, math.ceil(settings.epochs))
        return options

    def _words(self, tokens: Tokens) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
        """Return forms, tags and features as UDPipe sees them, with any artificial word of `Codes`."""
        forms, tags = self.codes_.words(tokens)
        features = list(tokens.morphs or ("_",) * len(tokens))
        return forms, tags, features + ["_"] * (len(forms) - len(features))

    def _rows(self, dtrees: Sequence[DTree]) -> list[Columns]:
        """Return sentences for UDPipe's training; labels that the training treebank lacks get new codes."""
        unknown = {label for dtree in dtrees for label in dtree.labels or ()} - set(self.codes_.labels)
        codes = Codes((*self.codes_.labels, *sorted(unknown)), self.codes_.root_label)
        return [(*self._words(dtree.tokens), *codes.encode(dtree, "root")) for dtree in dtrees]


def _run_training(
    options: dict[str, Any],
    model: Path,
    data: Sequence[list[Columns]],
    progress: Report,
    seconds: float | None,
) -> None:
    """Train in a process of its own, for at most so many seconds. Raises ModelError where training fails."""
    words = sum(len(row[0]) for row in data[0])
    report = reporting(progress)
    log.info("udpipe: %s on cpu, a score after each", many(options["iterations"], "pass"))
    arguments = ";".join(f"{name}={value}" for name, value in options.items())
    command = [*_PROGRAM, "train", arguments, str(model)]
    try:
        with closing(run(command, json.dumps(data), seconds)) as lines:
            for line in lines:
                log.debug("udpipe: %s", line)
                if match := _EVALUATION.match(line):
                    step, logprob, uas, las = int(match[1]), *map(float, match.groups()[1:])
                    scores = {"UAS": uas / 100, "LAS": las / 100}
                    report(step, options["iterations"], -logprob / words, scores)
    except ChildProcessError as error:
        raise ModelError(f"UDPipe's training {error}") from None


def _load(path: Path) -> Any:
    """Return a model, which another process has tried: damaged files may make UDPipe end its process."""
    check_file(path, _MOST_BYTES)
    try:
        for _ in run([*_PROGRAM, "try", str(path)], seconds=_PATIENCE):
            pass
    except ChildProcessError:
        raise ModelError(f"{path}: is no model of UDPipe's") from None
    return udpipe.Model.load(str(path))
