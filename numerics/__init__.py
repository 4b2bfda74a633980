"""What the numbers are: ball evaluation and rigorous enclosures."""
