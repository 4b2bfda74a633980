"""The evidence store: what was run or searched once, re-checked by every report.

A *record* (:mod:`.record`) holds the numbers of a run with seeds, ranges and intervals; a
reading's *criterion* (:mod:`.criterion`), fixed before the run, is decided on them. A
*certificate* (:mod:`.certificates`) is checked again instead of searched again. docs/evidence.md
says what a reader sees.
"""
