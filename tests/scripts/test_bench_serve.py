"""What the benchmark of `d2c serve` counts as lost."""

from __future__ import annotations

import pytest

from bench_serve import Replied, report

GOOD = [Replied(f"{i % 7}", 200, b"{}", i / 1000) for i in range(1, 201)]


def test_what_is_answered_as_it_should_be(capsys: pytest.CaptureFixture[str]) -> None:
    report([*GOOD[1:], Replied("1", 200, b"x", 0.001), Replied("[", 400, b"", 0.001)], {"[": 400}, 2.0, 3, 1)
    assert capsys.readouterr().out == (
        "201 requests of 3 clients, 1 worker(s) killed; 200: 200, 400: 1\n"
        "answered 201, lost 0, answered otherwise than before 1\n"
        "100 requests/s; ms p50 100, p95 191, p99 199, most 200\n"
    )


@pytest.mark.parametrize(
    ("one", "line"),
    [
        (Replied("1", 0, b"", 1.0), "answered 200, lost 1, answered otherwise than before 1"),
        (Replied("[", 200, b"", 1.0), "answered 200, lost 1, answered otherwise than before 0"),
    ],
)
def test_what_is_not(one: Replied, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        report([*GOOD, one], {"[": 400}, 1.0, 1, 0)
    assert line in capsys.readouterr().out
