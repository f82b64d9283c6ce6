"""Treebanks: the files that name them, those of the benchmarks, English ones in one convention."""
