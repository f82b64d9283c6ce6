"""The route `reduction`: constituents in the labels of head-ordered d-trees.

Fernández-González and Martins, "Parsing as Reduction" (ACL 2015). Where its definitions are, and what is here
beyond them, docs/definitions.md lists.
"""

from d2c.reduction.reduction import Reduction

__all__ = ["Reduction"]
