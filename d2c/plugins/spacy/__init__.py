"""d2c in spaCy."""
