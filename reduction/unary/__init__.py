"""Recovery of unary nodes (section 4.4)."""
