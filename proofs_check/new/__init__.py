"""``gateproof new``: one commented file that works at once, of each kind that a project may want."""
