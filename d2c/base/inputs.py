"""The files that paths stand for: files, directories, patterns as in shells, ranges as in wsj/02..21."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TypeVar

from d2c.base.counting import many
from d2c.base.errors import FormatError
from d2c.base.files import file_name

Item = TypeVar("Item")
Paths = Path | tuple[Path, ...]  # a file, or several that are read as one

_DEEP = re.compile(r"(?<![^/])\*\*(?:/|$)")  # a whole part of a path
_RANGE = re.compile(r"\{?([0-9]+)\.\.([0-9]+)\}?")


def files_of(paths: Paths) -> tuple[Path, ...]:
    """Return each of the files."""
    return (paths,) if isinstance(paths, Path) else paths


def names_of(paths: Paths) -> str:
    """Return what messages call the files."""
    first, *others = files_of(paths)
    more = f" and {many(len(others), 'more file')}" if others else ""
    return f"{file_name(first)}{more}"


def check_repeatable(paths: Paths) -> None:
    """Raise FormatError for standard input, a pipe or a device: what is read several times must be a file."""
    for path in files_of(paths):
        if str(path) == "-" or (path.exists() and not path.is_file()):
            raise FormatError(file_name(path), 0, 0, "is read several times; name a file instead")


def check_apart(given: Iterable[Path], output: Path) -> None:
    """Raise FormatError where the output is also one of the inputs."""
    made = output.is_file() or output.is_dir()
    if made and any(path.exists() and path.samefile(output) for path in given):
        raise FormatError(str(output), 0, 0, "is also the input, or part of it; give the output another name")


def check_link(path: Path) -> None:
    """Raise FormatError for a link that leads nowhere."""
    if path.is_symlink() and not path.exists():
        raise FormatError(str(path), 0, 0, "is a link to what is not there")


def of_each(read: Callable[[Path], Iterable[Item]]) -> Callable[[Paths], Iterator[Item]]:
    """Return a function that reads several files, one after the other, as `read` reads one."""
    return lambda paths: chain.from_iterable(map(read, files_of(paths)))


def find_files(
    given: Iterable[Path],
    suffixes: tuple[str, ...] | None,
    outside: Path | None = None,
    hint: str = "say --format",
) -> tuple[Path, ...]:
    """Return the files, and those in the directories, each once, in the same order on every machine.

    A file with several names, through links, say, has the first of them.

    suffixes: of the files in directories that are meant, perhaps before .gz; None: all files. Hidden files,
              and those below `outside`, are left out
    hint:     what to do where no file has one of the suffixes
    Raises FormatError for what is not there, also a number of a range, and where nothing is found.
    """
    found: dict[object, Path] = {}  # by `_identity`
    for path in chain.from_iterable(map(_meant, given)):
        if path.is_dir():
            inside = [file for file in _below(path, outside) if suffixes is None or is_called(file, suffixes)]
            if not inside:
                known = f" is called {' '.join(suffixes)}; {hint}" if suffixes else ""
                raise FormatError(str(path), 0, 0, f"no file in it{known}")
        elif str(path) == "-" or path.exists():
            inside = [path]
        else:
            raise FormatError(str(path), 0, 0, "cannot be read: No such file or directory")
        for file in inside:
            found.setdefault(_identity(file), file)
    return tuple(found.values())


def _identity(file: Path) -> object:
    """Return a value that is the same for all names of a file."""
    if str(file) == "-":
        return "-"
    stat = file.stat() if file.exists() else file.lstat()
    return stat.st_dev, stat.st_ino


def is_pattern(path: Path) -> bool:
    """Return whether a path is no file, but a pattern or a range."""
    return not path.exists() and (glob.has_magic(str(path)) or _RANGE.search(str(path)) is not None)


def is_called(file: Path, suffixes: tuple[str, ...]) -> bool:
    """Return whether a name ends in one of the suffixes, perhaps before .gz."""
    return file.name.removesuffix(".gz").endswith(suffixes)


def ending_of(file: Path) -> str:
    """Return the last suffix of a name that is not .gz; "" where there is none."""
    return Path(file.name.removesuffix(".gz")).suffix


def _meant(path: Path) -> Iterator[Path]:
    """Yield the files and directories that a path stands for. Raises FormatError where there are none."""
    if not is_pattern(path):
        yield path
    elif span := _RANGE.search(text := str(path)):
        first, last = span.groups()
        for number in range(int(first), int(last) + 1):
            yield from _meant(Path(f"{text[: span.start()]}{number:0{len(first)}}{text[span.end() :]}"))
        if int(first) > int(last):
            raise FormatError(text, 0, 0, f"there is no number from {first} to {last}")
    elif matches := sorted({*_matching(text)}):
        yield from matches
    else:
        raise FormatError(text, 0, 0, "no file has such a name")


def _matching(pattern: str) -> Iterator[Path]:
    """Yield what a pattern matches. `**` follows no links to directories, which may lead in circles."""
    if (deep := _DEEP.search(pattern)) is None:
        yield from map(Path, glob.glob(pattern))
        return
    before, after = pattern[: deep.start()], pattern[deep.end() :] or "*"
    for top in glob.glob(before) if before else ["."]:
        for directory, inside, _ in os.walk(top):
            inside[:] = [name for name in inside if not name.startswith(".")]
            yield from _matching(os.path.join(glob.escape(directory), after))


def _below(directory: Path, outside: Path | None) -> Iterator[Path]:
    """Yield the files below a directory, and broken links, which whoever reads them reports. Links to
    directories, which may lead in circles, are passed over."""
    out = outside and outside.resolve()
    for path in sorted(directory.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(directory).parts)
        real = path.is_file() or (path.is_symlink() and not path.exists())
        if real and not hidden and not (out and out in path.resolve().parents):
            yield path
