#!/usr/bin/env bash
# PYEVALB 0.1.3: it is named after EVALB, but its F1 counts brackets that EVALB does not count.
#
# Expected: "Evalb in Python version" gives the recall and precision of EVALB. For the Penn Treebank these are those of
# collins.prm: without TOP and punctuation, PRT equal to ADVP, every bracket counted.
# Seen: there are no parameters. TOP is a bracket, so every sentence has one bracket right; the attachment of punctuation
# decides how far its phrase reaches; PRT and ADVP differ. For two trees that differ in these respects alone it gives
# 60 %, where collins.prm has 4 of 4. Brackets are also treated as a set: a phrase over another one with the same label
# and words, as in (NP (NP (PRP it))), is matched once but counted twice, so a tree compared with itself has less than
# 100 %. Its figures cannot be compared with any published ones.
# What to do: use EVALB, or a port that reads collins.prm.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q "PYEVALB==0.1.3" 2>/dev/null
"$place/env/bin/python" - <<'END'
from importlib.metadata import version

from PYEVALB.parser import create_from_bracket_string
from PYEVALB.scorer import Scorer


def counts(gold, test):
    """Return matched brackets, those of gold, those of the other tree."""
    found = Scorer().score_trees(*map(create_from_bracket_string, (gold, test)))
    return found.matched_brackets, found.gold_brackets, found.test_brackets


HIGH = "(TOP (S (NP (DT the) (NN cat)) (VP (VBD sat) (PRT (RP down))) (. .)))"
LOW = "(TOP (S (NP (DT the) (NN cat)) (VP (VBD sat) (ADVP (RB down)) (. .))))"
TWICE = "(TOP (S (NP (NP (PRP it))) (VP (VBZ works))))"
print("PYEVALB", version("PYEVALB"), counts(HIGH, LOW), counts(TWICE, TWICE))
assert counts(HIGH, LOW) == (3, 5, 5)  # TOP, S, NP
assert counts(TWICE, TWICE) == (4, 5, 5)
END
