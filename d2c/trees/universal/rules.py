"""Universal Dependencies of English as a table (`data/universal.txt`): classes of words, tags, relations.

A relation is that of the first line that fits the labels of a node and of its child and whose conditions
hold. Conditions ask for *traits*, the names of what is known of the child and of its governor.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import NamedTuple

from d2c.base.counting import first_few, many, ranked
from d2c.base.errors import FormatError
from d2c.trees.ctree import CTree

_REMEMBERED = 1 << 16  # sets of traits repeat; bounds memory on endless input
_NAME = "universal.txt"
_FIRST = 100  # words whose tags tell the treebank


class _Line(NamedTuple):
    """A line for relations: parents and children are labels, `*` any; `holds` and `fails` are traits."""

    parents: frozenset[str]
    children: frozenset[str]
    relation: str
    holds: frozenset[str]
    fails: frozenset[str]


@dataclass(eq=False)
class UniversalRules:
    """The table.

    classes: of words in lower case
    tags:    tags, their universal tag, and the relations or classes of words that have it; none: all
    lines:   of relations
    fixed:   expressions of several words, by the first word, with their relation; "": the one found anyway
    """

    classes: dict[str, frozenset[str]]
    tags: list[tuple[frozenset[str], str, frozenset[str]]]
    lines: list[_Line]
    fixed: dict[str, list[tuple[tuple[str, ...], str]]]

    def __post_init__(self) -> None:
        self.asked = frozenset().union(*(line.holds | line.fails for line in self.lines))
        self.known = frozenset().union(*(tags for tags, _, _ in self.tags))
        self._find = lru_cache(maxsize=_REMEMBERED)(self._first)
        self.universal_tag = lru_cache(maxsize=_REMEMBERED)(self._universal_tag)

    def relation(self, parent: str, child: str, traits: set[str]) -> str:
        """Return the relation of a node's child, `dep` where no line fits."""
        return self._find(parent, child, self.asked & traits)

    def _first(self, parent: str, child: str, traits: frozenset[str]) -> str:
        for parents, children, relation, holds, fails in self.lines:
            if (
                ("*" in parents or parent in parents)
                and ("*" in children or child in children)
                and holds <= traits
                and fails.isdisjoint(traits)
            ):
                return relation
        return "dep"

    def _universal_tag(self, tag: str, word: str, relation: str) -> str:
        known = {relation, *self.classes.get(word, ())}
        for tags, universal, only in self.tags:
            if tag in tags and (not only or not only.isdisjoint(known)):
                return universal
        return "X"


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split("|"))


def _inflected(verb: str) -> list[str]:
    """Return the regular forms of a verb, including some that it does not have."""
    stem = verb.removesuffix("e")
    forms = [
        verb,
        verb + "s",
        verb + "es",
        stem + "ed",
        stem + "ing",
        verb + verb[-1] + "ed",
        verb + verb[-1] + "ing",
    ]
    return [*forms, verb[:-1] + "ies", verb[:-1] + "ied"] if verb.endswith("y") else forms


def parse_universal_rules(text: str) -> UniversalRules:
    """Read the text of a table. Raises FormatError naming the line."""
    classes = defaultdict[str, set[str]](set)
    rules = UniversalRules({}, [], [], defaultdict(list))
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match line.split():
            case ["class", name, *words]:
                for word in words:
                    classes[word].add(name)
            case ["verbs", name, *words]:
                for word in words:
                    for form in _inflected(word):
                        classes[form].add(name)
            case ["upos", tags, universal, *only]:
                rules.tags.append((_names(tags), universal, frozenset(only)))
            case ["fixed", relation, first, *rest] if rest:
                rules.fixed[first].append(((first, *rest), relation.strip("-")))
            case ["relation", parents, children, relation, *conditions]:
                fails = frozenset([one[1:] for one in conditions if one.startswith("!")])
                holds = frozenset(conditions) - {f"!{one}" for one in fails}
                rules.lines.append(_Line(_names(parents), _names(children), relation, holds, fails))
            case _:
                raise FormatError(
                    _NAME, number, 0, "expected class, upos, fixed or relation, and what belongs to it"
                )
    return UniversalRules({w: frozenset(c) for w, c in classes.items()}, rules.tags, rules.lines, rules.fixed)


@lru_cache
def universal_rules() -> UniversalRules:
    """Return the table that comes with d2c."""
    return parse_universal_rules((resources.files("d2c.data") / _NAME).read_text(encoding="utf-8"))


class PennTags:
    """Tells treebanks with the Penn Treebank's tags from others, and counts words with tags that the table
    does not know.

    notes: by file: a message about its words with unknown tags
    """

    def __init__(self) -> None:
        self.notes = dict[str, str]()

    def over(self, ctrees: Iterable[CTree], file: str) -> Iterator[CTree]:
        """Yield the trees of a file. Raises FormatError if more than half of its first words have unknown
        tags."""
        words, unknown = 0, Counter[str]()
        left, first = iter(ctrees), list[CTree]()  # trees held back until their tags are checked
        for ctree in left:
            first.append(ctree)
            words += _count(ctree, unknown)
            if words >= _FIRST:
                break
        if wrong := _foreign(unknown, words):
            raise FormatError(file, 0, 0, wrong)
        yield from first
        for ctree in left:
            words += _count(ctree, unknown)
            yield ctree
        if unknown:
            self.notes[file] = f"{_told(unknown, words)}: UPOS is X there, and relations may be wrong"


def check_tags(ctree: CTree) -> None:
    """Raise ValueError for a sentence of another treebank: more than half of its tags are unknown."""
    unknown = Counter[str]()
    if wrong := _foreign(unknown, _count(ctree, unknown)):
        raise ValueError(wrong)


def _count(ctree: CTree, unknown: Counter[str]) -> int:
    """Return how many words a tree has, and add its unknown tags to `unknown`."""
    tags, known = [tag for tag in ctree.tokens.tags if tag != "-NONE-"], universal_rules().known
    unknown.update([tag for tag in tags if tag not in known])
    return len(tags)


def _foreign(unknown: Counter[str], words: int) -> str:
    """Return why words are those of another treebank; "" where they are not."""
    if 2 * unknown.total() <= words:
        return ""
    return f"{_told(unknown, words)}; the rules of UD are for English trees with its tags"


def _told(unknown: Counter[str], words: int) -> str:
    """Return a message: how many words have unknown tags, and which tags, the commonest first."""
    have = "has a tag" if unknown.total() == 1 else "have tags"
    of = f"{unknown.total():,} of {many(words, 'word')}"
    return f"{of} {have} that the Penn Treebank lacks ({first_few(ranked(unknown))})"
