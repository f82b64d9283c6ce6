"""Two treebanks over the same sentences, side by side: gold and a guess, each a file or several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import TypeVar

from d2c.base.counting import many
from d2c.base.errors import FormatError
from d2c.base.inputs import Paths, names_of
from d2c.treebanks.reading import Reading
from d2c.trees.cleaning import Spelling
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree

Tree = TypeVar("Tree", CTree, DTree)


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
