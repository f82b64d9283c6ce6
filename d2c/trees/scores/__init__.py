"""Scores of parser output against a treebank, each equal to that of the reference program of its name."""
