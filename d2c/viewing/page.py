"""HTML pages that need no network: templates of several packages, which extend templates/browser.html, and
sentences as compact JSON, which templates/pictures.js draws, figures.js frames and search.js searches.

What pages hold of a sentence:

i:    its number in its file; file: the file's name, if there are several; w, t: words, tags
source: the name of the file that was parsed, if it is known
said: other fields of the sentence, by their names in JSON lines
h, d: heads and labels of its d-tree
c:    its c-trees: [parent of each node, label of each proper node, what the page says of nodes]
p:    if these are a parser's best trees, the probability of each; null: not known
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree

Json = dict[str, Any]


def page(package: str, template: str, **shown: Any) -> Iterator[str]:
    """Yield the page in pieces, so that one with many sentences is never held whole.

    package:  the package that has the template
    shown:    the template's values, among them, for browser.html, `sentences`, an iterable of sentences in
              JSON, and `data`, a function called after the last one that returns the page's other data
    """
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("d2c.viewing")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": False}
    return environment.get_template(template).generate(**shown)


class Sentences:
    """Writes sentences in JSON. Tags and labels are numbered as they come, so each is in the page once."""

    def __init__(self) -> None:
        self._tags, self._labels, self._arcs = (defaultdict[str, int](count().__next__) for _ in range(3))

    def json(self, number: int, tokens: Tokens, dtree: DTree, ctrees: list[Any]) -> Json:
        """Return a sentence in JSON. ctrees: results of `ctree`, or what else the page takes for c-trees"""
        return {
            "i": number,
            "w": tokens.forms,
            "t": [self._tags[tag] for tag in tokens.tags],
            "h": dtree.heads,
            "d": [self._arcs[label] for label in dtree.labels or ()],
            "c": ctrees,
        }

    def ctree(self, ctree: CTree, said: list[Any]) -> list[Any]:
        """Return a c-tree in JSON. said: what the page says of its nodes"""
        return [ctree.parents(), [self._labels[label] for label in ctree.labels], said]

    @property
    def names(self) -> dict[str, list[str]]:
        """Return the tags and labels that the numbers in the sentences so far stand for."""
        return {"tags": list(self._tags), "labels": list(self._labels), "arcs": list(self._arcs)}
