"""Whether maxima that agree to all bits are equal: no precision shows it, a symmetry or exact values do.

With f(2c - x) = f(x) for all x, or -f(x) where |f| is to be largest, the mirror image of a place is a place
with the same value; so is a place moved by a period.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from gateproof.numerics import interval as iv
from gateproof.numerics.ball import compiled
from gateproof.numerics.decimals import simplest_between
from gateproof.numerics.interval import Interval
from gateproof.theory.facts import parity
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Num, Var
from gateproof.theory.periods import period_of

#: A centre of symmetry is looked for among rationals with a denominator of at most this many bits.
SHORT = 24


@dataclass(frozen=True)
class Place:
    """Where a maximum lies: a short enclosure, its value, and the ``point`` itself where it is known exactly.

    A place without a point is a critical point, the only one in a box around the enclosure.
    """

    ends: Interval
    value: Interval
    point: Fraction | Expr | None = None


def tied(body: Expr, var: str, folded: bool, places: Sequence[Place]) -> bool:
    """Whether the values at all places are proved to be equal; False where that is not known."""
    first = places[0].value
    if all(p.value[0] == p.value[1] and p.value[0] == first[0] for p in places):
        return True
    joined = [0]
    for _ in places:
        joined += [
            j
            for j, b in enumerate(places)
            if j not in joined and any(_image(body, var, folded, places[i], b) for i in joined)
        ]
    return len(joined) == len(places)


def _image(body: Expr, var: str, folded: bool, a: Place, b: Place) -> bool:
    """Whether b is a's image under a symmetry or a period."""
    if (a.point is None) != (b.point is None):
        return False
    (low, high), (left, right) = _rational(a), _rational(b)
    centre = simplest_between((low + left) / 2, (high + right) / 2)
    given = [p for p in (a.point, b.point) if isinstance(p, Expr)]
    if given and (centre or not _opposite(given)):
        return False
    kinds = ("even", "odd") if folded else ("even",)
    if centre.denominator.bit_length() <= SHORT and _mirrored(body, var, centre) in kinds:
        return True
    wave = period_of(body, var)
    if wave is None or wave.slope or a.point is not None:
        # The period is a multiple of pi: no two rationals are apart by it.
        return False
    length, (first, last) = compiled(wave.length)({}), (p.ends for p in sorted((a, b), key=_rational))
    whole = round(iv.lower_fraction(iv.div(iv.add(last, iv.neg(first)), length)[0]))
    moved = iv.add(first, iv.mul(iv.of_ball(iv.rational(Fraction(whole))), length))
    return whole > 0 and bool(moved[0] <= last[1] and moved[1] >= last[0])


def _opposite(points: list[Expr]) -> bool:
    """Whether one is written as the other with a minus."""
    return len(points) == 2 and (
        App("neg", (points[0],)) == points[1] or App("neg", (points[1],)) == points[0]
    )


def _rational(p: Place) -> tuple[Fraction, Fraction]:
    if isinstance(p.point, Fraction):
        return p.point, p.point
    return iv.lower_fraction(p.ends[0]), iv.upper_fraction(p.ends[1])


@lru_cache(maxsize=256)
def _mirrored(body: Expr, var: str, centre: Fraction) -> str | None:
    """The parity about a centre."""
    moved = body if centre == 0 else substitute(body, {var: App("add", (Num(centre), Var(var)))})
    return parity(moved, var)
