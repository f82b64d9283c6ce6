"""How fast single parts and whole commands are, by pytest-benchmark; the default tests do not collect it.

    pytest -n 0 scripts/benchmarks/test_speed.py [-k unary] [--benchmark-json out.json]

Where a row has tokens, its extra info says tokens per second of the fastest round. D2C_MODEL is the model of
commands that parse (`en`), D2C_SENTENCES how many sentences they have. CRAFT is read from $D2C_TREEBANKS.
"""

from __future__ import annotations

import hashlib
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from itertools import chain, cycle, islice
from pathlib import Path
from typing import Any

import pytest

import d2c
from d2c.base.model_files import size_of, write_settings
from d2c.models.model import MODEL_FORMAT
from d2c.models.names import SETTINGS
from d2c.reduction.unary.classifier import UnaryClassifier
from d2c.routes.registry import make_route
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import read_brackets, save_brackets
from d2c.trees.scores.brackets import bracket_scores
from d2c.trees.unaries import restore_unaries, strip_unaries
from treebanks.files import known

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample"
MODEL, SENTENCES = os.environ.get("D2C_MODEL", "en"), int(os.environ.get("D2C_SENTENCES", "20000"))
NLTK = "import nltk, sys; trees = [nltk.Tree.fromstring(line) {} for line in open(sys.argv[1])]"
FIT = """
from itertools import islice
from pathlib import Path
from d2c.routes.registry import RouteSettings, make_route, route_class
from d2c.trees.formats.brackets import read_brackets
trees = list(islice(read_brackets({sample!r}, clean=True), 30))
directory = Path({directory!r})
if {train}:
    route = make_route({route!r}, RouteSettings()).fit(trees, trees[:5])
    route.save(directory)
else:
    route = route_class({route!r}).load(directory)
dtrees = list(map(route.encode, trees[:3]))
list(route.decode_all(dtrees)), list(route.confidences_all(dtrees))
"""

Benchmark = Any  # pytest-benchmark's fixture


def note(benchmark: Benchmark, tokens: int, **others: object) -> None:
    """Say tokens per second beside the times."""
    benchmark.extra_info.update(others, tokens_per_second=round(tokens / benchmark.stats.stats.min))


def run(*command: object, given: str = "", **environment: str) -> str:
    """Run a command and return what it prints; without `d2c` or a file of Python first, `d2c` is meant."""
    words = [sys.executable, *(() if command[0] == "-c" else ("-m", "d2c")), *map(str, command)]
    streams: Any = {"input": given, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    done: subprocess.CompletedProcess[str] = subprocess.run(
        words, env=os.environ | environment, check=True, text=True, **streams
    )
    return done.stdout


@pytest.fixture(scope="session")
def train() -> list[CTree]:
    """CRAFT's training sentences."""
    return list(known("craft").trees("train"))


@pytest.fixture(scope="session")
def treebank(train: list[CTree], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """These in brackets, and how many tokens they have."""
    path = tmp_path_factory.mktemp("craft") / "train.mrg"
    save_brackets(train, path)
    return path, sum(len(ctree.tokens) for ctree in train)


@pytest.fixture(scope="session")
def text(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """D2C_SENTENCES lines of words, and how many words."""
    path = tmp_path_factory.mktemp("text") / "text.txt"
    sentences = [ctree.tokens.forms for ctree in read_brackets(SAMPLE / "dev.mrg")]
    lines = list(islice(cycle(sentences), SENTENCES))
    path.write_text("".join(" ".join(forms) + "\n" for forms in lines), encoding="utf-8")
    return path, sum(map(len, lines))


def test_unary_nodes_of_gold_trees(train: list[CTree], benchmark: Benchmark, tmp_path: Path) -> None:
    """On CRAFT's dev, learned from all of train."""
    classifier, dev = UnaryClassifier(seed=1).fit(train), list(known("craft").trees("dev"))
    bare = [strip_unaries(ctree)[0] for ctree in dev]
    batches = [bare[begin : begin + 500] for begin in range(0, len(bare), 500)]
    parts = benchmark.pedantic(lambda: list(map(classifier.predict, batches)), rounds=5)
    scores = bracket_scores(dev, list(map(restore_unaries, bare, chain.from_iterable(parts))))
    classifier.save(tmp_path)
    tokens = sum(len(ctree.tokens) for ctree in dev)
    note(benchmark, tokens, F1=scores.f1, exact=scores.complete_match, MB=size_of(tmp_path) / 1e6)


@pytest.mark.parametrize("keep", [True, False])
def test_nltk_reads(keep: bool, treebank: tuple[Path, int], benchmark: Benchmark) -> None:
    """What `encode`, `decode` and `evaluate` are compared with: NLTK merely reads the same file."""
    benchmark.group = "commands on CRAFT"
    benchmark.pedantic(run, ("-c", NLTK.format("" if keep else "and None"), treebank[0]), rounds=3)
    note(benchmark, treebank[1])


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("command", ["encode", "decode", "evaluate"])
def test_commands(
    command: str, jobs: int, treebank: tuple[Path, int], benchmark: Benchmark, tmp_path: Path
) -> None:
    """Whole processes on CRAFT's train; `decode` has the reduction, fitted on the same trees."""
    path, tokens = treebank
    words: list[object] = ["evaluate", path, path]
    if command == "encode":
        words = ["encode", path, "--jobs", jobs, "-o", tmp_path / "x.conllu"]
    elif command == "decode":
        route = make_route("reduction").fit(list(read_brackets(path)))
        route.save(tmp_path / "model" / "route")
        write_settings(tmp_path / "model" / SETTINGS, MODEL_FORMAT, {"route": "reduction", "dparser": "gold"})
        run("encode", path, "-o", tmp_path / "x.conllu")
        words = ["decode", tmp_path / "x.conllu", "--jobs", jobs, "-m", tmp_path / "model", "-o"]
        words.append(tmp_path / "x.mrg")
    benchmark.group = "commands on CRAFT"
    benchmark.pedantic(run, words, rounds=3)
    note(benchmark, tokens)


@pytest.mark.parametrize("verb", ["train", "parse"])
@pytest.mark.parametrize("route", ["cky", "labeler"])
def test_compilation(route: str, verb: str, benchmark: Benchmark, tmp_path: Path) -> None:
    """With an empty cache of kernels, less the same with a full one (in the extra info)."""
    given = {"sample": str(SAMPLE / "train.mrg"), "directory": str(tmp_path / "route"), "route": route}
    run("-c", FIT.format(train=True, **given))
    code, cache = FIT.format(train=verb == "train", **given), str(tmp_path / "kernels")
    benchmark.pedantic(run, ("-c", code), {"NUMBA_CACHE_DIR": cache}, rounds=1)
    before = cpu_seconds()
    run("-c", code, NUMBA_CACHE_DIR=cache)
    benchmark.extra_info["CPU seconds with compiled kernels"] = cpu_seconds() - before


@pytest.mark.parametrize("call", ["one text", "pipe", "text by text"])
def test_short_texts(call: str, benchmark: Benchmark) -> None:
    """Eighty sentences as a text, as eighty texts of which `pipe` makes batches, and each parsed alone."""
    texts = [" ".join(ctree.tokens.forms) for ctree in islice(read_brackets(SAMPLE / "dev.mrg"), 80)]
    parser = d2c.load(MODEL)
    calls: dict[str, Callable[[], list[object]]] = {
        "one text": lambda: [parser("\n\n".join(texts))],
        "pipe": lambda: [*parser.pipe(texts)],
        "text by text": lambda: [*map(parser, texts)],
    }
    benchmark.pedantic(calls[call], rounds=3, warmup_rounds=1)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("command", ["parse", "corpus"])
def test_text_on_several_processes(
    command: str, workers: int, text: tuple[Path, int], benchmark: Benchmark, tmp_path: Path
) -> None:
    """Whole commands on D2C_SENTENCES lines; the digest is the same with any number of processes."""
    path, tokens = text
    output = tmp_path / "x.json"
    words: list[object] = ["parse", MODEL, path, "--tokenized", "--to", "json", "--jobs", workers, "-o"]
    if command == "corpus":
        words = ["corpus", path, "--model", MODEL, "--tokenized", "--backend", "processes"]
        output, words = tmp_path / "corpus", [*words, "--workers", workers, "-o"]
    benchmark.pedantic(run, (*words, output), rounds=1)
    files = sorted(output.glob("*.parquet")) if output.is_dir() else [output]
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
    note(benchmark, tokens, digest=digest[:12], largest_process_MB=round(peak))


def cpu_seconds() -> float:
    """Return the CPU seconds of all processes that this one has started and that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
