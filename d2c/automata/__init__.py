"""Transition systems as oracle automata, and the latent-variable grammars that they correspond to.

Nederhof (2015), *Transition-based dependency parsing as latent-variable constituent parsing*.
docs/definitions.md lists where its definitions are, as parsers run them and as the paper has them.
"""
