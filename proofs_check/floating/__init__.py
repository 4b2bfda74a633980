"""Floating-point claims: what a formula gives when it is computed in a format, decided exactly."""
