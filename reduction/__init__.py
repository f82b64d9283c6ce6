"""The route `reduction`: constituents in the labels of head-ordered d-trees.

Fernández-González and Martins, "Parsing as Reduction" (ACL 2015). docs/definitions.md lists where the
definitions of the paper are, and what goes beyond it.
"""

from d2c.reduction.reduction import Reduction

__all__ = ["Reduction"]
