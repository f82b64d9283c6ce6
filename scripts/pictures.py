"""The pictures in the README that a browser makes: cells of the notebook, and a page of `view`.

    python scripts/pictures.py [-o DIR] [--dark] [--browser FILE]

Needs Chromium, nbclient and playwright. The model is `en`.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from click.testing import CliRunner

from d2c.commands.cli import cli

DOCS = Path(__file__).parents[1] / "docs"
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CELLS = 4
WIDTHS = 760, 1160  # pixels, of the notebook and the page
STYLE = """
body { font: 13px/1.4 sans-serif; margin: 0; padding: 6px 18px 12px; color: #1f2328; background: #fff }
pre { margin: 0; font: 13px/1.4 monospace; white-space: pre-wrap }
.in { background: #f3f4f6; border: 1px solid #d9dce1; border-radius: 3px; padding: 7px 10px; margin: 10px 0 }
.out { margin: 6px 10px } table { border-collapse: collapse; font-size: 13px } td, th { padding: 3px 9px;
text-align: right; border: 0 } tbody tr:nth-child(odd) { background: #f3f4f6 }
@media (prefers-color-scheme: dark) { body { color: #e3e6ea; background: #1b1d21 }
.in, tbody tr:nth-child(odd) { background: #26292f; border-color: #3a3e46 } }
"""
TEXT = """\
They saw the cat with glasses.
The gene on this chromosome is expressed in cells of the liver.
She slept.
We asked the man who had written the letter to the editor.
Mice with a mutation in the gene grow slowly and die early.
The results of the second experiment were not what we had expected.
"""
QUERY = "NP(PP)"


@click.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), default=DOCS)
@click.option("--dark", is_flag=True)
@click.option("--browser", default=next(filter(None, map(shutil.which, BROWSERS)), None), help="Chromium.")
def main(output: Path, dark: bool, browser: str | None) -> None:
    """Writes notebook.png and view.png."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started, TemporaryDirectory() as scratch:
        chromium = started.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        scheme: Any = "dark" if dark else "light"
        first, second = (
            chromium.new_page(viewport={"width": width, "height": 100}, color_scheme=scheme)
            for width in WIDTHS
        )
        first.set_content(f"<style>{STYLE}</style>{''.join(html(cells(DOCS / 'python.ipynb')))}")
        first.screenshot(path=output / "notebook.png", full_page=True)
        second.set_viewport_size({"width": WIDTHS[1], "height": 640})
        second.goto(page(Path(scratch)).as_uri())
        second.fill("#query", QUERY)
        second.wait_for_timeout(500)
        second.screenshot(path=output / "view.png")
        chromium.close()


def cells(notebook: Path) -> list[Any]:
    """The first cells of code, run."""
    import nbclient
    import nbformat

    shown = nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]
    shown.cells = [cell for cell in shown.cells if cell.cell_type == "code"][:CELLS]
    nbclient.NotebookClient(shown, timeout=600, kernel_name="python3").execute()
    return list(shown.cells)


def html(cells: list[Any]) -> Iterator[str]:
    """The code of each cell, and pictures, tables and lines that it gives."""
    for cell in cells:
        yield f'<div class="in"><pre>{escape(cell.source)}</pre></div>'
        for output in cell.outputs:
            data = output.get("data", {})
            drawn = data.get("text/html") or data.get("image/svg+xml")
            plain = data.get("text/plain") or output.get("text", "")
            yield f'<div class="out">{drawn or f"<pre>{escape(plain)}</pre>"}</div>'


def page(directory: Path) -> Path:
    """What `view` makes of parsed text."""
    text, parsed, shown = (directory / name for name in ("text.txt", "text.json", "view.html"))
    text.write_text(TEXT, encoding="utf-8")
    for arguments in (
        ("parse", "en", str(text), "--text", "--to", "json", "-o", str(parsed)),
        ("view", str(parsed), "-o", str(shown)),
    ):
        CliRunner().invoke(cli, arguments, catch_exceptions=False)
    return shown


if __name__ == "__main__":
    main()
