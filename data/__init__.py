"""Data files that come with the package: samples, head rules, parameters of scores."""
