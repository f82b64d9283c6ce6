"""What the scripts beside this folder share: treebanks, options, tables, time and memory."""
