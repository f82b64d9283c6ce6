#!/usr/bin/env bash
# networkx 3.6.1: maximum_spanning_arborescence says that there is no tree where there is one; k-best lists lack trees.
#
# Expected: NetworkXException, "No maximum spanning arborescence in G", is raised only for a graph that has none, and
# ArborescenceIterator iterates "over all spanning arborescences of a graph". So over the arcs that a pruned parser
# leaves, there is a best d-tree if the arcs can make one, and the first k are the k best.
# Seen: the five arcs below over three words can make one tree, 0 -> 2 -> 1 -> 3, and yet the exception is raised. The same
# happens in fewer than one in a hundred random graphs of few arcs, also for minimum_spanning_arborescence. Weights are
# shifted by the range of all of them, which does not outweigh what a cycle costs. ArborescenceIterator calls the same
# function for parts of a graph, so it silently leaves out trees of a graph with all arcs: for four words sometimes one of
# 125.
# What to do: add every missing arc with a weight so low that one of them costs more than everything else can gain. Below,
# that finds the best tree of all these graphs. If this tree has such an arc, there is no tree.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q "networkx==3.6.1" 2>/dev/null
"$place/env/bin/python" - <<'END'
import random
from itertools import product

import networkx as nx


def is_tree(heads):
    """Return whether each word, 1 and up, leads to the root, 0."""
    reached = [0, *heads]
    for _ in heads:
        reached = [([0, *heads])[word] for word in reached]
    return not any(reached)


def arcs_of(words):
    return [(head, word) for head in range(words + 1) for word in range(1, words + 1) if head != word]


def trees_of(words, weights):
    """Return all trees over these arcs, each as the heads of the words."""
    heads_of_words = [[head for head, below in weights if below == word] for word in range(1, words + 1)]
    return [heads for heads in product(*heads_of_words) if is_tree(heads)]


def total(weights, heads):
    return sum(weights[head, word] for word, head in enumerate(heads, 1))


def graph_of(words, weights):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(words + 1))
    graph.add_weighted_edges_from((head, word, weight) for (head, word), weight in weights.items())
    return graph


def found(words, weights):
    """Return the heads of the maximum spanning arborescence, or none if networkx says that there is none."""
    try:
        tree = nx.maximum_spanning_arborescence(graph_of(words, weights))
    except nx.NetworkXException:
        return None
    return tuple(next(iter(tree.predecessors(word))) for word in range(1, words + 1))


def with_all_arcs(words, weights):
    low = min(weights.values()) - (words + 1) * (max(weights.values()) - min(weights.values()) + 1)
    return {arc: weights.get(arc, low) for arc in arcs_of(words)}


print("networkx", nx.__version__)
few = {(0, 2): 1, (1, 2): 2, (1, 3): 1, (2, 1): 1, (3, 1): 2}
assert trees_of(3, few) == [(2, 0, 1)]
print("the only tree", (2, 0, 1), "| found", found(3, few), "| with all arcs", found(3, with_all_arcs(3, few)))
assert found(3, few) is None and found(3, with_all_arcs(3, few)) == (2, 0, 1)

rng = random.Random(1)
have_trees = refused = 0
while have_trees < 2000:
    words = rng.randint(3, 5)
    weights = {arc: rng.randint(1, 30) for arc in arcs_of(words) if rng.random() < 0.5}
    trees = trees_of(words, weights)
    if weights and not trees:
        assert not set(zip(found(words, with_all_arcs(words, weights)), range(1, words + 1))) <= set(weights)
    if trees:
        have_trees += 1
        best = max(total(weights, heads) for heads in trees)
        heads = found(words, weights)
        refused += heads is None
        assert heads is None or total(weights, heads) == best
        assert total(weights, found(words, with_all_arcs(words, weights))) == best
print(f"of {have_trees} graphs with a tree {refused} are said to have none")
assert 1 <= refused <= 60

incomplete = 0
for _ in range(60):
    weights = {arc: rng.randint(1, 30) for arc in arcs_of(4)}
    given = list(nx.ArborescenceIterator(graph_of(4, weights), minimum=False))
    incomplete += len(given) < len(trees_of(4, weights))
print(f"in {incomplete} of 60 graphs ArborescenceIterator does not give all trees")
assert incomplete
END
