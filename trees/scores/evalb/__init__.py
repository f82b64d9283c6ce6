"""EVALB, number for number: `evaluate` scores and `report` prints."""
