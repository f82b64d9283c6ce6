"""What routes and parsers learn with: hashed sparse features, AdaGrad, packed forests with semirings."""
