"""Builds the models that have names, each with its card: `en`, which comes with d2c, and others.

    python scripts/build_models.py [NAME...] [-o DIR] [--treebanks DIR] [--anew PART]

Builds the models that are named, those that they need, and those that they teach; without names, all. What is
in the directory already stays. After a kill the same command goes on where it was: DIR/kept has checkpoints,
silver trees, and for each model what was said, which its card repeats. `d2c models` lists the models where
$D2C_MODELS names the directory. Reads $D2C_TREEBANKS (default ../shared/treebanks).

    python scripts/build_models.py en

makes `en` in four steps: a converter of UD trees (`en-ud`); a teacher, which learns from treebanks alone
(`en-teacher`); silver trees, on which the teacher, the converter and spaCy's parser vote; and `en`, which
learns from all. Then `en` teaches `en-small`.

With --anew, one part of existing models is made again, and no network is trained. confidences: the model
parses the trees that its recipe holds out, and a new calibration is fitted to that
(`d2c.models.calibration`). files: they are written in the format of today, and the model is scored again.
card: it gets what the recipe says now of data, ablation and what other scripts measured, and the size; all
else stays as it was when the model was built.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from benchmarks.shared import say
from d2c.base.errors import FormatError, ModelError
from d2c.models.names import is_model
from models.build import build, recalibrate, rewrite
from models.cards import renew
from models.recipes import RECIPES, with_others
from treebanks.files import folder


@click.command()
@click.argument("names", nargs=-1, type=click.Choice([*RECIPES]))
@click.option(
    "--treebanks",
    type=click.Path(path_type=Path),
    help="The folder with the treebanks.  [default: $D2C_TREEBANKS]",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), default="models", show_default=True)
@click.option(
    "--anew",
    type=click.Choice(["confidences", "files", "card"]),
    help="Make only this part of existing models again.",
)
def main(names: tuple[str, ...], treebanks: Path | None, output: Path, anew: str | None) -> None:
    """Build models into directories with their names, and also the models that they need or teach. Models
    that are already there are not built again. Without NAMES, build all."""
    names, place = names or tuple(RECIPES), treebanks or folder()
    for name in names if anew else with_others(names):
        recipe, directory = RECIPES[name], output / name
        try:
            if anew == "card":
                renew(directory, recipe)
            elif anew == "files":
                rewrite(recipe, directory, place)
            elif anew:
                recalibrate(recipe, directory, place, say)
            elif not is_model(directory):
                build(recipe, place, directory, say)
        except (FormatError, ModelError) as error:
            sys.exit(f"{name}: {error}")


if __name__ == "__main__":
    main()
