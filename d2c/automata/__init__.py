"""Transition systems as oracle automata, and the latent-variable grammars that they are.

Nederhof (2015), *Transition-based dependency parsing as latent-variable constituent parsing*. Where its
definitions are, as parsers run them and as the paper has them, docs/definitions.md lists.
"""
