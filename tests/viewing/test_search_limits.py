"""The search of pages ends, in a worker that is stopped; products stop at a limit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from d2c.commands.cli import cli
from tests.pages import opened_in, searched


@pytest.fixture(scope="module")
def tab(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    file = tmp_path_factory.mktemp("limits") / "x.mrg"
    flat = "(S " + "(A a) " * 300 + ")"
    file.write_text(f"{flat}\n(S (B {'a' * 40}!) (C aab))\n(S (B bb) (C c-1))\n")
    target: Path = file.with_suffix(".html")
    run = CliRunner().invoke(cli, ["view", str(file), "-o", str(target)])
    assert run.exit_code == 0, run.output
    opened, faults = opened_in(browser, target)
    yield opened
    assert faults == []


def limited(tab: Any, query: str, seconds: float) -> str:
    """What the page says after a search."""
    tab.evaluate("seconds => { SECONDS = seconds }", seconds)
    return searched(tab, query)


def test_a_worker_searches(tab: Any) -> None:
    assert limited(tab, "/^(a|b)+$/", 5) == "3 of 3 sentences"
    assert limited(tab, "@/^(c|d)+$/", 5) == "1 of 3 sentences"
    assert limited(tab, "/^(b+)(b*)$/#1%x $ __", 5) == "0 of 3 sentences"
    assert limited(tab, "B < /^(b+)(b*)$/#1%x", 5) == "1 of 3 sentences"


def test_a_worker_is_stopped(tab: Any) -> None:
    """What was found until then is shown; meanwhile the page answers."""
    assert limited(tab, "/^(a|aa)+$|^bb$/", 0.2) == "1 of 3 sentences; 2 not searched: that takes too long"
    assert limited(tab, "B", 5) == "2 of 3 sentences"
    tab.evaluate("SECONDS = 60")
    tab.fill("#query", "/^(a|aa)+$/")
    tab.get_by_text("searching …").wait_for()
    tab.click("#next")
    assert tab.inner_text("#sentence").startswith("3: ")
    assert limited(tab, "C", 5) == "2 of 3 sentences"  # another search stops it


def test_products_stop(tab: Any) -> None:
    over = "1 not searched: that takes too long"
    assert limited(tab, "S <(A=a) <(A=b) <(A=c) <(A=d)", 0.5).startswith("0 of 3 sentences")
    assert limited(tab, "A=a .. A=b", 60) == "1 of 3 sentences"
    assert limited(tab, "S <(A=a) <(A=b) <(A=c)", 60) == f"0 of 3 sentences; {over}"
