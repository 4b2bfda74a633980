"""One definition, many backends: arrays, tensors, mpmath numbers, balls and LaTeX from one formula text."""
