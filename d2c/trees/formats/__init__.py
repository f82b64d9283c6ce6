"""File formats of treebanks: a streaming reader and a writer each, errors with file, line and sentence."""
