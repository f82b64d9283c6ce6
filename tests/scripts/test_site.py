"""The site of the documentation; its links are checked where it is built, `mkdocs build` in `.ci/run`."""

from types import SimpleNamespace

import pytest
import yaml

from scripts.site.hooks import Docstrings, on_page_content, on_page_markdown
from tests.blocks import REPOSITORY


def pages(entries: list[dict[str, object]]) -> list[object]:
    found: list[object] = []
    for [(_, entry)] in map(dict.items, entries):
        found += pages(entry) if isinstance(entry, list) else [entry]
    return found


def test_every_page_is_in_the_navigation_once() -> None:
    settings = yaml.safe_load((REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8"))
    docs = REPOSITORY / "docs"
    assert sorted(map(str, pages(settings["nav"]))) == sorted(
        path.relative_to(docs).as_posix() for path in docs.rglob("*.md")
    )


@pytest.mark.parametrize(
    ("source", "text", "shown"),
    [
        ("a.md", "[b](b.md#x) and [c](lab/c.md)", "[b](b.md#x) and [c](lab/c.md)"),
        ("lab/c.md", "[b](../b.md), [up](../../README.md)", "[b](../b.md), up"),
        (
            "a.md",
            "see [`trees/`](../trees/route.py), [web](https://x.org)",
            "see `trees/`, [web](https://x.org)",
        ),
        ("a.md", "[notebook](python.ipynb) ![picture](p.svg)", "notebook ![picture](p.svg)"),
        ("a.md", "[here](#below)", "[here](#below)"),
    ],
)
def test_links_to_what_is_no_page_become_text(source: str, text: str, shown: str) -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri=source))
    names = {"a.md": False, "b.md": False, "lab/c.md": False, "p.svg": False, "python.ipynb": True}
    files = [
        SimpleNamespace(
            src_uri=name, inclusion=SimpleNamespace(is_excluded=lambda left_out=left_out: left_out)
        )
        for name, left_out in names.items()
    ]
    assert on_page_markdown(text, page, files) == shown


def test_parameters_are_lists_and_sentences_are_not() -> None:
    text = "Load it.\n\nmodel: its name\nhead, head_word: two\n    lines\n\nNote that: it is slow.\nbest: one"
    docstring = SimpleNamespace(value=text)
    Docstrings().on_object(obj=SimpleNamespace(docstring=docstring))  # type: ignore[arg-type]
    assert docstring.value == (
        "Load it.\n\n- **model**: its name\n- **head, head_word**: two\n    lines\n\n"
        "Note that: it is slow.\nbest: one"
    )


def test_bars_in_tables_are_bars() -> None:
    table = '<td style="x">\n<code>NP\\|PP</code> or <code>A \\| B</code></td><p><code>\\|</code></p>'
    shown = '<td style="x">\n<code>NP|PP</code> or <code>A | B</code></td><p><code>\\|</code></p>'
    assert on_page_content(table) == shown
