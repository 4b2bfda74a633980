"""Times of operations, measured side by side."""
