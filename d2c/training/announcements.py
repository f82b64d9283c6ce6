"""What training says before hours of work: what is trained, on how much, and whether that is wise here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from d2c.base.progress import counted, log
from d2c.training.spec import TrainingSpec
from d2c.trees.dtree import DTree


def announce(spec: TrainingSpec) -> None:
    """Says what is trained; nothing large is imported for it."""
    tagger = f"tagger {spec.tagger}, " if spec.tagger else ""
    routes = f"route{'s' * (len(spec.routes) > 1)} {', '.join(spec.routes)}"
    trained = f"{tagger}d-parser {spec.dparser_name}, {routes}"
    preset = f"finetune of {spec.transformer}" if spec.transformer else spec.preset
    log.info("training on %s, choosing on %s: %s; preset %s", spec.train, spec.dev, trained, preset)


def warn_of_presets(estimators: Iterable[object]) -> None:
    """Says of d-parsers and taggers whose preset is made for GPUs that there is a smaller one."""
    if any(getattr(one, "misses_gpu", False) for one in estimators):
        log.info("the default preset is made for GPUs, and this is none; take --preset small on a CPU")


def described(dtrees: Iterable[DTree], treebank: Path) -> Iterator[DTree]:
    """Hands the d-trees of a treebank on, and says in the end how large it is."""
    sentences = words = 0
    labels = set[str]()
    for dtree in counted(dtrees, f"reading {treebank}"):
        sentences, words = sentences + 1, words + len(dtree.heads)
        labels.update(dtree.labels or ())
        yield dtree
    log.info("%s", f"{treebank}: {sentences:,} sentences, {words:,} words, {len(labels):,} labels of arcs")
