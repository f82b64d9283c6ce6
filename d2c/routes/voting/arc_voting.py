"""Several d-trees of a sentence combined: parsers vote on arcs; the best tree is a maximum spanning tree.

Sagae and Lavie, "Parser Combination by Reparsing" (NAACL 2006). Each word has one head, the whole is a tree
with one root, and the sum of its arcs' support is the greatest (`d2c.packed.spanning`): if support is a
probability, the expected number of right heads. Where all d-trees are projective it is the best projective
tree, else the best of all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from d2c.packed.arcs import (
    LEAST,
    ArcLabels,
    PackedArcs,
    arc_labels_of,
    arcs_of,
    packed_arcs,
    with_packed_arcs,
)
from d2c.packed.spanning import spanning_tree
from d2c.routes.voting.constituents import voted_tags
from d2c.routes.voting.weights import Example, Support, VotingWeights, equal_votes, learn_votes
from d2c.trees.dtree import DTree, is_projective, is_tree

_TIE = 1e-9  # of equally good heads, that of the first parsers


def combine_arcs(dtrees: Sequence[DTree | None], support: Support = equal_votes) -> DTree:
    """Return the best d-tree of a sentence, with the label of most support for each arc if all have labels.

    dtrees:  [m], None where a parser has none. Heads that form no tree vote, too, except those outside the
             sentence. With packed arcs, a d-tree votes for each by its probability; without heads, not at all
    support: by the modifier's tag, and the votes for the arc

    The result has packed arcs if some d-tree has: with the support of heads, made to sum to 1 for each word,
    and the mean of the probabilities that d-trees give their labels. Where no d-tree has heads, the result is
    the first d-tree. Raises ValueError where no parser has a d-tree, or they have other words.
    """
    given = [dtree for dtree in dtrees if dtree]
    if not given or any(dtree.tokens.forms != given[0].tokens.forms for dtree in given):
        raise ValueError("d-trees to combine must be of the same words")
    dtrees = _voters(dtrees)
    present = [dtree for dtree in dtrees if dtree]
    if not present:
        return given[0]
    tokens, n = voted_tags([dtree.tokens for dtree in present]), len(present[0].heads)
    scores = np.zeros((n + 1, n))
    for m, tag in enumerate(tokens.tags):
        for h, votes in _votes_on_heads(dtrees, m).items():
            scores[h, m] = support(tag, votes) + _TIE / (1 + votes.index(max(votes)))
    projective = all(is_tree(dtree.heads) and is_projective(dtree.heads) for dtree in present)
    heads = spanning_tree(scores, projective)
    labels = None
    if all(dtree.labels for dtree in present):
        labels = tuple(_voted_labels(dtrees, heads, tokens.tags, support))
    arcs = None
    packed = [packed_arcs(dtree) for dtree in present]
    if any(voter is not None for voter in packed):
        arcs = arcs_of((scores / np.maximum(scores.sum(axis=0), _TIE)).T, heads)
        arcs = arcs._replace(labels=_mean_labels(packed, arcs))
    return with_packed_arcs(DTree(tokens, heads, labels=labels), arcs)


def _voters(dtrees: Iterable[DTree | None]) -> list[DTree | None]:
    """Return the d-trees that vote; None in place of those without heads."""
    return [dtree if dtree and max(dtree.heads, default=0) >= 0 else None for dtree in dtrees]


def _votes_on_heads(dtrees: Sequence[DTree | None], m: int) -> dict[int, list[float]]:
    """Return the heads of token m in the sentence → the parsers' votes; absent d-trees vote the mean."""
    votes: dict[int, list[float]] = {}
    for i, dtree in enumerate(dtrees):
        if dtree is None:
            continue
        for h, vote in _heads_of(dtree, m):
            if 0 <= h <= len(dtree.heads) and h != m + 1:
                votes.setdefault(h, [0.0] * len(dtrees))[i] = vote
    present = sum(dtree is not None for dtree in dtrees)
    return {
        h: [sum(cast) / present if dtree is None else vote for vote, dtree in zip(cast, dtrees, strict=True)]
        for h, cast in votes.items()
    }


def _heads_of(dtree: DTree, m: int) -> Iterable[tuple[int, float]]:
    """Return the heads that a d-tree votes for, each with its probability."""
    arcs = packed_arcs(dtree)
    if arcs is None:
        return ((dtree.heads[m], 1.0),)
    of_token = slice(*arcs.begin[m : m + 2])
    return zip(arcs.heads[of_token].tolist(), np.exp(arcs.logs[of_token]).tolist(), strict=True)


def _voted_labels(
    dtrees: Sequence[DTree | None], heads: Sequence[int], tags: Sequence[str], support: Support
) -> Iterator[str]:
    """Yield the labels of arcs; for an arc that no parser has, one that the word has with another head."""
    labels = [_labels_of(dtree, heads) if dtree else [()] * len(heads) for dtree in dtrees]
    for m, tag in enumerate(tags):
        ballots = [of_words[m] for of_words in labels]
        if not any(ballots):
            ballots = [((dtree.labels[m], 1.0),) if dtree and dtree.labels else () for dtree in dtrees]
        votes = defaultdict[str, list[float]](lambda: [0.0] * len(dtrees))
        for i, ballot in enumerate(ballots):
            for label, vote in ballot:
                votes[label][i] = vote
        yield max(votes, key=lambda label: support(tag, votes[label]))


def _labels_of(dtree: DTree, heads: Sequence[int]) -> list[Sequence[tuple[str, float]]]:
    """Return the labels that a d-tree votes for where words have these heads, each with its probability."""
    votes: list[Sequence[tuple[str, float]]] = [()] * len(heads)
    for m, label in enumerate(dtree.labels or ()):
        if dtree.heads[m] == heads[m]:
            votes[m] = ((label, 1.0),)
    arcs = packed_arcs(dtree)
    if arcs is not None and arcs.labels is not None:
        names, logs = arcs.labels
        for m, place in enumerate(arcs.of_tree(heads)):
            if place >= 0:
                shares = np.exp(logs[place])
                votes[m] = [(names[i], float(shares[i])) for i in np.flatnonzero(shares >= LEAST)]
    return votes


def _mean_labels(voters: Sequence[PackedArcs | None], arcs: PackedArcs) -> ArcLabels | None:
    """Return the labels of some arcs: the mean of their probabilities over the voters that have the arc."""
    labelled = [(voter, voter.labels) for voter in voters if voter is not None and voter.labels is not None]
    if not labelled:
        return None
    names = tuple(dict.fromkeys(name for _, labels in labelled for name in labels.names))
    total = np.zeros((len(arcs.heads), len(names)), np.float32)
    for voter, labels in labelled:
        places = voter.places(arcs.dependents(), arcs.heads)
        total += np.exp(labels.of(places).summed(names, labels.names)) * (places >= 0)[:, None]
    return arc_labels_of(names, total)


def learn_arcs(sentences: Iterable[tuple[DTree, Sequence[DTree | None]]]) -> VotingWeights:
    """Learn weights of parsers for each tag of modifiers, from gold d-trees, each with those of m parsers."""
    return learn_votes("arcs", _examples(sentences))


def _examples(sentences: Iterable[tuple[DTree, Sequence[DTree | None]]]) -> Iterator[Example]:
    for gold, given in sentences:
        dtrees = _voters(given)
        present = [dtree for dtree in dtrees if dtree]
        tags = voted_tags([dtree.tokens for dtree in present]).tags if present else ()
        for m, tag in enumerate(tags):
            for h, votes in _votes_on_heads(dtrees, m).items():
                yield Example(tag, votes, h == gold.heads[m])
