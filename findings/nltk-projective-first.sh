#!/usr/bin/env bash
# nltk 3.10.4: ProbabilisticProjectiveDependencyParser gives the least probable parse first.
#
# Expected: according to its docstrings it "returns the most probable projective parse", and parse() returns "the most
# probable parse". So it gives one tree, or several with the best one first, as the probabilistic chart parsers
# (InsideChartParser) do.
# Seen: it gives all projective trees of the sentence that the word pairs in training allow, sorted by increasing
# probability. So next(parser.parse(words)), the idiom for NLTK's parsers, is the worst of all: below, four of five
# training trees attach "with" to the verb, but the first parse attaches it to the noun. The docstring's own example has a
# single parse and does not show this. According to compute_prob(), the parser's own model, the last tree is the best one.
# What to do: take the last tree, list(parser.parse(words))[-1].
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q "nltk==3.10.4" "click==8.5.1" 2>/dev/null
"$place/env/bin/python" - <<'END'
import nltk
from nltk.parse import DependencyGraph
from nltk.parse.projectivedependencyparser import ProbabilisticProjectiveDependencyParser

WORDS = ["Ann", "saw", "men", "with", "dogs"]
TAGS = ["NNP", "VBD", "NNS", "IN", "NNS"]
FROM_VERB, FROM_NOUN = (2, 0, 2, 2, 4), (2, 0, 2, 3, 4)


def graph(heads):
    rows = zip(WORDS, TAGS, heads, strict=True)
    return DependencyGraph("".join(f"{word}\t{tag}\t{head}\tROOT\n" for word, tag, head in rows))


def heads_of(tree, head=0):
    """Return the number of each word's head in a tree; no word comes twice."""
    word = WORDS.index(tree if isinstance(tree, str) else tree.label()) + 1
    heads = {word: head}
    for child in () if isinstance(tree, str) else tree:
        heads |= heads_of(child, word)
    return heads


parser = ProbabilisticProjectiveDependencyParser()
parser.train([graph(FROM_VERB)] * 4 + [graph(FROM_NOUN)])
parses = [tuple(head for _, head in sorted(heads_of(tree).items())) for tree in parser.parse(WORDS)]
probabilities = [parser.compute_prob(graph(heads)) for heads in parses]
print("nltk", nltk.__version__)
for heads, probability in zip(parses, probabilities, strict=True):
    print("heads", heads, "probability", probability)
assert parses[0] == FROM_NOUN and parses[-1] == FROM_VERB
assert probabilities == sorted(probabilities) and probabilities[0] < probabilities[-1]
END
