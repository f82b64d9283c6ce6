"""The settings of linear models. They do not import numba, so commands that only read them are fast."""

from __future__ import annotations

from dataclasses import dataclass

from d2c.base.settings import MOST_PASSES, Settings, seed_setting, setting
from d2c.learning.weights import MOST_BITS


@dataclass(frozen=True, kw_only=True)
class LearnerSettings(Settings):
    """How a linear model learns; models derive from this and have defaults of their own."""

    epochs: int = setting(10, "Passes over the treebank.", least=0, most=MOST_PASSES)
    rate: float = setting(0.05, "Learning rate of AdaGrad.", above=0, most=1_000)
    penalty: float = setting(0.0, "L1 penalty of AdaGrad.", least=0, most=1_000)
    table_bits: int = setting(
        22, "The model has 2^this weights, which hashed features share.", least=1, most=MOST_BITS
    )
    seed: int = seed_setting("Of the order of sentences; same seed, same model.")
