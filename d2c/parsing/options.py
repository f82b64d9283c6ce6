"""How sentences are parsed: the options that `d2c parse`, `d2c corpus` and `d2c.load` share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from d2c.base.batches import WORDS
from d2c.base.settings import Settings, setting
from d2c.models.model import ARCS

TAGGED, JSON = "conllu", "json"
TEXTS = ("text", "tokenized", "split")
INPUTS = (TAGGED, *TEXTS, JSON)
# Endings of the names of files
TAGGED_NAMES, TEXT_NAMES, JSON_LINES = (".conllu", ".conll"), (".txt", ".text"), (".json", ".jsonl")
_CALLED = {"format_name": "format"}  # options whose names differ from those of their settings
_KINDS = {TAGGED: "CoNLL-U", "text": "a sentence on each line"}  # which `corpus` has no options for
_FOLLOW = ("ctrees", "confidences")  # settings that follow from others
CUT = "sentence cut into pieces"  # its name among the counts of repairs
_OF_MODEL = ("device", "parse_command", "allow_pipeline", "timeout", "arcs")


@dataclass(frozen=True, kw_only=True)
class ParseOptions(Settings):
    """What the input is, how the model is loaded, and what is wanted of each sentence.

    kind:        the kind of input, a key of `d2c.parsing.input.KINDS`
    ctrees:      whether c-trees are wanted beside d-trees; confidences: whether those of their nodes are, too
    functions:   whether function tags are added to labels
    device, parse_command, allow_pipeline, timeout, arcs: as for `Model.load`
    """

    kind: str = setting(TAGGED, choices=INPUTS)
    language: str | None = None
    ctrees: bool = True
    confidences: bool = False
    min_confidence: float = setting(
        0.0,
        "Remove constituents with less confidence than this; their children move up. The root stays.",
        least=0,
        most=1,
    )
    functions: bool = setting(False, "Add function tags to labels (NP-SBJ, PP-TMP), if the model has them.")
    best: int = setting(
        1,
        "Write up to K c-trees of each sentence, with their probabilities, as JSON lines.",
        metavar="K",
        least=1,
    )
    batch_size: int = setting(
        512,
        f"The most sentences parsed and written at once; fewer if they average more than {WORDS} words.",
        metavar="SENTENCES",
        least=1,
    )
    max_words: int = setting(
        200, "A longer sentence is parsed in pieces under one root.", metavar="WORDS", least=8
    )
    device: str | None = setting(None, "The device to parse on: cpu, cuda, ...  [default: cuda if available]")
    parse_command: str | None = setting(
        None, "The command with which a d-parser `cmd` parses; models do not store it."
    )
    allow_pipeline: str | None = setting(
        None,
        "Load this pipeline (spacy:NAME or stanza:LANGUAGE), which may run code of its own.",
        metavar="NAME",
    )
    timeout: float | None = setting(None, above=0)
    arcs: str | None = setting(None, choices=ARCS)

    @property
    def of_model(self) -> dict[str, Any]:
        """Return the arguments of `Model.load` except the directory."""
        return {name: getattr(self, name) for name in _OF_MODEL}


def told_changes(changes: Mapping[str, tuple[Any, Any]]) -> str:
    """Return in words which options an output was made with that differ now: `with --best 3 (now 5)`."""
    told = (_told(name, *values) for name, values in changes.items() if name not in _FOLLOW)
    return ", ".join(told) or "with other settings"


def _told(name: str, before: Any, now: Any) -> str:
    if name == "model":
        return "with another model"
    if name == "kind":
        return f"with {_KINDS.get(before, f'--{before}')} (now {_KINDS.get(now, f'--{now}')})"
    option = name if name in ("d2c", "pyarrow") else f"--{_CALLED.get(name, name).replace('_', '-')}"
    then = f"with {option}{'' if before is True else f' {before}'}" if before else f"without {option}"
    return f"{then} (now {'with' if now is True else now or 'without'})"
