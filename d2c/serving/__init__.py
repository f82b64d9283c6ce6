"""`d2c serve`: the page of `view` for text that is typed, and parses as JSON, over HTTP."""
