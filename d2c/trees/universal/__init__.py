"""Universal Dependencies of English c-trees, by rules."""
