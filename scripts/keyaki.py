"""The part of the Keyaki Treebank (Japanese) whose texts are free, as two files for training.

    git clone https://github.com/ajb129/KeyakiTreebank
    python scripts/keyaki.py KeyakiTreebank -o DIR

Writes keyaki-train.psd.gz and keyaki-dev.psd.gz. The annotation is CC BY 4.0; each text has its own terms, in
the treebank's `metadata/`: kept are texts in the public domain or under a Creative Commons licence that
allows commercial use. Blocks of 50 sentences are numbered from 0; blocks 7, 17, 27, ... are dev, 3, 13, 23,
... are left out for tests. Labels lose what stands behind `;` (`NP;*SBJ*`: what it goes with), words lose
the readings in them (`村外（はず）れ`).
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import click

from d2c.base.batches import batches

_FREE = re.compile(r"^terms of use: (?:Public domain|Creative Commons(?!.*Non-Commercial))", re.MULTILINE)
_BLOCK = 50
_GOES_WITH = re.compile(r"(?<=\()([^\s();]+);[^\s()]*(?= )")
_READING = re.compile(r"(?<=[^\s(])（[ぁ-ゖァ-ヺー]+）")


def free_texts(treebank: Path) -> list[Path]:
    """Return the files of trees whose texts are free, in order."""
    terms = {file.stem: file.read_text(encoding="utf-8") for file in (treebank / "metadata").glob("*.txt")}
    return [
        file
        for file in sorted((treebank / "treebank").glob("*.psd"))
        if _FREE.search(terms.get(file.stem, ""))
    ]


def trees(file: Path) -> Iterator[str]:
    """Yield the text of each tree."""
    for text in re.split(r"\n\s*\n", file.read_text(encoding="utf-8").strip()):
        yield _READING.sub("", _GOES_WITH.sub(r"\1", text)) + "\n"


@click.command()
@click.argument("treebank", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), default=".", show_default=True)
def main(treebank: Path, output: Path) -> None:
    """Write train and dev of a clone of the Keyaki Treebank."""
    output.mkdir(parents=True, exist_ok=True)
    texts = (tree for file in free_texts(treebank) for tree in trees(file))
    parts = list[str](), list[str]()
    for number, block in enumerate(batches(texts, _BLOCK)):
        if number % 10 != 3:
            parts[number % 10 == 7].extend(block)
    for name, part in zip(("train", "dev"), parts, strict=True):
        with gzip.open(output / f"keyaki-{name}.psd.gz", "wt", encoding="utf-8") as stream:
            stream.writelines(part)


if __name__ == "__main__":
    main()
