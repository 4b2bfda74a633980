"""The closest threshold gate to a function: families, search, certified error."""
