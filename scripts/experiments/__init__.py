"""Experiments in steps: a treebank, d-parsers and routes that learn from it. A stopped run goes on."""
