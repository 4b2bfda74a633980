"""Operations held against exact values: in units in the last place, and on all inputs of 16-bit types."""
