"""The undocumented parts of spaCy and thinc that are used, in one place.

tests/dparsers/test_internals.py checks them against the installed versions.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import srsly
from spacy.tokens import Doc

from d2c.base.arrays import Floats
from d2c.base.model_files import check_file
from d2c.learning.weights import CODED, Arrays, Like, coded, decoded, read_arrays, write_arrays
from d2c.protocols.training import seeded

# The layer of a parser that spaCy tunes for a second as it is made, until white input has white output.
TUNED = "precomputable_affine"
_MOST_BYTES = 1 << 27  # of a file of weights
_WEIGHTS, _ARRAYS = "weights.npz", CODED | {"vectors": Like("f4", 1)}
_FORMER = "model"  # the file of former models: thinc's own, MessagePack

Params = dict[str, Floats | None]  # of a layer, by name


def resize(parser: Any) -> None:
    """Give the network of a parser an output for each of its actions, once these have been read."""
    parser._resize()


def keep_weights(component: Any, directory: Path) -> None:
    """Write the weights of a component, rounded, into its directory, made if absent; round its own, too."""
    own = component.model.to_dict()
    matrices, vectors = _parts(own["params"])
    directory.mkdir(parents=True, exist_ok=True)
    arrays = coded(matrices) | {"vectors": numpy.concatenate([vector.ravel() for vector in vectors])}
    write_arrays(directory / _WEIGHTS, arrays)
    (directory / _FORMER).unlink(missing_ok=True)
    _take(component.model, own, _params(arrays, own["params"]))


def load_weights(component: Any, directory: Path, doc: Doc) -> None:
    """Fill a component whose labels are set with the weights in its directory.

    doc: any document, from which the network infers its shapes

    Raises ModelError, and what `fill` raises.
    """
    path = directory / (_WEIGHTS if (directory / _WEIGHTS).exists() else _FORMER)
    check_file(path, _MOST_BYTES)
    for layer in component.model.walk():
        if layer.name == TUNED:  # where there are weights, it is not tuned
            sizes = [layer.get_dim(name) for name in ("nF", "nO", "nP", "nI")]
            layer.set_param("W", numpy.ones(sizes, numpy.float32))
            layer.set_param("b", numpy.ones(sizes[1:3], numpy.float32))
            layer.set_param("pad", numpy.ones((1, *sizes[:3]), numpy.float32))
    with seeded(0):
        component.model.initialize([doc])
    if path.name == _FORMER:
        fill(component.model, path.read_bytes())
    else:
        arrays, own = read_arrays(path, _ARRAYS, _MOST_BYTES), component.model.to_dict()
        _take(component.model, own, _params(arrays, own["params"]))


def fill(model: Any, data: bytes) -> None:
    """Fill a network whose shapes are set with weights as thinc writes them. Raises ValueError for others."""
    own: dict[str, Any] = model.to_dict()
    read: Any = srsly.msgpack_loads(data)
    if any(read[part] != own[part] for part in ("nodes", "shims")):
        raise ValueError("a network of another structure")
    _take(model, own, read["params"])


def _take(model: Any, own: dict[str, Any], params: list[Params]) -> None:
    """Give a network, which thinc's `to_dict` returned as `own`, the weights of its layers.

    Raises ValueError for numbers that are not finite, and for other shapes: spaCy's compiled code reads past
    the ends of arrays that are too small.
    """
    for layer, expected in zip(params, own["params"], strict=True):
        if _shapes(layer) != _shapes(expected):
            raise ValueError("weights of other shapes")
        if not all(numpy.isfinite(weights).all() for weights in layer.values() if weights is not None):
            raise ValueError("some weights are no numbers")
    model.from_dict(own | {"params": params})


def _parts(params: list[Params]) -> tuple[list[Floats], list[Floats]]:
    """Return the matrices of a network `[...]`, and its vectors [width], which are not rounded."""
    arrays = [array for layer in params for _, array in sorted(layer.items()) if array is not None]
    return [one for one in arrays if one.ndim > 1], [one for one in arrays if one.ndim == 1]


def _params(arrays: Arrays, own: list[Params]) -> list[Params]:
    """Return weights from a file, in the shapes of a network's own. Raises ValueError for other sizes."""
    matrices, vectors = _parts(own)
    ends = numpy.cumsum([len(vector) for vector in vectors])
    if arrays["vectors"].shape != (ends[-1],):
        raise ValueError("weights of other shapes")
    read = decoded(arrays, [matrix.size for matrix in matrices]), numpy.split(arrays["vectors"], ends[:-1])
    of_shape = [iter(part) for part in read]

    def given(array: Floats | None) -> Floats | None:
        return None if array is None else next(of_shape[array.ndim == 1]).reshape(array.shape)

    return [{name: given(array) for name, array in sorted(layer.items())} for layer in own]


def _shapes(layer: Params) -> dict[str, Any]:
    return {name: None if array is None else (array.shape, array.dtype) for name, array in layer.items()}
