"""spaCy's rules for Indonesian, except that all words are cut at hyphens, as ICON cuts them."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from spacy.lang.id import Indonesian

_HYPHEN = re.compile(r"\w-\w")  # in a word, not in a smiley


class HyphensCut(Indonesian):  # type: ignore[no-untyped-call]
    """Indonesian without the 15,600 words with hyphens that spaCy 3.8 keeps whole: `anak-anak` is one token,
    `wartawan-wartawan` three (findings/spacy-indonesian-hyphens.sh). Making these takes two seconds."""

    class Defaults(Indonesian.Defaults):  # type: ignore[misc, valid-type]
        """spaCy's, without these words."""

        tokenizer_exceptions: ClassVar[dict[str, Any]] = {
            word: parts
            for word, parts in Indonesian.Defaults.tokenizer_exceptions.items()
            if not _HYPHEN.search(word)
        }
