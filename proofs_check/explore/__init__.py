"""``gateproof explore``: a local page on which a threshold gate can be moved and looked at."""
