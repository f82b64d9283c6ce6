"""What the scripts beside this folder share: treebanks, options, tables, plots, time and memory."""
