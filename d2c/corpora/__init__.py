"""Corpora of any size: input in shards, workers in processes or on Ray, Parquet, a manifest to go on from."""
