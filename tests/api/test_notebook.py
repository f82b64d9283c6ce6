"""docs/python.ipynb runs as it stands, shows what it says, and is kept without its outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs" / "python.ipynb"
nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("pandas")


@pytest.fixture
def notebook() -> Any:
    return nbformat.read(NOTEBOOK, as_version=4)


def test_it_is_kept_without_outputs(notebook: Any) -> None:
    nbformat.validate(notebook)
    codes = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert codes and all(not cell.outputs and cell.execution_count is None for cell in codes)


@pytest.mark.slow
def test_it_runs(notebook: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
    shown = [[*out.get("data", {"text/plain": out.get("text")})] for out in outputs(notebook)]
    assert [kinds[-1] for kinds in shown].count("image/svg+xml") == 3
    pages = [out.data["text/html"] for out in outputs(notebook) if "text/html" in out.get("data", ())]
    assert [page.count("<svg") for page in pages] == [2, 1, 0, 1, 1] and "<th>confidence</th>" in pages[2]
    assert [page.count("overflow-x:auto") for page in pages] == [2, 1, 0, 1, 1]
    [printed] = [out.text for out in outputs(notebook) if "not UTF-8" in out.get("text", "")]
    assert [line.split()[0] for line in printed.splitlines()] == ["1", "2", "3"]


def outputs(notebook: Any) -> list[Any]:
    return [output for cell in notebook.cells for output in cell.get("outputs", ())]
