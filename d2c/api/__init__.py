"""What `import d2c` offers: `load`, `read`, and what they give (docs/python.md)."""
