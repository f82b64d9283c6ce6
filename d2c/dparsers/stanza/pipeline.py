"""Stanza's pipelines, which cut text into words and sentences, and annotate words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import stanza

from d2c.dparsers.pipeline_parser import Annotation, Pipeline
from d2c.dparsers.stanza import level_kept
from d2c.dparsers.stanza.networks import ONE_AT_A_TIME
from d2c.protocols.dparser import LONGEST, Word


class StanzaPipeline(Pipeline):
    """The pipeline of a language."""

    longest = LONGEST

    def __init__(self, language: str) -> None:
        self.language = language
        processors = "tokenize,pos,lemma,depparse"
        self._of_words = _pipeline(language, processors=processors, tokenize_pretokenized=True)

    def words(self, text: str) -> list[Word]:
        """Return the words of a sentence; all words of a multi-word token have the token's characters."""
        return [
            (word.text, token.start_char, token.end_char)
            for sentence in self._cut(text)
            for token in sentence.tokens
            for word in token.words
        ]

    def sentences(self, text: str) -> list[tuple[int, int]]:
        """Return the sentences of a paragraph."""
        return [(sentence.tokens[0].start_char, sentence.tokens[-1].end_char) for sentence in self._cut(text)]

    def annotated(self, sentences: Sequence[list[str]]) -> list[Annotation]:
        """Return heads, labels and XPOS, which is empty where the language has none."""
        with ONE_AT_A_TIME:
            found = [one.words for one in self._of_words([*sentences]).sentences]
        return [
            Annotation(
                (tuple(word.head for word in words), tuple(word.deprel for word in words)),
                tuple(word.xpos or "" for word in words),
            )
            for words in found
        ]

    @cached_property
    def _of_text(self) -> Any:
        return _pipeline(self.language, processors="tokenize")  # this cuts multi-word tokens, too

    def _cut(self, text: str) -> Sequence[Any]:
        with ONE_AT_A_TIME:
            return self._of_text(text).sentences  # type: ignore[no-any-return]


def _pipeline(language: str, **options: Any) -> Any:
    with level_kept():
        return stanza.Pipeline(language, verbose=False, **options)
