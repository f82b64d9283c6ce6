"""D-parsers for tables."""

from __future__ import annotations

import pytest

from d2c.routes.dparsers import DPARSERS, DParserRow
from tests.scripts.papers.tiny import MISSING, TOLD, Told


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, ...], tuple[int, ...]]:
    """What the d-parser `told` says; the package of another one is missing."""
    monkeypatch.setitem(DPARSERS, TOLD, DParserRow(path="tests.scripts.papers.tiny:Told"))
    monkeypatch.setitem(DPARSERS, MISSING, DParserRow(path="no.such.module:Parser", extra="no-such-package"))
    monkeypatch.setattr(Told, "heads", {})
    return Told.heads
