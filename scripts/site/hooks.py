"""What MkDocs needs to know of this repository: how docstrings are written, and which links are no pages."""

import posixpath
import re
from typing import Any

import griffe
from mkdocs.plugins import event_priority

_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)([^)\s#]+)(?:#[^)]*)?\)")
_CELL = re.compile(r"<td\b.*?</td>", re.DOTALL)
_ITEM = re.compile(r"^(\w+(?:, \w+)*):\s+(\S.*)$", re.MULTILINE)  # sentences with a colon are none


class Docstrings(griffe.Extension):
    """Shows what a docstring says of parameters and attributes, a line each, as the list that it is."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Write the docstring of `obj` anew."""
        if obj.docstring:
            paragraphs = obj.docstring.value.split("\n\n")
            obj.docstring.value = "\n\n".join(map(_listed, paragraphs))


def _listed(paragraph: str) -> str:
    return _ITEM.sub(r"- **\1**: \2", paragraph) if _ITEM.match(paragraph) else paragraph


@event_priority(100)  # before mkdocstrings takes its settings over
def on_config(config: Any) -> None:
    """Name the extension above, which MkDocs' own settings cannot: its path depends on where it is built."""
    options = config.plugins["mkdocstrings"].config.handlers["python"]["options"]
    options["extensions"] = [f"{__file__}:{Docstrings.__name__}"]


def on_page_markdown(markdown: str, page: Any, files: Any, **_: object) -> str:
    """Return a page's text; `page` and `files` are MkDocs' own."""
    known = {file.src_uri for file in files if not file.inclusion.is_excluded()}
    return _LINK.sub(lambda link: _kept(link, page.file.src_uri, known), markdown)


def on_page_content(html: str, **_: object) -> str:
    """Return a page's HTML; bars in code within tables, which Markdown wants escaped, are bars."""
    return _CELL.sub(lambda cell: cell[0].replace(r"\|", "|"), html)


def _kept(link: re.Match[str], source: str, known: set[str]) -> str:
    target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link[2]))
    return link[0] if target in known else link[1]
