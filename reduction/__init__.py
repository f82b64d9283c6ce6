"""Route 1, the reduction: constituents in the labels of head-ordered d-trees (sections 3 and 4)."""
