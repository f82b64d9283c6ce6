"""The directory of a parser of Stanza's: its format, the files of graph parsers on encoders, and the packages
that these need.

This is read even by those who only look for models, so nothing that takes time is imported.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from d2c.base.model_files import read_json
from d2c.protocols.directories import ModelFormat

FORMAT = ModelFormat("dparser", "stanza", 1, ("model_type", "preset", "transformer", "epochs", "seed"))
NETWORK, NETWORK_WEIGHTS = "network.json", "network.safetensors"
FOLDER = "encoder"  # the folder of the files of `transformers`
CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"
OF_TORCH = "stanza", "torch", "transformers"
OF_OPENVINO = "openvino", "safetensors", "tokenizers"


def absent(packages: Iterable[str]) -> list[str]:
    """Return which of some packages are not installed; none is imported."""
    return [name for name in packages if not find_spec(name)]


def is_compiled(directory: Path) -> bool:
    """Return whether the network is over BERT in its published form, which OpenVINO computes. Raises
    ModelError."""
    if not (directory / NETWORK).is_file():
        return False
    config = read_json(directory / FOLDER / CONFIG)
    kind = config.get("model_type"), config.get("hidden_act")
    return kind == ("bert", "gelu") and not config.get("is_decoder")
