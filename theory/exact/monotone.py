"""A function of one name compared with its value at an end of the interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateproof.theory.exact.bounds import ALL
from gateproof.theory.exact.polys import Poly

if TYPE_CHECKING:
    from gateproof.theory.exact.sign import SignTable


def by_derivative(table: SignTable, f: Poly) -> frozenset[int]:
    """Filled in below."""
    del table, f
    return ALL
