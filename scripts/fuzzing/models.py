"""Broken model files of every kind: a model parses, or is refused with one line; no code in it runs."""

from __future__ import annotations

import io
import json
import os
import pickle
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

from d2c.base.model_files import digests
from d2c.models.model import SETTINGS
from d2c.trees.formats.treebanks import read_treebank
from fuzzing.children import Fault
from fuzzing.commands import PARTLY, REFUSED, d2c
from fuzzing.mutations import of_bytes, of_runs

RAN = "RAN"  # the file that hostile pickles make
TAGGED = (("The", "DT"), ("dog", "NN"), ("barks", "VBZ"))
ROWS = [f"{i}\t{form}\t_\t{tag}\t{tag}" + "\t_" * 5 + "\n" for i, (form, tag) in enumerate(TAGGED, 1)]
VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1, 2, 7, 2**31, 2**45, 2**63, -(2**31), 10**400, 1e308, 0.5, float("nan")),
    *(
        float("inf"),
        "",
        "x",
        "x" * 100_000,
        "collins",
        "/etc/passwd",
        "../../x",
        "\0",
        "\ud800",
        [],
        {},
        [[]],
    ),
    *([1] * 1000, ["x"], {"x": 1}, {"": ""}, [None], [-1], [2**40], "en_core_web_sm", "stanza", "spacy"),
]
DTYPES = ["int8", "int64", "uint8", "uint64", "float16", "float64", "bool", "complex64", "S4", "U2", ">i4"]


class Hostile:
    """What runs code when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (RAN,)


class Case(NamedTuple):
    """A file of a model, and its new content; None: it is gone.

    sealed: whether the model's list of digests is made to fit
    """

    model: str
    file: str
    content: bytes | None
    sealed: bool


def save(case: Case, directory: Path) -> None:
    """Keeps a case in a directory, made if absent."""
    directory.mkdir(parents=True, exist_ok=True)
    if case.content is not None:
        (directory / "content").write_bytes(case.content)
    (directory / "case.json").write_text(json.dumps(case._replace(content=None)._asdict()) + "\n")


def load(directory: Path) -> Case:
    """What `save` kept."""
    file = directory / "content"
    content = file.read_bytes() if file.exists() else None
    return Case(**json.loads((directory / "case.json").read_text()) | {"content": content})


def make(rng: Random, directory: Path, model: str) -> Case:
    """One of the model's files, broken; every file is as likely as any other."""
    files = sorted(path for path in (directory / model).rglob("*") if path.is_file())
    file = rng.choice(files)
    content = broken(rng, file, rng.choice(files))
    return Case(model, str(file.relative_to(directory / model)), content, rng.random() < 0.85)


def broken(rng: Random, file: Path, other: Path) -> bytes | None:
    """The content of a file after something that fits its kind, or any file, was done to it."""
    content = file.read_bytes()
    if rng.random() < 0.25:
        i = rng.randrange(len(content) + 1)
        return rng.choice(
            (None, b"", content[:i], other.read_bytes(), rng.randbytes(1000), content[:i] + b"\0" * 99)
        )
    kind = KINDS.get(file.suffix, of_any)
    try:
        return kind(rng, content)
    except (ValueError, KeyError, TypeError, OverflowError, IndexError, zipfile.BadZipFile):
        return of_any(rng, content)  # an edit that makes no sense here


def of_any(rng: Random, content: bytes) -> bytes:
    """Some bytes or runs changed, near the beginning more often than elsewhere."""
    for _ in range(rng.choice((1, 1, 2, 10))):
        end = rng.choice((100, 2_000, len(content)))
        content = rng.choice((of_bytes, of_runs))(rng, content[:end]) + content[end:]
    return content


def of_json(rng: Random, content: bytes) -> bytes:
    """A value replaced, dropped or copied, somewhere in the object."""
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
    """Changes something in lists and dictionaries."""
    places = [(value, key) for key in _keys(value)]
    for container, key in places:
        places += [(container[key], below) for below in _keys(container[key])][:200]
    container, key = rng.choice(places)
    match rng.randrange(4):
        case 0:
            del container[key]
        case 1:
            other, below = rng.choice(places)
            container[key] = other[below]
        case 2 if isinstance(container[key], int | float):
            container[key] *= rng.choice((-1, 2, 0, 1e3, 10**6))
        case 2 if isinstance(container[key], list | str):
            container[key] = container[key][: len(container[key]) // 2] * rng.choice((1, 3))
        case _:
            container[key] = rng.choice(VALUES)


def _keys(value: Any) -> list[Any]:
    return [*value] if isinstance(value, dict) else [*range(len(value))] if isinstance(value, list) else []


def of_zip(rng: Random, content: bytes) -> bytes:
    """A member of an archive of arrays or of a network changed, dropped, or hostile."""
    if rng.random() < 0.25:
        return of_any(rng, content)
    if not zipfile.is_zipfile(io.BytesIO(content)):  # torch's older format: pickles, one after the other
        hostile = pickle.dumps(Hostile(), protocol=2)
        return rng.choice((hostile, hostile + content, content[:-1] + hostile, of_any(rng, content)))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    name = rng.choice([*members])
    if rng.random() < 0.1:
        del members[name]
    elif name.endswith(".npy"):
        members[name] = of_array(rng, members[name])
    elif rng.random() < 0.2 and name.endswith(".pkl"):
        members[name] = pickle.dumps(Hostile(), protocol=2)
    else:
        half = members[name][: len(members[name]) // 2]
        members[name] = rng.choice((of_any(rng, members[name]), half, b"\xff" * 4000))
    packing = rng.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED))
    with zipfile.ZipFile(stream := io.BytesIO(), "w", packing) as archive:
        for member, data in members.items():
            archive.writestr(member, data)
    return stream.getvalue()


def of_array(rng: Random, content: bytes) -> bytes:
    """An array of another type or shape, with other values, or with a header that does not tell the truth."""
    array = np.load(io.BytesIO(content), allow_pickle=False)
    match rng.randrange(10):
        case 0:
            array = array.astype(rng.choice(DTYPES))
        case 1:
            array = array.reshape(rng.choice(((-1,), (1, -1), (-1, 1), (1, *array.shape))))
        case 2:
            array = array.reshape(-1)[: rng.randrange(array.size + 1)]
        case 3:
            array = np.concatenate([array] * rng.choice((2, 5)))
        case 4:
            return content.replace(
                b"'shape': (", b"'shape': (%d, " % rng.choice((2**20, 2**45, 2**62, -1)), 1
            )
        case 5:
            np.save(stream := io.BytesIO(), np.array([Hostile()], object), allow_pickle=True)
            return stream.getvalue()
        case 6:
            array = rng.choice((np.zeros_like(array), np.ones_like(array), array[::-1], array.T, -array))
        case _:
            array = array.copy()
            new = [-1, 0, 1, 2**31 - 1, -(2**31), 1e38, float("nan"), float("inf")]
            flat, value = array.reshape(-1), rng.choice(new[:5] if array.dtype.kind in "iu" else new)
            places = rng.sample(range(array.size), min(array.size, rng.choice((1, 1, 100, array.size))))
            flat[places] = np.array(value).astype(array.dtype)
    np.save(stream := io.BytesIO(), array, allow_pickle=False)
    return stream.getvalue()


def of_messages(rng: Random, content: bytes) -> bytes:
    """A value in one of spaCy's files, which are MessagePack."""
    import srsly

    if rng.random() < 0.3:
        return of_any(rng, content)
    value = srsly.msgpack_loads(content)
    edit(rng, value)
    return bytes(srsly.msgpack_dumps(value))


KINDS: dict[str, Callable[[Random, bytes], bytes]] = {
    ".json": of_json,
    ".npz": of_zip,
    ".pt": of_zip,
    "": of_messages,
}


def seal(model: Path) -> None:
    """Says the digests that the model's files have now."""
    path = model / SETTINGS
    settings = json.loads(path.read_text(encoding="utf-8"))
    settings["files"] = digests(model, [part.name for part in model.iterdir() if part.is_dir()])
    path.unlink()  # it is a link to the good model's
    path.write_text(json.dumps(settings), encoding="utf-8")


def judge(case: Case, directory: Path) -> str:
    """Loads the broken model and parses a sentence with it: `read` or `refused`."""
    model = Path("model")
    shutil.copytree(directory / case.model, model, copy_function=os.link)
    file = model / case.file
    file.unlink()
    if case.content is not None:
        file.write_bytes(case.content)
    if case.sealed and file.name != SETTINGS:
        seal(model)
    Path("in.conllu").write_text("".join(ROWS) + "\n")
    Path("in.txt").write_text("The dog barks .\n")
    said = "refused"
    for source, kind in (("in.conllu", ()), ("in.txt", ("--tokenized",))):
        done = d2c("parse", str(model), source, *kind, "--to", "discbracket", "-o", "x")
        if Path(RAN).exists():
            raise Fault("code in the model ran")
        if done.status != REFUSED:
            said = "read"
            [ctree] = read_treebank("x", "discbracket")
            words: tuple[str, ...] = ("The", "dog", "barks", *(["."] if kind else []))
            if done.status == PARTLY:  # a tree that no format holds: say, with a label that is a blank
                words = ("ERROR",)
            if ctree.tokens.forms != words:
                raise Fault(f"the tokens are not those of the sentence: {ctree}")
            Path("x").unlink()
    d2c("info", str(model))
    return said
