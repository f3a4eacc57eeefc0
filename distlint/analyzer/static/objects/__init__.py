"""Objects followed through one module: where values come from, and what is done with them."""
