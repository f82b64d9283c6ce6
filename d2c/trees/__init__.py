"""The ground: c-trees and d-trees, their isomorphism, head rules, unaries, binarization; formats, scores."""
