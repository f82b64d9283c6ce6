"""Two-stage parsing (section 4.2): labels for the arcs of any d-parser's backbone."""
