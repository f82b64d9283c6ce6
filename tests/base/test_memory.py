"""How much memory is free, by the system and by a container's limit, and what a model may need."""

from __future__ import annotations

from pathlib import Path

import pytest

from d2c.base import memory
from d2c.base.memory import free_memory, memory_of
from d2c.commands.terminal import warn_of_memory


def test_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    meminfo = tmp_path / "meminfo"
    monkeypatch.setattr(memory, "_MEMINFO", meminfo)
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    assert free_memory() is None
    meminfo.write_text("MemTotal: 9 kB\nMemAvailable:    2048 kB\n")
    assert free_memory() == 2 << 20
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("1000\n")
    assert free_memory() == 2 << 20
    (tmp_path / "memory.max").write_text("5000\n")
    assert free_memory() == 4000
    (tmp_path / "memory.stat").write_text("anon 600\ninactive_file 300\ntotal_inactive_file 1\n")
    assert free_memory() == 4300
    (tmp_path / "memory.current").write_text("200\n")
    assert free_memory() == 5000
    (tmp_path / "memory.current").write_text("1000\n")
    (tmp_path / "memory.max").write_text("500\n")
    assert free_memory() == 0
    (tmp_path / "memory.max").unlink()
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "memory.limit_in_bytes").write_text("3000\n")
    (tmp_path / "memory" / "memory.usage_in_bytes").write_text("1000\n")
    (tmp_path / "memory" / "memory.stat").write_text("inactive_file 7\ntotal_inactive_file 400\n")
    assert free_memory() == 2400


def test_what_is_needed_is_said_if_it_is_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    models = [tmp_path / name for name in ("a", "b")]
    for model in models:
        (model / "route").mkdir(parents=True)
        (model / "route" / "weights").write_bytes(bytes(1_000_000))
        assert memory_of(model) == 125_000_000
    monkeypatch.setattr("d2c.commands.terminal.free_memory", lambda: 1_000_000_000)
    warn_of_memory(models, 4, "--jobs")
    assert not capsys.readouterr().err
    warn_of_memory(models, 8, "--jobs")
    assert capsys.readouterr().err == (
        "d2c: 8 processes with a and b may need 2.0 GB of memory, and 1.0 GB are free; "
        "a lower --jobs and --batch-size need less\n"
    )
    monkeypatch.setattr("d2c.commands.terminal.free_memory", lambda: None)
    warn_of_memory(models, 8, "--jobs")
    assert not capsys.readouterr().err
