"""Exact reasoning on core expressions: normal forms, signs, limits, series."""
