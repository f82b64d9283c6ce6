"""D-trees of another convention than Collins's, and a spaCy pipeline that predicts them: prepositions and
auxiliaries hang on content words, as in UD."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import spacy
from spacy.tokens import Doc
from spacy.training import Example

from d2c.dparsers.spacy.training import tok2vec
from d2c.protocols.training import seeded
from d2c.trees.conversion import to_dependencies
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree, modifiers_of, top_down
from d2c.trees.heads import load_head_rules

_AUXILIARIES = frozenset(
    ("be", "been", "is", "are", "was", "were", "has", "have", "had", "do", "does", "did")
)
_COLLINS = load_head_rules("collins")
_LABELS = {"DT": "det", "PRP$": "det", "JJ": "amod", "CD": "nummod", "RB": "advmod", "CC": "cc", "IN": "mark"}


def ud_like(ctree: CTree) -> DTree:
    """The d-tree by Collins's heads, turned: of a preposition or conjunction with what it governs, and of an
    auxiliary with its verb, the latter is the head and takes over all other modifiers."""
    tokens = ctree.tokens
    heads = list(to_dependencies(_COLLINS.apply(ctree)).heads)
    labels = ["root"] * len(heads)
    modifiers = modifiers_of(heads)
    governed = [_governed(ctree, m, modifiers[m]) for m in range(len(heads))]
    for m in reversed(top_down(heads)):
        content = governed[m]
        if content is not None:
            while heads[content] != m + 1:  # turned itself: its own content word is here now
                content = heads[content] - 1
            head = heads[m]
            heads = [content + 1 if h == m + 1 else h for h in heads]
            heads[m], heads[content] = content + 1, head
            labels[m] = "case" if tokens.tags[content].startswith(("N", "P", "C")) else "mark"
    for m, head in enumerate(heads):
        tag = tokens.tags[m]
        if head and governed[m] is None:
            nominal = tag.startswith("N") or tag == "PRP"
            of_verb = tokens.tags[head - 1].startswith("V")
            argument = ("nsubj" if m < head else "obj") if of_verb else "nmod"
            labels[m] = argument if nominal else _LABELS.get(tag, "conj" if tag[0] == "V" else "punct")
        elif head and (tag == "MD" or tag[0] == "V"):
            labels[m] = "aux"
    return DTree(tokens, tuple(heads), labels=tuple(labels))


def _governed(ctree: CTree, m: int, modifiers: list[int]) -> int | None:
    """The content word that a function word m governs, None of all other words."""
    tokens = ctree.tokens
    right = [d for d in modifiers if d > m]
    if tokens.tags[m] in ("IN", "TO"):
        return right[0] if right else None
    if tokens.tags[m] == "MD" or tokens.forms[m].lower() in _AUXILIARIES:
        verbs = [d for d in right if tokens.tags[d][0] == "V"]
        joined = verbs and any(tokens.tags[d] == "CC" for d in modifiers if m < d < verbs[0])
        return verbs[0] if verbs and not joined else None
    return None


def train_spacy(ctrees: Iterable[CTree], epochs: int, directory: Path) -> Path:
    """A directory for `spacy.load`: a pipeline with a parser trained on such d-trees; it sees no tags."""
    nlp = spacy.blank("en")
    sizes = {"width": 64, "depth": 2, "rows": 1000}
    network = tok2vec(sizes, ["NORM", "SUFFIX"])
    model = {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": "parser",
        "extra_state_tokens": False,
        "hidden_width": 64,
        "maxout_pieces": 2,
        "use_upper": True,
        "tok2vec": network,
    }
    nlp.add_pipe("parser", config={"model": model})
    examples = []
    for dtree in map(ud_like, ctrees):
        assert dtree.labels is not None
        words = [*dtree.tokens.forms]
        heads = [head - 1 if head else m for m, head in enumerate(dtree.heads)]
        deps = [label if head else "ROOT" for label, head in zip(dtree.labels, dtree.heads, strict=True)]
        examples.append(Example(Doc(nlp.vocab, words), Doc(nlp.vocab, words, heads=heads, deps=deps)))
    with seeded(1):
        optimizer = nlp.initialize(lambda: examples)
        for _ in range(epochs):
            random.shuffle(examples)
            for begin in range(0, len(examples), 32):
                nlp.update(examples[begin : begin + 32], sgd=optimizer, drop=0.1)
    nlp.to_disk(directory)
    return directory
