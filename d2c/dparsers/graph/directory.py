"""The directory of a parser of Stanza's: its format, the files of graph parsers on encoders, and the packages
that these need.

Whoever only looks for models reads this, so nothing that takes time is imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from d2c.base.errors import ModelError, install
from d2c.base.model_files import read_json
from d2c.protocols.directories import ModelFormat

FORMAT = ModelFormat("dparser", "stanza", 1, ("model_type", "preset", "transformer", "epochs", "seed"))
NETWORK, NETWORK_WEIGHTS = "network.json", "network.safetensors"
FOLDER = "encoder"  # the folder of the files of `transformers`
CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"
OF_TORCH = "stanza", "torch", "transformers"
OF_OPENVINO = "openvino", "safetensors", "tokenizers"


def absent(packages: Iterable[str]) -> list[str]:
    """Return those of some packages that are not installed; none is imported."""
    return [name for name in packages if not find_spec(name)]


def is_compiled(directory: Path) -> bool:
    """Return whether the network is one over BERT, which OpenVINO computes. Raises ModelError."""
    return (directory / NETWORK).is_file() and is_bert(read_json(directory / FOLDER / CONFIG))


def is_bert(config: Mapping[str, Any]) -> bool:
    """Return whether an encoder with this configuration is BERT as it was published."""
    kind = config.get("model_type"), config.get("hidden_act")
    return kind == ("bert", "gelu") and not config.get("is_decoder")


def check_packages(directory: Path, packages: tuple[str, ...], extra: str) -> None:
    """Raise ModelError, which says what to install, unless packages are installed that a model needs."""
    if missing := absent(packages):
        raise ModelError(f"{directory}: needs {', '.join(missing)} here: {install(extra)}")
