"""The theory of transition systems as latent-variable grammars (Nederhof, 2015): Theorem 1 is in `latent`."""
