"""Transition systems as oracle automata, and the latent-variable grammars that they are.

The source is Nederhof (2015), *Transition-based dependency parsing as latent-variable constituent parsing*.
"""
