"""Route 2's learning: gold derivations, the structured SVM, its epochs."""
