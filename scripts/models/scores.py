"""How good a model is on a treebank: F1 over given words, and over words that rules find in text."""

from __future__ import annotations

import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate

from nltk.tokenize.treebank import TreebankWordDetokenizer

from d2c.models.model import Model
from d2c.protocols.dparser import TextRules
from d2c.protocols.route import Route
from d2c.trees.conventions import functions_of, strip_function
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.scores.brackets import bracket_scores, metric_for
from d2c.trees.scores.matches import Matches

_WITHOUT_BLANKS = "ja", "th", "zh"  # between words

Bracket = tuple[
    str, *tuple[int, ...]
]  # a label, and for each block the numbers of letters and digits before it and up to its end


@dataclass(frozen=True)
class Score:
    """The scores of a model on the sentences of a part, whose ends are given; in percent, except the last.

    f1:      EVALB with collins.prm (with gaps: disco-dop, proper.prm); words given, tags predicted
    exact:   sentences without an error
    tags:    words with the right tag
    text_f1: F1 over words that the model's rules find in text; constituents are compared by label and by
             letters and digits; None where that was not measured
    speed:   words parsed in a second of CPU time, from words to trees
    """

    part: str
    sentences: int
    f1: float
    exact: float
    tags: float
    text_f1: float | None
    speed: float


def score(part: str, model: Model, gold: Sequence[CTree], rules: TextRules | None = None) -> Score:
    """Return the score of a model; rules: they find the words of text, if that is to be measured."""
    words = [*map(untagged, gold)]
    begin = time.process_time()
    guess = list(model.parse(words))
    seconds = time.process_time() - begin
    text = None if rules is None else text_f1(gold, model.parse(cut(gold, rules, model.language)))
    return _score(part, gold, guess, seconds, text, gaps=model.route.gaps_)


def untagged(ctree: CTree) -> Tokens:
    """Return the words of a tree without their tags."""
    return Tokens.untagged(ctree.tokens.forms)


def recased(ctrees: Iterable[CTree], change: Callable[[str], str]) -> list[CTree]:
    """Return the trees with all words changed, such as to capitals."""
    return [replace(c, tokens=replace(c.tokens, forms=tuple(map(change, c.tokens.forms)))) for c in ctrees]


def score_conversion(part: str, route: Route, gold: Sequence[CTree], dtrees: Sequence[DTree]) -> Score:
    """Return the score of a route that converts d-trees; `tags` says how many of their tags are gold."""
    begin = time.process_time()
    guess = list(route.decode_all(dtrees))
    return _score(part, gold, guess, time.process_time() - begin)


def _score(
    part: str,
    gold: Sequence[CTree],
    guess: Sequence[CTree],
    seconds: float,
    text: float | None = None,
    gaps: bool = False,
) -> Score:
    summary = bracket_scores(gold, guess, gaps=gaps)
    tags_of = [[tag for ctree in ctrees for tag in ctree.tokens.tags] for ctrees in (gold, guess)]
    pairs = list(zip(*tags_of, strict=True))
    tags = 100 * sum(a == b for a, b in pairs) / len(pairs)
    return Score(part, len(gold), summary.f1, summary.complete_match, tags, text, len(pairs) / seconds)


def cut(gold: Iterable[CTree], rules: TextRules, language: str | None = None) -> Iterable[Tokens]:
    """Yield the words, without tags, that rules find in the text of each sentence.

    Treebanks do not keep the text; it is made of their words, joined as English, or the language, is written.
    """
    join = "".join if language in _WITHOUT_BLANKS else TreebankWordDetokenizer().detokenize
    for ctree in gold:
        text = join([*ctree.tokens.forms])
        if language == "id":  # whose treebank has hyphens as words
            text = re.sub(r"(?<=\w) - (?=\w)", "-", text)
        if language == "is":  # whose treebank says where it has cut a word
            text = re.sub(r"\$ ?\$", "", text)
        yield Tokens.untagged(form for form, _, _ in rules.words(text))


def text_f1(gold: Iterable[CTree], guess: Iterable[CTree]) -> float:
    """Return F1 of constituents, in percent. They are compared by their letters and digits, so words may be
    cut otherwise. Labels are compared as `Score.f1` compares them."""
    every = [*gold]
    name = cache(metric_for(every).label)

    def named(ctree: CTree) -> Counter[Bracket]:
        found = Counter[Bracket]()
        for (label, *ends), count in brackets(ctree).items():
            if (own := name(label)) is not None:
                found[own, *ends] += count
        return found

    pairs = ((named(a), named(b)) for a, b in zip(every, guess, strict=True))
    return sum((_matches(*pair) for pair in pairs), Matches()).f1


def function_matches(gold: Iterable[CTree], guess: Iterable[CTree]) -> dict[str, Matches]:
    """Count the matches of each function tag, the most common in gold first. A tag is right on a constituent
    with the same label over the same letters and digits."""
    found = defaultdict[str, Matches](Matches)
    for a, b in zip(gold, guess, strict=True):
        of_gold, of_guess = _functions(a), _functions(b)
        for tag in {*of_gold, *of_guess}:
            found[tag] += _matches(of_gold[tag], of_guess[tag])
    return dict(sorted(found.items(), key=lambda item: (-item[1].gold, item[0])))


def _matches(gold: Counter[Bracket], guess: Counter[Bracket]) -> Matches:
    return Matches(gold.total(), guess.total(), (gold & guess).total())


def _functions(ctree: CTree) -> defaultdict[str, Counter[Bracket]]:
    """Count the constituents that have each function tag."""
    found = defaultdict[str, Counter[Bracket]](Counter)
    for (label, *ends), count in brackets(ctree).items():
        for tag in functions_of(label):
            found[tag][strip_function(label), *ends] += count
    return found


def brackets(ctree: CTree) -> Counter[Bracket]:
    """Count the constituents of a tree, except those without any letter or digit."""
    lengths = [sum(map(str.isalnum, form)) for form in ctree.tokens.forms]
    before, n = [0, *accumulate(lengths)], len(lengths)
    found = Counter[Bracket]()
    for label, blocks in zip(ctree.labels, ctree.blocks()[n:], strict=True):
        ends = list[int]()
        for begin, end in blocks:
            if ends and ends[-1] == before[begin]:
                ends[-1] = before[end]  # only marks stand between
            elif before[begin] < before[end]:
                ends += before[begin], before[end]
        if ends:
            found[label, *ends] += 1
    return found
