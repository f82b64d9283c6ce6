"""Several threads that share one model: each call must give what it gives to one thread.

    D2C_STRESS=1000 pytest -m stress tests/stress/test_threads.py

Small models are trained on sentences of the sample. Then all threads call one freshly loaded `Model`, spaCy
component or Stanza processor, D2C_STRESS times each and in an order of its own.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from threading import Barrier
from typing import Any, NamedTuple

import pytest

from d2c.base.model_files import first_line
from d2c.models.model import Model
from d2c.routes.registry import ROUTES, route_class
from d2c.training.spec import TrainingSpec
from d2c.training.train import train_models
from d2c.trees.ctree import Tokens
from d2c.trees.formats.brackets import format_bracket, read_brackets, save_brackets
from d2c.trees.formats.conllu import save_conllu
from tests.pipelines import train_pipeline

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample" / "train.mrg"
THREADS, CALLS = 6, int(os.environ.get("D2C_STRESS", "50"))
TRIED = ("labeler", "rules", "combined")  # routes, with d-parsers of ours
TRAIN = 200  # sentences of the training treebank
DEV = 20  # sentences of the dev treebank, which are asked for
CHAIN = """awk -v OUT={output} 'BEGIN{FS=OFS="\\t"} NF>7{$7=$1-1;$8="NP#1"} {print > OUT}' {input}"""

Request = Sequence[Tokens]
Call = Callable[[Request], list[str]]


class Case(NamedTuple):
    """A d-parser, as `--dparser` takes it, with the directory of its models.

    tagger:  that the model has
    epochs:  of those that are trained
    whole:   it takes all sentences of its file at once
    foreign: only some routes learn from it
    loading: what `Model.load` is given
    """

    dparser: str
    tagger: str | None = None
    epochs: float | None = None
    whole: bool = False
    foreign: bool = False
    loading: Mapping[str, Any] = {}


CASES = {
    "stanza": Case("stanza", "stanza", 1),
    "spacy": Case("spacy", "spacy", 1),
    "udpipe": Case("udpipe", epochs=1),
    "transition": Case("transition:standard;exact", epochs=1),
    "cmd": Case(f"cmd:true;{CHAIN}", loading={"parse_command": CHAIN}),
    "file": Case("file:{directory}/dev.conllu", whole=True),
    "gold": Case("gold", whole=True),
    "pipeline": Case(
        "pipeline:spacy:{directory}/pipeline",
        foreign=True,
        loading={"allow_pipeline": "spacy:{directory}/pipeline"},
    ),
}


def open_model(directory: Path, loading: Mapping[str, Any]) -> Call:
    """`Model.parse`."""
    model = Model.load(directory, **loading)

    def call(request: Request) -> list[str]:
        return list(map(format_bracket, model.parse(request)))

    return call


def open_component(directory: Path, loading: Mapping[str, Any]) -> Call:
    """The spaCy component."""
    import spacy
    from spacy.tokens import Doc

    nlp = spacy.blank("en")
    nlp.add_pipe("d2c", config={"model": str(directory), "dparser": "model", **loading})

    def call(request: Request) -> list[str]:
        forms = [form for tokens in request for form in tokens.forms]
        tags = [tag for tokens in request for tag in tokens.tags]
        starts: list[bool | int | None] = [i == 0 for tokens in request for i in range(len(tokens))]
        doc = nlp(Doc(nlp.vocab, forms, tags=tags, sent_starts=starts))
        return [sentence._.parse_string for sentence in doc.sents]

    return call


def open_processor(directory: Path, loading: Mapping[str, Any]) -> Call:
    """The Stanza processor, in a pipeline that needs no files of Stanza's."""
    import stanza
    from stanza.models.common.doc import Document

    import d2c.plugins.stanza  # noqa: F401 (registers the processor)

    packages = {"en": {"packages": {"default": {"tokenize": "none"}}, "tokenize": {"none": {}}}}
    with tempfile.TemporaryDirectory() as resources:
        (Path(resources) / "resources.json").write_text(json.dumps(packages), encoding="utf-8")
        nlp = stanza.Pipeline(
            "en",
            dir=resources,
            processors="tokenize,d2c",
            tokenize_pretokenized=True,
            download_method=None,
            verbose=False,
            d2c_model=str(directory),
            d2c_pretagged=True,
            d2c_dparser="model",
            **{f"d2c_{name}": value for name, value in loading.items()},
        )

    def call(request: Request) -> list[str]:
        rows = [zip(tokens.forms, tokens.tags, strict=True) for tokens in request]
        words = [[{"id": i, "text": f, "xpos": t} for i, (f, t) in enumerate(row, 1)] for row in rows]
        doc = nlp(Document(words), processors="d2c")
        return [str(sentence.constituency) for sentence in doc.sentences]

    return call


ENTRANCES = {"Model": open_model, "component": open_component, "processor": open_processor}


@pytest.mark.stress
@pytest.mark.parametrize("name", CASES)
def test_each_call_gives_what_it_gives_to_one_thread(name: str, tmp_path: Path) -> None:
    ctrees, case, models = read_brackets(SAMPLE), CASES[name], tmp_path / name
    treebanks = tmp_path / "train.mrg", tmp_path / "dev.mrg"
    for path, count in zip(treebanks, (TRAIN, DEV), strict=True):
        save_brackets(islice(ctrees, count), path)
    requests = requests_of(case, treebanks[1])
    for route in train(case, treebanks, TRIED, models):
        loading = {key: fill_in(value, models) for key, value in case.loading.items()}
        for entrance in ENTRANCES if "parse_command" not in loading else ["Model"]:
            new = partial(ENTRANCES[entrance], models / route, loading)
            done, wrong = together(new, requests, THREADS, CALLS)
            assert done == THREADS * CALLS and not wrong, (route, entrance, wrong.most_common(3))


def train(case: Case, treebanks: tuple[Path, Path], routes: Sequence[str], models: Path) -> Sequence[str]:
    """Trains a model of each route into a directory of its name; which routes the d-parser is for."""
    models.mkdir()
    if case.foreign:
        train_pipeline(read_brackets(treebanks[0]), models / "pipeline")
        routes = [name for name in ROUTES if route_class(name).abilities.conventions]
    spec = TrainingSpec.of(
        *treebanks,
        tuple(routes),
        dparser=fill_in(case.dparser, models),
        preset="small",
        epochs=case.epochs,
        tagger=case.tagger,
    )
    save_conllu(spec.data.each(spec.new_routes()[routes[0]].encode, "dev"), models / "dev.conllu")
    train_models(spec, [models / name for name in routes])
    return routes


def fill_in(text: str, models: Path) -> str:
    """Names the directory of a case's models in what has braces of its own."""
    return text.replace("{directory}", str(models))


def requests_of(case: Case, dev: Path) -> list[Request]:
    """What is asked for: all sentences at once, or one to three, half of them without tags for a tagger."""
    tokens = [ctree.tokens for ctree in read_brackets(dev)]
    if case.whole:
        return [tokens]
    requests: list[Request] = [tokens[i : i + 1 + i % 3] for i in range(len(tokens))]
    if case.tagger:
        requests += [[Tokens(one.forms, ("",) * len(one)) for one in request] for request in requests]
    return requests


def together(
    new: Callable[[], Call], requests: Sequence[Request], threads: int, calls: int
) -> tuple[int, Counter[str]]:
    """How many calls were made, and what went wrong how often."""
    expected = list(map(new(), requests))
    call, ready, wrong = new(), Barrier(threads), Counter[str]()

    def work(seed: int) -> Counter[str]:
        order, found = Random(seed), Counter[str]()
        ready.wait()  # the first calls are made at the same time
        for _ in range(calls):
            number = order.randrange(len(requests))
            try:
                found["other trees"] += call(requests[number]) != expected[number]
            except Exception as error:  # any: it is what a test of threads looks for
                found[f"{type(error).__name__}: {first_line(error)}"] += 1
        return +found

    with ThreadPoolExecutor(threads) as pool:
        for found in pool.map(work, range(threads)):
            wrong += found
    return threads * calls, wrong
