"""Routes: ways back from d-trees to c-trees."""
