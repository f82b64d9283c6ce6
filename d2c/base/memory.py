"""How much memory is free, and how much a model needs."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from d2c.base.model_files import size_of

_MEMINFO, _CGROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")
_LIMITS = (  # files with the limit and what is used; what of this, in memory.stat, files are kept in
    ("memory.max", "memory.current", "inactive_file"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file"),
)
_PROCESS, _TIMES = 100_000_000, 25  # bytes, and of a model's files; off by a third at most: docs/models.md


def free_memory() -> int | None:
    """Return how many bytes processes can still have, by the system and the limit of a container; None: it is
    not known."""
    found = list[int]()
    with suppress(OSError, ValueError):
        found.append(_number(_MEMINFO, "MemAvailable:") * 1024)
    for limit, used, cached in _LIMITS:
        with suppress(OSError, ValueError):  # "max": there is none
            most = int((_CGROUP / limit).read_text())
            free = most - int((_CGROUP / used).read_text())
            with suppress(OSError, ValueError):
                free += _number((_CGROUP / used).with_name("memory.stat"), cached)  # given up when needed
            found.append(min(free, most))
    return max(0, min(found)) if found else None


def _number(file: Path, name: str) -> int:
    """Return the number behind a name in a file that has one on each line. Raises OSError, ValueError."""
    [line] = [line for line in file.read_text().splitlines() if line.startswith(f"{name} ")]
    return int(line.removeprefix(name).removesuffix("kB"))


def memory_of(directory: Path) -> int:
    """Return about how many bytes a process with a model needs, by the size of its files."""
    return _PROCESS + _TIMES * size_of(directory)
