"""Files over the same sentences, side by side: gold and a guess, c-trees and d-trees, several parses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any, TypeVar

from d2c.base.counting import many
from d2c.base.errors import FormatError, NoTree, each_located
from d2c.base.inputs import Paths, names_of
from d2c.trees.cleaning import Spelling, plain, punctuates
from d2c.trees.ctree import CTree, Tokens, is_failed, why_failed
from d2c.trees.dtree import DTree
from d2c.trees.formats.reading import Reading

Tree = TypeVar("Tree", CTree, DTree)
_ENDED = object()


def side_by_side(
    *sides: tuple[Paths, Iterable[Any]], unit: str = "sentence", hint: str = ""
) -> Iterator[tuple[Any, ...]]:
    """Yield for each sentence a tuple of what each of several files has of it.

    sides: the names of each file, and what is read from it
    unit:  what is counted, `sentence` or `line`; hint: the end of the message about a fault

    Raises FormatError where a file ends before another.
    """
    rows = zip_longest(*(items for _, items in sides), fillvalue=_ENDED)
    for number, row in enumerate(rows, 1):
        if any(one is _ENDED for one in row):
            ended = [one is _ENDED for one in row]
            short, long = (names_of(sides[ended.index(end)][0]) for end in (True, False))
            here, there = many(number - 1, unit), number + sum(1 for _ in rows)
            line, sentence = (number, 0) if unit == "line" else (0, number)
            raise FormatError(short, line, sentence, f"missing; {here} here, {there:,} in {long}{hint}")
        yield row


def check_words(of_ctree: Tokens, of_dtree: Tokens) -> None:
    """Raise ValueError where a d-tree is of another sentence than the c-tree: where it has more or fewer
    words, or where more than half of the words, and more than one, differ.

    Fewer differences may be typing errors. Any punctuation equals any other; `_` stands for any word.
    """
    read, wanted = of_dtree.forms, of_ctree.forms
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
    """Gold and guess, each a file or several, how both are read, and what tells and counts words of the guess
    that are only spelt differently."""

    gold: Paths
    guess: Paths
    reading: Reading
    spelling: Spelling = field(default_factory=Spelling)

    def of(self, read: Callable[[Paths], Iterator[Tree]]) -> Iterator[tuple[Tree, Tree]]:
        """Yield the gold tree and the guess of each sentence; where only the spelling differs, the guess is
        over the words of gold.

        Gold sentences that were not parsed, or have traces alone, are reported and left out, and so is the
        guess for them: such a tree, or none. Raises FormatError where one file ends before the other, and,
        where sentences may have been left out of one file only, for sentences with other words.
        """
        hint = "; --skip-bad left sentences out" if self.reading.faults.skipped else ""

        def over_gold(pair: tuple[Any, ...]) -> tuple[Tree, Tree]:
            gold, guess = pair
            if gold.tokens.forms != guess.tokens.forms:
                if self.spelling.same(guess.tokens.forms, gold.tokens.forms):
                    guess = replace(guess, tokens=replace(guess.tokens, forms=gold.tokens.forms))
                elif hint and not is_failed(guess.tokens):
                    raise ValueError(f"its words are not those of {names_of(self.gold)}{hint}")
            return gold, guess

        left_out = 0  # how many gold sentences right before the one at hand

        def golds() -> Iterator[Tree]:
            nonlocal left_out
            told = self.reading.faults.skipped or self.reading.faults.no_tree
            for number, gold in enumerate(read(self.gold), 1):
                if is_failed(gold.tokens):
                    left_out += 1
                    told(NoTree(names_of(self.gold), 0, number, why_failed(gold.tokens)))
                else:
                    yield gold

        def guesses() -> Iterator[Tree]:
            nonlocal left_out
            for guess in read(self.guess):
                if left_out and is_failed(guess.tokens):
                    left_out -= 1
                else:
                    left_out = 0
                    yield guess

        sides = (self.gold, golds()), (self.guess, guesses())
        return each_located(over_gold, side_by_side(*sides, hint=hint), names_of(self.guess))
