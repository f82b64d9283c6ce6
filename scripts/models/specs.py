"""What `scripts/build_models.py` trains: a tagger in few passes, jackknifed in few parts."""

from __future__ import annotations

from dataclasses import dataclass

from d2c.training.spec import TrainingSpec
from d2c.training.tagging import Tagging


@dataclass(frozen=True)
class BuildSpec(TrainingSpec):
    """A `TrainingSpec` whose tagger has its own number of passes and of folds.

    With a million words, ten folds of ten passes would take days.
    """

    tagger_epochs: float | None = None
    tagger_folds: int = 2

    @property
    def tagging(self) -> Tagging | None:
        """How models come by their tagger."""
        made = super().tagging
        if made is None:
            return None
        parameters = {**made.parameters, "epochs": self.tagger_epochs}
        return Tagging(made.name, parameters, self.tagger_folds if made.folds else 0, made.head_rules)
