"""The searches of the certified engine and of the others, each as points with all that is said of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from importlib.util import find_spec
from math import inf

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.meanfield import edge as edges
from gateproof.numerics.meanfield import fixed_points as fixed
from gateproof.numerics.meanfield import folds, scan
from gateproof.numerics.meanfield.activation import Phi, RefusedActivation
from gateproof.numerics.meanfield.basins import with_basins
from gateproof.numerics.meanfield.certified import CertifiedEngine
from gateproof.numerics.meanfield.certified_panels import NoPanels
from gateproof.numerics.meanfield.certified_tails import NoTailBound
from gateproof.numerics.meanfield.curves import Maps
from gateproof.numerics.meanfield.depth import fixed_correlation, forgetting
from gateproof.numerics.meanfield.described import FieldPoint, described, plain_point
from gateproof.numerics.meanfield.mp import mp_engine
from gateproof.numerics.meanfield.mp_numbers import to_mpf
from gateproof.numerics.meanfield.near_zero import vanishes
from gateproof.numerics.meanfield.outcome import Outcome, Point, Status
from gateproof.numerics.meanfield.result import DOUBLE, EDGE, EDGE_FOLDS, FIXED, FOLDS, FieldPoints
from gateproof.numerics.meanfield.value import Value
from gateproof.numerics.precision import precision

#: Digits beyond those asked for, and beyond them where c* < 1 needs q to more.
GUARD, FAR = 6, 60
#: Digits of xi_c that are worth more than an estimate of all.
LEAST = 6
#: The range in which folds are looked for.
RANGE = (Fraction(1, 100), Fraction(256))
Range = tuple[Fraction, Fraction]
Search = Callable[[int], Outcome]


class Certified:
    """Searches in balls for one activation and a number of digits; nodes are kept between them."""

    def __init__(self, phi: Phi, digits: int) -> None:
        self.phi, self.digits = phi, digits
        self.engine = CertifiedEngine(phi, digits + GUARD)
        self.maps = Maps(phi)

    def edge(self, sigma_b2: Fraction, within: Range | None) -> FieldPoints:
        """The edge of chaos at sigma_b2."""
        if (below := self._below(EDGE, None, sigma_b2, within)) is not None:
            return below
        hi = None if within is None else within[1]
        found = self._run(lambda d: edges.edge(self.phi, sigma_b2, d, largest=hi, maps=self.maps))
        return self._points(EDGE, found, None, sigma_b2, within)

    def fixed(
        self, sigma_w2: Fraction, sigma_b2: Fraction, within: Range | None, *, scales: bool = True
    ) -> FieldPoints:
        """The fixed points at (sigma_w2, sigma_b2); without ``scales`` c* and depth scales are left out."""
        if (below := self._below(FIXED, sigma_w2, sigma_b2, within)) is not None:
            return below
        hi = None if within is None else within[1]

        def search(digits: int) -> Outcome:
            return fixed.fixed_points(self.phi, sigma_w2, sigma_b2, digits, largest=hi, maps=self.maps)

        found = self._run(search)
        if scales and any(p.chi_1 > 1 for p in found.points) and not self.phi.has_jump:
            # The Hermite series of c* < 1 lose digits of q.
            found = self._run(search, FAR)
        return self._points(FIXED, found, sigma_w2, sigma_b2, within, scales=scales)

    def folds(self, sigma_b2: Fraction, within: Range | None) -> FieldPoints:
        """Fixed points with chi_parallel = 1."""
        found = self._run(lambda d: folds.folds(self.phi, sigma_b2, within or RANGE, d, self.maps))
        return self._points(FOLDS, found, None, sigma_b2, None)

    def edge_folds(self, within: Range | None) -> FieldPoints:
        """Points of the edge of chaos at which sigma_b2 is stationary."""
        found = self._run(lambda d: folds.edge_folds(self.phi, within or RANGE, d, self.maps))
        return self._points(EDGE_FOLDS, found, None, None, None)

    def double_critical(self, within: Range | None) -> FieldPoints:
        """Points with chi_1 = chi_parallel = 1."""
        found = self._run(lambda d: folds.double_critical(self.phi, within or RANGE, d, self.maps))
        return self._points(DOUBLE, found, None, None, None)

    def _below(
        self, kind: str, sigma_w2: Fraction | None, sigma_b2: Fraction, within: Range | None
    ) -> FieldPoints | None:
        """What is known of a range that ends below sigma_b2."""
        if within is None or within[1] >= sigma_b2:
            return None
        reason = "a fixed point q = sigma_w^2 V + sigma_b^2 is at least sigma_b^2, and the range ends below"
        return FieldPoints(
            kind, self.phi.text, sigma_w2, sigma_b2, (), Status.NONE, reason,
            (Value.exact(within[0]), Value.exact(within[1])), True, self.digits,
        )  # fmt: skip

    def _run(self, search: Search, more: int = 0) -> Outcome:
        try:
            return search(self.digits + GUARD + more)
        except (NoPanels, NoTailBound, NumericsError) as error:
            raise RefusedActivation(f"the activation {self.phi.text!r:.60}: {error}") from None
        except OverflowError:
            raise RefusedActivation(
                f"the activation {self.phi.text!r:.60} grows too fast for normal means"
            ) from None

    def _points(
        self,
        kind: str,
        found: Outcome,
        sigma_w2: Fraction | None,
        sigma_b2: Fraction | None,
        within: Range | None,
        *,
        scales: bool = True,
    ) -> FieldPoints:
        invariant = found.status is Status.SCALE_INVARIANT
        kept = [_moved(p, within) if invariant else p for p in found.points]
        kept = [p for p in kept if _inside(p, within)]
        searched = _end(found.searched[0], sigma_b2), _end(found.searched[1], sigma_b2)
        left = [v for b in found.open if (v := Value.of(b)) is not None]
        missed: list[Value] = []
        if within is not None:
            searched, missed = _asked(searched, within, sigma_b2 or Fraction(0))
        if scales:
            points = tuple(self._described(p, kind, sigma_w2, sigma_b2, invariant) for p in kept)
            if kind == FIXED and not left and not missed:
                points = with_basins(self.maps, points, searched, sigma_b2)
        else:
            points = tuple(plain_point(p, invariant).given(sigma_w2, sigma_b2) for p in kept)
        reasons = [found.reason]
        if len(kept) < len(found.points):
            reasons.append(f"{len(found.points) - len(kept)} outside of the range")
        reasons += [f"from {float(m.lo):.6g} to {float(m.hi):.6g} the means are not enclosed" for m in missed]
        left += missed
        return FieldPoints(
            kind, self.phi.text, sigma_w2, sigma_b2, points,
            found.status if points or not found.points else Status.NONE, "; ".join(reasons), searched,
            found.certified and not left, self.digits, "certified", tuple(left),
        )  # fmt: skip

    def _described(
        self, point: Point, kind: str, sigma_w2: Fraction | None, sigma_b2: Fraction | None, invariant: bool
    ) -> FieldPoint:
        on_edge = kind in (EDGE, EDGE_FOLDS, DOUBLE)
        with precision(self.engine.bits):
            if on_edge:
                point = replace(point, chi_1=arb(1))
            if kind in (FOLDS, DOUBLE):
                point = replace(point, chi_parallel=arb(1))
        try:
            made = described(self.engine, point, invariant)
        except (NoPanels, NoTailBound, NumericsError) as error:
            raise RefusedActivation(f"the activation {self.phi.text!r:.60}: {error}") from None
        if kind == FIXED and _is_loose(made) and (not self.phi.kinks or self.phi.piecewise_linear):
            made = self._estimated(made, point)
        return made.given(sigma_w2, sigma_b2)

    def _estimated(self, made: FieldPoint, point: Point) -> FieldPoint:
        """With c* < 1 by mpmath, where its enclosure has few digits."""
        if find_spec("mpmath") is None:
            return made
        engine = mp_engine(self.phi, self.digits + 4)
        with engine.context():
            numbers = [to_mpf(b.mid()) for b in (point.sigma_w2, point.sigma_b2, point.q)]
            try:
                eps, slope = fixed_correlation(engine, *numbers)
            except (ArithmeticError, ValueError):
                return made
            error = 10.0 ** -min(self.digits + 2, 300)
            c_star, xi_c = (Value.near(x, error) for x in (1 - eps, forgetting(slope)))
        return replace(made, c_star=c_star, xi_c=xi_c)


def _is_loose(point: FieldPoint) -> bool:
    """Whether c* < 1 at a stable point has fewer than LEAST digits."""
    if not point.stable or point.chi_1 is None or not 1 < point.chi_1.lo < inf:
        return False
    return point.xi_c is None or not point.xi_c.fixes(LEAST)


def _inside(point: Point, within: Range | None) -> bool:
    """Whether the point may lie in the range."""
    return within is None or not (point.q < iv.rational(within[0]) or point.q > iv.rational(within[1]))


def _moved(point: Point, within: Range | None) -> Point:
    """Of a map that keeps every variance a point in the range."""
    return point if _inside(point, within) or within is None else replace(point, q=iv.rational(within[1]))


def _end(end: arb | None, sigma_b2: Fraction | None) -> Value:
    if end is None:
        return Value.exact(inf)
    found = Value.of(end)
    assert found is not None
    return Value.exact(sigma_b2) if sigma_b2 is not None and found.lo <= sigma_b2 <= found.hi else found


def _asked(
    searched: tuple[Value, Value], within: Range, sigma_b2: Fraction
) -> tuple[tuple[Value, Value], list[Value]]:
    """The range asked for, from sigma_b2 on as all fixed points are, and what of it was not searched."""
    lo, hi = max(within[0], sigma_b2), within[1]
    missed = []
    if searched[0].hi > lo:
        missed.append(Value(lo, min(Fraction(searched[0].hi), hi)))
    if searched[1].lo < hi:
        missed.append(Value(max(Fraction(searched[1].lo), lo), hi))
    return (Value.exact(lo), Value.exact(hi)), missed


class Scanned:
    """The same by scans with an engine that estimates; what is exact without a search is taken as such."""

    def __init__(self, setting: scan.Setting, digits: int, name: str) -> None:
        self.setting, self.digits, self.name = setting, digits, name
        self.phi = setting.phi

    def edge(self, sigma_b2: Fraction, within: Range | None) -> FieldPoints:
        """The edge of chaos at sigma_b2."""
        if self.phi.homogeneous or self.phi.has_jump or (sigma_b2 == 0 and vanishes(self.phi)):
            return Certified(self.phi, self.digits).edge(sigma_b2, within)
        lo, hi = self._range(sigma_b2, within)
        if hi <= lo:
            return Certified(self.phi, self.digits).edge(sigma_b2, within)
        points, reached = self._seen(scan.edge_points, sigma_b2, lo, hi)
        return self._points(EDGE, points, None, sigma_b2, (lo, hi), reached)

    def fixed(self, sigma_w2: Fraction, sigma_b2: Fraction, within: Range | None) -> FieldPoints:
        """The fixed points at (sigma_w2, sigma_b2)."""
        if self.phi.homogeneous:
            return Certified(self.phi, self.digits).fixed(sigma_w2, sigma_b2, within)
        lo, hi = self._range(sigma_b2, within)
        if hi <= lo:
            return Certified(self.phi, self.digits).fixed(sigma_w2, sigma_b2, within)
        points, reached = self._seen(scan.fixed_points, sigma_w2, sigma_b2, lo, hi)
        if sigma_b2 == 0 and vanishes(self.phi) and (within is None or within[0] == 0):
            points = (self._zero(sigma_w2), *points)
        return self._points(FIXED, points, sigma_w2, sigma_b2, (lo, hi), reached)

    def _seen(self, search: Callable[..., scan.Seen], *numbers: Fraction) -> scan.Seen:
        try:
            return search(self.setting, *numbers)
        except ArithmeticError as error:
            raise RefusedActivation(
                f"the activation {self.phi.text!r:.60}: the engine {self.name!r} does not reach it: {error}"
            ) from None

    def _zero(self, sigma_w2: Fraction) -> FieldPoint:
        """The fixed point 0, whose slopes are known without a scan."""
        engine = CertifiedEngine(self.phi, min(self.digits + GUARD, 400))
        with precision(engine.bits):
            return described(engine, fixed.at_zero(self.phi, sigma_w2)[0]).given(sigma_w2, Fraction(0))

    def _range(self, sigma_b2: Fraction, within: Range | None) -> Range:
        lo, hi = within or (Fraction(0), max(scan.LARGEST, 4 * sigma_b2))
        lo = max(lo, sigma_b2)
        return (lo if lo > 0 else min(scan.SMALLEST, hi / 4)), hi

    def _points(
        self,
        kind: str,
        points: tuple[FieldPoint, ...],
        sigma_w2: Fraction | None,
        sigma_b2: Fraction,
        within: Range,
        reached: Fraction,
    ) -> FieldPoints:
        reason = (
            f"{len(points)} by a scan of {scan.PER_OCTAVE} variances an octave from {float(within[0]):.6g} to"
            f" {float(reached):.6g}; nothing is proved (the certified engine does)"
        )
        if reached < within[1]:
            reason += f"; from {float(reached):.6g} on its means are not reached"
        return FieldPoints(
            kind, self.phi.text, sigma_w2, sigma_b2, tuple(p.given(sigma_w2, sigma_b2) for p in points),
            Status.OK if points else Status.NONE, reason, (Value.exact(within[0]), Value.exact(reached)),
            False, self.digits, self.name,
        )  # fmt: skip
