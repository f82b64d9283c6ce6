"""Builds the models that have names, each with its card: `en`, which comes with d2c, and others.

    python scripts/build_models.py [NAME...] [-o DIR] [--treebanks DIR] [--checkpoints DIR] [--anew PART]

Without names, all that are not in the directory yet, in an order in which each finds what it goes on from,
and its teachers: after a kill the same command goes on. `d2c models` lists them where $D2C_MODELS names the
directory. Reads $D2C_TREEBANKS (default ../shared/treebanks).

With --anew, of models that are there already one part is made again, and no network is trained. confidences:
the model parses the trees that its recipe holds out, and a new calibration is fitted to that
(`d2c.models.calibration`). files: they are written as models are kept now, and the model is scored again.
card: with what the recipe says now of data, ablation and what other scripts measured, and the size; all else
stays as it was when the model was built.
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
from models.recipes import RECIPES
from treebanks.files import folder


@click.command()
@click.argument("names", nargs=-1, type=click.Choice([*RECIPES]))
@click.option("--treebanks", type=click.Path(path_type=Path), help="Their folder.  [default: $D2C_TREEBANKS]")
@click.option("-o", "--output", type=click.Path(path_type=Path), default="models", show_default=True)
@click.option("--checkpoints", type=click.Path(path_type=Path), help="Folder from which training goes on.")
@click.option(
    "--anew", type=click.Choice(["confidences", "files", "card"]), help="Make only this part again."
)
def main(
    names: tuple[str, ...], treebanks: Path | None, output: Path, checkpoints: Path | None, anew: str | None
) -> None:
    """Build models into directories of their names; without names, all that are not there yet."""
    for name in names or (name for name in RECIPES if is_model(output / name) == bool(anew)):
        recipe, directory, place = RECIPES[name], output / name, treebanks or folder()
        try:
            if anew == "card":
                renew(directory, recipe)
            elif anew == "files":
                rewrite(recipe, directory, place)
            elif anew:
                recalibrate(recipe, directory, place, say, checkpoints)
            else:
                build(recipe, place, directory, say, checkpoints)
        except (FormatError, ModelError) as error:
            sys.exit(f"{name}: {error}")


if __name__ == "__main__":
    main()
