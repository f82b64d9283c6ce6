"""What the tests of the papers' definitions notice: each mutation below must make a test fail.

    python scripts/mutations.py [NAME ...]

Each mutation changes one text in a copy of the tree, in which the named tests run; kernels run there as
Python, so that none is compiled. Prints a line for each: the mutation, and the first test that fails. Ends
with status 1 where a mutation fails none, or a test fails without any.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import click

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("cky", "forests", "linear", "packed", "reduction", "trees")
FOLDERS = (*PACKAGES, "data", "tests")
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)

_LEARNING = "tests/cky/test_learning.py::test_the_"
TEMPLATES, ADAGRAD = "tests/cky/test_templates.py", "tests/linear/test_adagrad.py"
DELTA, ORACLE = f"{_LEARNING}loss_is_the_hamming_distance", f"{_LEARNING}oracle_is_the_nearest_of_all"
SCORE = f"{_LEARNING}score_of_an_edge_is_that_of_its_features"
PENALTY = f"{_LEARNING}penalty_of_training_is_that_of_the_settings"
STEP = "tests/cky/test_learning.py::test_a_step_is_that_of_loss_augmented_decoding"
LABELER, UNARY = "tests/reduction/test_labeler_templates.py", "tests/reduction/test_unary_features.py"


class Mutation(NamedTuple):
    """One change: in a file of the tree, the first place of a text becomes another text."""

    name: str
    file: str
    old: str
    new: str
    tests: str


_FIGURE, _KERNEL, _SVM = "cky/search/templates.py", "cky/search/features.py", "cky/learning/svm.py"
_LOSS, _TRAINING, _ADAGRAD = "cky/search/search.py", "cky/learning/training.py", "linear/adagrad.py"
_ARCS, _SEARCH, _UNARY = (
    *("reduction/labeler/features.py", "reduction/labeler/search.py"),
    "reduction/unary/features.py",
)
MUTATIONS = (
    Mutation("Figure 4 without (rule, x_i-1)", _FIGURE, '"word[i-1]", ', "", TEMPLATES),
    Mutation("Figure 4 without (A, β1, tag(m))", _FIGURE, '("", "tag[m]")', '("",)', TEMPLATES),
    Mutation("Figure 4 without (rule, tag(h), tag(m))", _FIGURE, ', "tag[h] tag[m]"),', "),", TEMPLATES),
    Mutation("Figure 4 with (rule, tag(k))", _FIGURE, '"word[k]", ', '"word[k]", "tag[k]", ', TEMPLATES),
    Mutation(
        "x_i is the word before the span",
        _KERNEL,
        "= i, i - 1, j, j + 1",
        "= i - 1, i - 1, j, j + 1",
        TEMPLATES,
    ),
    Mutation(
        "backoff to A is the rule, in training",
        _KERNEL,
        "slots[features] = (atoms[i] + keys[rule, PARENT])",
        "slots[features] = (atoms[i] + keys[rule, RULE])",
        TEMPLATES,
    ),
    Mutation(
        "backoff to A is the rule, in the search",
        _KERNEL,
        "none, backed_off, parent)",
        "none, backed_off, rule)",
        SCORE,
    ),
    Mutation(
        "the search has no backoff to A", _KERNEL, "total = parents[parent - rules] + ", "total = ", SCORE
    ),
    Mutation("Hamming loss without the split", _LOSS, ' and other["k"] == site["k"]', "", DELTA),
    Mutation(
        "gold parts cost 0: missing ones are free", _LOSS, "loss[edge] = -1.0", "loss[edge] = 0.0", DELTA
    ),
    Mutation("gold parts cost as much as others", _LOSS, "loss[edge] = -1.0", "loss[edge] = 1.0", DELTA),
    Mutation("the oracle is the farthest tree", _LOSS, "scores = -losses", "scores = losses", ORACLE),
    Mutation(
        "decoding in training without loss",
        _SVM,
        "scores[edge] += loss[edge]",
        "scores[edge] += 0.0",
        STEP,
    ),
    Mutation(
        "L1 penalty 0 in cky's training",
        _TRAINING,
        "settings.rate, settings.penalty)",
        "settings.rate, 0.0)",
        PENALTY,
    ),
    Mutation(
        "L1 penalty 0 as cky's default",
        "cky/settings.py",
        "penalty: float = 1e-6",
        "penalty: float = 0.0",
        PENALTY,
    ),
    Mutation(
        "AdaGrad without the penalty",
        _ADAGRAD,
        "each, size = learner.penalty * ",
        "each, size = 0.0 * ",
        ADAGRAD,
    ),
    Mutation(
        "AdaGrad's step without the root",
        _ADAGRAD,
        "* g / np.sqrt(learner.squares[slot])",
        "* g / learner.squares[slot]",
        ADAGRAD,
    ),
    Mutation(
        "the labeler without the POS triplet",
        _ARCS,
        '    "tag triplet": ("tag[h] tag[m] tag[m\']",),\n',
        "",
        LABELER,
    ),
    Mutation("the labeler without w_h p_m p_m'", _ARCS, '"word[h] tag[m] tag[m\']", ', "", LABELER),
    Mutation("the labeler without p_h w_m p_m'", _ARCS, '"tag[h] word[m] tag[m\']", ', "", LABELER),
    Mutation("the labeler without p_h p_m w_m'", _ARCS, ', "tag[h] tag[m] word[m\']"),', "),", LABELER),
    Mutation("the labeler without p_h p_m w_inner", _ARCS, '"tag[h] tag[m] word[inner]", ', "", LABELER),
    Mutation("free labels outward on the left", _SEARCH, "order[i] = lefts - 1 - i", "order[i] = i", LABELER),
    Mutation("unary nodes without the rule beneath", _UNARY, '"rule[node]", ', "", UNARY),
    Mutation(
        "unary nodes without siblings' labels", _UNARY, ', "symbol[left]", "symbol[right]"),', "),", UNARY
    ),
    Mutation(
        "unary nodes without siblings' words", _UNARY, '        *("word[left]", "word[right]"),\n', "", UNARY
    ),
    Mutation(
        "unary nodes without lemmas",
        _UNARY,
        '    "lemma": (40, ("lemma[first]", "lemma[last]", "lemma[left]", "lemma[right]")),\n',
        "",
        UNARY,
    ),
    Mutation("unary nodes without the yield's tags", _UNARY, ', "tag[first]", "tag[last]"),', "),", UNARY),
    Mutation(
        "unary nodes: left is right",
        _UNARY,
        '"left": left, "right": right}',
        '"left": right, "right": right}',
        UNARY,
    ),
)


@click.command()
@click.argument("names", nargs=-1)
def main(names: tuple[str, ...]) -> None:
    """Runs all mutations, or those whose names have one of the texts NAMES in them."""
    chosen = [one for one in MUTATIONS if not names or any(name in one.name for name in names)]
    for one in chosen:
        if one.old not in (ROOT / one.file).read_text(encoding="utf-8"):
            raise click.ClickException(f"{one.file} has no {one.old!r}")
    with tempfile.TemporaryDirectory() as folder:
        tree = copied(Path(folder))
        bad = [
            f"without any: {test}"
            for tests in dict.fromkeys(one.tests for one in chosen)
            for test in failing(tree, tests)
        ]
        for mutation in chosen:
            file = tree / mutation.file
            whole = file.read_text(encoding="utf-8")
            file.write_text(whole.replace(mutation.old, mutation.new, 1), encoding="utf-8")
            failed = failing(tree, mutation.tests)
            file.write_text(whole, encoding="utf-8")
            click.echo(f"{mutation.name} -> {failed[0] if failed else 'NO TEST FAILS'}")
            bad += [] if failed else [mutation.name]
    click.echo(f"{len(chosen)} mutations; " + ("; ".join(bad) or "each fails a test"))
    sys.exit(bool(bad))


def copied(folder: Path) -> Path:
    """A copy of what the tests need; the packages are found under their names there."""
    tree = folder / "tree"
    ignored = shutil.ignore_patterns("__pycache__")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, tree / name, ignore=ignored)
    package = folder / "path" / "d2c"
    shutil.copytree(ROOT / "d2c", package, ignore=ignored)
    for name in (*PACKAGES, "data"):
        (package / name).symlink_to(tree / name)
    shutil.copy(ROOT / "pyproject.toml", tree)
    return tree


def failing(tree: Path, tests: str) -> list[str]:
    """The first of some tests that fails, if any does."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", tests]
    environment = os.environ | {
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONPATH": str(tree.parent / "path"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 2):
        raise click.ClickException(f"{tests}: {done.stdout[-500:]}{done.stderr[-500:]}")
    return FAILED.findall(done.stdout)


if __name__ == "__main__":
    main()
