#!/usr/bin/env bash
# spaCy 3.8.18: the right edge of a token in a non-projective d-tree can leave out words of its subtree.
#
# Expected: left_edge and right_edge are the first and the last word of a token's subtree, as the API reference says,
# so doc[t.left_edge.i : t.right_edge.i + 1] is the phrase of t. This is the idiom for getting phrases from d-trees.
# Seen: over the four words w0 w1 w2 w3 with the heads 0 2 0 1 (one root, no cycle; the arcs 0-2 and 1-3 cross) the
# root's subtree is w0 w1 w3 w2, but its right_edge is w2: the idiom gives "w0 w1 w2" for the whole sentence. Of all
# trees of four words, counted below, some have a wrong right edge and none has a wrong left one. There is no error or
# warning. token.subtree itself has all words, though not in the order of the sentence.
# What to do: sort token.subtree to get the phrase; d2c finds yields itself.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q "spacy==3.8.18" "click==8.5.1" 2>/dev/null
"$place/env/bin/python" - <<'END'
from itertools import product

import spacy
from spacy.tokens import Doc

VOCAB = spacy.blank("en").vocab


def is_tree(heads):
    """Return whether there is one root, its own head, which all words lead to."""
    roots = [word for word, head in enumerate(heads) if word == head]
    reached = [*range(len(heads))]
    for _ in heads:
        reached = [heads[word] for word in reached]
    return len(roots) == 1 and set(reached) == set(roots)


def parsed(heads):
    return Doc(VOCAB, [f"w{i}" for i in range(len(heads))], heads=[*heads], deps=["dep"] * len(heads))


def wrong_edges(heads):
    """Return how many words have a wrong left edge, and a wrong right one."""
    words = [(token, [one.i for one in token.subtree]) for token in parsed(heads)]
    return (
        sum(token.left_edge.i != min(subtree) for token, subtree in words),
        sum(token.right_edge.i != max(subtree) for token, subtree in words),
    )


doc = parsed((0, 2, 0, 1))
root = doc[0]
print("spaCy", spacy.__version__)
print("subtree:", *root.subtree, "| edges:", root.left_edge, root.right_edge)
trees = [heads for heads in product(range(4), repeat=4) if is_tree(heads)]
left, right = map(sum, zip(*map(wrong_edges, trees)))
print(f"{len(trees)} trees of four words: {left} wrong left edges, {right} wrong right edges")
assert sorted(word.i for word in root.subtree) == [0, 1, 2, 3]
assert (root.left_edge.i, root.right_edge.i) == (0, 2)
assert (len(trees), left) == (64, 0) and right > 0
END
