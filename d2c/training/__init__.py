"""Training: taggers, d-parsers and routes, into model directories."""
