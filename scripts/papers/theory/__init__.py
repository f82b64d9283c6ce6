"""The theory of transition systems as latent-variable grammars (Nederhof, 2015).

    section 2        grammars, trees as their steps          grammars.py
    section 3        oracle automata, congruences            automaton.py
    section 4        arc-standard, arc-eager                 grammars.py
    section 5        L-CFG of an automaton                   latent.py
    Theorem 1        same trees                              tests/scripts/papers/theory/test_theorem.py
    section 6        features as attributes                  automaton.py
    section 7        Ω as a distribution                     automaton.py
    section 7        L-PCFG, made proper                     latent.py

What parsers run is `d2c.automata`.
"""
