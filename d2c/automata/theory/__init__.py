"""Latent-variable grammars of transition systems (Nederhof, 2015): theory, which no parser here needs."""
