"""kappa_f = |f'''(theta_f)| under every reading of theta_f, in certified enclosures.

The threshold-gating paper takes theta_f at "the central inflection". A function may have
several inflections, one that is not central, or none, so each value names its point and
reading; at a kink there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from gateproof.numerics.errors import NumericsError
from gateproof.numerics.forms import Line
from gateproof.numerics.interval import absolute, lower_fraction, upper_fraction
from gateproof.numerics.landmarks import Landmark, landmarks
from gateproof.numerics.points import enclosure
from gateproof.numerics.precision import precision
from gateproof.numerics.results import Enclosure
from gateproof.theory.complexity import KINK, UNDECIDED, derivatives, third_derivative
from gateproof.theory.exact.domain import Domain
from gateproof.theory.formula.nodes import Expr, num
from gateproof.theory.periods import Period, period_of
from gateproof.theory.pieces import pieces_of
from gateproof.theory.undefined_parts import defined_parts, undefined_parts

INFLECTION, EXTREMUM, GATE, GIVEN = "inflection", "extremum", "gate threshold", "given"
ZERO = "kappa is 0 at this point"


@dataclass(frozen=True)
class Kappa:
    """kappa at one point theta, in [``lo``, ``hi``], or why there is none (``refused``).

    ``theta`` encloses the point and ``exact_theta`` is its closed form; ``exact`` is that of
    kappa. ``is_inflection`` says whether f'' changes its sign there (None: not decided). With
    a ``period`` the point stands for infinitely many with the same value.
    """

    reading: str
    theta: Enclosure
    exact_theta: Expr | None
    lo: Fraction | None = None
    hi: Fraction | None = None
    exact: Expr | None = None
    is_inflection: bool | None = None
    refused: str | None = None
    period: Period | None = None

    def inverse_square(self) -> Enclosure | str:
        """1/kappa**2, the depth law's factor; or why it has no value."""
        if self.refused is not None or self.lo is None or self.hi is None:
            return self.refused or UNDECIDED
        if self.lo <= 0:
            return ZERO if self.hi == 0 else "kappa was not told from 0"
        return 1 / self.hi**2, 1 / self.lo**2


@dataclass(frozen=True)
class Kappas:
    """All readings of kappa; ``reason`` says which readings could not be listed."""

    values: tuple[Kappa, ...]
    reason: str = ""


def kappas(expr: Expr, theta: Expr | None = None, var: str = "x", digits: int = 20) -> Kappas:
    """kappa at each inflection and extremum, at the gate threshold 0, and at a given closed point."""
    marks = landmarks(expr, var, digits + 10)
    values = [_at_closed(expr, num(0), GATE, var, digits)]
    if theta is not None:
        values.append(_at_closed(expr, theta, GIVEN, var, digits))
    for reading, found in ((INFLECTION, marks.inflections), (EXTREMUM, marks.extrema)):
        values += [_at_mark(expr, m, reading, var, digits, marks.period) for m in found or ()]
    return Kappas(tuple(values), marks.reason)


def _at_closed(expr: Expr, theta: Expr, reading: str, var: str, digits: int) -> Kappa:
    place = enclosure(theta, 64 + 4 * digits)
    found = third_derivative(expr, theta, var)
    period = period_of(expr, var) if found.refused is None else None
    if found.refused is not None or found.kappa is None:
        return Kappa(reading, place, theta, refused=found.refused or UNDECIDED)
    try:
        lo, hi = enclosure(found.kappa, 64 + 4 * digits)
    except NumericsError:
        return Kappa(reading, place, theta, refused=UNDECIDED)
    return Kappa(reading, place, theta, lo, hi, found.kappa, found.is_inflection, period=period)


def _at_mark(expr: Expr, mark: Landmark, reading: str, var: str, digits: int, period: Period | None) -> Kappa:
    if mark.exact is not None:
        found = _at_closed(expr, mark.exact, reading, var, digits)
        bent = True if reading == INFLECTION else found.is_inflection
        return _with(found, bent, period)
    place = mark.lo, mark.hi
    if not mark.smooth:
        return Kappa(reading, place, None, refused=KINK)
    # A mark without a closed form lies inside a smooth piece.
    third = _third_around(expr, place, var)
    if third is None:
        return Kappa(reading, place, None, refused=UNDECIDED)
    with precision(64 + 8 * digits):
        try:
            value = absolute(Line(third, var).natural(*place))
        except NumericsError:
            return Kappa(reading, place, None, refused=UNDECIDED)
        lo, hi = lower_fraction(value[0]), upper_fraction(value[1])
    bent = True if reading == INFLECTION else None
    return Kappa(reading, place, None, lo, hi, None, bent, period=period)


def _with(found: Kappa, bent: bool | None, period: Period | None) -> Kappa:
    return Kappa(
        found.reading, found.theta, found.exact_theta, found.lo, found.hi, found.exact,
        None if found.refused is not None else bent, found.refused, period,
    )  # fmt: skip


def _third_around(expr: Expr, place: Enclosure, var: str) -> Expr | None:
    """f''' on the piece that holds the enclosure."""
    missing = undefined_parts(expr, var)
    for part in defined_parts(missing or ()):
        for piece in pieces_of(expr, var, part) or []:
            if _holds(piece.domain, place):
                slopes = derivatives(piece.expr, var, 3)
                return None if slopes is None else slopes[3]
    return None


def _holds(domain: Domain, place: Enclosure) -> bool:
    above = domain.lo is None or enclosure(domain.lo)[1] < place[0]
    below = domain.hi is None or place[1] < enclosure(domain.hi)[0]
    return above and below
