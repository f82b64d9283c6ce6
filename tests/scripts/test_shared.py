"""What scripts share."""

from __future__ import annotations

import subprocess
import sys
from zlib import crc32

import pytest

from benchmarks.shared import run


def test_a_process_has_its_own_memory_alone() -> None:
    held = bytearray(1 << 28)
    held[:: 1 << 12] = b"x" * len(held[:: 1 << 12])
    used = run([sys.executable, "-I", "-S", "-c", "import sys; print(sys.stdin.read())"], b"a")
    assert 0 < used.kilobytes < 1 << 16
    assert used.checksum == crc32(b"a\n")
    with pytest.raises(subprocess.CalledProcessError, match="status 3"):
        run([sys.executable, "-I", "-S", "-c", "import sys; sys.exit(3)"])
