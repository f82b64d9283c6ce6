"""Prediction with a graph parser on an encoder, without torch: its files, its network, its arcs.

`d2c.dparsers.stanza` trains the parser, and predicts with torch where this package cannot: on GPUs, with
encoders other than BERT, and where OpenVINO is not installed.
"""
