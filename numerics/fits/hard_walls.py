"""The tunnel that a hard gate must stay in: f - e/w below and f + e/w above, and lines that are its pieces.

Heights are walls at grid points; with a function the walls stand at every x, and places where a line meets a
wall are found between the grid points. Values at a jump are two entries with one x, in order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gateproof.numerics.fits.gates import Array

#: A place is on a wall if it is off by no more than these shares of the heights there, and of the tunnel.
ROUNDED, CLOSE = 6e-16, 2e-14


@dataclass(frozen=True)
class Straight:
    """The line through (x, y) with a slope: far from 0 an intercept would lose digits."""

    slope: float
    x: float
    y: float

    def at(self, x: Array) -> Array:
        """Its height at x."""
        return np.asarray(self.y + self.slope * (x - self.x))

    def height(self, x: float) -> float:
        """Its height at one x."""
        return self.y + self.slope * (x - self.x)

    @property
    def intercept(self) -> float:
        """Its height at 0."""
        return self.y - self.slope * self.x

    def crossing(self, other: Straight) -> float:
        """Where two lines meet; nan where they are parallel."""
        apart = other.slope - self.slope
        if not apart:
            return float("nan")
        middle = (self.x + other.x) / 2
        gap = (self.y + self.slope * (middle - self.x)) - (other.y + other.slope * (middle - other.x))
        return middle + gap / apart


@dataclass(frozen=True)
class Tip:
    """How a piece at an infinite end is bound: its slope is the asymptote's, and its intercept if pinned."""

    slope: float
    intercept: float
    pinned: bool


@dataclass(frozen=True)
class Walls:
    """Points in order, values, and half widths of the tunnel for e = 1.

    ``function`` is None for data, whose walls stand at the points only. ``kind`` is 'general', 'constant'
    (all slopes 0) or 'multiplicative' (all intercepts 0). ``steepest`` and ``highest`` bound |slope| and
    |intercept|. A continuous gate meets given outer lines between the two places ``near``, if there are any.
    ``memory`` keeps places between grid points where the target was evaluated.
    """

    x: Array
    y: Array
    v: Array
    function: Callable[[Array], Array] | None = None
    weight: Callable[[Array], Array] | None = None
    left: Tip | None = None
    right: Tip | None = None
    continuous: bool = False
    kind: str = "general"
    steepest: float = float("inf")
    highest: float = float("inf")
    near: tuple[float, float] | None = None
    memory: dict[tuple[float, float], list[Contact]] = field(default_factory=dict, compare=False, repr=False)

    def tied(self, k: int) -> bool:
        """Whether wall k is the value at a jump, with the limit from the left before it.

        A branch holds at its right threshold, so the one that holds there holds on the left of it as well.
        """
        x = self.x
        inner = self.function is not None and not self.continuous and 0 < k < len(x) - 1
        return bool(inner and x[k - 1] == x[k] == x[k + 1])

    def half_width(self, x: Array) -> Array:
        """Half the tunnel's width for e = 1: one over the weight."""
        with np.errstate(divide="ignore"):
            return np.ones_like(x) if self.weight is None else 1.0 / self.weight(x)

    def leaving(self, line: Straight, e: float, side: int, a: Contact, b: Contact) -> Contact:
        """Where between two walls the line goes through the upper (side 1) or lower (-1) one.

        By interpolating the inverse of the distance; by bracketing where that does not converge.
        """
        assert self.function is not None
        run = self.function
        seen: dict[float, Contact] = {}

        def outside(x: float) -> float:
            at = np.array([x])
            y = float(run(at)[0])
            for end in (a, b):
                if x == end.x and abs(y - end.y) > 1e-9 * (abs(y) + e * end.v):
                    # At a jump the wall stands for a limit.
                    y = end.y
            v = 1.0 if self.weight is None else float(self.half_width(at)[0])
            seen[x] = Contact(x, y, v, side)
            return side * (line.height(x) - y) - e * v

        known = self.memory.setdefault((a.x, b.x), [])
        nodes = {c.x: side * (line.height(c.x) - c.y) - e * c.v for c in (a, b, *known)}
        if not nodes[a.x] < 0:
            return Contact(a.x, a.y, a.v, side)
        if not nodes[b.x] > 0:
            return Contact(b.x, b.y, b.v, side)
        for _ in range(7):
            nearest = sorted(nodes, key=lambda x: abs(nodes[x]))[:5]
            guess = _at_zero([nodes[x] for x in nearest], nearest)
            if not a.x < guess < b.x or guess in nodes:
                break
            nodes[guess] = outside(guess)
            y = seen[guess]
            # Places that are close together tell the interpolation nothing but rounding.
            if all(abs(guess - c.x) > 1e-3 * (b.x - a.x) for c in known):
                known[:] = [*known[-7:], y]
            heights = abs(y.y) + e * y.v + abs(line.y) + abs(line.slope * (guess - line.x))
            if abs(nodes[guess]) <= max(ROUNDED * heights, CLOSE * e * y.v):
                return y
        # A value in an array and alone may differ by rounding.
        if not outside(a.x) < 0:
            return seen[a.x]
        if not outside(b.x) > 0:
            return seen[b.x]
        # At a jump the sign changes without a zero; the last place inside is the threshold.
        # Here, since it takes longer to import than most fits need.
        from scipy.optimize import brentq

        x = float(brentq(outside, a.x, b.x, xtol=1e-300, rtol=8.9e-16, maxiter=300))
        inside = outside(x) <= 0
        x = x if inside else max(a.x, float(np.nextafter(x, -np.inf)))
        outside(x)
        return seen[x]


def _at_zero(values: list[float], places: list[float]) -> float:
    """The place of value 0 on the polynomial through (value, place), by Neville's scheme."""
    column = list(places)
    for width in range(1, len(column)):
        for k in range(len(column) - width):
            u, v = values[k], values[k + width]
            if u == v:
                return float("nan")
            column[k] = (column[k] * v - column[k + 1] * u) / (v - u)
    return column[0]


@dataclass(frozen=True)
class Contact:
    """A wall touched: x, the target there, half width for e = 1; side 1 for the upper wall, -1 the lower."""

    x: float
    y: float
    v: float
    side: int


@dataclass(frozen=True)
class Some:
    """Walls that a piece has to respect beside those of the grid to its right."""

    x: Array = field(default_factory=lambda: np.zeros(0))
    y: Array = field(default_factory=lambda: np.zeros(0))
    v: Array = field(default_factory=lambda: np.zeros(0))

    def then(self, other: Some) -> Some:
        """Both."""
        return Some(*(np.concatenate(p) for p in ((self.x, other.x), (self.y, other.y), (self.v, other.v))))


@dataclass(frozen=True)
class State:
    """What the next piece has to respect: all walls from grid point ``k`` on, and some before it.

    It stays below the upper walls ``upper`` and above the lower walls ``lower``, with a slope between ``low``
    and ``high``.
    """

    k: int
    upper: Some = field(default_factory=Some)
    lower: Some = field(default_factory=Some)
    low: float = float("-inf")
    high: float = float("inf")


@dataclass(frozen=True)
class Link:
    """A piece as far as it goes: its line, what it touches, where it leaves and through which wall (1, -1).

    ``index`` is the first grid point that it does not reach; ``side`` is 0 where it reaches all of them. One
    that reaches the limit at a jump, and not the value there, ends ``before`` it; the next one has both.
    """

    line: Straight
    contacts: tuple[Contact, ...]
    index: int
    side: int
    exit: Contact | None
    before: bool = False
