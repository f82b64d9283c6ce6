#!/usr/bin/env bash
# nltk 3.10.4: tgrep's operators for edges (>>, and >>') take nodes that look alike for the same node.
#
# Expected: `NN >>, NP`, "a leftmost descendant of", finds only nodes at the left edge of an NP, as in TGrep2, whose syntax
# nltk says that it supports; `NN >, NP`, "the first child of", does so.
# Seen: it also finds each node below the NP whose label and words are those of the one at the edge: in
# (NP (NN day) (IN by) (NN day)) both nouns are at the left edge, and both at the right one. What is
# written from the upper node, `NP <<, NN`, is right. Trees are compared by value; any treebank repeats its words.
# What to do: write such patterns from the upper node, or drop positions that are not at the edge.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q "nltk==3.10.4" "click==8.5.1" "pyparsing==3.3.3" 2>/dev/null
"$place/env/bin/python" - <<'END'
import nltk
from nltk.tgrep import tgrep_positions
from nltk.tree import ParentedTree


def found(pattern, text):
    [positions] = tgrep_positions(pattern, [ParentedTree.fromstring(text)])
    return positions


print("nltk", nltk.__version__)
alike, other = "(S (NP (NN day) (IN by) (NN day)))", "(S (NP (NN day) (IN by) (NN night)))"
for pattern in ("NN >>, NP", "NN >>' NP", "NN >, NP", "NN >' NP", "NP <<, NN", "NP <<' NN"):
    print(f"{pattern:10}", found(pattern, alike), found(pattern, other))
left, right = (0, 0), (0, 2)
assert found("NN >>, NP", other) == found("NN >, NP", other) == found("NN >, NP", alike) == [left]
assert found("NN >>' NP", other) == found("NN >' NP", other) == found("NN >' NP", alike) == [right]
assert found("NN >>, NP", alike) == found("NN >>' NP", alike) == [left, right]
END
