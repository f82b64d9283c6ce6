"""The picture of a notebook in the README: cells of code are run, and shown by a browser with what they give.

    python scripts/picture_notebook.py [NOTEBOOK] [-o PICTURE] [--cells N] [--dark] [--browser FILE]

Needs Chromium, nbclient and playwright. The first N cells are run and shown.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import click

DOCS = Path(__file__).parents[1] / "docs"
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
WIDTH = 760  # pixels
STYLE = """
body { font: 13px/1.4 sans-serif; margin: 0; padding: 6px 18px 12px; color: #1f2328; background: #fff }
pre { margin: 0; font: 13px/1.4 monospace; white-space: pre-wrap }
.in { background: #f3f4f6; border: 1px solid #d9dce1; border-radius: 3px; padding: 7px 10px; margin: 10px 0 }
.out { margin: 6px 10px } table { border-collapse: collapse; font-size: 13px } td, th { padding: 3px 9px;
text-align: right; border: 0 } tbody tr:nth-child(odd) { background: #f3f4f6 }
@media (prefers-color-scheme: dark) { body { color: #e3e6ea; background: #1b1d21 }
.in, tbody tr:nth-child(odd) { background: #26292f; border-color: #3a3e46 } }
"""


@click.command()
@click.argument("notebook", type=click.Path(path_type=Path, exists=True), default=DOCS / "python.ipynb")
@click.option("-o", "--output", type=click.Path(path_type=Path), default=DOCS / "notebook.png")
@click.option("--cells", default=4, show_default=True)
@click.option("--dark", is_flag=True)
@click.option("--browser", default=next(filter(None, map(shutil.which, BROWSERS)), None), help="Chromium.")
def main(notebook: Path, output: Path, cells: int, dark: bool, browser: str | None) -> None:
    """Runs the cells and writes the picture."""
    import nbclient
    import nbformat
    from playwright.sync_api import sync_playwright

    shown = nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]
    shown.cells = [cell for cell in shown.cells if cell.cell_type == "code"][:cells]
    nbclient.NotebookClient(shown, timeout=600, kernel_name="python3").execute()
    with sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = chromium.new_page(
            viewport={"width": WIDTH, "height": 100}, color_scheme="dark" if dark else "light"
        )
        page.set_content(f"<style>{STYLE}</style>{''.join(html(shown.cells))}")
        page.screenshot(path=output, full_page=True)
        chromium.close()


def html(cells: list[Any]) -> Iterator[str]:
    """The code of each cell, and pictures, tables and lines that it gives."""
    for cell in cells:
        yield f'<div class="in"><pre>{escape(cell.source)}</pre></div>'
        for output in cell.outputs:
            data = output.get("data", {})
            drawn = data.get("text/html") or data.get("image/svg+xml")
            plain = data.get("text/plain") or output.get("text", "")
            yield f'<div class="out">{drawn or f"<pre>{escape(plain)}</pre>"}</div>'


if __name__ == "__main__":
    main()
