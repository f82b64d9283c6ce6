"""Route 2's grammar: rules read off binarized trees, and the numbers of words, tags and labels."""
