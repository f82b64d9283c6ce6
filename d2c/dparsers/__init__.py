"""Off-the-shelf dependency parsers behind one protocol (`d2c.protocols.dparser`), a module or package each.

Nothing is imported here: a parser's library is needed only by those who use that parser.
"""
