"""What all packages share: errors, files, progress, temporary directories, worker processes, model files."""
