"""Stanza's `.pt` files, looked at before Stanza builds a network of the sizes that they say.

They are torch's, in its old format: a pickle of plain data, read by an unpickler that knows tensors and
nothing that could run, then the numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import torch
from stanza.models.common.pretrain import Pretrain

from d2c.base.errors import ModelError
from d2c.base.model_files import check_file

_MOST_BYTES = 1 << 33
_ZIP = b"PK"  # torch's new format, which may be compressed


def read_checkpoint(path: Path, parts: Iterable[str]) -> dict[str, Any]:
    """Return these parts of what is in a file. Raises ModelError, ValueError, and what torch raises."""
    _check_format(path)
    with warnings.catch_warnings(), open(path, "rb") as file:
        warnings.simplefilter("ignore")  # of a damaged file that there may be worse to come
        content = mmap(file.fileno(), 0, access=ACCESS_READ)  # a damaged size asks for no memory
        checkpoint = torch.load(content, map_location="cpu", weights_only=True)  # type: ignore[arg-type]
    return {part: checkpoint[part] for part in parts if part in checkpoint}


def read_vectors(path: Path) -> Pretrain:
    """Return word vectors. Raises as `read_checkpoint`."""
    _check_format(path)
    vectors = Pretrain(str(path))
    if vectors.emb.ndim != 2 or len(vectors.emb) != len(vectors.vocab):
        raise ValueError("has not one vector for each word")
    _check_numbers(path, {"emb": vectors.emb})
    return vectors


def load_network(path: Path, checkpoint: dict[str, Any], build: Callable[[], torch.nn.Module]) -> Any:
    """Return a network with a checkpoint's weights; errors and arguments as of `check_weights`.

    Stanza's own `load` would build it before its sizes are checked, and its optimizer, too.
    """
    check_weights(path, checkpoint, build)
    model = build()
    missing = model.load_state_dict(checkpoint["model"], strict=False).missing_keys
    fixed: list[str] = model.unsaved_modules  # type: ignore[assignment]
    if lacking := [name for name in missing if name.partition(".")[0] not in fixed]:
        raise ModelError(f"{path}: lacks the weights {', '.join(sorted(lacking))}")
    return model


def check_weights(path: Path, checkpoint: dict[str, Any], build: Callable[[], torch.nn.Module]) -> None:
    """Raise ValueError unless a checkpoint has a network's weights, all of them numbers.

    build: makes the network; here without memory for it, so that the sizes may be anything
    """
    weights, config = checkpoint["model"], checkpoint["config"]
    _check_numbers(path, weights)
    if any(name.endswith("layers") and (size or 0) > len(weights) for name, size in config.items()):
        raise ValueError("says more layers than it has")
    with warnings.catch_warnings(), torch.device("meta"):
        warnings.simplefilter("ignore")  # that language models in it stay without weights
        network = build().state_dict()
    for name, tensor in weights.items():
        if name not in network or network[name].shape != tensor.shape:
            raise ValueError(f"the weights {name} are of another shape")


def _check_format(path: Path) -> None:
    check_file(path, _MOST_BYTES)
    with open(path, "rb") as stream:
        if stream.read(len(_ZIP)) == _ZIP:
            raise ValueError("is of another format than Stanza's")


def _check_numbers(path: Path, weights: dict[str, torch.Tensor]) -> None:
    """Raise ValueError for NaN, and for tensors that repeat the numbers of the file."""
    if sum(tensor.numel() * tensor.element_size() for tensor in weights.values()) > path.stat().st_size:
        raise ValueError("says larger arrays than it holds")
    for name, tensor in weights.items():
        if tensor.is_floating_point() and not tensor.isfinite().all():
            raise ValueError(f"some of the weights {name} are no numbers")
