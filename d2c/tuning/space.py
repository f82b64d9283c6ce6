"""What can be tried: settings of `d2c train`, and their values where nobody names any.

Another one is a row of TUNABLE, if it is a field of `TrainingSpec` and an option of `d2c train`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from d2c.models.arcs import ARCS
from d2c.routes.registry import ROUTES
from d2c.trees.binarization import BINARIZATIONS, GRAMMARS
from d2c.trees.refinement import REFINEMENTS

PENALTIES = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)  # λ of PAD's section 6
GAMMAS = (0.75, 0.85, 0.95, 0.99)  # γ of pruning by its method 2
Settings = Mapping[str, Any]  # by the names of TUNABLE


class Tunable(NamedTuple):
    """A setting.

    values:  that are tried; none where the user has to name them, as they are not known or take long
    matters: whether it means something beside others
    """

    values: tuple[Any, ...] = ()
    matters: Callable[[Settings], bool] = lambda settings: True


_OF_ALL = ("head_rules", "epochs")
TUNABLE = {  # what changes most comes first; it is what a few trials see
    "head_rules": Tunable(),
    "epochs": Tunable(),
    "folds": Tunable(),
    "encoding": Tunable(("direct", "delta")),
    "arcs": Tunable(ARCS),
    "penalty": Tunable(PENALTIES),
    "chart_epochs": Tunable((3, 5, 8)),
    "table_bits": Tunable((20, 22, 24)),
    "labels": Tunable((True,), lambda settings: settings["folds"] is not None),
    "grammar": Tunable(tuple(GRAMMARS)),
    "symbols": Tunable(tuple(REFINEMENTS)),
    "binarization": Tunable(tuple(BINARIZATIONS)),
    "max_unaries": Tunable((2, 3, 4)),
    "pruning": Tunable(("none", "1", "2", "1+2")),
    "gamma": Tunable(GAMMAS, lambda settings: "2" in settings["pruning"]),
}


def of_route(route: str) -> dict[str, Tunable]:
    """Those that mean something for a route."""
    meant = {*_OF_ALL, *ROUTES[route].settings}
    return {name: row for name, row in TUNABLE.items() if name in meant}
