"""What scripts share."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks.shared import run


def test_a_process_has_its_own_memory_alone() -> None:
    held = bytearray(1 << 28)
    held[:: 1 << 12] = b"x" * len(held[:: 1 << 12])
    used = run([sys.executable, "-I", "-S", "-c", "import sys; assert sys.stdin.read() == 'a'"], b"a")
    assert 0 < used.kilobytes < 1 << 16
    with pytest.raises(subprocess.CalledProcessError, match="status 3"):
        run([sys.executable, "-I", "-S", "-c", "import sys; sys.exit(3)"])
