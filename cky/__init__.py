"""The route `cky`, constrained CKY: a learned grammar confined to a d-tree's skeleton.

Kong, Rush and Smith, "Transforming Dependencies into Phrase Structures" (NAACL 2015), called PAD after its
program; its earlier draft is "Parsing Dependencies". Where their definitions are, and what is here beyond
them, docs/definitions.md lists.
"""
