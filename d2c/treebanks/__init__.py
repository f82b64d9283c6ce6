"""Treebank files: how they are read, converted, and worked on in parts."""
