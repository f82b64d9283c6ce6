"""Route 2, constrained CKY: a learned grammar confined to a d-tree's skeleton.

Kong, Rush and Smith, "Transforming Dependencies into Phrase Structures" (NAACL 2015), called PAD after its
program; its earlier draft is "Parsing Dependencies". Where their definitions are:

    section 2.2, 3.3   rules A → β1* β2, A → β1 β2*, A → β*     grammar.py
    section 3.3        binarization, simple and Markovized      d2c/trees/binarization.py
    section 3.1        L(h), R(h), ⟨h⇐, h⇒⟩, items of Y(x, d)   search/skeleton.py
    Figure 3           deduction rules                          search/deduction.py
    Figure 3, left     lexicalised CKY                          scripts/papers/lexicalised_cky.py
    Figure 3, right    the constrained chart, Y(x, d)           search/chart.py
    section 3.3        unary rules, at most max_unaries         search/deduction.py, settings.py
    section 3.2        pruning 1 and 2                          search/pruning.py
    section 4, 4.1     s(y; x, d) = θᵀ f(x, d, y), hashing      search/scoring.py
    Figure 4           feature templates                        search/templates.py
    section 4.2        parts (i, k, j, rule), Hamming loss Δ    search/parts.py
    section 4.2        structured SVM                           learning/svm.py
    section 4.2        AdaGrad under λ‖θ‖₁                       d2c/learning/adagrad.py
    footnote 10        oracle, argmin Δ(y, y')                  search/derivations.py
    draft, section 3.2 labels N × N × N of arcs                 learning/gold.py

Beyond the paper: d-trees with crossing arcs, packed arcs in place of one d-tree (search/packed_chart.py), the
c-tree of minimum Bayes risk (minimum_risk.py; Goodman, ACL 1996), confidences and the k best c-trees
(decoding.py, search/derivations.py).
"""
