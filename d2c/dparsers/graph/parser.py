"""Prediction with Stanza's graph parser on BERT, on a CPU by OpenVINO: without Stanza and without torch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, Self

from d2c.base.errors import ModelError, install
from d2c.base.locks import SharedLock
from d2c.base.model_files import read_as
from d2c.dparsers.graph.batching import Batching
from d2c.dparsers.graph.compiled import CompiledNetwork
from d2c.dparsers.graph.directory import (
    CONFIG,
    FOLDER,
    FORMAT,
    NETWORK,
    OF_OPENVINO,
    OF_TORCH,
    WEIGHTS,
    absent,
    is_compiled,
)
from d2c.dparsers.graph.encoder_file import BertConfig, read_tensors, read_tokenizer, window_of
from d2c.dparsers.graph.network_file import NetworkFile
from d2c.dparsers.graph.scores import Found, GraphParser
from d2c.protocols.abilities import DParserAbilities
from d2c.protocols.directories import loading
from d2c.protocols.dparser import Report
from d2c.trees.ctree import Tokens

_NVIDIA = Path("/dev/nvidiactl")  # exists where a GPU does; torch takes a second to say so
# Held while a network computes, since it has one place for its outputs.
_ONE_AT_A_TIME = SharedLock()


class CompiledParser(GraphParser):
    """The parser, as trained by `d2c.dparsers.stanza`."""

    def __init__(self, network: CompiledNetwork, tokenizer: Any, window: int) -> None:
        super().__init__()
        self.network = network
        self.abilities = DParserAbilities(packed_arcs=True, tags=network.file.joint)
        self._batching = Batching(network.file, tokenizer, window)

    @classmethod
    def opened(cls, directory: Path, device: str | None = None) -> Self | None:
        """Return the parser in a model's directory; None for one that torch has to compute: on a GPU, without
        BERT, or where OpenVINO is not installed or has no code for the processor. Raises ModelError, also
        where torch would have to compute an encoder and is not installed.

        device: cpu, cuda, ...; None: a GPU if torch is installed and there seems to be one
        """
        if not (directory / NETWORK).exists():
            return None
        by_torch, packages, extra = not absent(OF_TORCH), OF_TORCH, "transformers"
        on_cpu = device == "cpu" or device is None and not (by_torch and _NVIDIA.exists())
        if on_cpu and is_compiled(directory):
            if absent(OF_OPENVINO):
                packages, extra = OF_OPENVINO, "fast"
            elif parser := cls._compiled(directory):
                return parser
        if not by_torch:
            raise ModelError(f"{directory}: needs {', '.join(absent(packages))} here: {install(extra)}")
        return None

    @classmethod
    def _compiled(cls, directory: Path) -> Self | None:
        """Return the parser, or None where OpenVINO has no code for the processor. Raises ModelError."""
        said = FORMAT.read(directory)
        with loading(directory), _ONE_AT_A_TIME:
            config = read_as(directory / FOLDER / CONFIG, None, BertConfig)
            network, arrays = NetworkFile.read(directory), read_tensors(directory / FOLDER / WEIGHTS)
            if said.get("model_type") != network.arguments["model_type"]:
                raise ValueError(f"{FORMAT.file} and {NETWORK} are of different networks")
            network.check(config.hidden_size)
            config.check(arrays)
            tokenizer = read_tokenizer(directory / FOLDER, config.vocab_size)
            compiled = CompiledNetwork(network, config, arrays)
            if not compiled.compiles:
                return None
            parser = cls(compiled, tokenizer, window_of(config))
            next(parser.parse([Tokens(("a", "b"), ("A", "B"))]))  # a parser that cannot parse fails now
        return parser

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Return the parser in a model's directory. Raises ModelError."""
        if (parser := cls.opened(Path(directory), "cpu")) is None:
            raise ModelError(f"{directory}: holds no network that OpenVINO can compute here")
        return parser

    def train(
        self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Report = None
    ) -> NoReturn:
        """Raise ModelError: only Stanza trains this parser."""
        raise ModelError("this parser cannot be trained further; take --dparser stanza")

    @property
    def tags_(self) -> tuple[str, ...]:
        """Return the tags that the parser predicts, none unless it is joint."""
        return self.network.tags if self.abilities.tags else ()

    def _found(self, sentences: Sequence[Tokens], least: float | None) -> list[Found]:
        found: list[Any] = [None] * len(sentences)
        with _ONE_AT_A_TIME:
            for part, batch in self._batching.batches(sentences):
                for i, one in zip(part, self.network.scores(batch).found(least), strict=True):
                    found[i] = one
        return found
