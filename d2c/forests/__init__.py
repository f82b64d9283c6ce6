"""Packed derivations and their semirings: what route 2 and the automata search in."""
