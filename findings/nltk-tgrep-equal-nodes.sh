#!/usr/bin/env bash
# nltk 3.10.4: tgrep's edge operators (>>, and >>') take nodes that look alike for the same node.
#
# Expected: `NN >>, NP`, "a leftmost descendant of", finds only nodes at the left edge of an NP, as in TGrep2, whose syntax
# nltk claims to support. `NN >, NP`, "the first child of", works in this way.
# Seen: it also finds every node below the NP that has the same label and words as the one at the edge: in
# (NP (NN day) (IN by) (NN day)) both nouns count as being at the left edge, and both at the right one. A pattern
# written from the upper node, `NP <<, NN`, is right. Trees are compared by value, and any treebank repeats words.
# What to do: write such patterns from the upper node, or discard positions that are not at the edge.
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
