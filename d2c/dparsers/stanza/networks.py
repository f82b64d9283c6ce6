"""What all of Stanza's networks share here: plain rows of words, prediction, seeds, silence, turns and files.

tests/dparsers/test_internals.py checks the undocumented parts of Stanza that are used here against the
installed version.

Stanza's `.pt` files are torch's, in its old format: a pickle of plain data, read by an unpickler that knows
tensors and nothing that could run, then the numbers. They are checked before Stanza builds a network of the
sizes that they say.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import torch
from stanza.models.common.pretrain import Pretrain
from stanza.models.common.utils import set_random_seed
from stanza.models.common.vocab import VOCAB_PREFIX
from stanza.models.depparse.data import DataLoader
from stanza.models.depparse.trainer import GraphTrainer
from stanza.models.depparse.utils import predict_dataset
from stanza.models.pos.trainer import Trainer as TaggerTrainer
from torch.overrides import TorchFunctionMode

from d2c.base.errors import ModelError
from d2c.base.locks import SharedLock
from d2c.base.model_files import check_file
from d2c.dparsers.graph.scores import Found
from d2c.protocols.training import seeded as seeded_numpy

# A forked process (spaCy's `n_process`) has none of the threads that torch has started, and would wait for
# them for ever, whatever it computes, ours or not.
os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))

# Of one word: form, UPOS, XPOS, FEATS, lemma, head and label, the columns that Stanza's loader asks for.
WordRow = list[Any]
Sentences = Sequence[Sequence[WordRow]]

_NUMBERS_TRAINING, _NUMBERS_PARSING = 1 << 28, 1 << 26  # numbers in the largest array of one batch

# Held while networks predict or are loaded, which predicts, too: a call changes the mode of its network for
# all threads. There is one lock for all networks, since these are copied to other processes, and a lock in
# them would not be.
ONE_AT_A_TIME = SharedLock()

_MOST_BYTES = 1 << 33  # of a file
_ZIP = b"PK"  # torch's new format, which may be compressed

# Functions that make tensors of the same shapes as these, without drawing numbers.
_SHAPES: dict[Any, Callable[..., torch.Tensor]] = {
    torch.randn: torch.empty,
    torch.nn.init.normal_: lambda tensor, **_: tensor,
    torch.Tensor.div: lambda tensor, _: tensor,
}

_QUIET = ContextVar("quiet", default=False)


class StanzaDocument:
    """Sentences in place of Stanza's `Document`, which interprets forms and is slow to build."""

    def __init__(self, sentences: Sentences) -> None:
        self.sentences = sentences

    def get(self, fields: object, as_sentences: bool) -> list[list[WordRow]]:
        return [[row.copy() for row in sentence] for sentence in self.sentences]  # loaders change them


class BareTagger(TaggerTrainer):  # type: ignore[misc]
    """Stanza's trainer of a tagger without its constructor, which would load a transformer by its name."""

    def __init__(self, arguments: dict[str, Any], vocab: Any, model: torch.nn.Module) -> None:
        self.args, self.vocab, self.model = arguments, vocab, model


def predict(
    trainer: GraphTrainer, pretrain: Pretrain | None, sentences: Sentences, least: float | None = None
) -> list[Found]:
    """Return what a parser finds in sentences, each of at least one word; batches have similar lengths.

    There are tags only of a `joint` parser.

    least: the least probability of packed arcs: the parser's softmax over heads, and over labels, gives
           probabilities; None: no packed arcs
    """
    trainer.model.least = least
    words = batch_words(trainer.args, len(trainer.vocab["deprel"]), _NUMBERS_PARSING)
    rows, more = StanzaDocument(sentences), {"evaluation": True, "sort_during_eval": True}
    loader = DataLoader(rows, words, trainer.args, pretrain, trainer.vocab, **more)
    if not trainer.args["char"]:  # drop letters, of which a tensor for each word would be made, in vain
        for sentence in loader.dataset.data:
            sentence[1] = sentence[1][:1]
    # Autocast keeps rounded weights of an encoder in bfloat16 while any such context is open, in use or not.
    with torch.autocast(trainer.model.get_device().type, enabled=False):
        return predict_dataset(trainer, loader)  # type: ignore[no-any-return]


def batch_words(arguments: Mapping[str, Any], labels: int, numbers: int = _NUMBERS_TRAINING) -> int:
    """Return the words of a batch, so few that the label scorer's [words, hidden, labels] array stays small.

    Stanza's 5000 words are meant for the 50 labels of UD; there may be a thousand here.
    """
    wanted, hidden = int(arguments["batch_size"]), int(arguments["deep_biaff_hidden_dim"])
    return max(1, min(wanted, numbers // ((hidden + 1) * labels)))


@contextmanager
def quiet() -> Iterator[None]:
    """Silence what Stanza logs in this thread, which repeats what `Evaluation` and exceptions say.

    The state of torch's generator is restored afterwards: Stanza draws from it, even to parse.
    """
    # Each of its loggers passes records on to other handlers, too. Filters stay, and pass what others log.
    named = [log for name, log in logging.root.manager.loggerDict.items() if f"{name}.".startswith("stanza.")]
    for one in [*named, *logging.getLogger("stanza").handlers]:
        if isinstance(one, logging.Filterer):  # and no placeholder
            one.addFilter(_unless_quiet)  # no second time if it is there
    before = _QUIET.set(True)
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        _QUIET.reset(before)


def _unless_quiet(_: logging.LogRecord) -> bool:
    return not _QUIET.get()


@contextmanager
def building() -> Iterator[None]:
    """Silence torch's warning about dropout in an LSTM of one layer; Stanza's networks have it elsewhere."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="dropout option adds dropout after all but last recurrent")
        yield


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the generators that Stanza draws from; afterwards they go on as if nothing had been drawn."""
    with seeded_numpy(seed), torch.random.fork_rng(devices=[]):
        set_random_seed(seed)
        yield


def read_checkpoint(path: Path, parts: Iterable[str]) -> dict[str, Any]:
    """Return these parts of a file, if it has them. Raises ModelError, ValueError, and what torch raises."""
    _check_format(path)
    with warnings.catch_warnings(), open(path, "rb") as file:
        warnings.simplefilter("ignore")  # about a damaged file, of which an error tells
        content = mmap(file.fileno(), 0, access=ACCESS_READ)  # so no damaged size asks for memory
        checkpoint = torch.load(content, map_location="cpu", weights_only=True)  # type: ignore[arg-type]
    return {part: checkpoint[part] for part in parts if part in checkpoint}


def check_vocabulary(parts: Mapping[str, Any]) -> None:
    """Raise ValueError unless each part of a checkpoint's vocabulary, and each feature in one, numbers its
    units in their order, beginning with those that all vocabularies of Stanza have."""
    for name in parts.keys() - {"_key2class"}:
        units, numbers = parts[name]["_id2unit"], parts[name]["_unit2id"]
        keys = [*units] if isinstance(units, dict) else [None]
        for row, found in [(units, numbers) if key is None else (units[key], numbers[key]) for key in keys]:
            whole = all(type(number) is int for number in found.values())
            if not whole or found != {unit: i for i, unit in enumerate(row)} or row[:4] != VOCAB_PREFIX:
                raise ValueError(f"the vocabulary {name} does not number its units")


def read_vectors(path: Path) -> Pretrain:
    """Return the word vectors in a file of Stanza's. Raises as `read_checkpoint`."""
    _check_format(path)
    vectors = Pretrain(str(path))
    if vectors.emb.ndim != 2 or len(vectors.emb) != len(vectors.vocab):
        raise ValueError("has not one vector for each word")
    _check_numbers(path, {"emb": vectors.emb})
    return vectors


def load_network(path: Path, checkpoint: dict[str, Any], build: Callable[[], torch.nn.Module]) -> Any:
    """Return the network that `build` makes with a checkpoint's weights, all of which must be finite.

    It is first made without memory, so that the sizes may be anything: Stanza's own `load` would build the
    network, and its optimizer, before sizes are checked. Raises ModelError, ValueError.
    """
    weights, config = checkpoint["model"], checkpoint["config"]
    _check_numbers(path, weights)
    if any(name.endswith("layers") and (size or 0) > len(weights) for name, size in config.items()):
        raise ValueError("says more layers than it has")
    with warnings.catch_warnings(), torch.device("meta"), _ShapesAlone():
        warnings.simplefilter("ignore")  # about language models in it, which stay without weights
        network = build().state_dict()
    for name, tensor in weights.items():
        if name not in network or network[name].shape != tensor.shape:
            raise ValueError(f"the weights {name} are of another shape")
    with building():
        model = build()
    missing = model.load_state_dict(weights, strict=False).missing_keys
    fixed: list[str] = model.unsaved_modules  # type: ignore[assignment]
    if lacking := [name for name in missing if name.partition(".")[0] not in fixed]:
        raise ModelError(f"{path}: lacks the weights {', '.join(sorted(lacking))}")
    return model


class _ShapesAlone(TorchFunctionMode):
    """Draws no numbers for tensors without memory, for which torch would import its compiler."""

    def __torch_function__(
        self,
        function: Any,
        types: object,
        args: Any = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        if function in _SHAPES:
            function = _SHAPES[function]
        return function(*args, **(kwargs or {}))


def _check_format(path: Path) -> None:
    check_file(path, _MOST_BYTES)
    with open(path, "rb") as stream:
        if stream.read(len(_ZIP)) == _ZIP:
            raise ValueError("is of another format than Stanza's")


def _check_numbers(path: Path, weights: dict[str, torch.Tensor]) -> None:
    """Raise ValueError for numbers that are not finite, and for tensors that repeat the file's numbers."""
    if sum(tensor.numel() * tensor.element_size() for tensor in weights.values()) > path.stat().st_size:
        raise ValueError("says larger arrays than it holds")
    for name, tensor in weights.items():
        if tensor.is_floating_point() and not tensor.isfinite().all():
            raise ValueError(f"some of the weights {name} are no numbers")
