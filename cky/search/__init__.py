"""Route 2's chart: items over a d-tree, the features of their parts, pruning, what is searched for."""
