"""The ground: c-trees, d-trees, head rules, their isomorphism, unaries, binarization; formats, scores."""
