"""What cuts text: rules for a language, the pipeline of a model, or rules for English."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from d2c.base.errors import ModelError, needing
from d2c.models.model import Model, load_abbreviations, read_model_settings
from d2c.parsing.text import PennRules
from d2c.protocols.directories import loading
from d2c.protocols.dparser import TextRules
from d2c.routes.dparsers import DPARSERS

_CODE = re.compile("[a-z]{2,3}")
_INDONESIAN = "id"
_JAPANESE = "ja"  # is cut by SudachiPy, whose longest words are most like those of treebanks
_SUDACHI = {"nlp": {"tokenizer": {"split_mode": "C"}}}
_SUDACHI_TAKES = 49_149 // 4  # characters: so many bytes of UTF-8


def rules_of(directory: Path, load: Callable[[], Model], language: str | None = None) -> TextRules:
    """Return the rules for a language; where none is given, those of the model in a directory. Raises
    ModelError.

    load: loads this model, which is done only where its pipeline cuts text
    """
    model = read_model_settings(directory)
    if language := language or model.language:
        return language_rules(language)
    if model.dparser in DPARSERS and DPARSERS[model.dparser].text:
        return load().dparser.rules()
    return PennRules(load_abbreviations(directory / ("tagger" if model.tagger else "dparser")))


def language_rules(language: str) -> TextRules:
    """Return spaCy's rules for a language (`de`, `zh`, ...), in Indonesian with all hyphens cut. Raises
    ModelError where they cannot be had."""
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
        if language != _JAPANESE:
            return SpacyRules(spacy.blank(language))
        with needing(f"{name}:", "japanese"):
            import_module("sudachipy")
        return SpacyRules(spacy.blank(language, config=_SUDACHI), _SUDACHI_TAKES)
