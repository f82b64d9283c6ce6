"""Learning of constrained CKY: gold derivations, the structured SVM, its epochs."""
