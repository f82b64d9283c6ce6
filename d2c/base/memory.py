"""How much memory is free, and how much a model needs."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from d2c.base.model_files import size_of

_MEMINFO, _CGROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")
_LIMITS = (  # files with the limit and the use, and the name in memory.stat of the use that caches files
    ("memory.max", "memory.current", "inactive_file"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file"),
)
_PROCESS, _TIMES = 100_000_000, 25  # bytes; times those of a model's files. Within a third: docs/models.md


def free_memory() -> int | None:
    """Return how many bytes are free, by the system and by the limit of a container; None where that is not
    known."""
    found = list[int]()
    with suppress(OSError, ValueError):
        found.append(_number(_MEMINFO, "MemAvailable:") * 1024)
    for limit, used, cached in _LIMITS:
        with suppress(OSError, ValueError):  # "max": no limit
            most = int((_CGROUP / limit).read_text())
            free = most - int((_CGROUP / used).read_text())
            with suppress(OSError, ValueError):
                free += _number((_CGROUP / used).with_name("memory.stat"), cached)  # given up when needed
            found.append(min(free, most))
    return max(0, min(found)) if found else None


def _number(file: Path, name: str) -> int:
    """Return the number after a name in a file with one name a line. Raises OSError, ValueError."""
    [line] = [line for line in file.read_text().splitlines() if line.startswith(f"{name} ")]
    return int(line.removeprefix(name).removesuffix("kB"))


def memory_of(directory: Path) -> int:
    """Return about how many bytes a process with a model needs, by the size of its files."""
    return _PROCESS + _TIMES * size_of(directory)
