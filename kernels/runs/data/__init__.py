"""Data of the training runs: looked for on this machine, hashed, never fetched."""
