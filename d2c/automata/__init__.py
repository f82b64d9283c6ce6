"""Transition systems as oracle automata, and the latent-variable grammars that they are.

Nederhof (2015), *Transition-based dependency parsing as latent-variable constituent parsing*. Where its
definitions are, as parsers run them; as the paper has them, in `scripts/papers/theory`:

    section 3   tree and stack congruence, [t] and [τ]    states.py, chart.py
    section 3   consistent oracle, deterministic          features.py, scores.py
    section 4   arc-standard, arc-eager                   systems.py
    section 5   the L-CFG, intersected with a sentence    chart.py
    section 6   features                                  features.py
    section 7   Ω as a distribution                       oracles.py

Beyond the paper: static oracles (static_oracles.py), exact search (exact.py).
"""
