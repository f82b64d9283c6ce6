"""What is used of spaCy and thinc beyond what they document, in one place.

tests/dparsers/test_internals.py holds it against the installed versions.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import srsly
from spacy.tokens import Doc

from d2c.base.model_files import check_file
from d2c.protocols.training import seeded

# The layer of a parser that thinc tunes for a second as it is made, until its output is white.
TUNED = "precomputable_affine"
_MOST_BYTES = 1 << 27  # of a file of spaCy's


def resize(parser: Any) -> None:
    """Give the network of a parser an output for each of its actions, once these are read."""
    parser._resize()


def load_weights(component: Any, path: Path, doc: Doc) -> None:
    """Fill a component that has its labels with weights from a file.

    doc: any that the network can see, for it to find its shapes

    Raises ModelError, and what `fill` raises.
    """
    check_file(path, _MOST_BYTES)
    for layer in component.model.walk():
        if layer.name == TUNED:  # which is left out where there are weights
            sizes = [layer.get_dim(name) for name in ("nF", "nO", "nP", "nI")]
            layer.set_param("W", numpy.ones(sizes, numpy.float32))
            layer.set_param("b", numpy.ones(sizes[1:3], numpy.float32))
            layer.set_param("pad", numpy.ones((1, *sizes[:3]), numpy.float32))
    with seeded(0):
        component.model.initialize([doc])
    fill(component.model, path.read_bytes())


def fill(model: Any, data: bytes) -> None:
    """Fill a network that has its shapes with weights, as thinc writes them.

    Raises ValueError where layers or shapes are other ones: spaCy's compiled code reads past arrays that are
    smaller than they should be.
    """
    own: dict[str, Any] = model.to_dict()
    read: Any = srsly.msgpack_loads(data)
    if any(read[part] != own[part] for part in ("nodes", "shims")):
        raise ValueError("a network of another structure")
    for layer, expected in zip(read["params"], own["params"], strict=True):
        if _shapes(layer) != _shapes(expected):
            raise ValueError("weights of other shapes")
        if not all(numpy.isfinite(weights).all() for weights in layer.values() if weights is not None):
            raise ValueError("some weights are no numbers")
    model.from_dict(own | {"params": read["params"]})


def _shapes(layer: dict[str, Any]) -> dict[str, Any]:
    return {name: None if array is None else (array.shape, array.dtype) for name, array in layer.items()}
