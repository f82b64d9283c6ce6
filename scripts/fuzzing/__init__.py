"""Broken input, broken models and nonsense from d-parsers: what d2c makes of them, and who judges it."""
