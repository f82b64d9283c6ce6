"""Trees edited where a pattern matches: the most used operations of Tsurgeon (Levy and Andrew, 2006).

    (NP (NP (DT the) (NN cat)) (PP (IN with) (NNS glasses)))      NP < (NP=a $+ PP=p)
    (NP (NX (DT the) (NN cat) (PP (IN with) (NNS glasses))))      relabel a NX; move p >-1 a

The matches are those in the tree before any edit, and each is edited once, the higher node first. Operations
on nodes that are missing, or no longer there, are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from d2c.base.counting import many
from d2c.base.errors import FormatError, shortened
from d2c.trees.ctree import CTree
from d2c.trees.draft import Draft, Edited
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.patterns.language import Pattern, compiled
from d2c.trees.patterns.matches import find
from d2c.trees.patterns.nodes import TreeNodes

_TOKEN = re.compile(
    r"""\s*(?: (?P<end>;|\Z) | (?:(?P<place>\$[+-]|>-?[1-9][0-9]{,5})|(?P<below>>))(?=\s)
    | (?P<tree>\(.*?\))(?=\s+(?:\$[+-]|>\S*)\s) | "(?P<label>[^"]+)"(?=[\s;]|\Z)
    | /(?P<regex>(?:\\.|[^/\\])+)/(?P<by>(?:\\.|[^/\\])*)/(?=[\s;]|\Z) | (?P<word>[^\s;"()/][^\s;]*) )""",
    re.VERBOSE | re.DOTALL,
)
_SHOWN = 60  # characters of what cannot be done
_Form = tuple[Callable[..., None], str, str]
_PLACES = "NAME; a PLACE is $+, $-, >1, >2, ... or >-1"
_FORMS: dict[str, _Form] = {  # the method; how the operation is written, for people and as kinds of tokens
    "relabel": (Draft.relabel, "NAME LABEL, or NAME /REGULAR EXPRESSION/NEW/", "word (word|label|by) "),
    "delete": (Draft.delete, "NAME ...", "(word )+"),
    "excise": (Draft.excise, "NAME ...", "(word )+"),
    "insert": (Draft.insert, f"(TREE) PLACE {_PLACES}", "tree place word "),
    "move": (Draft.move, f"NAME PLACE {_PLACES}, or >", "word (place|below) word "),
    "wrap": (Draft.wrap, "LABEL NAME ...", "(word|label) (word )+"),
}


class _Operation(NamedTuple):
    """An operation on nodes of a draft: its method and other arguments, the names of the nodes, its text."""

    work: Callable[..., None]
    arguments: dict[str, Any]
    names: Sequence[str]
    text: str

    def done(self, draft: Draft, origins: dict[str, int]) -> bool:
        """Do the operation if all its nodes are there, and return whether they are. Raises ValueError."""
        here = [origins[name] for name in self.names if name in origins]
        if len(here) < len(self.names) or not all(node in draft for node in here):
            return False
        try:
            self.work(draft, *here, **self.arguments)
        except ValueError as error:
            raise ValueError(f"{self.text}: {error}") from None
        return True


@dataclass(frozen=True, slots=True)
class Edit:
    """Operations at each match of a pattern."""

    pattern: Pattern
    operations: tuple[_Operation, ...]

    def __call__(self, ctree: CTree) -> tuple[Edited | None, int]:
        """Return the edited tree, None where nothing was done, and at how many matches something was done.

        Raises ValueError for what cannot be done, and where no word would be left.
        """
        nodes = TreeNodes([ctree])
        rows = find(self.pattern, nodes)[0][:, 1:].tolist()
        if not rows:
            return None, 0
        draft, count = Draft(ctree), 0
        for row in rows:
            named = zip(self.pattern.names, row, strict=True)
            origins = {name: int(nodes.origin[node]) for name, node in named if node >= 0}
            count += any([operation.done(draft, origins) for operation in self.operations])
        return draft.finished() if count else None, count


@dataclass(slots=True)
class Editing:
    """An edit of many trees, with counts of what was done; as a text, one line that says these."""

    edit: Edit
    trees: int = 0
    edited: int = 0
    matches: int = 0

    def __call__(self, ctree: CTree) -> CTree:
        """Return the edited tree. Raises ValueError as `Edit`."""
        edited, count = self.edit(ctree)
        self.trees += 1
        self.edited += count > 0
        self.matches += count
        return edited.ctree if edited else ctree

    def __str__(self) -> str:
        return f"{many(self.matches, 'match')} edited in {self.edited:,} of {many(self.trees, 'tree')}"


@lru_cache(maxsize=256)
def edit_of(pattern: str, operations: str) -> Edit:
    """Read a pattern, and operations with `;` between them. Raises ValueError."""
    found = compiled(pattern)
    read = [one for text, tokens in _parted(operations) for one in _operations(text, tokens, found.names)]
    if not read:
        raise ValueError(f"no operation is given; known are {', '.join(_FORMS)}")
    return Edit(found, tuple(read))


def _parted(text: str) -> Iterator[tuple[str, list[re.Match[str]]]]:
    """Yield the text of each operation, as messages show it, and its tokens."""
    at, tokens = 0, list[re.Match[str]]()
    while tokens or text[at:].strip():
        token = _TOKEN.match(text, at)
        if token is None:
            rest = shortened(text[at:].strip(), _SHOWN)
            raise ValueError(f"the operations at {rest!r}: no operation has this there")
        at = token.end()
        if token["end"] is None:
            tokens.append(token)
        elif tokens:
            yield shortened(text[tokens[0].start() : token.start()].strip(), _SHOWN), tokens
            tokens = []


def _operations(text: str, tokens: list[re.Match[str]], known: Sequence[str]) -> Iterator[_Operation]:
    """Yield one operation, or, for verbs that remove nodes, one for each node."""
    verb, *said = [(str(token.lastgroup), token[str(token.lastgroup)]) for token in tokens]
    if verb[1] not in _FORMS:
        raise ValueError(f"{text}: no operation is called so; known are {', '.join(_FORMS)}")
    work, form, kinds = _FORMS[verb[1]]
    if not re.fullmatch(kinds, "".join([f"{kind} " for kind, _ in said])):
        raise ValueError(f"{text}: it is written {verb[1]} {form}")
    arguments, names = dict[str, Any](), list[str]()
    if work is Draft.wrap:
        arguments["label"] = said.pop(0)[1]
    elif work is Draft.relabel:
        said.pop()
        arguments["change"] = _change(tokens[-1], text)
    for kind, value in said:
        if kind in ("place", "below"):
            arguments["place"] = (">", int(value[1:] or 0)) if value[0] == ">" else (value, 0)
        elif kind == "tree":
            try:
                arguments[kind] = parse_bracket(value)
            except FormatError as error:
                raise ValueError(f"{text}: {error.message}") from None
        elif value in known:
            names.append(value)
        else:
            raise ValueError(f"{text}: no node of the pattern is called {shortened(value, _SHOWN)!r}")
    of_each = work in (Draft.delete, Draft.excise)
    for some in [[name] for name in names] if of_each else [names]:
        yield _Operation(work, arguments, some, text)


def _change(token: re.Match[str], text: str) -> Callable[[str], str]:
    """Return the function that makes a new label of an old one: a given label, or the old one with matches of
    a regular expression replaced. Raises ValueError."""
    label = token["word"] or token["label"]
    if label:
        return lambda _: label
    try:
        regex, by = re.compile(token["regex"]), token["by"].replace("\\/", "/")
        regex.sub(by, "")
    except (re.error, IndexError, OverflowError, RecursionError) as error:
        raise ValueError(f"{text}: no regular expression and replacement of Python's: {error}") from None
    return lambda old: regex.sub(by, old)
