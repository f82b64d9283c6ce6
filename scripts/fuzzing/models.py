"""Broken model files of every kind: a model parses, or is refused with one line; no code in it runs."""

from __future__ import annotations

import io
import json
import os
import pickle
import shutil
import zipfile
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import d2c.commands.parse  # noqa: F401 (children need not)
from d2c.base.model_files import digests
from d2c.models.model import Model, load_route, read_model_settings
from d2c.models.names import SETTINGS
from d2c.trees.formats.registry import read_treebank
from fuzzing import fields, fitted
from fuzzing.children import Fault, Limits
from fuzzing.commands import PARTLY, REFUSED
from fuzzing.commands import d2c as run
from fuzzing.edits import of_bytes, of_runs
from fuzzing.frame import Case, Group, Kind
from fuzzing.inputs import GOOD_TOKENS

LIMITS = Limits(5, 4_000_000_000, 1_000_000_000)
COPIES = "cp {input} {output}"  # a d-parser that finds nothing
RAN = "RAN"  # the file that hostile pickles make
WORDS = ("The", "dog", "barks", ".")
CONLLU = "1\tThe\t_\tDT\tDT{0}2\tdog\t_\tNN\tNN{0}3\tbarks\t_\tVBZ\tVBZ{0}\n".format("\t_" * 5 + "\n")
DTREE = """\
1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_
2\tdog\tdog\tNOUN\tNN\t_\t3\tnsubj\t_\t_
3\tbarks\tbark\tVERB\tVBZ\t_\t0\troot\t_\t_
4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

"""
NUMBERS = [0, -1, 1, 7, 2**31, 2**45, 2**63, -(2**31), 10**400, 1e308, 0.5, float("nan"), float("inf")]
TEXTS = "x collins /etc/passwd ../../x en_core_web_sm stanza spacy"
LISTS: list[Any] = [[], {}, [[]], [1] * 1000, ["x"], {"x": 1}, {"": ""}, [None], [-1], [2**40]]
VALUES = [None, True, False, "", "\0", "\ud800", "x" * 100_000, *TEXTS.split(), *NUMBERS, *LISTS]
DTYPES = "int8 int64 uint8 uint64 float16 float64 bool complex64 S4 U2 >i4"
_EXTREME = ", extreme"  # at the end of names of kinds
BUNDLED = fitted.SAMPLE.parents[1] / "models"
GIVEN = "gold", "pipeline"  # d-parsers of models that are given d-trees
OTHERS = *GIVEN, "cmd"  # the last one needs a command


class Hostile:
    """An object that runs code when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (RAN,)


HOSTILE = pickle.dumps(Hostile(), protocol=2)


def group(directory: Path) -> Group:
    """Return the models in a directory that parse text by themselves, each as a kind; all are used once here,
    so that children need import nothing."""
    names = [one for one in _models(directory) if read_model_settings(directory / one).dparser not in OTHERS]
    for name in names:
        [*Model.load(directory / name).parse(GOOD_TOKENS)]
    kind = Kind(partial(make, directory), partial(judge, directory))
    return Group("models", dict.fromkeys(names, kind), LIMITS)


def group_of_extremes(places: Sequence[Path]) -> Group:
    """Return models of which one field has an extreme value, each as a kind."""
    for place in places:  # so that children need import nothing
        route = load_route(place)
        [*route.confidences_all(map(route.encode, fitted.sample(1)))]
        if (dparser := read_model_settings(place).dparser) not in GIVEN:
            command = COPIES if dparser == "cmd" else None
            [*Model.load(place, parse_command=command).parse(GOOD_TOKENS)]
    make = extreme_cases(places)
    kinds = {place.name + _EXTREME: Kind(make, partial(judge_extreme, place)) for place in places}
    return Group("extremes", kinds, LIMITS)


def with_bundled(directory: Path) -> list[Path]:
    """Return the models in a directory, and those that come with d2c."""
    return [where / name for where in (directory, BUNDLED) for name in _models(where)]


def _models(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir() if (path / SETTINGS).exists())


def make(directory: Path, rng: Random, model: str) -> Case:
    """Break one of the model's files; every file is as likely as any other.

    sealed: whether the model's list of digests is made to fit
    """
    files = sorted(path for path in (directory / model).rglob("*") if path.is_file())
    file = rng.choice(files)
    content = broken(rng, file, rng.choice(files))
    return Case(model, {str(file.relative_to(directory / model)): content}, {"sealed": rng.random() < 0.85})


def broken(rng: Random, file: Path, other: Path) -> bytes | None:
    """Return the content of a file after an edit that fits its kind, or any file; None: it is deleted."""
    content = file.read_bytes()
    if rng.random() < 0.25:
        start = content[: rng.randrange(len(content) + 1)]
        return rng.choice((None, b"", start, other.read_bytes(), rng.randbytes(1000), start + b"\0" * 99))
    try:
        return KINDS.get(file.suffix, of_any)(rng, content)
    except (ValueError, KeyError, TypeError, OverflowError, IndexError, zipfile.BadZipFile):
        return of_any(rng, content)  # an edit that makes no sense here


def of_any(rng: Random, content: bytes) -> bytes:
    """Change some bytes or runs, near the beginning more often than elsewhere."""
    for _ in range(rng.choice((1, 1, 2, 10))):
        end = rng.choice((100, 2_000, len(content)))
        content = rng.choice((of_bytes, of_runs))(rng, content[:end]) + content[end:]
    return content


def of_json(rng: Random, content: bytes) -> bytes:
    """Replace, drop or copy a value, somewhere in the object."""
    if rng.random() < 0.1:
        return of_any(rng, content)
    value = json.loads(content)
    edit(rng, value)
    text = json.dumps(value)
    if rng.random() < 0.05:
        deep = rng.choice((500, 200_000))
        text = text.replace(": ", ": " + "[" * deep + "]" * deep + ', "x": ', 1)
    return text.encode("utf-8", "surrogatepass")


def edit(rng: Random, value: Any) -> None:
    """Change something in lists and dictionaries."""
    places = [(value, key) for key in fields.keys_of(value)]
    for container, key in places:
        places += [(container[key], below) for below in fields.keys_of(container[key])][:200]
    container, key = rng.choice(places)
    match rng.randrange(4):
        case 0:
            del container[key]
        case 1:
            other, below = rng.choice(places)
            container[key] = deepcopy(other[below])  # the container may be in it
        case 2 if isinstance(container[key], int | float):
            container[key] *= rng.choice((-1, 2, 0, 1e3, 10**6))
        case 2 if isinstance(container[key], list | str):
            container[key] = container[key][: len(container[key]) // 2] * rng.choice((1, 3))
        case _:
            container[key] = rng.choice(VALUES)


def of_zip(rng: Random, content: bytes) -> bytes:
    """Change or drop a member of an archive of arrays or of a network, or make it hostile."""
    if rng.random() < 0.25:
        return of_any(rng, content)
    if not zipfile.is_zipfile(io.BytesIO(content)):  # torch's older format: pickles, one after the other
        return rng.choice((HOSTILE, HOSTILE + content, content[:-1] + HOSTILE, of_any(rng, content)))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    name = rng.choice([*members])
    if rng.random() < 0.1:
        del members[name]
    elif name.endswith(".npy"):
        members[name] = of_array(rng, members[name])
    elif rng.random() < 0.2 and name.endswith(".pkl"):
        members[name] = HOSTILE
    else:
        half = members[name][: len(members[name]) // 2]
        members[name] = rng.choice((of_any(rng, members[name]), half, b"\xff" * 4000))
    packing = rng.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED))
    with zipfile.ZipFile(stream := io.BytesIO(), "w", packing) as archive:
        for member, data in members.items():
            archive.writestr(member, data)
    return stream.getvalue()


def of_array(rng: Random, content: bytes) -> bytes:
    """Return an array of another type or shape, with other values, or with a header that is false."""
    if rng.random() < 0.1:
        return content.replace(b"'shape': (", b"'shape': (%d, " % rng.choice((2**20, 2**45, 2**62, -1)), 1)
    array = np.load(io.BytesIO(content), allow_pickle=False)
    edits: list[Callable[[], Any]] = [
        lambda: array.astype(rng.choice(DTYPES.split())),
        lambda: array.reshape(rng.choice(((-1,), (1, -1), (-1, 1), (1, *array.shape)))),
        lambda: array.reshape(-1)[: rng.randrange(array.size + 1)],
        lambda: np.concatenate([array] * rng.choice((2, 5))),
        lambda: np.array([Hostile()], object),
        lambda: rng.choice((np.zeros_like(array), np.ones_like(array), array[::-1], array.T, -array)),
        *[lambda: with_other_values(rng, array)] * 3,
    ]
    np.save(stream := io.BytesIO(), made := rng.choice(edits)(), allow_pickle=made.dtype == object)
    return stream.getvalue()


def with_other_values(rng: Random, array: Any) -> Any:
    """Return an array with another value in one, some or all places."""
    value = rng.choice(fields.NEW[:5] if array.dtype.kind in "iu" else fields.NEW)
    places = rng.sample(range(array.size), min(array.size, rng.choice((1, 1, 100, array.size))))
    array = array.copy()
    array.reshape(-1)[places] = np.array(value).astype(array.dtype)
    return array


def of_messages(rng: Random, content: bytes) -> bytes:
    """Change a value in one of spaCy's files, which are MessagePack."""
    import srsly

    if rng.random() < 0.3:
        return of_any(rng, content)
    value = srsly.msgpack_loads(content)
    edit(rng, value)
    return bytes(srsly.msgpack_dumps(value))


KINDS = {".json": of_json, ".npz": of_zip, ".pt": of_zip, "": of_messages}  # by the suffixes of files


def extreme_cases(places: Sequence[Path]) -> Callable[[Random, str], Case]:
    """Return a function that makes cases, whichever kind it is asked for: all edits of fields, in an order
    that the first random numbers decide."""
    left = list[fields.Edit]()

    def make(rng: Random, _: str) -> Case:
        if not left:  # or when all were tried
            left.extend(fields.edits_of(places, rng))
            rng.shuffle(left)
        edit = left.pop()
        given = {"field": " ".join(map(str, edit.way)), "number": edit.number}
        return Case(edit.model.name + _EXTREME, {edit.file: fields.edited(edit)}, given)

    return make


def judge_extreme(place: Path, case: Case) -> str:
    """Load the broken model and parse a sentence with it: `read` or `refused`. Raises Fault, also where
    confidences are no probabilities."""
    model, dparser = Path("model"), read_model_settings(place).dparser
    shutil.copytree(place, model, copy_function=os.link)
    case.put(model)
    if SETTINGS not in case.files:
        seal(model)
    Path("in.conllu").write_text(DTREE)
    Path("in.txt").write_text(" ".join(WORDS) + "\n")
    given = ("in.conllu",) if dparser in GIVEN else ("in.txt", "--tokenized")
    more = ["--parse-command", COPIES] if dparser == "cmd" else []
    if (place / "functions").is_dir():
        more.append("--functions")
    done = run("parse", str(model), *given, *more, "--to", "json", "-o", "x")
    if done.status == REFUSED:
        return "refused"
    said = json.loads(Path("x").read_text())
    if tuple(said["tokens"]) != WORDS:
        raise Fault(f"the tokens are not those of the sentence: {said}")
    if not all(0 <= span.get("confidence", 0) <= 1 for span in said["spans"]):
        raise Fault(f"a confidence is no probability: {said}")
    return "read"


def seal(model: Path) -> None:
    """Write the digests that the model's files have now into its settings."""
    path = model / SETTINGS
    settings = json.loads(path.read_text(encoding="utf-8"))
    settings["files"] = digests(model, [part.name for part in model.iterdir() if part.is_dir()])
    path.unlink()  # it is a link to the good model's
    path.write_text(json.dumps(settings), encoding="utf-8")


def judge(directory: Path, case: Case) -> str:
    """Load the broken model and parse a sentence with it: `read` or `refused`."""
    model = Path("model")
    shutil.copytree(directory / case.kind, model, copy_function=os.link)
    case.put(model)
    if case.given["sealed"] and SETTINGS not in case.files:
        seal(model)
    Path("in.conllu").write_text(CONLLU)
    Path("in.txt").write_text(" ".join(WORDS) + "\n")
    said = "refused"
    for source, kind, words in (("in.conllu", (), WORDS[:3]), ("in.txt", ("--tokenized",), WORDS)):
        done = run("parse", str(model), source, *kind, "--to", "discbracket", "-o", "x")
        if Path(RAN).exists():
            raise Fault("code in the model ran")
        if done.status != REFUSED:
            said = "read"
            [ctree] = read_treebank("x", "discbracket")
            # ERROR: the model's tree fits in no format; it may have a label that is a blank.
            if ctree.tokens.forms != (("ERROR",) if done.status == PARTLY else words):
                raise Fault(f"the tokens are not those of the sentence: {ctree}")
            Path("x").unlink()
    run("info", str(model))
    return said
