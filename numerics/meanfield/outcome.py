"""What a search for critical points or fixed points came to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from flint import arb

#: The note of a point where both are 1.
DOUBLE = "double-critical: chi_1 and chi_parallel are both exactly 1"


class Status(StrEnum):
    """How a search ended, a word; the reason of a result says more."""

    OK = "ok"
    NONE = "none"
    DEGENERATE = "degenerate"
    SCALE_INVARIANT = "scale-invariant"


@dataclass(frozen=True)
class Point:
    """A fixed point q* of the variance map q -> sigma_w2 V(q) + sigma_b2, in balls.

    ``chi_1`` = sigma_w2 D(q*), ``chi_parallel`` = sigma_w2 V'(q*). ``stable`` says whether iteration from
    nearby tends to q* (chi_parallel < 1); None where it is not told from 1, and at a point where
    chi_parallel is exactly 1 what ``note`` says.
    """

    q: arb
    sigma_w2: arb
    sigma_b2: arb
    chi_1: arb
    chi_parallel: arb
    stable: bool | None
    note: str = ""


@dataclass(frozen=True)
class Outcome:
    """All points in a range of the variance, ascending in q.

    ``searched`` is that range, its upper end None for oo. ``certified``: there are no others in it, proved
    in balls (or exactly); boxes of it that were left undecided stand in ``open``. ``reason`` is for people.
    """

    status: Status
    points: tuple[Point, ...]
    reason: str
    searched: tuple[arb, arb | None]
    certified: bool
    open: tuple[arb, ...] = ()


def stability(chi_parallel: arb) -> bool | None:
    """Whether iteration from nearby tends to the fixed point; None where that is not told from this alone."""
    return True if abs(chi_parallel) < 1 else False if chi_parallel > 1 or chi_parallel < -1 else None


def unless_told(stable: bool | None) -> str:
    """The note of a point whose stability is not known."""
    return "" if stable is not None else "chi_parallel is not told from 1"
