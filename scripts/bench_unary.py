"""Quality and speed of the recovery of unary nodes on CRAFT, given gold unaryless trees.

D2C_TREEBANKS=../shared/treebanks python scripts/bench_unary.py
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from d2c.reduction.unary.classifier import UnaryClassifier  # noqa: E402
from d2c.trees.ctree import CTree  # noqa: E402
from d2c.trees.formats.brackets import read_brackets  # noqa: E402
from d2c.trees.scores.brackets import bracket_scores  # noqa: E402
from d2c.trees.unaries import Chain, restore_unaries, strip_unaries  # noqa: E402

BATCH = 500
REPEATS = 5  # the fastest counts


def main() -> int:
    """Fits on the training part, predicts the development part, prints one figure per line."""
    folder = Path(os.environ.get("D2C_TREEBANKS", ROOT / "../shared/treebanks"))
    files = [folder / f"craft-{part}.mrg.gz" for part in ("train", "dev")]
    missing = [str(file) for file in files if not file.is_file()]
    if missing:
        print(f"bench_unary: {missing[0]} is missing; set D2C_TREEBANKS", file=sys.stderr)
        return 1
    train, dev = (list(read_brackets(file, clean=True)) for file in files)
    began = perf_counter()
    classifier = UnaryClassifier().fit(train)
    print(f"fit                {perf_counter() - began:8.1f} s, {len(train)} sentences")
    bare = [strip_unaries(ctree)[0] for ctree in dev]
    seconds, chains = min((predict(classifier, bare) for _ in range(REPEATS)), key=lambda run: run[0])
    print(f"predict            {sum(len(ctree.tokens) for ctree in dev) / seconds:8.0f} tokens/s")
    score = bracket_scores(dev, map(restore_unaries, bare, chains))
    print(f"EVALB F1           {score.f1:8.2f}")
    print(f"exact match        {score.complete_match:8.2f} %")
    print(f"classes            {len(classifier.chains_):8d}")
    print(f"candidates a node  {mean_candidates(train, bare):8.2f}")
    with tempfile.TemporaryDirectory() as directory:
        classifier.save(Path(directory))
        size = sum(file.stat().st_size for file in Path(directory).iterdir())
    memory = classifier.weights_.nbytes
    print(f"model              {size / 1e6:8.1f} MB on disk, {memory / 1e6:.1f} MB of weights")
    return 0


def predict(classifier: UnaryClassifier, bare: list[CTree]) -> tuple[float, list[list[Chain]]]:
    """Seconds, and the chains of all trees."""
    began = perf_counter()
    chains = [
        one for begin in range(0, len(bare), BATCH) for one in classifier.predict(bare[begin : begin + BATCH])
    ]
    return perf_counter() - began, chains


def mean_candidates(train: list[CTree], bare: list[CTree]) -> float:
    """Mean number of classes among which the nodes of `bare` choose."""
    candidates: dict[tuple[bool, str], set[Chain]] = {}
    for ctree, chains in map(strip_unaries, train):
        for key, chain in zip(keys(ctree), chains, strict=True):
            candidates.setdefault(key, {()}).add(chain)
    counts = [len(candidates.get(key, ((),))) for ctree in bare for key in keys(ctree)]
    return sum(counts) / len(counts)


def keys(ctree: CTree) -> list[tuple[bool, str]]:
    """What chooses the candidates of each node: phrase or not, and the symbol."""
    return [(False, tag) for tag in ctree.tokens.tags] + [(True, label) for label in ctree.labels]


if __name__ == "__main__":
    sys.exit(main())
