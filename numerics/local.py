"""A formula about the middle of a box of exact ends, in few operations."""

from __future__ import annotations

from dataclasses import dataclass

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.errors import MaybeUndefined, NotSmooth
from gateproof.numerics.forms import Line, polynomial_range
from gateproof.numerics.interval import Interval

_ORDER = 4


@dataclass(frozen=True)
class Local:
    """f = c_0 + .. + c_3 h**3 + C_4 h**4 at ``at`` + h in the box, |h| <= ``radius``; C_4 over the box."""

    at: arb
    radius: arb
    c: tuple[arb, arb, arb, arb, arb]

    def rough(self) -> arb:
        """All values on the box, one ball."""
        h = arb(0, self.radius)
        a, b, c, d, e = self.c
        return a + h * (b + h * (c + h * (d + h * e)))

    def value(self) -> Interval:
        """All values on the box, the quadratic part bounded jointly."""
        return polynomial_range(iv.of_ball(self.c[0]), list(self.c[1:]), self.radius)

    def slope(self) -> arb:
        """All values of f': term by term, because its own remainder is 4 C_4 h**3."""
        h = arb(0, self.radius)
        _, b, c, d, e = self.c
        return b + h * (2 * c + h * (3 * d + h * (4 * e)))

    def curve(self) -> arb:
        """All values of f''."""
        h = arb(0, self.radius)
        _, _, c, d, e = self.c
        return 2 * c + h * (6 * d + h * (12 * e))


def local(line: Line, lo: arb, hi: arb) -> Local | None:
    """The expansion on [lo, hi], or None where the formula is not smooth or not seen to be defined."""
    # Any point of the box serves; this one is exact.
    at = ((lo + hi) / 2).mid()
    try:
        over = line.series({line.var: (lo, hi)}, _ORDER)[_ORDER]
        if not over.is_finite():
            return None
        a, b, c, d = line.series({line.var: (at, at)}, _ORDER - 1)
    except (NotSmooth, MaybeUndefined):
        return None
    return Local(at, max(iv.up(hi - at), iv.up(at - lo)), (a, b, c, d, over))
