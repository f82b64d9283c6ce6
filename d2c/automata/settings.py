"""The settings of the d-parser `transition`, without numba, so that the command line need not wait for it."""

from __future__ import annotations

from dataclasses import dataclass

from d2c.base.settings import Settings, setting
from d2c.protocols.settings import PRESETS, shared


@dataclass(frozen=True, kw_only=True)
class TransitionSettings(Settings):
    """How the parser learns and searches.

    system: standard, or eager: a token chooses a head on its left before it takes its own right dependents
    search: greedy, or exact: the best of all trees that are built by actions which are not too improbable
            (`d2c.automata.exact`), many times slower
    preset: default (10 passes over the training treebank) or small (4)
    epochs: so many passes instead, rounded up
    seed:   of the order of sentences: same seed, same model
    """

    system: str = setting("standard", choices=("standard", "eager"))
    search: str = setting("greedy", choices=("greedy", "exact"))
    preset: str = setting("default", choices=PRESETS)
    epochs: float | None = shared("epochs")
    seed: int = shared("seed")
