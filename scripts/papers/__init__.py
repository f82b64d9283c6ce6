"""The tables and figures of the papers, each as one function over anyone's treebank.

`registry` lists them, `experiment` has what they are made of, `store` keeps that, `table` writes them.
"""
