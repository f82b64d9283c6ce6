"""EVALB, number for number: `evaluate` scores, `report` prints, `parameters`, `lines` and `match` serve them."""
