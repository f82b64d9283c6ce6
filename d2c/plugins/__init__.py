"""Constituents inside other libraries' pipelines."""
