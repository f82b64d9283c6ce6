"""Which tokens are punctuation."""

from __future__ import annotations

import unicodedata
from functools import lru_cache


@lru_cache(maxsize=1 << 16)
def is_punctuation(form: str) -> bool:
    """Whether a form is punctuation only."""
    return all(unicodedata.category(character).startswith("P") for character in form)
