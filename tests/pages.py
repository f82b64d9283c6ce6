"""Pages that d2c writes: what is in them, and a real browser that opens them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

# Words, tags or labels that mean something in HTML, JavaScript, JSON or Jinja.
NASTY = ("</script>", "<!--", '"&quot;"', "&amp;", "'", "\u2028", "\\u003c", "{{ 1 }}", "<b>", "\u00a0x")


class Page(HTMLParser):
    """The tags of a page in order, its tables as rows of cells by id, title, and data with the sentences."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.tables: dict[str | None, list[list[str]]] = {}
        self.data: dict[str, Any] = {}
        self.title = ""
        self._table, self._cell, self._inside = [[""]], False, ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        named = dict(attributes)
        assert not {"src", "href"} & named.keys()
        if tag == "table":
            self._table = self.tables[named.get("id")] = []
        elif tag == "tr":
            self._table.append([])
        elif tag in ("td", "th"):
            self._table[-1].append("")
        self._cell = tag in ("td", "th") or (self._cell and tag in ("small", "br"))
        self._inside = tag if tag == "title" else named.get("id") or ""

    def handle_endtag(self, tag: str) -> None:
        self._cell = self._cell and tag not in ("td", "th", "tr")
        self._inside = ""

    def handle_data(self, text: str) -> None:
        if self._inside == "sentences":
            self.data["sentences"] = [json.loads(line) for line in text.strip().split("\n")]
        elif self._inside == "data":
            self.data |= json.loads(text)
        elif self._inside == "title":
            self.title += text
        elif self._cell:
            self._table[-1][-1] += text


def chromium() -> Iterator[Any]:
    """A real browser; skips where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    with playwright.sync_playwright() as started:
        try:
            browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        except playwright.Error as error:
            pytest.skip(f"no Chromium here ({str(error).splitlines()[0]})")
        yield browser
        browser.close()


def opened_in(browser: Any, page: Path, **context: Any) -> tuple[Any, list[str]]:
    """A page in a browser without network; what goes wrong there is added to the list."""
    tab = browser.new_context(offline=True, viewport={"width": 1500, "height": 1000}, **context).new_page()
    faults: list[str] = []
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    tab.goto(page.as_uri())
    return tab, faults


def searched(tab: Any, query: str) -> str:
    """What a page says after a search."""
    tab.fill("#query", query)
    return settled(tab)


def settled(tab: Any) -> str:
    """What a page says after the search that goes on, if one does."""
    tab.wait_for_selector("#list:not([aria-busy=true])")
    return str(tab.inner_text("#count"))
