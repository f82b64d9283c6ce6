"""Stanza's dependency parser and tagger."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import stanza


@contextmanager
def level_kept() -> Iterator[None]:
    """Leave Stanza's logger at its level, which its programs and pipelines set as they like."""
    log = logging.getLogger("stanza")
    before = log.level
    try:
        yield
    finally:
        log.setLevel(before)


with level_kept():
    import stanza.models._training_logging  # noqa: F401 (its programs import it, for their own users)
