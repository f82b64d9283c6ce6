"""Models: routes, d-parsers and taggers trained together."""
