"""Mean field theory of wide networks: from an activation to its edge of chaos and depth scales."""
