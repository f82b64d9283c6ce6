"""Off-the-shelf dependency parsers behind one protocol (`d2c.dparsers.protocol`), one module each.

Nothing is imported here: a parser's library is needed only by who uses that parser.
"""
