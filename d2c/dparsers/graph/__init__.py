"""A graph parser on an encoder in prediction, without torch: its files, its network, its arcs.

`d2c.dparsers.stanza` trains it, and predicts with torch what this cannot: on GPUs, with other encoders than
BERT, and where OpenVINO is not installed.
"""
