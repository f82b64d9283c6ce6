"""spaCy's dependency parser and tagger."""
