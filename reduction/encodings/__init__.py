"""Order information in dependency labels: the encodings of section 4.1, with events and with spines.

An encoding turns a c-tree into a d-tree whose labels hold the order of events, and reads it back. Its two
directions are inverse to each other on the labels that it writes; reading takes any labels and reports what
they do not say as None or 0. All encodings take linear time.
"""

from d2c.reduction.encodings.encoding import Encoding
from d2c.reduction.encodings.events import Delta, Direct
from d2c.reduction.encodings.spine import HallNivre

ENCODINGS: dict[str, Encoding] = {encoding.name: encoding for encoding in (Direct(), Delta(), HallNivre())}


def encoding_named(name: str) -> Encoding:
    """Return the encoding of this name. Raises ValueError for an unknown one."""
    if name not in ENCODINGS:
        raise ValueError(f"unknown encoding {name!r}; known are {', '.join(ENCODINGS)}")
    return ENCODINGS[name]
