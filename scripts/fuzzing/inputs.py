"""Broken input of every kind through the commands; what could be read is written and read again."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from d2c.base.model_files import write_settings
from d2c.commands.evaluate import METRIC_NAMES
from d2c.models.model import MODEL_FORMAT, Model
from d2c.models.names import SETTINGS
from d2c.parsing.input import KINDS as TEXTS
from d2c.parsing.output import OUTPUTS
from d2c.reduction.encodings import ENCODINGS
from d2c.routes.registry import ROUTES
from d2c.trees.cleaning import unescape, unwrap
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.formats.brackets import escape
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.formats.graphs import known_column
from d2c.trees.formats.reading import CONTINUOUS, Reading
from d2c.trees.formats.registry import FORMATS, WRITABLE, read_treebank
from fuzzing import seeds
from fuzzing.children import Fault, Limits
from fuzzing.commands import READ, REFUSED, d2c
from fuzzing.edits import edited
from fuzzing.frame import Case, Group, Kind

LIMITS, BATCH = Limits(20, 4_000_000_000), 10
MODEL = "MODEL"  # in arguments: a model; commands are given one that is loaded already
GOOD = "good.mrg"  # in arguments: a treebank
EXTREME = 0.04  # share of inputs that are deep or long before they are broken
GOOD_TREES = "(TOP (S (NP (DT The) (NN dog)) (VP (VBZ barks)) (. .)))\n(S (NP (PRP They)) (VP (VBD slept)))\n"
GOOD_TOKENS = [Tokens(("The", "dog", "barks", "."), ("DT", "NN", "VBZ", "."))]
BRACKET_METRICS = [name for name in METRIC_NAMES if name != "attachment"]
RAW: list[dict[str, Any]] = [{}, {}, *({name: True} for name in ("move_punctuation", "merge", "traces"))]
RAW += [{"continuous": name} for name in CONTINUOUS]
READINGS: list[dict[str, Any]] = [{}, {}, *({"raw": True, **others} for others in RAW)]


def group(model: Model) -> Group:
    """Return the kinds of input; commands that need a model are given this one, which is used once here, so
    that children need import nothing."""
    [*model.parse(GOOD_TOKENS)]
    kinds = {name: Kind(make, with_model(model, judge)) for name, (make, judge) in KINDS.items()}
    return Group("inputs", kinds, LIMITS, BATCH)


def with_model(model: Model, judge: Callable[[Case], str]) -> Callable[[Case], str]:
    """Return the judge with commands that find this model, which is loaded already, under the name MODEL."""

    def judged(case: Case) -> str:
        Model.load = lambda *_, **__: model  # type: ignore[method-assign]
        write_settings(Path(MODEL, SETTINGS), MODEL_FORMAT, {"route": "reduction", "dparser": "spacy"})
        return judge(case)

    return judged


def content(rng: Random, kind: str, seed: bytes) -> bytes:
    """Return a good text of a kind, broken; at times a deep or long text, perhaps left whole."""
    if rng.random() < EXTREME:
        seed = seeds.extreme(rng, kind)
        if rng.random() < 0.5:
            return seed
    return edited(rng, seed)


def case(kind: str, name: str, content: bytes, *arguments: str, **reading: str | bool) -> Case:
    """Return a file and a command on it.

    arguments: of the command; reading: how the treebank is read, as parameters of `Reading`
    """
    return Case(kind, {name: content}, {"arguments": arguments, "reading": reading})


def packed(rng: Random, name: str, content: bytes) -> tuple[str, bytes]:
    """Pack a file at times, and break the packed bytes, too."""
    if rng.random() > 0.03:
        return name, content
    packed = gzip.compress(content)
    return f"{name}.gz", edited(rng, packed) if rng.random() < 0.7 else packed


def _treebank(rng: Random, kind: str) -> Case:
    suffix = FORMATS[kind].suffixes[0]
    name, broken = packed(rng, f"in{suffix}", content(rng, kind, seeds.treebank(rng, kind)))
    encoding, route, metric = rng.choice([*ENCODINGS]), rng.choice([*ROUTES]), rng.choice(BRACKET_METRICS)
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
    return case(kind, name, broken, *arguments, **rng.choice(READINGS))


def _judge_treebank(case: Case) -> str:
    source, reading, said = _put(case), case.given["reading"], "refused"
    options = [f"--{key.replace('_', '-')}" for key, value in reading.items() if value is True]
    flags = [option for option in options if option != "--raw"] + ["--clean"] * ("raw" not in reading)
    if "continuous" in reading:
        flags.append(f"--continuous={reading['continuous']}")
    for target in WRITABLE:
        written = f"written{FORMATS[target].suffixes[0]}"
        # What is broken enough may look like another format.
        if d2c("convert", source, written, "--format", case.kind, "--to", target, *flags).status == READ:
            said = "read"
            ctrees = Reading(**{"format_name": case.kind, "unparsed": True} | reading)(Path(source))
            same(ctrees, read_treebank(written, target), target)
    command, *options = case.given["arguments"]
    if d2c(command, *options).status == READ and command == "encode":
        encoding = options[options.index("--encoding") + 1] if "--encoding" in options else "direct"
        decode = ("decode", "x.conllu", "--encoding", encoding, "--to", "export", "-o", "x.export")
        if d2c(*decode).status == READ:
            read_all("x.export", "export")
    return said


def _dtrees(rng: Random, kind: str) -> Case:
    name, broken = packed(rng, "in.conllu", content(rng, kind, seeds.SEEDS["conllu"]))
    encoding, to, shown = rng.choice([*ENCODINGS]), rng.choice(WRITABLE), rng.choice([*OUTPUTS])
    commands = [
        ("decode", name, "--encoding", encoding, "--to", to, "-o", "x"),
        ("evaluate", name, name, "--metric", "attachment"),
        ("parse", MODEL, name, "--to", shown, "-o", "x"),
        ("parse", MODEL, name, "--strict", "--to", shown, "-o", "x"),
        ("heads", GOOD, "--induce", name, "-o", "x"),
        ("convert", GOOD, "x.export", "--heads", name),
    ]
    return case(kind, name, broken, *rng.choice(commands))


def _judge_dtrees(case: Case) -> str:
    source, said = _put(case), "refused"
    if d2c("convert", source, "written.conllu").status == READ:
        said = "read"
        for before, after in zip(read_conllu(source), read_conllu("written.conllu"), strict=True):
            if before != after:
                raise Fault(f"written and read back, {before} is {after}")
    _judge_command(case)
    return said


def _text(rng: Random, kind: str) -> Case:
    name, broken = packed(rng, "in.txt", content(rng, "text", seeds.SEEDS["text"]))
    strict = ("--strict",) if rng.random() < 0.3 else ()
    return case(
        kind, name, broken, "parse", MODEL, name, kind, "--to", rng.choice([*OUTPUTS]), "-o", "x", *strict
    )


def _head_table(rng: Random, kind: str) -> Case:
    commands = ("encode", GOOD), ("heads", GOOD), ("draw", GOOD, "--what", "dtree")
    broken = content(rng, kind, seeds.SEEDS["heads"])
    return case(kind, "in.txt", broken, *rng.choice(commands), "--head-rules", "./in.txt", "-o", "x")


def _parameters(rng: Random, kind: str) -> Case:
    metric = rng.choice(BRACKET_METRICS)
    broken = content(rng, kind, seeds.SEEDS["disco-prm" if metric == "disco" else "prm"])
    return case(kind, "in.prm", broken, "evaluate", GOOD, GOOD, "--metric", metric, "--params", "in.prm")


def _judge_command(case: Case) -> str:
    """Try the case's own command; what it wrote can be read."""
    _put(case)
    command, *options = case.given["arguments"]
    if d2c(command, *options).status == REFUSED:
        return "refused"
    if command in ("parse", "decode"):
        read_all("x", options[options.index("--to") + 1])
    return "read"


def _put(case: Case) -> str:
    """Write what the commands are given; return the broken file's name."""
    case.put(Path())
    Path(GOOD).write_text(GOOD_TREES)
    return next(iter(case.files))


def read_all(path: str, shown: str) -> None:
    """Read what a command wrote. Raises Fault where that cannot be."""
    file = Path(path)
    try:
        if shown == "json":
            for line in file.read_text(encoding="utf-8").split("\n")[:-1]:
                json.loads(line)
        elif file.stat().st_size and file.read_text() != "#FORMAT 4\n":
            trees: Iterator[Any] = read_conllu(path) if shown == "conllu" else read_treebank(path, shown)
            for _ in trees:
                pass
    except ValueError as error:
        raise Fault(f"what was written as {shown} cannot be read: {error}") from None


def same(before: Iterator[CTree], after: Iterator[CTree], format_name: str) -> None:
    """Raise Fault unless the trees are the same, except for what the format cannot hold."""
    try:
        for number, (one, other) in enumerate(zip(before, after, strict=True), 1):
            expected = as_held(one, format_name)
            found = replace(other, tokens=_with_marks(other.tokens), head_children=None)
            if found != expected:
                both = f"{str(expected)[:1500]}\nis now {str(other)[:1500]}"
                raise Fault(f"sentence {number} as {format_name}: {both}")
    except ValueError as error:
        raise Fault(f"what was written as {format_name} cannot be read: {error}") from None


def as_held(ctree: CTree, format_name: str) -> CTree:
    """Return the tree as a format holds it, as docs/treebanks.md has it.

    A root with the label of a wrapper and one child (VROOT, where punctuation was moved) is read as a
    wrapper. Graph formats call a wrapper without a label TOP. Formats in brackets read -LRB- as a bracket,
    except where it is the whole of a tag or label. No-break spaces stand for blanks.
    """
    ctree = unwrap(ctree, clean=False) if ctree.top is None else ctree
    holds, tokens, labels, top = FORMATS[format_name].holds, ctree.tokens, ctree.labels, ctree.top
    forms, tags = tokens.forms, tokens.tags
    lemmas, morphs = (
        column if "lemmas" in holds and column and {*column} - {"--", ""} else None
        for column in (tokens.lemmas, tokens.morphs)
    )
    if "functions" in holds:
        top = "TOP" if top == "" else top
        labels = (*labels[:-1], labels[-1] or "TOP") if labels else ()
    if "escapes" not in holds:
        forms = tuple(map(unescape, forms))
        tags, labels = tuple(map(_unescaped, tags)), tuple(map(_unescaped, labels))
    if "blanks" not in holds:
        forms, tags, labels = (tuple(map(_unbroken, column)) for column in (forms, tags, labels))
        lemmas, morphs = (column and tuple(map(_unbroken, column)) for column in (lemmas, morphs))
    return CTree(_with_marks(Tokens(forms, tags, lemmas, morphs)), labels, ctree.children, None, top)


def _with_marks(tokens: Tokens) -> Tokens:
    """Return words with `--` for each lemma and morphology that is not known, however that was written."""
    lemmas, morphs = (
        known_column("--" if value in ("", "_") else value for value in column or ())
        for column in (tokens.lemmas, tokens.morphs)
    )
    return replace(tokens, lemmas=lemmas, morphs=morphs)


def _unescaped(label: str) -> str:
    return escape(label) if escape(label) in ("-LRB-", "-RRB-") else unescape(label)


def _unbroken(text: str) -> str:
    return text.translate(dict.fromkeys(map(ord, " \t\r\n"), "\N{NO-BREAK SPACE}"))


TREEBANKS = [name for name in FORMATS if name != "parquet"]  # those that are text
KINDS = {
    **dict.fromkeys(TREEBANKS, Kind(_treebank, _judge_treebank)),
    "conllu": Kind(_dtrees, _judge_dtrees),
    **{f"--{name}": Kind(_text, _judge_command) for name in TEXTS if name != "conllu"},
    "heads": Kind(_head_table, _judge_command),
    "prm": Kind(_parameters, _judge_command),
}
