"""Route 1, the reduction: constituents in the labels of head-ordered d-trees (sections 3 and 4)."""

from d2c.reduction.reduction import Reduction

__all__ = ["Reduction"]
