"""Fits the confidences of models that are there anew, as `scripts/build_models.py` fits them.

    python scripts/models/confidences.py MODEL... [--treebanks DIR] [--checkpoints DIR]

No network is trained: the model parses the trees that its recipe holds out, and a new calibration is fitted
to that (`d2c.models.calibration`). Checkpoints: the folder where a build keeps lessons.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # run as a program, its neighbours are elsewhere

import click

from benchmarks.shared import say
from d2c.base.errors import FormatError, ModelError
from d2c.models.names import find
from models.build import recalibrate
from models.recipes import RECIPES
from treebanks.files import folder


@click.command()
@click.argument("names", metavar="MODEL...", nargs=-1, required=True)
@click.option("--treebanks", type=click.Path(path_type=Path), help="Their folder.  [default: $D2C_TREEBANKS]")
@click.option("--checkpoints", type=click.Path(path_type=Path), help="Folder where lessons are kept.")
def main(names: tuple[str, ...], treebanks: Path | None, checkpoints: Path | None) -> None:
    """Fit the confidences of models anew."""
    for name in names:
        directory = find(name)
        try:
            recalibrate(RECIPES[directory.name], directory, treebanks or folder(), say, checkpoints)
        except (FormatError, ModelError) as error:
            sys.exit(f"{name}: {error}")


if __name__ == "__main__":
    main()
