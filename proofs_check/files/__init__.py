"""Claims files as text: limits, places, tables, and pins edited in place."""
