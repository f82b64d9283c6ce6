"""Settings of a route and its d-parser, chosen by trials on a held-out tenth of the training treebank.

`space` says what can be tried, `trials` makes one trial, `climbing` says which come next, `log` keeps what
came of them, `choice` puts these together.
"""
