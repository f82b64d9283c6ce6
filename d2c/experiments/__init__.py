"""Routes side by side: the table, what is behind it, the report."""
