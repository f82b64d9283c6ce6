"""Several c-trees of a sentence become one: constituents voted on, whether they have gaps or not.

Sagae and Lavie, "Parser Combination by Reparsing" (NAACL 2006); Fossum and Knight, "Combining Constituent
Parsers" (NAACL 2009). A constituent is a label over a set of tokens. What speaks for it, a share from 0 to 1,
must be more than a threshold; the tree is that whose constituents have the greatest sum of what their shares
are beyond it. With a threshold of 0.5 and votes that count alike these are the constituents of more than half
of the trees: any two of them are in one tree together, so none cross. If shares are probabilities, the tree
has the greatest expected number of right brackets less `threshold` of all that it has; so half of the F1 that
is reached is the threshold that makes it greatest.

Nodes are n-ary, so none is there that nobody voted for. Unary nodes have votes of their own: a label that is
twice in a chain is voted on twice, and labels of a chain stand in the order of their mean height. Words that
are tagged otherwise have the tag of most trees, of the first where they are equally many.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import NamedTuple

from d2c.combination.families import best_family
from d2c.combination.weights import Example, Share, Weights, alike, learn
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.scores.matches import Matches

MAJORITY = 0.5
_TIE = 1e-9  # of equally good trees, the one that the first parsers are for
_PASSES = 5


class Parse(NamedTuple):
    """A c-tree, and how sure the parser is of each of its nodes [K], if it says."""

    ctree: CTree
    confidences: Sequence[float] | None = None


class Constituent(NamedTuple):
    """A label over a set of tokens, as bits; below: how many of that label are below it over the same."""

    label: str
    tokens: int
    below: int = 0


class Candidate(NamedTuple):
    """What is known of a constituent.

    votes:  [m] of each parser, from 0 to 1
    height: the mean number of nodes below it over the same tokens, in the trees that have it
    """

    votes: list[float]
    height: float


def constituents(ctree: CTree) -> list[Constituent]:
    """[K] that of each node; no two are equal."""
    yields = [1 << token for token in range(len(ctree.tokens))]
    seen, found = Counter[tuple[str, int]](), list[Constituent]()
    for label, kids in zip(ctree.labels, ctree.children, strict=True):
        yields.append(sum(yields[kid] for kid in kids))
        found.append(Constituent(label, yields[-1], seen[label, yields[-1]]))
        seen[label, yields[-1]] += 1
    return found


def candidates(parses: Sequence[Parse | None]) -> dict[Constituent, Candidate]:
    """All constituents that some tree has. Where a parser has no tree, its vote is the others' mean."""
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
        others = sum(cast) / max(1, len(parses) - len(absent))
        for i in absent:
            cast[i] = others
    return {one: Candidate(cast, fmean(heights[one])) for one, cast in votes.items()}


def combine(parses: Sequence[Parse | None], share: Share = alike, threshold: float = MAJORITY) -> Parse:
    """The best tree, and the shares of its nodes as their confidences.

    parses: [m] of one sentence, None where a parser has none; its head children are voted on if trees have
            some; the first one's wrapper and words stay

    Where all trees have a root, the best one stays, whatever its share. Raises ValueError where no parser has
    a tree, or they have other words.
    """
    given = [parse.ctree for parse in parses if parse]
    if not given or any(ctree.tokens.forms != given[0].tokens.forms for ctree in given):
        raise ValueError("trees to combine must be of the same words")
    found = candidates(parses)
    shares = {one: share(one.label, candidate.votes) for one, candidate in found.items()}
    rooted = all(ctree.labels for ctree in given)  # not a bare token
    kept = _best(found, shares, threshold, (1 << len(given[0].tokens)) - 1 if rooted else 0)
    kept.sort(key=lambda one: (one.tokens.bit_count(), found[one].height))
    nodes = [(one.label, [*_bits(one.tokens)]) for one in kept]
    tree = tree_of(voted_tags([ctree.tokens for ctree in given]), nodes, given[0].top)
    return Parse(replace(tree, head_children=_heads(tree, given)), tuple(shares[one] for one in kept))


def _best(
    found: Mapping[Constituent, Candidate], shares: Mapping[Constituent, float], threshold: float, root: int
) -> list[Constituent]:
    """The constituents of the best tree, of which one is over all tokens of `root`, if there are any."""
    values = defaultdict[int, float](float)
    for one in found:
        if shares[one] > threshold:
            first = next((i for i, vote in enumerate(found[one].votes) if vote), 0)
            values[one.tokens] += shares[one] - threshold + _TIE / (1 + first)
    family = best_family(values)
    kept = [one for one in found if shares[one] > threshold and one.tokens in family]
    if root and root not in family:
        kept.append(max((one for one in found if one.tokens == root), key=shares.__getitem__))
    return kept


def tree_of(tokens: Tokens, nodes: Iterable[tuple[str, Sequence[int]]], top: str | None) -> CTree:
    """The c-tree of nodes in an order in which children precede their parents; without head children.

    nodes: a label and the sorted tokens of each, some of the sentence's

    Raises ValueError where they are no tree over all tokens.
    """
    over = list(range(len(tokens)))  # the highest node so far over each token
    labels, children = list[str](), list[tuple[int, ...]]()
    size = [1] * len(tokens)
    for label, below in nodes:
        kids = tuple(dict.fromkeys([over[token] for token in below]))
        if sum([size[kid] for kid in kids]) != len(below):
            raise ValueError(f"{label!r} over tokens {below[0]} to {below[-1]} crosses another constituent")
        for token in below:
            over[token] = len(size)
        size.append(len(below))
        labels.append(label)
        children.append(kids)
    if size[-1] != len(tokens):
        raise ValueError("no constituent is over all tokens")
    return CTree(tokens, tuple(labels), tuple(children), None, top)


def _bits(number: int) -> Iterator[int]:
    """The places of a number's bits, the lowest first."""
    while number:
        yield (number & -number).bit_length() - 1
        number &= number - 1


def voted_tags(given: Sequence[Tokens]) -> Tokens:
    """The first sentence with the tags that most have, of equally many the first."""
    columns = zip(*(tokens.tags for tokens in given), strict=True)
    return replace(given[0], tags=tuple([Counter(column).most_common(1)[0][0] for column in columns]))


def _heads(tree: CTree, given: Sequence[CTree]) -> tuple[int, ...] | None:
    """[K] of each node the child with the head token that most trees give to these tokens; None where trees
    have no head children."""
    votes = defaultdict[int, Counter[int]](Counter)
    for ctree in given:
        if ctree.head_children is not None:
            heads = ctree.lexical_heads()[len(ctree.tokens) :]
            for yield_, head in dict(zip(_yields(ctree), heads, strict=True)).items():
                votes[yield_][head] += 1
    chosen = [votes[yield_].most_common(1) for yield_ in _yields(tree)]
    return child_over(tree, [head for [(head, _)] in chosen]) if all(chosen) else None


def child_over(tree: CTree, tokens: Sequence[int]) -> tuple[int, ...]:
    """[K] the child of each node that is over a token [K], which is one of the node's."""
    found, over = list[int](), list(range(len(tree.tokens)))
    for node, (token, yield_) in enumerate(zip(tokens, tree.yields()[len(over) :], strict=True), len(over)):
        found.append(over[token])
        for below in yield_:
            over[below] = node
    return tuple(found)


def _yields(ctree: CTree) -> list[int]:
    return [one.tokens for one in constituents(ctree)]


def learn_constituents(sentences: Iterable[tuple[CTree, Sequence[Parse | None]]]) -> Weights:
    """Weights and threshold for the best F1 over the constituents of gold trees, each with its m parses.

    The threshold begins as a half; then it is half of the F1 reached, until that gets no better.
    """
    held = [(set(constituents(gold)), parses) for gold, parses in sentences if any(parses)]
    weights = learn("constituents", _examples(held))
    best, threshold = 0.0, MAJORITY
    for _ in range(_PASSES):
        counts = Matches()
        for gold, parses in held:
            guess = set(constituents(combine(parses, weights, threshold).ctree))
            counts += Matches(len(gold), len(guess), len(gold & guess))
        if counts.f1 <= best:
            break
        best, weights = counts.f1, replace(weights, threshold=round(threshold, 6))
        threshold = best / 200
    return weights


def _examples(held: Iterable[tuple[set[Constituent], Sequence[Parse | None]]]) -> Iterator[Example]:
    for gold, parses in held:
        for one, candidate in candidates(parses).items():
            yield Example(one.label, candidate.votes, one in gold)
