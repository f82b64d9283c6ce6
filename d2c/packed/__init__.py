"""Packed arcs: several likely heads of each word, the d-trees among them, and what these arcs count for."""
