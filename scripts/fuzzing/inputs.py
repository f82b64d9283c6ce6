"""Broken input of every kind through the commands; what could be read is written and read again."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import NamedTuple

from d2c.base.model_files import write_settings
from d2c.commands.evaluate import METRICS
from d2c.models.model import FORMAT, Model
from d2c.parsing.input import KINDS as TEXTS
from d2c.parsing.output import FORMATS as SHOWN
from d2c.reduction.encodings import ENCODINGS
from d2c.routes.registry import ROUTES
from d2c.treebanks.conversion import WRITABLE
from d2c.treebanks.reading import Reading
from d2c.trees.cleaning import unescape
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.formats.brackets import escape
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.formats.treebanks import FORMATS, read_treebank
from fuzzing import seeds
from fuzzing.children import Fault
from fuzzing.commands import READ, REFUSED, d2c
from fuzzing.mutations import mutated

MODEL = "MODEL"  # in arguments: a model; commands are given one that is loaded already
GOOD = "good.mrg"  # in arguments: a treebank
EXTREME = 0.04  # share of inputs that are deep or long before they are broken
GOOD_TREES = "(TOP (S (NP (DT The) (NN dog)) (VP (VBZ barks)) (. .)))\n(S (NP (PRP They)) (VP (VBD slept)))\n"
GOOD_TOKENS = [Tokens(("The", "dog", "barks", "."), ("DT", "NN", "VBZ", "."))]
READINGS: list[dict[str, str | bool]] = [
    {},
    {},
    {"raw": True},
    {"raw": True},
    {"raw": True, "move_punctuation": True},
    {"raw": True, "continuous": "raise"},
    {"raw": True, "continuous": "split"},
    {"raw": True, "merge": True},
    {"raw": True, "traces": True},
]


class Case(NamedTuple):
    """An input.

    kind:      one of KINDS
    name:      of the file, which the commands are given
    content:   of the file
    arguments: of another command that is tried, if any
    reading:   how the treebank is read, as parameters of `Reading`
    """

    kind: str
    name: str
    content: bytes
    arguments: tuple[str, ...] = ()
    reading: dict[str, str | bool] = {}


class Kind(NamedTuple):
    """How cases are made, of the kind's name, and judged in an empty directory: `read` or `refused`."""

    make: Callable[[Random, str], Case]
    judge: Callable[[Case], str]


def save(case: Case, directory: Path) -> None:
    """Keeps a case in a directory, made if absent."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / case.name).write_bytes(case.content)
    (directory / "case.json").write_text(
        json.dumps(case._replace(content=b"")._asdict(), default=list) + "\n"
    )


def load(directory: Path) -> Case:
    """What `save` kept."""
    asked = json.loads((directory / "case.json").read_text())
    content = (directory / asked["name"]).read_bytes()
    return Case(**asked | {"content": content, "arguments": tuple(asked["arguments"])})


def judge(case: Case, model: Model) -> str:
    """Tries a case in an empty directory of a child, with this model: `read` or `refused`. Raises Fault."""
    Model.load = lambda *_, **__: model  # type: ignore[method-assign]
    return KINDS[case.kind].judge(case)


def _content(rng: Random, kind: str, seed: bytes) -> bytes:
    if rng.random() < EXTREME:
        seed = seeds.extreme(rng, kind)
        if rng.random() < 0.5:
            return seed
    return mutated(rng, seed)


def _packed(rng: Random, name: str, content: bytes) -> tuple[str, bytes]:
    """Sometimes packed, the packed bytes broken, too."""
    if rng.random() > 0.03:
        return name, content
    packed = gzip.compress(content)
    return f"{name}.gz", mutated(rng, packed) if rng.random() < 0.7 else packed


def _treebank(rng: Random, kind: str) -> Case:
    content = _content(rng, kind, seeds.treebank(rng, kind))
    name, content = _packed(rng, f"in{FORMATS[kind].suffixes[0]}", content)
    encoding, route = rng.choice([*ENCODINGS]), rng.choice([*ROUTES])
    metric = rng.choice([name for name in METRICS if name != "attachment"])
    rules = rng.choice(("collins", "leftmost", "marked", "german"))
    commands = [
        ("encode", name, "--encoding", encoding, "--head-rules", rules, "-o", "x.conllu", "--stats"),
        ("encode", name, "--encoding", encoding, "--raw", "-o", "x.conllu"),
        ("encode", name, "--traces", "--continuous", "raise", "-o", "x.conllu"),
        ("draw", name, "--what", rng.choice(("ctree", "dtree", "both")), "-o", "x.txt"),
        ("draw", name, "--svg", "--sentence", str(rng.choice((1, 2))), "-o", "x.svg"),
        ("heads", name, "--head-rules", rng.choice(("collins", "leftmost")), "-o", "x.txt"),
        ("evaluate", name, name, "--metric", metric),
        ("evaluate", GOOD, name, "--metric", metric),
        ("evaluate", name, GOOD, "--metric", metric),
    ]
    arguments = rng.choice(commands)
    if rng.random() < 0.02:
        arguments = ("train", name, "--dev", GOOD, "--dparser", "gold", "--route", route, "-o", "x")
        arguments += ("--encoding", encoding)
    return Case(kind, name, content, arguments, rng.choice(READINGS))


def _judge_treebank(case: Case) -> str:
    Path(GOOD).write_text(GOOD_TREES)
    source = _source(case)
    flags = [
        f"--{key.replace('_', '-')}" for key, value in case.reading.items() if value is True and key != "raw"
    ]
    flags += [] if case.reading.get("raw") else ["--clean"]
    flags += [f"--continuous={case.reading['continuous']}"] if "continuous" in case.reading else []
    said = "refused"
    for target in WRITABLE:
        written = f"written{FORMATS[target].suffixes[0]}"
        if d2c("convert", source, written, "--to", target, *flags).status == READ:
            said = "read"
            ctrees = Reading(**{"format_name": case.kind} | case.reading)(Path(source))  # type: ignore[arg-type]
            same(ctrees, read_treebank(written, target), target)
    if case.arguments and d2c(*case.arguments).status == READ and case.arguments[0] == "encode":
        encoding = (
            case.arguments[case.arguments.index("--encoding") + 1]
            if "--encoding" in case.arguments
            else "direct"
        )
        if (
            d2c("decode", "x.conllu", "--encoding", encoding, "--to", "export", "-o", "x.export").status
            == READ
        ):
            read_all("x.export", "export")
    return said


def _dtrees(rng: Random, kind: str) -> Case:
    content = _content(rng, kind, seeds.SEEDS["conllu"])
    name, content = _packed(rng, "in.conllu", content)
    encoding, metric = rng.choice([*ENCODINGS]), "attachment"
    to, shown = rng.choice(WRITABLE), rng.choice([*SHOWN])
    commands = [
        ("decode", name, "--encoding", encoding, "--to", to, "-o", "x"),
        ("evaluate", name, name, "--metric", metric),
        ("parse", MODEL, name, "--to", shown, "-o", "x"),
        ("parse", MODEL, name, "--strict", "--to", shown, "-o", "x"),
        ("heads", GOOD, "--induce", name, "-o", "x"),
        ("convert", GOOD, "x.export", "--heads", name),
    ]
    return Case(kind, name, content, rng.choice(commands))


def _judge_dtrees(case: Case) -> str:
    Path(GOOD).write_text(GOOD_TREES)
    source = _source(case)
    said = "refused"
    if d2c("convert", source, "written.conllu").status == READ:
        said = "read"
        for before, after in zip(read_conllu(source), read_conllu("written.conllu"), strict=True):
            if before != after:
                raise Fault(f"written and read back, {before} is {after}")
    _judge_command(case)
    return said


def _text(rng: Random, kind: str) -> Case:
    content = _content(rng, "text", seeds.SEEDS["text"])
    name, content = _packed(rng, "in.txt", content)
    strict = ("--strict",) if rng.random() < 0.3 else ()
    return Case(
        kind, name, content, ("parse", MODEL, name, kind, "--to", rng.choice([*SHOWN]), "-o", "x", *strict)
    )


def _head_table(rng: Random, kind: str) -> Case:
    content = _content(rng, kind, seeds.SEEDS["heads"])
    commands = [
        ("encode", GOOD, "--head-rules", "./in.txt", "-o", "x"),
        ("heads", GOOD, "--head-rules", "./in.txt", "-o", "x"),
        ("draw", GOOD, "--head-rules", "./in.txt", "--what", "dtree", "-o", "x"),
    ]
    return Case(kind, "in.txt", content, rng.choice(commands))


def _parameters(rng: Random, kind: str) -> Case:
    metric = rng.choice([name for name in METRICS if name != "attachment"])
    content = _content(rng, kind, seeds.SEEDS["disco-prm" if metric == "disco" else "prm"])
    return Case(kind, "in.prm", content, ("evaluate", GOOD, GOOD, "--metric", metric, "--params", "in.prm"))


def _judge_command(case: Case) -> str:
    """The case's own command; what it wrote can be read."""
    Path(GOOD).write_text(GOOD_TREES)
    _source(case)
    done = d2c(*case.arguments)
    if done.status == REFUSED:
        return "refused"
    if case.arguments[0] in ("parse", "decode"):
        read_all("x", case.arguments[case.arguments.index("--to") + 1])
    return "read"


def _source(case: Case) -> str:
    Path(case.name).write_bytes(case.content)
    write_settings(Path(MODEL, "model.json"), FORMAT, {"route": "reduction", "dparser": "spacy"})
    return case.name


def read_all(path: str, shown: str) -> None:
    """Reads what a command wrote. Raises Fault where that cannot be."""
    try:
        if shown == "json":
            for line in Path(path).read_text(encoding="utf-8").split("\n")[:-1]:
                json.loads(line)
        elif Path(path).stat().st_size == 0 or Path(path).read_text() == "#FORMAT 4\n":
            return
        elif shown == "conllu":
            for _ in read_conllu(path):
                pass
        else:
            for _ in read_treebank(path, shown):
                pass
    except ValueError as error:
        raise Fault(f"what was written as {shown} cannot be read: {error}") from None


def same(before: Iterator[CTree], after: Iterator[CTree], format_name: str) -> None:
    """Raises Fault unless the trees are the same, but for what the format cannot hold."""
    try:
        for number, (one, other) in enumerate(zip(before, after, strict=True), 1):
            expected = as_held(one, format_name)
            if replace(other, head_children=None) != expected:
                raise Fault(
                    f"sentence {number} as {format_name}: {str(expected)[:1500]}\nis now {str(other)[:1500]}"
                )
    except ValueError as error:
        raise Fault(f"what was written as {format_name} cannot be read: {error}") from None


def as_held(ctree: CTree, format_name: str) -> CTree:
    """The tree as a format holds it, as docs/treebanks.md has it.

    Graph formats call a wrapper without a label TOP. Formats in brackets read -LRB- as a bracket; in tags and
    labels `brackets` writes it for one. No-break spaces stand for blanks.
    """
    holds, tokens, labels, top = FORMATS[format_name].holds, ctree.tokens, ctree.labels, ctree.top
    forms, tags = tokens.forms, tokens.tags
    lemmas, morphs = (
        column if "columns" in holds and column and {*column} - {"--", ""} else None
        for column in (tokens.lemmas, tokens.morphs)
    )
    if "columns" in holds:
        top = "TOP" if top == "" else top
        labels = (*labels[:-1], labels[-1] or "TOP") if labels else ()
    else:
        forms, of_tag = tuple(map(unescape, forms)), _unescaped if "brackets" in holds else escape
        tags, labels = tuple(map(of_tag, tags)), tuple(map(of_tag, labels))
    if "blanks" not in holds:
        forms, tags, labels = (tuple(map(_unbroken, column)) for column in (forms, tags, labels))
        lemmas, morphs = (column and tuple(map(_unbroken, column)) for column in (lemmas, morphs))
    tokens = Tokens(forms, tags, lemmas, morphs)
    return CTree(tokens, labels, ctree.children, None, top)


def _unescaped(label: str) -> str:
    return escape(label) if escape(label) in ("-LRB-", "-RRB-") else unescape(label)


def _unbroken(text: str) -> str:
    return text.translate(dict.fromkeys(map(ord, " \t\r\n"), "\N{NO-BREAK SPACE}"))


KINDS: dict[str, Kind] = {
    **dict.fromkeys(FORMATS, Kind(_treebank, _judge_treebank)),
    "conllu": Kind(_dtrees, _judge_dtrees),
    **{f"--{name}": Kind(_text, _judge_command) for name in TEXTS if name != "conllu"},
    "heads": Kind(_head_table, _judge_command),
    "prm": Kind(_parameters, _judge_command),
}
