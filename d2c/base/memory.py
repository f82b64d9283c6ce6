"""How much memory is free, and how much a model needs."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

_MEMINFO, _CGROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")
_LIMITS = (("memory.max", "memory.current"), ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"))
_PROCESS, _TIMES = 100_000_000, 25  # bytes, and of a model's files; off by a third at most: docs/models.md


def free_memory() -> int | None:
    """Return how many bytes processes can still have, by the system and the limit of a container; None: it is
    not known."""
    found = list[int]()
    with suppress(OSError, ValueError, IndexError):
        [line] = [line for line in _MEMINFO.read_text().splitlines() if line.startswith("MemAvailable:")]
        found.append(int(line.split()[1]) * 1024)
    for limit, used in _LIMITS:
        with suppress(OSError, ValueError):  # "max": there is none
            found.append(int((_CGROUP / limit).read_text()) - int((_CGROUP / used).read_text()))
    return max(0, min(found)) if found else None


def memory_of(directory: Path) -> int:
    """Return about how many bytes a process with a model needs, by the size of its files."""
    sizes = (file.stat().st_size for file in directory.rglob("*") if file.is_file())
    return _PROCESS + _TIMES * sum(sizes)
