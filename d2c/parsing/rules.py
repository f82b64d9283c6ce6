"""What cuts text: rules for a language, what a model has learned of its words, the pipeline of a model, or
rules for English."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from d2c.base.errors import ModelError, needing
from d2c.models.model import Model, load_abbreviations, load_cuts, read_model_settings
from d2c.models.word_cuts import WITHOUT_BLANKS
from d2c.parsing.text import PennRules
from d2c.protocols.directories import loading
from d2c.protocols.dparser import TextRules
from d2c.routes.dparsers import DPARSERS

_CODE = re.compile("[a-z]{2,3}")
_INDONESIAN = "id"


def rules_of(directory: Path, load: Callable[[], Model], language: str | None = None) -> TextRules:
    """Return the rules for a language; where none is given, those of the model in a directory. Raises
    ModelError.

    load: loads this model, which is done only where its pipeline cuts text
    """
    model = read_model_settings(directory)
    if language := language or model.language:
        return _learned(directory, language) if language in WITHOUT_BLANKS else language_rules(language)
    if model.dparser in DPARSERS and DPARSERS[model.dparser].text:
        return load().dparser.rules()
    return PennRules(load_abbreviations(directory / ("tagger" if model.tagger else "dparser")))


def _learned(directory: Path, language: str) -> TextRules:
    """Return what a model has learned of the words of its language, which is written without blanks."""
    name = f"--language {language}"
    if read_model_settings(directory).language != language or (cuts := load_cuts(directory)) is None:
        raise ModelError(f"{name}: {directory} has not learned its words; train a model with {name}")
    with needing(f"{name}:", "spacy"):
        from d2c.dparsers.spacy.pipeline import SpacyRules, pipeline_of_words
    return SpacyRules(pipeline_of_words(cuts.words))


def language_rules(language: str) -> TextRules:
    """Return spaCy's rules for a language that is written with blanks (`de`, `is`, ...), in Indonesian with
    all hyphens cut. Raises ModelError where they cannot be had."""
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
