"""Pages for a browser that show sentences with their trees: `d2c view`, and the report of `d2c compare`."""
