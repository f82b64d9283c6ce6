"""The settings of constrained CKY, from the command line to the estimator and into the model's files."""

from __future__ import annotations

from dataclasses import dataclass

from d2c.base.settings import MOST_PASSES, set_by, setting
from d2c.learning.settings import LearnerSettings
from d2c.learning.weights import MOST_BITS
from d2c.protocols.route import CommonSettings
from d2c.trees.binarization import BINARIZATIONS, GRAMMARS, MOST_UNARIES
from d2c.trees.refinement import REFINEMENTS

METHODS = "none", "1", "2", "1+2"  # of pruning, see `d2c.cky.search.pruning`
ARC_LABELS = "phrase", "cubed"  # of the d-trees that `ConstrainedCKY.encode` makes


@dataclass(frozen=True, kw_only=True)
class ChartSettings(CommonSettings, LearnerSettings):
    """How constrained CKY learns and decodes.

    binarization: simple (PAD's) or markovized (the draft's), see `d2c.trees.binarization`
    grammar:      the observed rules, or their closure: see `d2c.cky.grammar.Grammar.closed`
    symbols:      plain, vertical (with the parent's label) or collapsed (of unary chains), see
                  `d2c.trees.refinement`
    labels:       whether d-labels are features, where the d-trees of training have any
    arc_labels:   what the d-parser learns to label arcs with: the phrase that an arc makes, or the binary
                  rule A → β1 β2 that attaches its dependent (N × N × N, section 3.2 of the draft)
    context:      whether there are features beyond Figure 4: the d-tree around a part, tags around its span
    pruning:      one of METHODS; gamma: the threshold γ of method 2
    max_unaries:  the greatest number of unary steps between two attachments
    continuous:   make d-trees projective first, so that c-trees have no gaps; None: if the training trees
                  have none
    epochs, rate, penalty: of training, see `d2c.learning.adagrad`
    table_bits:   the hash table has 2^table_bits weights
    seed:         of the order of the sentences in training; `CommonSettings` has the other fields

    A field is an option of training, unless it is `set_by(None, ...)`; see `d2c.base.settings`.

    Raises ValueError for a value that is out of range.
    """

    binarization: str = setting(
        "simple", "Chart: how nodes with many children become binary.", choices=BINARIZATIONS
    )
    grammar: str = setting(
        "observed",
        "Chart: the rules of the treebank, or also new ones made of parts seen with the same parent.",
        choices=GRAMMARS,
    )
    symbols: str = setting(
        "plain",
        "Chart: plain labels as nonterminals, labels with the parent's (vertical), or whole unary chains "
        "(collapsed).",
        choices=REFINEMENTS,
    )
    labels: bool = set_by(None, setting(False, "Chart: d-labels are features."))
    arc_labels: str = setting(
        "phrase",
        "Chart (cky): the labels of arcs that the d-parser learns, and that the chart uses with --labels: "
        "the phrase that an arc makes, or its whole rule (cubed).",
        choices=ARC_LABELS,
    )
    context: bool = set_by(None, setting(True, "Chart: there are features beyond those of the paper."))
    pruning: str = setting(
        "none",
        "Chart: prune rules by the head's tag (1), sides of the next dependent (2), or both.",
        choices=METHODS,
    )
    gamma: float = setting(
        0.95, "Chart: pruning 2 fixes sides that are more probable than this.", least=0, most=1
    )
    max_unaries: int = setting(
        3, "Chart: at most this many unary nodes in a row.", least=0, most=MOST_UNARIES
    )
    continuous: bool | None = set_by(
        None, setting(None, "Chart: c-trees have no gaps, whatever the d-trees are.")
    )
    epochs: int = set_by(
        "chart_epochs", setting(5, "Chart: passes over the treebank.", least=1, most=MOST_PASSES)
    )
    rate: float = set_by(None, setting(0.1, "Chart: the learning rate of AdaGrad.", above=0, most=1_000))
    penalty: float = setting(1e-6, "Chart: the L1 penalty on its weights (λ).", least=0, most=1_000)
    table_bits: int = setting(
        22, "Chart: it has 2^N weights, which features may share.", least=1, most=MOST_BITS
    )
