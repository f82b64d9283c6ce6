"""The files of a graph parser's network over an encoder, which can be read without torch.

`network.json` has the arguments of Stanza's training program and the vocabulary, `network.safetensors` the
weights in half precision. Networks that also see letters or word vectors are kept in Stanza's own format.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.base.model_files import as_type, read_settings, write_settings
from d2c.dparsers.graph.directory import NETWORK, NETWORK_WEIGHTS
from d2c.dparsers.graph.encoder_file import read_tensors

COLUMNS = "word", "upos", "xpos", "lemma"  # the columns that have embeddings
PREFIX = ("<PAD>", "<UNK>", "<EMPTY>", "<ROOT>")  # the units with which Stanza begins every vocabulary
UNKNOWN_UNIT, ROOT_UNIT = 1, 3

_FORMAT = 1
_NUMBERED, _NUMBERS = "_id2unit", "_unit2id"  # the latter follow from the former
# Parts that such a network does not have, under Stanza's names.
_WITHOUT = ("char", "charlm", "pretrain", "linearization", "distance", "use_arc_embedding", "use_ufeats")
_KINDS = "graph", "joint"
_OF_TRAINING = "drop_replacement"  # the vector in place of words that are hidden in training
_SIZES = "hidden_dim", "deep_biaff_hidden_dim", "num_layers", "word_emb_dim", "tag_emb_dim"

Weights = Mapping[str, NDArray[Any]]


class UnitNumbers(dict[str, int]):
    """The ids of units; all other units have the id of unknown ones."""

    def __missing__(self, unit: str) -> int:
        return UNKNOWN_UNIT


class NetworkFile(NamedTuple):
    """What the files of a network hold.

    arguments:  of Stanza's training program; `is_plain` is true of them
    vocabulary: the state of Stanza's vocabulary
    weights:    under Stanza's names
    """

    arguments: dict[str, Any]
    vocabulary: dict[str, Any]
    weights: Weights

    @classmethod
    def read(cls, directory: Path) -> NetworkFile:
        """Return what `write` wrote. Raises ModelError, ValueError."""
        said = read_settings(directory / NETWORK, _FORMAT)
        arguments, vocabulary = (as_type(said[name], dict[str, Any]) for name in ("arguments", "vocabulary"))
        if not is_plain(arguments, vocabulary):
            raise ValueError(f"{NETWORK} says of the network what none of its kind is")
        for part in vocabulary.values():
            if _is_list(part):
                part[_NUMBERS] = {unit: i for i, unit in enumerate(as_type(part[_NUMBERED], list[str]))}
        return cls(arguments, vocabulary, read_tensors(directory / NETWORK_WEIGHTS))

    def write(self, directory: Path) -> None:
        """Write the files."""
        from safetensors.numpy import save_file

        parts = {
            name: {key: value for key, value in part.items() if key != _NUMBERS or not _is_list(part)}
            for name, part in self.vocabulary.items()
        }
        said = {"arguments": self.arguments, "vocabulary": parts}
        write_settings(directory / NETWORK, _FORMAT, said)
        save_file(dict(self.weights), directory / NETWORK_WEIGHTS)
        (directory / NETWORK_WEIGHTS).chmod((directory / NETWORK).stat().st_mode)  # else for its owner alone

    @property
    def joint(self) -> bool:
        """Return whether the network predicts tags."""
        return bool(self.arguments["model_type"] == "joint")

    def size(self, name: str) -> int:
        """Return an argument that is a size. Raises ValueError."""
        return as_type(self.arguments[name], int)

    def units(self, name: str) -> list[str]:
        """Return the units of a part of the vocabulary, the first of which are PREFIX. Raises ValueError."""
        units = as_type(self.vocabulary[name][_NUMBERED], list[str])
        if tuple(units[: len(PREFIX)]) != PREFIX or len({*units}) < len(units):
            raise ValueError(f"the vocabulary {name} does not number its units")
        return units

    def numbers(self, name: str) -> tuple[UnitNumbers, bool]:
        """Return the ids of units, and whether units are in lower case. Raises ValueError."""
        numbered = {unit: i for i, unit in enumerate(self.units(name))}
        return UnitNumbers(numbered), bool(self.vocabulary[name]["lower"])

    @property
    def tables(self) -> tuple[str, ...]:
        """Return which of COLUMNS the network sees."""
        return tuple(one for one in COLUMNS if self.arguments.get(f"use_{one}", True))

    def check(self, size: int) -> None:
        """Raise ValueError unless exactly the network's weights are there, in the shapes that it implies.

        size: of the encoder's vectors
        """
        expected = self._shapes(size)
        found = {name: array.shape for name, array in self.weights.items() if name != _OF_TRAINING}
        for name in sorted(expected.keys() | found.keys()):
            if found.get(name) != expected.get(name):
                raise ValueError(f"the weights {name} are missing, superfluous, or of another shape")

    def _shapes(self, size: int) -> dict[str, tuple[int, ...]]:
        hidden, deep, layers, of_word, of_tag = map(self.size, _SIZES)
        if not 0 < layers <= len(self.weights):
            raise ValueError("says more layers than it has")
        widths = {"word": of_word, "lemma": of_word, "upos": of_tag, "xpos": of_tag}
        shapes: dict[str, tuple[int, ...]] = {
            f"{one}_emb.weight": (len(self.units(one)), widths[one]) for one in self.tables
        }
        shapes["bert_layer_mix.weight"] = (1, self.size("bert_hidden_layers"))
        for name in ("h", "c"):
            shapes[f"parserlstm_{name}_init"] = (2 * layers, 1, hidden)
        width = 2 * of_word + of_tag + size
        for layer in range(layers):
            for end in ("", "_reverse"):
                of = f"parserlstm.lstm.{layer}.lstm."
                shapes |= {f"{of}weight_ih_l0{end}": (4 * hidden, width)}
                shapes |= {f"{of}weight_hh_l0{end}": (4 * hidden, hidden)}
                shapes |= {f"{of}bias_{kind}_l0{end}": (4 * hidden,) for kind in ("ih", "hh")}
            for kind in ("highway", "gate"):
                shapes |= _linear(f"parserlstm.{kind}.{layer}", 2 * hidden, width)
            width = 2 * hidden
        scorers = {"unlabeled": 1, "deprel": len(self.units("deprel")) - len(PREFIX)}
        if self.arguments.get("yields"):
            scorers["yields"] = 2
        for name, outputs in scorers.items():
            shapes |= _linear(f"{name}.W1", deep, width) | _linear(f"{name}.W2", deep, width)
            shapes[f"{name}.scorer.W_bilin.weight"] = (deep + 1, deep + 1, outputs)
            shapes[f"{name}.scorer.W_bilin.bias"] = (outputs,)
        if self.joint:
            shapes |= _linear("tag_scorer", len(self.units("upos")) - len(PREFIX), width)
        return shapes


def is_plain(arguments: Mapping[str, Any], vocabulary: Mapping[str, Any]) -> bool:
    """Return whether a network with these arguments and this vocabulary can be kept in these files."""
    return (
        arguments["model_type"] in _KINDS
        and bool(arguments.get("bert_model") and arguments.get("bert_hidden_layers"))
        and not any(arguments.get(name) for name in (*_WITHOUT, "reversed"))
        and all(int(arguments[name]) > 0 for name in _SIZES)
        and all(_is_list(vocabulary[name]) for name in (*COLUMNS, "deprel"))
    )


def _is_list(part: Mapping[str, Any]) -> bool:
    """Return whether the units of a part of the vocabulary are a list, numbered in its order."""
    return isinstance(part, Mapping) and isinstance(part.get(_NUMBERED), list)


def _linear(name: str, outputs: int, inputs: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def floats(weights: Weights) -> dict[str, NDArray[np.float32]]:
    """Return weights [...] in single precision."""
    return {name: array.astype(np.float32) for name, array in weights.items()}
