"""Conversion of PyTorch networks: their nonlinearities become threshold gates, with a complete report."""
