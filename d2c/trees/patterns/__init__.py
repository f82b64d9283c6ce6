"""Patterns of tree nodes in the language of Tregex, and what they match in many trees at once."""
