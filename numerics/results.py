"""What searches over one variable found."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Enclosure = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Extremum:
    """A supremum or infimum.

    ``status`` is 'ok', 'infinite' (unbounded), 'undefined' or 'unknown' (``reason``).
    ``value`` encloses it; ``attained`` is None where undecided; ``points`` enclose,
    ascending, all places where it may be attained (None: not isolated); ``tied``: several,
    whose values agree to all digits and were not proved to be equal; ``at_infinity`` names
    sides ('+', '-') along which it is approached. ``digits`` are those reached. ``steps``: what was shown
    exactly on the way, beside open ends.
    """

    status: str
    value: Enclosure | None = None
    attained: bool | None = None
    points: tuple[Enclosure, ...] | None = None
    at_infinity: tuple[str, ...] = ()
    digits: int = 0
    certificate: dict[str, Any] | None = None
    reason: str = ""
    tied: bool = False
    steps: tuple[str, ...] = ()


@dataclass(frozen=True)
class Zeros:
    """All zeros: ``points`` enclose one each, ascending; status 'ok', 'undefined' or 'unknown'."""

    status: str
    points: tuple[Enclosure, ...] = ()
    digits: int = 0
    reason: str = ""
