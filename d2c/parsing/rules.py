"""Rules that cut text: those for a language, what a model has learned about words, a model's pipeline, or
those for English."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from d2c.base.errors import ModelError, needing
from d2c.models.model import CUTS, Model, load_abbreviations, read_model_settings
from d2c.models.word_cuts import WITHOUT_BLANKS, WordCuts, WordParts, load_cuts
from d2c.parsing.text import PennRules
from d2c.protocols.directories import loading
from d2c.protocols.dparser import TextRules, Word
from d2c.routes.dparsers import DPARSERS

_CODE = re.compile("[a-z]{2,3}")
_INDONESIAN = "id"


class PartRules:
    """Rules whose words are cut further, as a model's treebank cuts them."""

    def __init__(self, rules: TextRules, parts: WordParts) -> None:
        self._rules, self._parts, self.longest = rules, parts, rules.longest

    def words(self, text: str) -> Iterable[Word]:
        """Return the words of a sentence, and parts of words, in order."""
        return self._parts.over(self._rules.words(text))

    def sentences(self, text: str) -> Iterable[tuple[int, int]]:
        """Return the sentences of a paragraph."""
        return self._rules.sentences(text)


def rules_of(directory: Path, load: Callable[[], Model], language: str | None = None) -> TextRules:
    """Return the rules for a language or, if none is given, those of the model in a directory. Rules for the
    model's own language use what it has learned about words. Raises ModelError.

    load: loads this model; called only if its pipeline cuts text
    """
    model = read_model_settings(directory)
    cuts = load_cuts(directory / CUTS) if language in (None, model.language) else None
    language = language or model.language
    if language in WITHOUT_BLANKS:
        return _learned(cuts, language, directory)
    if language:
        rules = language_rules(language)
    elif model.dparser in DPARSERS and DPARSERS[model.dparser].text:
        return load().dparser.rules()
    else:
        rules = PennRules(load_abbreviations(directory / ("tagger" if model.tagger else "dparser")))
    return PartRules(rules, cuts) if isinstance(cuts, WordParts) else rules


def _learned(cuts: object, language: str, directory: Path) -> TextRules:
    """Return a model's learned rules for a language without blanks. Raises ModelError if it has none."""
    name = f"--language {language}"
    if not isinstance(cuts, WordCuts):
        raise ModelError(f"{name}: {directory} has not learned its words; train a model with {name}")
    with needing(f"{name}:", "spacy"):
        from d2c.dparsers.spacy.pipeline import SpacyRules, pipeline_of_words
    return SpacyRules(pipeline_of_words(cuts.words))


def language_rules(language: str) -> TextRules:
    """Return spaCy's rules for a language that is written with blanks (`de`, `is`, ...); those for Indonesian
    cut at all hyphens. Raises ModelError where spaCy or its rules are missing."""
    name = f"--language {language}"
    with needing(f"{name}:", "spacy"):
        from d2c.dparsers.spacy.pipeline import SpacyRules  # first: it imports spaCy without torch

        # isort: split
        import spacy
    with loading(name, "spaCy has no rules"):  # some languages need packages of their own
        if not _CODE.fullmatch(language):
            raise ModelError(f"{name}: a language is two or three small letters, as de or zh")
        if language == _INDONESIAN:
            from d2c.dparsers.spacy.indonesian import HyphensCut

            return SpacyRules(HyphensCut())
        return SpacyRules(spacy.blank(language))
