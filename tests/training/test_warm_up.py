"""The second process that compiles: when it is started, what it leaves, that nothing depends on it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from d2c.models.model import read_model_settings
from d2c.models.names import find
from d2c.protocols.route import Route
from d2c.routes.registry import ROUTES, RouteRow, route_class
from d2c.training import warm_up
from tests.compiled import LISTENER
from tests.processes import all_end

ROOT = Path(__file__).parents[2]
ROUTE = """
import os, pathlib, time
from d2c.learning.kernels import kernel
from d2c.routes.registry import ROUTES, RouteRow

def double(number):
    return 2 * number

class Slow:
    @classmethod
    def warm_up(cls, train):
        with open(pathlib.Path(__file__).parent / "log", "a") as stream:
            stream.write(f"{train} {os.getpid()}\\n")
        BODY

    @classmethod
    def warm_up_packed(cls):
        cls.warm_up("packed")

ROUTES["slow"] = RouteRow(path="slow_route:Slow", new=lambda made, settings: made(), kernels=True)
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A route `slow` with kernels, here and in processes that are started; what it did."""
    write(tmp_path, "pass")
    (tmp_path / "sitecustomize.py").write_text("import slow_route\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "slow_route", raising=False)
    row = RouteRow(path="slow_route:Slow", new=lambda made, settings: made(), kernels=True)
    monkeypatch.setitem(ROUTES, "slow", row)
    return tmp_path / "log"


def write(directory: Path, body: str) -> None:
    (directory / "slow_route.py").write_text(ROUTE.replace("BODY", body))


def test_it_runs_once_in_a_process_of_its_own(log: Path) -> None:
    for train in (True, True, False):
        with warm_up.warmed_up(["reduction", "slow"], train):
            pass
    lines = [line.split() for line in log.read_text().splitlines()]
    assert [train for train, _ in lines] == ["True", "False"]  # the second time there was a note
    assert str(os.getpid()) not in {process for _, process in lines}


def test_packed_arcs_have_a_process_of_their_own(log: Path) -> None:
    for _ in range(2):
        with warm_up.warmed_up(["slow"], train=False, packed=True):
            pass
    lines = [line.split() for line in log.read_text().splitlines()]
    assert sorted(train for train, _ in lines) == ["False", "packed"] and lines[0][1] != lines[1][1]


@pytest.mark.parametrize("name, packed", [("en", True), ("en-small", False)])
def test_models_say_what_they_need(name: str, packed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[tuple[object, ...]]()

    def warmed_up(routes: list[str], train: bool, packed: bool) -> nullcontext[None]:
        asked.append((routes, train, packed))
        return nullcontext()

    monkeypatch.setattr(warm_up, "warmed_up", warmed_up)
    with warm_up.warmed_up_for([read_model_settings(find(name))]):
        pass
    assert asked == [(["cky"], False, packed)]


def test_the_process_ends_by_itself(log: Path) -> None:
    command = [sys.executable, "-m", warm_up.__name__, "train", "slow"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.wait(600) == 0  # while the pipe is open
        assert process.stderr is not None and process.stderr.read() == b""
    assert log.exists()


def test_kernels_are_compiled_once(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are in the cache afterwards, with a note, and are not compiled again."""
    write(log.parent, "assert kernel(double)(2) == 4")
    monkeypatch.setattr(warm_up, "PATIENCE", 600.0)
    with warm_up.warmed_up(["slow"], train=False):
        pass
    notes = [path.name for path in (tmp_path / "cache").iterdir() if path.is_file()]
    assert notes == ["d2c.parse.slow"]
    assert [path.name for path in (tmp_path / "cache").rglob("*.nbi")][0].startswith("slow_route.double")
    monkeypatch.setattr(subprocess, "Popen", None)
    with warm_up.warmed_up(["slow"], train=False):
        pass


@pytest.mark.parametrize("route", [name for name, row in ROUTES.items() if row.kernels])
def test_routes_know_their_kernels(route: str) -> None:
    assert route_class(route).warm_up.__func__ is not Route.warm_up.__func__  # type: ignore[attr-defined]
    route_class(route).warm_up(train=False)  # in the cache of all tests


def test_routes_without_kernels_start_nothing(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)
    with warm_up.warmed_up(["reduction"], train=True):
        pass


def test_other_sources_are_compiled_again(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for sources in ("a", "a"):
        monkeypatch.setattr(warm_up, "_sources", lambda sources=sources: sources)
        with warm_up.warmed_up(["slow"], train=True):
            pass
    assert len(log.read_text().splitlines()) == 2  # the process has noted the real ones


def test_its_failure_is_nobodys(log: Path) -> None:
    write(log.parent, "raise SystemError")
    for _ in range(2):
        with warm_up.warmed_up(["slow"], train=True):
            pass
    assert len(log.read_text().splitlines()) == 2


def test_it_is_not_waited_for_without_end(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(log.parent, "time.sleep(600)")
    monkeypatch.setattr(warm_up, "PATIENCE", 0.1)
    with warm_up.warmed_up(["slow"], train=True):
        wait_for(log)
    assert ended(log)
    with pytest.raises(KeyboardInterrupt), warm_up.warmed_up(["slow"], train=True):
        raise KeyboardInterrupt


def test_it_ends_with_its_parent(log: Path) -> None:
    write(log.parent, "time.sleep(600)")
    code = (
        "import time\nfrom d2c.training.warm_up import warmed_up\n"
        "with warmed_up(['slow'], train=True): time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", code]) as parent:
        wait_for(log)
        parent.kill()
    assert ended(log)


WARM = (
    LISTENER
    + """
import d2c
from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.packed.arcs import packed_arcs
ConstrainedCKY.warm_up()
ConstrainedCKY.warm_up_packed()
event.register("numba:compile", Listener())
[model] = (parser := d2c.load("en")).models
text = "Fruit flies like a banana, and nobody who saw the man on the hill with the telescope agreed."
[sentence] = parser(text)
[dtree] = model.parse_dependencies([model.route.encode(sentence.tree.ctree).tokens])
print(packed_arcs(dtree).is_single, compiled)
"""
)


@pytest.mark.slow
def test_a_model_that_is_warm_compiles_nothing_more() -> None:
    pytest.importorskip("stanza")
    said = subprocess.run([sys.executable, "-c", WARM], check=True, capture_output=True, text=True).stdout
    assert said.strip() == "False []"


def wait_for(log: Path) -> None:
    until = time.monotonic() + 600
    while not (log.exists() and log.read_text().endswith("\n")):
        assert time.monotonic() < until
        time.sleep(0.05)


def ended(log: Path) -> bool:
    """Whether the process that wrote the log is gone, or soon is."""
    return all_end([int(log.read_text().split()[-1])])
