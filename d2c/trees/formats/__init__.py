"""File formats of trees: one file and one row of the registry each; what reads, writes and converts them."""
