"""Stanza's dependency parser and tagger."""
