"""Several parses of a sentence combined by votes on constituents or on arcs (Sagae and Lavie, 2006)."""
