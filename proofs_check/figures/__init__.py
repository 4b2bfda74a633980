"""Figures: what their scripts share, and the command that draws them."""
