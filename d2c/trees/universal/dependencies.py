"""The arcs of a sentence while they are found, and what is known of each word.

Conditions of rules ask for *traits* of a word: its tag, its classes, `finite` where it, its auxiliary or its
copula is finite, `year` where it looks like a year, and the relations of its dependents (`+case`). Dependents
that are function words also pass on their own traits, except for those with `+` (`+by`).
"""

from __future__ import annotations

from d2c.trees.ctree import Tokens
from d2c.trees.universal.rules import UniversalRules

_MARKS = frozenset((",", ":", ".", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP"))
FINITE = frozenset(("VBD", "VBP", "VBZ", "MD"))
_DIGITS_OF_YEARS = 4
_FUNCTION_WORDS = frozenset(("aux", "aux:pass", "cop", "mark", "case", "advmod", "expl", "cc"))


def _shown(tag: str, form: str) -> list[str]:
    """Return the traits that the tag and the look of a word show."""
    year = tag == "CD" and len(form) == _DIGITS_OF_YEARS and form.isdecimal()
    return ["finite"] if tag in FINITE else ["year"] if year else []


class Dependencies:
    """Dependencies between n words, counted from 0.

    rules:      what is known of words and relations
    tags:       [n] with HYPH for all hyphens
    forms:      [n] in lower case
    marks:      the words that are punctuation, except for the first where all are
    heads:      [n] -1 for words that are not attached (yet)
    relations:  [n] `root` for these words
    dependents: [n] in the order in which they were attached
    traits:     [n] of each word
    """

    def __init__(self, tokens: Tokens, rules: UniversalRules) -> None:
        n, pairs = len(tokens), zip(tokens.tags, tokens.forms, strict=True)
        self.rules = rules
        self.tags = tuple(["HYPH" if (tag, form) == ("SYM", "-") else tag for tag, form in pairs])
        self.forms = tuple([form.lower() for form in tokens.forms])
        marks = [word for word, tag in enumerate(self.tags) if tag in _MARKS]
        self.marks = frozenset(marks if len(marks) < n else marks[1:])
        self.heads, self.relations = [-1] * n, ["root"] * n
        self.dependents: list[list[int]] = [[] for _ in range(n)]
        self.traits = [
            {tag, *rules.classes.get(form, ()), *_shown(tag, form)}
            for tag, form in zip(self.tags, self.forms, strict=True)
        ]

    def attach(self, word: int, head: int, relation: str) -> None:
        """Make an arc to a word that has no head, or that the caller takes from its old head's dependents."""
        self.heads[word], self.relations[word] = head, relation
        self.dependents[head].append(word)
        known, traits = self.traits[word], self.traits[head]
        traits.add(f"+{relation}")
        if relation in _FUNCTION_WORDS:
            passed = [trait for trait in known if trait[0] != "+" and (relation, trait) != ("case", "IN")]
            traits.update([f"+{trait}" for trait in passed])
            if "finite" in known and relation.startswith(("aux", "cop")):
                traits.add("finite")

    def detach(self, word: int) -> None:
        """Take a word from its head."""
        self.dependents[self.heads[word]].remove(word)
        self.heads[word], self.relations[word] = -1, "root"

    def relation(self, parent: str, child: str, word: int, head: int, *traits: str) -> str:
        """Return the relation of a word to a head by the labels of a node and of the child with the word;
        traits: more of them."""
        above = [f"^{trait}" for trait in self.traits[head]]
        return self.rules.relation(parent, child, {*traits, *self.traits[word], *above})

    def is_any(self, word: int, *traits: str) -> bool:
        """Return whether a word has one of some traits."""
        return not self.traits[word].isdisjoint(traits)
