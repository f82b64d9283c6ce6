"""Two-stage parsing ("Parsing as Reduction", section 4.2): labels for any d-parser's backbone."""
