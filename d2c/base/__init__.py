"""The cellar: errors, files, progress, temporary directories, worker processes, checked model files."""
