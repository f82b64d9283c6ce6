"""Scores of parser output against a treebank, each equal to the reference program that it is named after."""
