"""Two writers on one output: two processes begin a command at nearly the same time, each with its own input.

In the end there must be the whole output of one of them and nothing else, and a writer that is refused must
be told that another one writes or has written.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from random import Random
from typing import NamedTuple

import d2c.commands.corpus as command
from d2c.models.model import Model
from fuzzing.children import Fault, Limits, redirect
from fuzzing.commands import READ, REFUSED, d2c, status_of
from fuzzing.corpora import Here
from fuzzing.frame import Case, Group, Kind
from fuzzing.inputs import MODEL, with_model

LIMITS = Limits(30, 4_000_000_000)
OUTPUT = "out"
LATER = ("is a model already", "has a job", "it has changed since")  # said where an output is there already
MEANWHILE = ("another process",)  # said where an output is being written


class Writes(NamedTuple):
    """A command, with {} for the name of its input and OUT for that of its output.

    ending: of the output's name; parts: beginnings of names of files that are the same whenever they are made
    again:  whether the command replaces an output that is there
    """

    arguments: str
    ending: str = ""
    parts: tuple[str, ...] = ("",)
    again: bool = True


COMMANDS = {
    "two convert": Writes("convert {}.mrg OUT", ".export"),
    "two encode": Writes("encode {}.mrg -o OUT", ".conllu"),
    "two view": Writes("view {}.mrg -o OUT", ".html"),
    "two search": Writes("search NP {}.mrg -o OUT", ".tsv"),
    "two parse": Writes(f"parse {MODEL} {{}}.txt --tokenized --batch-size 1 -o OUT", ".mrg"),
    "two corpus": Writes(
        f"corpus {{}}.txt --model {MODEL} --tokenized --shard-size 2 --batch-size 1 -o OUT",
        parts=("part-",),
        again=False,
    ),
    "two train": Writes("train {}.mrg --dev {}.mrg --dparser gold -o OUT", again=False),
    "two compare": Writes(
        "compare {}.mrg {}.mrg --route reduction --dparser gold -o OUT", parts=("reduction/",), again=False
    ),
}


def group(model: Model) -> Group:
    """Return the kinds; `parse` and `corpus` are given this model."""
    judge = with_model(model, _judge)
    return Group("writers", dict.fromkeys(COMMANDS, Kind(_pair, judge)), LIMITS)


def _pair(rng: Random, kind: str) -> Case:
    """Return two inputs, and after which share of one command's time the second writer begins."""
    files = dict[str, bytes]()
    for name, words in (("a", ("the", "dog")), ("b", ("her", "cat", "now"))):
        count = rng.randint(3, 12)
        leaves = " ".join(f"(NN {word})" for word in words)
        files[f"{name}.mrg"] = f"(S (NP {leaves}) (VP (VBD slept)) (. .))\n".encode() * count
        files[f"{name}.txt"] = f"{' '.join(words)} slept .\n".encode() * count
    after = rng.choice((0.0, rng.random() / 10, rng.random(), 1.2 * rng.random()))
    return Case(kind, files, {"after": after})


def _judge(case: Case) -> str:
    command._pool = lambda *given: nullcontext(Here(given[-1]))
    case.put(Path())
    writes = COMMANDS[case.kind]
    commands = [writes.arguments.replace("{}", name).replace("OUT", _output(writes)).split() for name in "ab"]
    alone, seconds = list[dict[str, bytes]](), 0.0
    for arguments in commands:
        begin = time.monotonic()
        d2c(*arguments)
        seconds = time.monotonic() - begin
        alone.append(_made(writes))
        shutil.rmtree(_output(writes), ignore_errors=True)
        Path(_output(writes)).unlink(missing_ok=True)
    if alone[0] == alone[1]:
        raise Fault(f"two inputs make one output: {[*alone[0]]}")
    before = {*os.listdir()}
    writers = [_begin(commands[0], "0", 0.0), _begin(commands[1], "1", case.given["after"] * seconds)]
    codes = [os.waitstatus_to_exitcode(os.waitpid(writer, 0)[1]) for writer in writers]
    said = [Path("..", f"err-{name}").read_text() for name in "01"]
    left = {*os.listdir()} - before - {_output(writes)}
    told = f"{case.kind}: exit status {codes}; {said}"
    check(codes, said, writes, told)
    if left and not (codes.count(REFUSED) == 1 and all(name.startswith(f"{OUTPUT}-") for name in left)):
        raise Fault(f"leaves {sorted(left)}: {told}")
    if _made(writes) not in [one for one, code in zip(alone, codes, strict=True) if code == READ]:
        raise Fault(f"the output is that of no writer: {told}")
    return "refused" if REFUSED in codes else "read"


def check(codes: list[int], said: list[str], writes: Writes, told: str) -> None:
    """Raise Fault where both writers were refused, one ended otherwise, or both won where only one may."""
    if {*codes} - {READ, REFUSED}:
        raise Fault(f"an exit status that is not documented: {told}")
    if READ not in codes or (codes == [READ, READ] and not writes.again):
        raise Fault(f"not exactly one writer has won: {told}")
    for code, errors in zip(codes, said, strict=True):
        if code == REFUSED and not any(why in errors for why in (*MEANWHILE, *LATER)):
            raise Fault(f"no line says that there is another writer: {told}")


def _output(writes: Writes) -> str:
    return f"{OUTPUT}{writes.ending}"


def _made(writes: Writes) -> dict[str, bytes]:
    """Return the files of an output that are the same whenever it is made."""
    output = Path(_output(writes))
    files = [output] if output.is_file() else [file for file in output.rglob("*") if file.is_file()]
    found = {str(file.relative_to(output)): file.read_bytes() for file in files}
    return {name: content for name, content in found.items() if name.startswith(writes.parts)}


def _begin(arguments: list[str], name: str, after: float) -> int:
    """Start a process that runs a command after some seconds."""
    if process := os.fork():
        return process
    code = 1
    try:
        redirect(Path("/dev/null"), 0)
        for descriptor, stream in ((1, "out"), (2, "err")):
            redirect(Path("..", f"{stream}-{name}"), descriptor)
        time.sleep(after)
        ended = status_of(tuple(arguments))
        code = ended if isinstance(ended, int) else 1
        sys.stderr.write("" if isinstance(ended, int) else ended)
        sys.stderr.flush()
    finally:
        os._exit(code)
