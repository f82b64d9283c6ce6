#!/usr/bin/env bash
# nltk 3.10.4: ProbabilisticNonprojectiveParser often gives a graph with a cycle instead of the best tree.
#
# Expected: the docstring says that it follows McDonald (2005), who searches for the maximum spanning tree with an algorithm
# that always finds it. So the parser's one parse is the best tree for scores like those in the docstring's example.
# Seen: from three words on, and more often the longer the sentence is, the heads do not form a tree: words depend on each
# other in a cycle (below: 1 on 2, 2 on 3, 3 on 1) that no path from the root reaches. Sometimes there is a tree, but not
# the best one. There is no error or warning, and the heads can be read and scored like any others.
# What to do: networkx.maximum_spanning_arborescence finds the best tree for all the same scores, as a trial of all trees
# shows. contains_cycle() of NLTK's graph detects cycles, but not trees that are not the best.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q "nltk==3.10.4" "click==8.5.1" "networkx==3.6.1" 2>/dev/null
"$place/env/bin/python" - <<'END'
import random
from collections import Counter
from copy import deepcopy
from itertools import product

import networkx as nx
import nltk
from nltk.parse.nonprojectivedependencyparser import DependencyScorerI, ProbabilisticNonprojectiveParser


class Given(DependencyScorerI):
    """The scores are those given; a copy, since the parser writes into them."""

    def __init__(self, scores):
        self.scores = scores

    def train(self, graphs):
        pass

    def score(self, graph):
        return deepcopy(self.scores)


def is_tree(heads):
    """Return whether each word, 1 and up, leads to the root, 0."""
    reached = [0, *heads]
    for _ in heads:
        reached = [([0, *heads])[word] for word in reached]
    return not any(reached)


def total(scores, heads):
    return sum(scores[head][word][0] for word, head in enumerate(heads, 1))


def parse(scores):
    """Return the head of each word in NLTK's parse."""
    parser = ProbabilisticNonprojectiveParser()
    parser.train([], Given(scores))
    words = [f"w{word}" for word in range(1, len(scores))]
    [graph] = parser.parse(words, ["X"] * len(words))
    head = {
        below: word for word, node in graph.nodes.items() for its in node["deps"].values() for below in its
    }
    return tuple(head[word] for word in range(1, len(scores)))


def by_networkx(scores):
    graph = nx.DiGraph()
    for head, row in enumerate(scores):
        graph.add_weighted_edges_from((head, word, one[0]) for word, one in enumerate(row) if one)
    tree = nx.maximum_spanning_arborescence(graph)
    return tuple(next(tree.predecessors(word)) for word in range(1, len(scores)))


print("nltk", nltk.__version__)
circle = [[[], [5], [1], [1]], [[], [], [4], [3]], [[], [9], [], [7]], [[], [4], [9], []]]
heads = parse(circle)
print("heads", heads, "| networkx", by_networkx(circle))
assert heads == (2, 3, 1) and not is_tree(heads) and is_tree(by_networkx(circle))

rng = random.Random(1)
for words in (2, 3, 4, 5):
    trees = [heads for heads in product(range(words + 1), repeat=words) if is_tree(heads)]
    counts = Counter()
    for _ in range(200):
        scores = [
            [[rng.randint(1, 20)] if word and word != head else [] for word in range(words + 1)]
            for head in range(words + 1)
        ]
        best = max(total(scores, heads) for heads in trees)
        heads = parse(scores)
        counts["best" if total(scores, heads) == best else "worse"] += is_tree(heads)
        counts["circle"] += not is_tree(heads)
        counts["networkx best"] += total(scores, by_networkx(scores)) == best and is_tree(by_networkx(scores))
    print(f"{words} words:", dict(counts))
    assert counts["networkx best"] == 200
    assert (counts["circle"] > 10) == (words > 2)
END
