"""The tables and figures of the papers, each as one function over anyone's treebank.

`page` lists and writes them, `experiment` has what they are made of, `charts` has the fitted charts.
"""
