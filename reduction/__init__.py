"""Route 1, the reduction: constituents in the labels of head-ordered d-trees.

Fernández-González and Martins, "Parsing as Reduction" (ACL 2015). Where its definitions are:

    section 2.1        c-trees, head children, continuous       d2c/trees/ctree.py
    section 2.1        head rules                               d2c/trees/heads.py
    section 2.2        d-trees, projective                      d2c/trees/dtree.py
    section 3.1, 3.2   strict and weak order, head-ordered      d2c/trees/dtree.py
    section 3.1        ψ(h), the highest node of a word         d2c/trees/conversion.py
    Algorithms 1, 2    c-trees ⇄ head-ordered d-trees           d2c/trees/conversion.py
    section 3.3        nesting property                         d2c/trees/dtree.py
    Propositions 1-3   isomorphisms                             tests/trees/test_propositions.py
    section 4.1        direct and delta encoding                encodings/events.py
    section 4.1        H&N-encoding, spines                     encodings/spine.py
    section 4.2        two-stage parsing                        labeler/two_stage.py
    section 4.2        φ(h, m, ℓ), φ(h, m, m', ℓ, ℓ')           labeler/features.py
    section 4.2        sequence model, Viterbi                  labeler/sequence.py
    section 4.3        repairs of events and symbols            repair.py
    section 4.4        classifier of unary nodes                unary/classifier.py
    section 4.4        its features                             unary/features.py
    Table 1            comparison of encodings and d-parsers    scripts/papers/reduction.py

Beyond the paper: labels that never need repairs (labeler/joint.py), labels and heads over packed arcs
(labeler/over_arcs.py), the likely d-trees of a d-parser (alternatives.py).
"""

from d2c.reduction.reduction import Reduction

__all__ = ["Reduction"]
