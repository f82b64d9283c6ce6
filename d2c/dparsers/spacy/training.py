"""What spaCy's parser and tagger have in common here: a network over words, and its training.

A model has arrays (`d2c.dparsers.spacy.internals`), and a parser's has spaCy's `moves` (the actions: JSON in
MessagePack). Nothing is unpickled. Networks are built here, not from spaCy's `config.cfg`, which could name
functions to call.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, cast

import spacy
from spacy.attrs import IDS
from spacy.training import Example
from spacy.vectors import Vectors
from thinc.api import Adam, warmup_linear

from d2c.base.locks import SharedLock
from d2c.dparsers.settings import SpacyTaggerSettings
from d2c.dparsers.spacy.checkpoint import Batches, SpacyTraining
from d2c.dparsers.spacy.internals import keep_weights
from d2c.protocols.training import Course, Evaluate, TrainingPlan, best_state

SEEN = "NORM", "PREFIX", "SUFFIX", "SHAPE"  # attributes that networks see; spaCy computes no others here
LEFT_OUT = ["vocab", "cfg", "model"]  # of spaCy's files: words are hashed; codes, tags, sizes are settings

# Batches of 150 or 600 words learn the same in the same time (1,000 sentences of CRAFT).
_BATCH_WORDS, _RATE, _DROPOUT = 300, 0.002, 0.1

_ONE_AT_A_TIME = SharedLock()  # for all pipelines: they are copied to other processes, a lock would not be


@contextmanager
def forgetting(nlp: Any) -> Iterator[None]:
    """Run a pipeline, and then forget the new words, all of which it would keep.

    Threads take turns: the words that one of them forgets may be what another one is reading.
    """
    with _ONE_AT_A_TIME, nlp.memory_zone():
        yield


def tok2vec(sizes: dict[str, int], attributes: Sequence[str], vectors: bool = False) -> dict[str, Any]:
    """Return the configuration of a convolutional network that sees these attributes of words.

    sizes: width of the vectors, depth of the network, rows of the table of the first attribute's hashes; the
        other tables have half as many
    vectors: whether it also sees the vocabulary's static vectors
    """
    rows = sizes["rows"]
    return {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": {
            "@architectures": "spacy.MultiHashEmbed.v2",
            "width": sizes["width"],
            "attrs": [*attributes],
            "rows": [rows] + [rows // 2] * (len(attributes) - 1),
            "include_static_vectors": vectors,
        },
        "encode": {
            "@architectures": "spacy.MaxoutWindowEncoder.v2",
            "width": sizes["width"],
            "depth": sizes["depth"],
            "window_size": 1,
            "maxout_pieces": 3,
        },
    }


def known_sizes(sizes: Any, known: Mapping[str, dict[str, int]]) -> str:
    """Return the name under which a model's sizes are known. Raises ValueError for other sizes."""
    for name, own in known.items():
        if sizes == own:
            return name
    raise ValueError("the sizes of the network are other ones")


class SpacyEstimator:
    """A component of a pipeline that is trained, saved and loaded by itself.

    COMPONENT: its name; WHO: that for progress and checkpoints; PRESETS: passes over the training treebank
    nlp_:      the pipeline, of this component alone
    """

    COMPONENT: ClassVar[str]
    WHO: ClassVar[str]
    PRESETS: ClassVar[Mapping[str, int]]

    def __init__(self, settings: SpacyTaggerSettings) -> None:
        self.settings, self.nlp_ = settings, cast(Any, None)

    @property
    def _component(self) -> Any:
        return self.nlp_.get_pipe(self.COMPONENT)

    def _new_pipeline(self, vectors: Vectors | None = None, **config: Any) -> None:
        """Make an untrained component, over static word vectors if there are any."""
        self.nlp_ = spacy.blank("xx")
        getters = self.nlp_.vocab.lex_attr_getters
        self.nlp_.vocab.lex_attr_getters = {IDS[name]: getters[IDS[name]] for name in SEEN}
        if vectors is not None:
            self.nlp_.vocab.vectors = vectors
        self.nlp_.add_pipe(self.COMPONENT, config=config)

    def _learn(
        self, examples: list[Example], evaluate: Evaluate, directory: Path, *made_of: object, **labels: Any
    ) -> None:
        """Train the component, and leave the weights with the best score in it, and in a directory.

        evaluate: is called about ten times, or after each pass where these are fewer
        made_of:  what tells this training from others, beside weights, vectors and settings
        """
        self._component.initialize(lambda: examples, **labels)
        given = self.settings
        epochs = self.PRESETS[given.preset] if given.epochs is None else given.epochs
        steps = max(1, round(epochs * sum(map(len, examples)) / _BATCH_WORDS))
        interval = math.ceil(steps / max(1, min(epochs, 10)))
        rates = warmup_linear(_RATE, max(1, steps // 20), steps + 1)
        adam = {"L2": 0.01, "L2_is_weight_decay": True, "grad_clip": 1.0, "use_averages": False}
        optimizer = Adam(rates, **adam)  # type: ignore[arg-type]
        component = self._component
        course: Course[bytes] = Course(TrainingPlan(self.WHO, steps, interval))
        training = SpacyTraining(component.model, optimizer, Batches(examples, _BATCH_WORDS), course)
        if given.checkpoints is not None:
            settings = (given.seed, epochs, _RATE, _BATCH_WORDS, _DROPOUT)
            vectors = sha256(self.nlp_.vocab.vectors.data).digest()  # they are not among the weights
            training.keep_in(given.checkpoints, self.WHO, settings, vectors, *made_of)

        def update() -> float:
            losses = component.update(next(training.batches), drop=_DROPOUT, sgd=optimizer)
            optimizer.step_schedules()
            return float(losses[component.name])

        best = best_state(training.course, update, evaluate, component.model.to_bytes, training.keep)
        component.model.from_bytes(best)
        component.to_disk(directory / self.COMPONENT, exclude=LEFT_OUT)
        self.keep(directory)

    def keep(self, directory: Path) -> None:
        """Write the weights, rounded, into a model's directory, in place of a former file; round those of the
        component, too."""
        keep_weights(self._component, directory / self.COMPONENT)
