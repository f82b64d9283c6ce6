"""Models: route, d-parser and tagger trained together, and the names under which they are found."""
