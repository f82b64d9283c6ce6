"""Route 2, constrained CKY: a learned grammar confined to a d-tree's skeleton (PAD, sections 3 and 4)."""
