"""The chart of constrained CKY: items over a d-tree, features of their parts, pruning, and its searches."""
