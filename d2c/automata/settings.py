"""The settings of the d-parser `transition`, apart from numba, for which the command line need not wait."""

from __future__ import annotations

from dataclasses import dataclass

from d2c.base.settings import Settings, setting
from d2c.protocols.settings import PRESETS, shared


@dataclass(frozen=True, kw_only=True)
class TransitionSettings(Settings):
    """How the parser learns and searches.

    system: standard, or eager: heads on the left are chosen before their dependents have dependents
    search: greedy, or exact: the best of all trees that are made of actions which are not too improbable
            (`d2c.automata.exact`), many times as slow
    preset: default (10 passes over the training treebank) or small (4)
    epochs: so many passes instead, rounded up
    seed:   same seed, same model: of the order of sentences
    """

    system: str = setting("standard", choices=("standard", "eager"))
    search: str = setting("greedy", choices=("greedy", "exact"))
    preset: str = setting("default", choices=PRESETS)
    epochs: float | None = shared("epochs")
    seed: int = shared("seed")
