"""Exact mathematics: formulas, activations, threshold gates and their facts."""
