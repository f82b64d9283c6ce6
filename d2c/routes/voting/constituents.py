"""Several c-trees of a sentence combined: parsers vote on constituents, whether these have gaps or not.

Sagae and Lavie, "Parser Combination by Reparsing" (NAACL 2006); Fossum and Knight, "Combining Constituent
Parsers" (NAACL 2009). A constituent is a label over a set of tokens. Its support, a number from 0 to 1, must
exceed a threshold; the best tree is the one in which the sum of these excesses is greatest. With a threshold
of 0.5 and votes that count alike, its constituents are those of more than half of the trees: any two of them
are in one tree together, so none cross. If support is a probability, the best tree has the greatest expected
number of right brackets less `threshold` times the number of its brackets; therefore the threshold that makes
F1 greatest is half of the F1 reached with it.

Nodes are n-ary: there is no bracket that nobody voted for. Unary nodes have votes of their own: a label that
is twice in a chain is voted on twice, and labels of a chain stand in the order of their mean height. Words
that are tagged differently get the tag of most trees; of equally frequent tags, the first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import NamedTuple

from d2c.routes.voting.weights import Example, Support, VotingWeights, equal_votes, learn_votes
from d2c.trees.compatible import Constituent, minimum_bayes_risk
from d2c.trees.ctree import CTree, Tokens, bits_of, tree_of
from d2c.trees.scores.matches import Matches

MAJORITY = 0.5
_TIE = 1e-9  # of equally good trees, the one that the first parsers are for
_PASSES = 5


class Parse(NamedTuple):
    """A c-tree, and the parser's confidence in each of its nodes [K], if it gives any."""

    ctree: CTree
    confidences: Sequence[float] | None = None


class Candidate(NamedTuple):
    """Votes on a constituent.

    votes:  [m] of each parser, from 0 to 1
    height: the mean number of nodes below it over the same tokens, in the trees that have it
    """

    votes: list[float]
    height: float


def constituents(ctree: CTree) -> list[Constituent]:
    """Return the constituent of each node [K]; no two are equal."""
    return _numbered(zip(ctree.labels, _yields(ctree), strict=True))


def _numbered(brackets: Iterable[tuple[str, int]]) -> list[Constituent]:
    """Return constituents of labels and tokens, equal ones told apart by how many came before."""
    seen, numbered = Counter[tuple[str, int]](), list[Constituent]()
    for bracket in brackets:
        numbered.append(Constituent(*bracket, seen[bracket]))
        seen[bracket] += 1
    return numbered


def candidates(parses: Sequence[Parse | None]) -> dict[Constituent, Candidate]:
    """Return all constituents of some trees. Where a parser has no tree, its vote is the others' mean."""
    votes: dict[Constituent, list[float]] = {}
    heights = defaultdict[Constituent, list[int]](list)
    absent = [i for i, parse in enumerate(parses) if parse is None]
    for i, parse in enumerate(parses):
        chain = Counter[int]()
        for k, one in enumerate(constituents(parse.ctree) if parse else ()):
            vote = parse.confidences[k] if parse and parse.confidences is not None else 1.0
            votes.setdefault(one, [0.0] * len(parses))[i] = vote
            heights[one].append(chain[one.tokens])
            chain[one.tokens] += 1
    for cast in votes.values():
        mean = sum(cast) / max(1, len(parses) - len(absent))
        for i in absent:
            cast[i] = mean
    return {one: Candidate(cast, fmean(heights[one])) for one, cast in votes.items()}


class Ballot(NamedTuple):
    """The candidates of a sentence with their support.

    root: all tokens, as bits, where every tree has a root, so that the combination has one; else 0
    """

    candidates: Mapping[Constituent, Candidate]
    support: Mapping[Constituent, float]
    root: int

    @classmethod
    def of(
        cls,
        parses: Sequence[Parse | None],
        support: Support,
        known: Mapping[Constituent, Candidate] | None = None,
    ) -> Ballot:
        """Return the ballot of the parses of a sentence. known: their candidates, if already known."""
        known = candidates(parses) if known is None else known
        ctrees = [parse.ctree for parse in parses if parse]
        rooted = all(ctree.labels for ctree in ctrees)  # not a bare token
        root = (1 << len(ctrees[0].tokens)) - 1 if rooted else 0
        return cls(known, {one: support(one.label, each.votes) for one, each in known.items()}, root)

    def best(self, threshold: float) -> list[Constituent]:
        """Return the constituents of the best tree, of which one is the root, if there is to be one."""

        def favour(one: Constituent) -> float:
            return _TIE / (1 + next((i for i, vote in enumerate(self.candidates[one].votes) if vote), 0))

        return minimum_bayes_risk(self.support, threshold, [self.root] if self.root else (), favour)


def combine(
    parses: Sequence[Parse | None], support: Support = equal_votes, threshold: float = MAJORITY
) -> Parse:
    """Return the best tree, with the support of its nodes as their confidences.

    parses: [m] of one sentence, None where a parser has none

    Head children are voted on if trees have some; words and wrapper are those of the first tree. Where all
    trees have a root, so has the best one, whatever the root's support. Raises ValueError where no parser has
    a tree, or they have other words.
    """
    ctrees = [parse.ctree for parse in parses if parse]
    if not ctrees or any(ctree.tokens.forms != ctrees[0].tokens.forms for ctree in ctrees):
        raise ValueError("trees to combine must be of the same words")
    ballot = Ballot.of(parses, support)
    chosen = ballot.best(threshold)
    chosen.sort(key=lambda one: (one.tokens.bit_count(), ballot.candidates[one].height))
    nodes = [(one.label, [*bits_of(one.tokens)]) for one in chosen]
    tags = voted_tags([ctree.tokens for ctree in ctrees])
    heads = _heads([one.tokens for one in chosen], ctrees)
    confidences = tuple(ballot.support[one] for one in chosen)
    return Parse(tree_of(tags, nodes, ctrees[0].top, heads), confidences)


def ranked_by_votes(
    parses: Sequence[Parse | None], best: CTree, others: Iterable[CTree], support: Support = equal_votes
) -> list[CTree]:
    """Return other trees of the sentence than the best, each once, with the tags and the wrapper of the best;
    ordered by the sum of their constituents' support beyond a half, the greatest first."""
    ballot, nobody = Ballot.of(parses, support), [0.0] * len(parses)

    def gain(one: Constituent) -> float:
        voted = one in ballot.support
        return (ballot.support[one] if voted else support(one.label, nobody)) - MAJORITY

    bare = (replace(one, tokens=best.tokens, top=best.top, head_children=None) for one in others)
    gains = {ctree: sum(map(gain, constituents(ctree))) for ctree in dict.fromkeys(bare)}
    gains.pop(replace(best, head_children=None), None)
    return sorted(gains, key=gains.__getitem__, reverse=True)


def voted_tags(sentences: Sequence[Tokens]) -> Tokens:
    """Return the first of some taggings of the same words, with the tags that most have."""
    columns = zip(*(tokens.tags for tokens in sentences), strict=True)
    return replace(sentences[0], tags=tuple([Counter(column).most_common(1)[0][0] for column in columns]))


def _heads(yields: Sequence[int], ctrees: Sequence[CTree]) -> list[int] | None:
    """Return the head token that most trees give each yield; None where no tree has head children for some
    yield."""
    votes = defaultdict[int, Counter[int]](Counter)
    for ctree in ctrees:
        if ctree.head_children is not None:
            heads = ctree.lexical_heads()[len(ctree.tokens) :]
            for yield_, head in dict(zip(_yields(ctree), heads, strict=True)).items():
                votes[yield_][head] += 1
    chosen = [votes[yield_].most_common(1) for yield_ in yields]
    return [head for [(head, _)] in chosen] if all(chosen) else None


def _yields(ctree: CTree) -> list[int]:
    return ctree.bits()[len(ctree.tokens) :]


def learn_constituents(sentences: Iterable[tuple[CTree, Sequence[Parse | None]]]) -> VotingWeights:
    """Learn weights and the threshold for the best F1 over the constituents of gold trees.

    sentences: each gold tree with its m parses

    The threshold begins as a half; then it is half of the F1 reached, until that gets no better.
    """
    treebank = [
        (set(constituents(gold)), parses, candidates(parses)) for gold, parses in sentences if any(parses)
    ]
    weights = learn_votes("constituents", _examples((gold, known) for gold, _, known in treebank))
    ballots = [(gold, Ballot.of(parses, weights, known)) for gold, parses, known in treebank]
    best, threshold = 0.0, MAJORITY
    for _ in range(_PASSES):
        matches = sum((_matches(gold, ballot.best(threshold)) for gold, ballot in ballots), Matches())
        if matches.f1 <= best:
            break
        best, weights = matches.f1, replace(weights, threshold=round(threshold, 6))
        threshold = best / 200
    return weights


def _matches(gold: set[Constituent], chosen: Sequence[Constituent]) -> Matches:
    """Count the brackets of a combination that gold has; equal labels of a chain are interchangeable."""
    guess = _numbered((one.label, one.tokens) for one in chosen)
    return Matches(len(gold), len(guess), len(gold.intersection(guess)))


def _examples(
    treebank: Iterable[tuple[set[Constituent], Mapping[Constituent, Candidate]]],
) -> Iterator[Example]:
    for gold, known in treebank:
        for one, candidate in known.items():
            yield Example(one.label, candidate.votes, one in gold)
