#!/usr/bin/env bash
# spaCy 3.8.18: Span.subtree yields words twice, even in projective d-trees.
#
# Expected: each word once, since the reference calls it the "tokens within the span and tokens which descend from
# them"; so the joined text of span.subtree is the span with everything that belongs to it.
# Seen: it consists of the subtrees of the words left of the span that depend on it, the span, and the same on the right.
# If a word of the span depends on such a word outside, it comes again with that word's subtree: for "ate the" in "He ate
# the cake" the result is "He ate the the cake". This happens with one in five spans of two words in all projective trees
# of five words, counted below. No word is ever left out, and Token.subtree has none twice. There is no error or warning.
# What to do: put the words of the span's Token.subtree into a set, and sort it, as in the last check below.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q "spacy==3.8.18" "click==8.5.1" 2>/dev/null
"$place/env/bin/python" - <<'END'
from itertools import combinations, product

import spacy
from spacy.tokens import Doc

VOCAB = spacy.blank("en").vocab
WORDS = range(5)


def chain(heads, word):
    """Return the word, its head, and so on to the root; None if there is a circle."""
    seen = [word]
    while heads[seen[-1]] != seen[-1]:
        seen.append(heads[seen[-1]])
        if len(seen) > len(heads):
            return None
    return seen


def is_projective_tree(heads):
    """Return whether all words lead to one root, and arcs span only what hangs from their head."""
    if sum(word == head for word, head in enumerate(heads)) != 1 or any(
        chain(heads, word) is None for word in WORDS
    ):
        return False
    return all(
        head in chain(heads, between)
        for word, head in enumerate(heads)
        for between in range(min(word, head) + 1, max(word, head))
    )


def returns(heads, start, end):
    """Return whether a word of the span hangs from one outside that hangs from the span."""
    inside = [[start <= one < end for one in chain(heads, word)] for word in range(start, end)]
    return any(True in its[its.index(False) :] for its in inside if False in its)


def parsed(words, heads):
    return Doc(VOCAB, words, heads=[*heads], deps=["dep"] * len(words))


doc = parsed(["He", "ate", "the", "cake"], (1, 1, 3, 1))
print("spaCy", spacy.__version__)
print("subtree of", repr(doc[1:3].text), "is", repr(" ".join(token.text for token in doc[1:3].subtree)))
assert [token.i for token in doc[1:3].subtree] == [0, 1, 2, 2, 3]

spans, twice = dict.fromkeys(WORDS, 0), dict.fromkeys(WORDS, 0)
for heads in filter(is_projective_tree, product(WORDS, repeat=len(WORDS))):
    doc = parsed([f"w{word}" for word in WORDS], heads)
    for start, end in combinations(range(len(WORDS) + 1), 2):
        got = [token.i for token in doc[start:end].subtree]
        each = [[token.i for token in word.subtree] for word in doc[start:end]]
        spans[end - start - 1] += 1
        twice[end - start - 1] += len(set(got)) < len(got)
        assert (len(set(got)) < len(got)) == returns(heads, start, end)
        assert all(len(set(one)) == len(one) for one in each) and set(got) == set().union(*each)
for more in WORDS:
    print(f"spans of {more + 1} words: {spans[more]}, with a word twice: {twice[more]}")
assert (spans[1], twice[1]) == (572, 110)
END
