"""What tests say of an error: its class, its place, and what it is about. How it says this may change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from d2c.base.errors import FormatError


@contextmanager
def faulty(file: str | Path, line: int = 0, sentence: int = 0, about: str = "") -> Iterator[None]:
    """Expect a FormatError at this place (0: unknown) of a file.

    file:  its path, or its name alone
    about: what the message names: a parameter, a word, an element
    """
    with pytest.raises(FormatError) as caught:
        yield
    error = caught.value
    assert str(file) in (error.file, Path(error.file).name), error
    assert (error.line, error.sentence) == (line, sentence), error
    assert about in error.message, error
