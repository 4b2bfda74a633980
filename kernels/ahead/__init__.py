"""Compiling every kernel without a GPU, and holding what comes out against a table."""
