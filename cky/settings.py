"""The settings of route 2, from the command line to the estimator, and into the files of the model."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import inf

from d2c.cky.search.pruning import METHODS
from d2c.linear.weights import MOST_BITS
from d2c.trees.binarization import BINARIZATIONS, GRAMMARS, MOST_UNARIES
from d2c.trees.refinement import REFINEMENTS

_TYPES = {"str": str, "bool": bool, "int": int, "float": int | float, "bool | None": bool | None}


@dataclass(frozen=True)
class ChartSettings:
    """How constrained CKY learns and decodes.

    head_rules:   name or file of a head table, see `d2c.trees.heads.load_head_rules`
    binarization: simple (PAD's) or markovized (the draft's), see `d2c.trees.binarization`
    grammar:      the rules that were observed, or these closed: see `d2c.cky.grammar.grammar.Grammar.closed`
    symbols:      plain, vertical (with the parent's label) or collapsed (of unary chains), see
                  `d2c.trees.refinement`
    labels:       whether d-labels are features, where the d-trees that it learns from have any
    context:      whether there are features beyond Figure 4: the d-tree around a part, tags around its span
    pruning:      none, 1, 2 or 1+2, see `d2c.cky.search.pruning`; gamma: of method 2
    max_unaries:  unary steps between two attachments at most
    continuous:   make d-trees projective first, so that c-trees have no gaps; None: if the training trees
                  have none
    epochs, rate, penalty: of training, see `d2c.linear.adagrad`; table_bits: the hash table has 2^this
                           weights
    seed:         of the order of the sentences in training

    Raises ValueError for what is out of range.
    """

    head_rules: str = "collins"
    binarization: str = "simple"
    grammar: str = "observed"
    symbols: str = "plain"
    labels: bool = False
    context: bool = True
    pruning: str = "none"
    gamma: float = 0.95
    max_unaries: int = 3
    continuous: bool | None = None
    epochs: int = 5
    rate: float = 0.1
    penalty: float = 1e-6
    table_bits: int = 22
    seed: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            if not isinstance(getattr(self, field.name), _TYPES[str(field.type)]):
                raise ValueError(f"the setting {field.name} is {getattr(self, field.name)!r}")
        names = (
            *((self.binarization, BINARIZATIONS), (self.grammar, GRAMMARS)),
            *((self.symbols, REFINEMENTS), (self.pruning, METHODS)),
        )
        for name, known in names:
            if name not in known:
                raise ValueError(f"unknown {name!r}; known are {', '.join(known)}")
        for number, most in ((self.max_unaries, MOST_UNARIES), (self.table_bits, MOST_BITS)):
            if not 0 <= number <= most:
                raise ValueError(f"{number!r} is not from 0 to {most}")
        if not 0 <= self.gamma <= 1 or not 0 <= self.penalty < inf:
            raise ValueError(f"gamma {self.gamma!r} is no probability, or {self.penalty!r} is no penalty")
