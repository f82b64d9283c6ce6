"""Off-the-shelf dependency parsers behind one protocol (`d2c.protocols.dparser`), one module each.

Nothing is imported here: a parser's library is needed only by who uses that parser.
"""
