"""File formats of treebanks: one streaming reader and one writer each, errors with file, line and sentence."""
