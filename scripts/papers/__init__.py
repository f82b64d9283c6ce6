"""The tables and figures of the papers, each as one function over anyone's treebank.

`registry` lists them, `experiment` has what they are made of, `charts` its charts, `page` writes them.
"""
