"""The treebanks of the benchmarks, each said once: its files, language, head rules and format.

They are found by $D2C_TREEBANKS (default ../shared/treebanks) and read as `d2c train` reads them: brackets
without traces and function tags.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import click

from d2c.base.errors import Refusals
from d2c.treebanks.reading import Reading
from d2c.trees.ctree import CTree
from d2c.trees.formats.treebanks import read_treebank

REPOSITORY = Path(__file__).resolve().parents[2]
PARTS = ("train", "dev")


def folder() -> Path:
    """Where the treebanks are, if they are anywhere."""
    return Path(os.environ.get("D2C_TREEBANKS", REPOSITORY.parent / "shared" / "treebanks"))


@dataclass(frozen=True)
class Treebank:
    """One treebank in two files.

    file:        its name, with {} for the part
    head_rules:  its head table
    format_name: its format, where the file's name does not say it
    marked:      whether it marks head children itself
    traces:      whether it has traces, to which antecedents can be moved
    """

    language: str
    file: str
    head_rules: str
    format_name: str | None = None
    marked: bool = False
    traces: bool = False

    def path(self, part: str) -> Path:
        """The file of a part. Raises ClickException where it is absent."""
        path = folder() / self.file.format(part)
        if not path.is_file():
            raise click.ClickException(f"{path}: no such file; set D2C_TREEBANKS to the treebanks' folder")
        return path

    def trees(self, part: str, limit: int | None = None, traces: bool = False) -> Iterator[CTree]:
        """The first trees of a part, or all."""
        return islice(read_treebank(self.path(part), self.format_name, clean=True, traces=traces), limit)


TREEBANKS = {
    "alpino": Treebank("dutch", "alpino-{}.xml.gz", "dutch", marked=True),
    "pcc": Treebank("german", "pcc-{}.tiger.xml.gz", "german"),
    "craft": Treebank("english", "craft-{}.mrg.gz", "collins", traces=True),
    "icon": Treebank("indonesian", "icon-{}.mrg.gz", "indonesian"),
    "icepahc": Treebank("icelandic", "icepahc-{}.psd.gz", "icelandic", traces=True),
    "floresta": Treebank("portuguese", "floresta-{}.ptb.gz", "portuguese", "floresta"),
    "sinica": Treebank("chinese", "sinica-{}.txt.gz", "sinica", "sinica", marked=True),
}
CRAFT = TREEBANKS["craft"]


@dataclass(frozen=True)
class First(Reading):
    """Reads only the first trees of the files in `limits`."""

    limits: Mapping[Path, int] = field(default_factory=dict)

    def __call__(self, path: Path, refusals: Refusals | None = None) -> Iterator[CTree]:
        """The trees."""
        return islice(super().__call__(path, refusals), self.limits.get(path))
