"""Suprema, infima and zeros over one variable, to any number of digits."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gateproof.numerics.bounds import Budget
from gateproof.theory.formula.nodes import Expr

Enclosure = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Extremum:
    """A supremum or infimum.

    ``status`` is 'ok', 'infinite' (unbounded), 'undefined' or 'unknown' (``reason``).
    ``value`` encloses it; ``attained`` is None where undecided; ``points`` enclose,
    ascending, all places where it may be attained (None: unknown); ``at_infinity``
    names sides ('+', '-') along which it is approached. ``digits`` are those reached.
    """

    status: str
    value: Enclosure | None = None
    attained: bool | None = None
    points: tuple[Enclosure, ...] | None = None
    at_infinity: tuple[str, ...] = ()
    digits: int = 0
    certificate: dict[str, Any] | None = None
    reason: str = ""


@dataclass(frozen=True)
class Zeros:
    """All zeros: ``points`` enclose one each, ascending; status 'ok' or 'unknown'."""

    status: str
    points: tuple[Enclosure, ...] = ()
    digits: int = 0
    reason: str = ""


def extremum(
    expr: Expr,
    var: str,
    lo: Expr | Fraction | None,
    hi: Expr | Fraction | None,
    which: str = "sup",
    digits: int = 15,
    budget: Budget | None = None,
    *,
    text: str = "",
    lo_closed: bool = True,
    hi_closed: bool = True,
) -> Extremum:
    """The supremum ('sup') or infimum ('inf') of a core expression on an interval (None: infinite)."""
    raise NotImplementedError


def zeros(
    expr: Expr,
    var: str,
    lo: Expr | Fraction | None,
    hi: Expr | Fraction | None,
    digits: int = 15,
    budget: Budget | None = None,
    *,
    lo_closed: bool = True,
    hi_closed: bool = True,
) -> Zeros:
    """All zeros of a core expression on an interval, each isolated and proved unique."""
    raise NotImplementedError
