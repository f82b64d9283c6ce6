"""Stanza's pipelines: text cut into words and sentences, and words annotated."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import stanza

from d2c.dparsers.protocol import Arcs, Word
from d2c.dparsers.stanza.networks import ONE_AT_A_TIME


class StanzaPipeline:
    """The pipeline of a language."""

    def __init__(self, language: str) -> None:
        self.language = language
        processors = "tokenize,pos,lemma,depparse"
        self._of_words: Any = stanza.Pipeline(
            language, processors=processors, tokenize_pretokenized=True, verbose=False
        )
        self._last: tuple[Sequence[list[str]], Sequence[Any]] = [], []  # tags, then arcs are asked for

    def words(self, text: str) -> list[Word]:
        """Return the words of a sentence; those of a token that is several have its characters."""
        return [
            (word.text, token.start_char, token.end_char)
            for sentence in self._cut(text)
            for token in sentence.tokens
            for word in token.words
        ]

    def sentences(self, text: str) -> list[tuple[int, int]]:
        """Return the sentences of a paragraph."""
        return [(sentence.tokens[0].start_char, sentence.tokens[-1].end_char) for sentence in self._cut(text)]

    def arcs(self, sentences: Sequence[list[str]]) -> list[Arcs]:
        """Return heads and labels."""
        return [
            (tuple(word.head for word in words), tuple(word.deprel for word in words))
            for words in self._annotated(sentences)
        ]

    def tags(self, sentences: Sequence[list[str]]) -> list[tuple[str, ...]]:
        """Return XPOS, empty where the language has none."""
        return [tuple(word.xpos or "" for word in words) for words in self._annotated(sentences)]

    def _annotated(self, sentences: Sequence[list[str]]) -> list[Sequence[Any]]:
        with ONE_AT_A_TIME:
            if sentences != self._last[0]:
                self._last = [*sentences], self._of_words([*sentences]).sentences
            return [sentence.words for sentence in self._last[1]]

    @cached_property
    def _of_text(self) -> Any:
        return stanza.Pipeline(self.language, processors="tokenize", verbose=False)  # words of tokens, too

    def _cut(self, text: str) -> Sequence[Any]:
        with ONE_AT_A_TIME:
            return self._of_text(text).sentences  # type: ignore[no-any-return]
