"""What can be tried: settings of `d2c train`, and their values where nobody names any.

Another one is a row of TUNABLE, if it is a field of `TrainingSpec` and an option of `d2c train`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from d2c.tables.pad_tuning import GAMMAS, PENALTIES
from d2c.training.routes import ROUTES
from d2c.trees.binarization import BINARIZATIONS, GRAMMARS
from d2c.trees.refinement import REFINEMENTS

Settings = Mapping[str, Any]  # by the names of TUNABLE


class Tunable(NamedTuple):
    """A setting.

    routes:  for which it means something
    values:  that are tried; none where the user has to name them, as they are not known or take long
    matters: whether it means something beside others
    """

    routes: tuple[str, ...]
    values: tuple[Any, ...] = ()
    matters: Callable[[Settings], bool] = lambda settings: True


_ALL, _CHARTS = tuple(ROUTES), ("cky", "combined")
TUNABLE = {  # what changes most comes first; it is what a few trials see
    "head_rules": Tunable(_ALL),
    "epochs": Tunable(_ALL),
    "folds": Tunable(("labeler", *_CHARTS)),
    "encoding": Tunable(("reduction", "labeler", "combined"), ("direct", "delta")),
    "penalty": Tunable(_CHARTS, PENALTIES),
    "labels": Tunable(("cky",), (True,), lambda settings: settings["folds"] is not None),
    "grammar": Tunable(_CHARTS, tuple(GRAMMARS)),
    "symbols": Tunable(_CHARTS, tuple(REFINEMENTS)),
    "binarization": Tunable(_CHARTS, tuple(BINARIZATIONS)),
    "max_unaries": Tunable(_CHARTS, (2, 3, 4)),
    "pruning": Tunable(_CHARTS, ("none", "1", "2", "1+2")),
    "gamma": Tunable(_CHARTS, GAMMAS, lambda settings: "2" in settings["pruning"]),
}


def of_route(route: str) -> dict[str, Tunable]:
    """Those that mean something for a route."""
    return {name: row for name, row in TUNABLE.items() if route in row.routes}
