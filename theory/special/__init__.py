"""Special functions: gamma, zeta, Bessel, Airy, hypergeometric, Lambert W, exponential integrals.

A function is one :class:`Family` in one file here. Its rational parameters stand in the head of the
node, ``besselj[1/2]`` of one argument, so that all that is written for functions of one argument holds.
"""

from __future__ import annotations

from gateproof.theory.special.family import Family, Function
from gateproof.theory.special.registry import (
    FAMILIES,
    arities,
    find,
    has_numbers,
    is_head,
    resolved,
    shown,
    split,
)

__all__ = [
    "FAMILIES",
    "Family",
    "Function",
    "arities",
    "find",
    "has_numbers",
    "is_head",
    "resolved",
    "shown",
    "split",
]
