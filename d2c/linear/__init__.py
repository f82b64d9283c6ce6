"""What both routes learn with: hashed sparse features, their weights, AdaGrad."""
