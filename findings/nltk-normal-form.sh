#!/usr/bin/env bash
# nltk 3.10.4: CFG.chomsky_normal_form mixes up words that differ in case alone, and fails on long rules that begin with a word.
#
# Expected: "Returns a new Grammar that is in chomsky normal" form: one of the same language. Rules may mix words and symbols,
# for which there is a step of its own (remove_mixed_rules).
# Seen: in mixed rules the new symbol of a word is made of its capitals, so `The` and `the` get the same one. The new grammar
# then accepts `the cat sees The dog`, which the grammar given does not. The same happens, with whatever words, to a word
# `a` and a rule such as A -> A 'b' S: both get the symbol A@$@A. A rule of three or more symbols of which one before the
# last two is a word (NP -> 'the' JJ NN) raises AttributeError: 'str' object has no attribute 'symbol'.
# What to do: give each word of a mixed rule a symbol of its own first (The -> 'The'); then the language stays.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q "nltk==3.10.4" "click==8.5.1" 2>/dev/null
"$place/env/bin/python" - <<'END'
from itertools import product

import nltk
from nltk import CFG, ChartParser

MIXED = """
S -> Subject Predicate
Subject -> 'The' Noun
Predicate -> Verb Object
Object -> 'the' Noun
Noun -> 'cat' | 'dog'
Verb -> 'sees'
"""
SPLIT = MIXED.replace("-> 'The'", "-> The").replace("-> 'the'", "-> Small") + "The -> 'The'\nSmall -> 'the'\n"
COLLIDE = "S -> 'a' C | A\nA -> 'b' | A 'c' S\nC -> 'd'"


def language(grammar, words, longest):
    """Return the sentences of up to so many words that a grammar accepts."""
    parser = ChartParser(grammar)
    every = (one for length in range(1, longest + 1) for one in product(words, repeat=length))
    return {" ".join(one) for one in every if any(True for _ in parser.parse(list(one)))}


def normal_form(text, words, longest):
    """Return how many sentences a grammar accepts, and what its normal form accepts besides, or lacks."""
    given = CFG.fromstring(text)
    before, after = (language(one, words, longest) for one in (given, given.chomsky_normal_form()))
    return len(before), sorted(after - before), sorted(before - after)


print("nltk", nltk.__version__)
words = "The", "the", "cat", "dog", "sees"
count, more, less = normal_form(MIXED, words, 5)
print(f"The, the: {count} sentences, {len(more)} more: {more[-1]}")
assert (count, len(more), less) == (4, 12, []) and "the cat sees The dog" in more
assert normal_form(SPLIT, words, 5) == (4, [], [])
count, more, less = normal_form(COLLIDE, "abcd", 4)
print(f"A -> A 'c' S: {count} sentences, {len(more)} more: {more}")
assert (len(more), less) == (8, [])
try:
    CFG.fromstring("NP -> 'the' JJ NN\nJJ -> 'old'\nNN -> 'cat'").chomsky_normal_form()
except AttributeError as error:
    print(error)
else:
    raise AssertionError("a long rule that begins with a word is converted")
END
