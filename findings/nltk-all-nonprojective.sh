#!/usr/bin/env bash
# nltk 3.10.4: NonprojectiveDependencyParser leaves out parses, and returns graphs with cycles among the others.
#
# Expected: according to its docstring it "will return the set of all possible non-projective parses based on the word-to-word
# relations defined in the parser's dependency grammar": all trees over the words whose arcs the grammar allows.
# Seen: with a grammar that allows all arcs, except those into one word, the root, sentences of three and four words have 3
# and 16 such trees. All of them are returned only if the root is the last word, and then with graphs in which words depend
# on each other in a cycle that the root does not reach. If the root is another word, trees are missing (of four words 10 or
# 11 of 16), and mostly there are cycles as well. There is no error or warning.
# What to do: graphs with cycles can be left out by contains_cycle(), which is right for every choice of heads of up to four
# words. Nothing brings back the parses that are missing; ProjectiveDependencyParser does return all projective trees.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q "nltk==3.10.4" "click==8.5.1" 2>/dev/null
"$place/env/bin/python" - <<'END'
from itertools import product

import nltk
from nltk.grammar import DependencyGrammar
from nltk.parse import NonprojectiveDependencyParser


def is_tree(heads, root):
    """Return whether all words, 0 and up, lead to the root, which is its own head here."""
    reached = heads
    for _ in heads:
        reached = tuple(heads[word] for word in reached)
    return set(reached) == {root}


def heads_of(graph, root, words):
    heads = [root] * words
    for head, node in graph.nodes.items():
        for below in node["deps"].values() if head else ():
            for word in below:
                heads[word - 1] = head - 1
    return tuple(heads)


print("nltk", nltk.__version__)
seen = {}
for words in (2, 3, 4):
    names = "abcd"[:words]
    for root in range(words):
        rules = {one: [other for other in names if other not in (one, names[root])] for one in names}
        lines = (f"'{one}' -> {' | '.join(map(repr, others))}" for one, others in rules.items() if others)
        grammar = DependencyGrammar.fromstring("\n".join(lines))
        graphs = list(NonprojectiveDependencyParser(grammar).parse(list(names)))
        found = {heads_of(graph, root, words) for graph in graphs}
        trees = {heads for heads in product(range(words), repeat=words) if is_tree(heads, root)}
        cycles = found - trees
        assert len(cycles) == sum(bool(graph.contains_cycle()) for graph in graphs)
        seen[words, root + 1] = len(trees), len(trees - found), len(cycles)
        print(f"{words} words, root {root + 1}: {len(trees)} trees, {len(trees - found)} missing, {len(cycles)} cycles")
assert seen == {
    (2, 1): (1, 0, 0),
    (2, 2): (1, 0, 0),
    (3, 1): (3, 2, 1),
    (3, 2): (3, 1, 0),
    (3, 3): (3, 0, 1),
    (4, 1): (16, 10, 3),
    (4, 2): (16, 11, 4),
    (4, 3): (16, 10, 3),
    (4, 4): (16, 0, 11),
}
END
