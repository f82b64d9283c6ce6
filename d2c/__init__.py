"""Constituency parsing with an off-the-shelf dependency parser: command line, pipeline and comparison."""

__version__ = "0.2.0"
