"""Digests of what d2c trains and parses: whether a change of the code leaves weights and trees as they were.

    python scripts/frozen.py [OTHER_PYTHON] [--rows reduction,en]

OTHER_PYTHON is the Python of another environment; where its digest differs, it is printed, too, and the exit
status is 1. Five small models learn from the first sentences of CRAFT and parse the first ones of its dev
part; the digests are of the arrays in the model's files, and of the trees. `compare`: the table of
`d2c compare` on the bundled sample. `en`, `en-small`: trees of the first 500 sentences of each English dev
part. Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from hashlib import sha256
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import numpy as np

from benchmarks.shared import names_option
from treebanks.files import folder
from treebanks.second import texts_of_trees

LEARNED, PARSED, GIVEN = 300, 60, 500  # sentences
SMALL = ("--preset", "small", "--seed", "3")
# The rows whose models are trained, and how.
TRAINED = {
    "reduction": "--route reduction --encoding delta --dparser transition",
    "labeler": "--route labeler --dparser transition:eager;exact --arcs packed --jackknife 2",
    "cky": "--route cky --dparser transition:standard;exact --arcs packed --jackknife 2 --chart-epochs 2 "
    "--grammar closed --binarization markovized --pruning 1 --table-bits 18",
    "combined": "--route combined --dparser spacy --tagger spacy --tags predicted --jackknife 2 "
    "--table-bits 18",
    "stanza": "--route reduction --encoding spine --dparser stanza:graph --epochs 2 --tagger spacy",
}
MODELS = ("en-small", "en")
ENGLISH = ("craft", "genia", "gum", "masc")
SCORES = 9  # columns of a row of `d2c compare` that hold names and scores; times follow
LEAF = re.compile(r"\(([^\s()]+) +([^\s()]+)\)")
ROWS = (*TRAINED, "compare", *MODELS)


@click.command()
@click.argument("other_python", required=False)
@names_option("--rows", ROWS, ",".join(ROWS))
def main(other_python: str | None, rows: list[str]) -> None:
    """Print a line for each digest."""
    pythons, same = [sys.executable, *([other_python] if other_python else [])], True
    with ExitStack() as stack:
        places = [Path(stack.enter_context(TemporaryDirectory())) for _ in pythons]
        for row in rows:
            of_each = (digests(python, row, place) for python, place in zip(pythons, places, strict=True))
            for found in zip(*of_each, strict=True):
                different = dict.fromkeys(digest for _, digest in found)
                same &= len(different) == 1
                print(row, found[0][0], *different, flush=True)
    sys.exit(not same)


def digests(python: str, row: str, place: Path) -> Iterable[tuple[str, str]]:
    """Yield the names and digests of what a row compares."""
    d2c = [python, "-P", "-m", "d2c"]
    if row in MODELS:
        for name in ENGLISH:
            given = write_first(f"{name}-dev", GIVEN, place)
            words = place / f"{name}.txt"
            words.write_text("".join(map(words_of, given.read_text("utf-8").splitlines())), "utf-8")
            yield name, digest_of(run([*d2c, "parse", row, words, "--tokenized"]))
    elif row == "compare":
        report = place / "report.html"
        printed = run([*d2c, "compare", "--seed", "3", "--report", report])
        yield "table", digest_of(without_times(printed.decode()).encode())
    else:
        train, dev = write_first("craft-train", LEARNED, place), write_first("craft-dev", PARSED, place)
        model = place / row
        run([*d2c, "train", train, "--dev", dev, *SMALL, *TRAINED[row].split(), "-o", model])
        yield "weights", digest_of_arrays(model)
        encoded = place / "dev.conllu"
        run([*d2c, "encode", dev, "-o", encoded])
        yield "trees", digest_of(run([*d2c, "parse", model, encoded]))


def without_times(table: str) -> str:
    """Return what `d2c compare` prints of scores: rows up to the number of repairs, and no seconds."""
    lines = (line.split() for line in table.splitlines())
    return "\n".join(" ".join(line[:SCORES]) for line in lines if "trained" not in line)


def write_first(part: str, sentences: int, place: Path) -> Path:
    """Write the first trees of a treebank's part, one a line."""
    written = place / f"{part}-{sentences}.mrg"
    texts = islice(texts_of_trees(folder() / f"{part}.mrg.gz"), sentences)
    lines = (" ".join(map(str.strip, text.split("\n"))).strip() for text in texts)
    written.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return written


def words_of(tree: str) -> str:
    """Return a line of the words of a tree."""
    return " ".join(word for tag, word in LEAF.findall(tree) if tag != "-NONE-") + "\n"


def run(command: list[Any]) -> bytes:
    """Return the standard output of a command. Raises CalledProcessError."""
    return subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, check=True).stdout


def digest_of(text: bytes) -> str:
    """Return the first digits of the digest."""
    return sha256(text).hexdigest()[:16]


def digest_of_arrays(directory: Path) -> str:
    """Return the digest of all numbers in the files of a model, whatever else the files say."""
    digest = sha256()
    for path in sorted(directory.rglob("*")):
        if path.suffix == ".npz":
            with np.load(path) as arrays:
                for name in sorted(arrays.files):
                    digest.update(name.encode() + arrays[name].tobytes())
        elif path.suffix in (".safetensors", ".pt"):
            digest.update(digest_of_tensors(path))
    return digest.hexdigest()[:16]


def digest_of_tensors(path: Path) -> bytes:
    """Return the digest of a file of torch's or safetensors' tensors."""
    import torch
    from safetensors.numpy import load_file

    digest = sha256()
    if path.suffix == ".safetensors":
        for name, array in sorted(load_file(path).items()):
            digest.update(name.encode() + array.tobytes())
        return digest.digest()
    held = [("", torch.load(path, weights_only=True, map_location="cpu"))]
    while held:
        name, value = held.pop()
        if isinstance(value, dict):
            held += [(f"{name}/{key}", value[key]) for key in sorted(value, key=str, reverse=True)]
        elif isinstance(value, torch.Tensor):
            digest.update(name.encode() + value.float().numpy().tobytes())
    return digest.digest()


if __name__ == "__main__":
    main()
