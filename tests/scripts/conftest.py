"""Plain `pytest` leaves tests of scripts out; `pytest tests/scripts` and `.ci/run` run them."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark them; those that are named on the command line are wanted."""
    own = [item for item in items if HERE in item.path.parents]
    for item in own:
        item.add_marker(pytest.mark.scripts)
    named = (config.invocation_params.dir / arg.partition("::")[0] for arg in config.args)
    if any(HERE in (path, *path.parents) for path in named):
        config.option.markexpr = config.option.markexpr.replace(" and not scripts", "")
