"""Two treebanks over the same sentences, side by side: gold and a guess, each a file or several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import TypeVar

from d2c.base.counting import many
from d2c.base.errors import FormatError
from d2c.base.inputs import Paths, names_of
from d2c.trees.cleaning import Spelling, plain, punctuates
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.reading import Reading

Tree = TypeVar("Tree", CTree, DTree)


def check_words(ctree: CTree, dtree: DTree) -> None:
    """Raise ValueError for a d-tree of another sentence than the c-tree's: one with more words, or fewer, or
    where more than half of them, and more than one, are others.

    Those may only be spelt otherwise, as typing errors and marks are; `_` stands for any word.
    """
    read, wanted = dtree.tokens.forms, ctree.tokens.forms
    if len(read) != len(wanted):
        raise ValueError(f"{many(len(read), 'token')}; in the other file it has {len(wanted)}")
    others = [
        i
        for i, (a, b) in enumerate(zip(map(plain, read), map(plain, wanted), strict=True))
        if a not in (b, "_") and not (punctuates(a) and punctuates(b))
    ]
    if len(others) > max(1, len(read) // 2):
        i = others[0]
        message = f"{len(others)} of {len(read)} words are not those of the other file"
        raise ValueError(f"{message}: word {i + 1} is {read[i]!r}, not {wanted[i]!r}")


@dataclass(frozen=True)
class Pairs:
    """Gold and guess, how both are read, and which words of the guess are only written otherwise."""

    gold: Paths
    guess: Paths
    reading: Reading
    spelling: Spelling = field(default_factory=Spelling)

    def of(self, read: Callable[[Paths], Iterator[Tree]]) -> Iterator[tuple[Tree, Tree]]:
        """The trees of each sentence, those of the guess over gold's words where only the spelling differs.

        Raises FormatError where a file ends before the other, and, where sentences may have been left out of
        one file only, for sentences of other words.
        """
        left_out = "; --skip-bad left sentences out" if self.reading.faults.skipped else ""
        rows = zip_longest(read(self.gold), read(self.guess))
        for number, (gold, guess) in enumerate(rows, 1):
            if gold is None or guess is None:
                short, long = (self.gold, self.guess) if gold is None else (self.guess, self.gold)
                here, there = many(number - 1, "sentence"), number + sum(1 for _ in rows)
                lengths = f"{here} here, {there:,} in {names_of(long)}"
                raise FormatError(names_of(short), 0, number, f"missing; {lengths}{left_out}")
            if gold.tokens.forms != guess.tokens.forms:
                if self.spelling.same(guess.tokens.forms, gold.tokens.forms):
                    guess = replace(guess, tokens=replace(guess.tokens, forms=gold.tokens.forms))
                elif left_out:
                    message = f"its words are not those of {names_of(self.gold)}{left_out}"
                    raise FormatError(names_of(self.guess), 0, number, message)
            yield gold, guess
