"""Several parses of a sentence become one: constituents voted on, arcs voted on (Sagae and Lavie, 2006)."""
