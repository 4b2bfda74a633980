"""The engine for any number of digits: means as mpmath numbers, each with an estimate of its error.

    engine = mp_engine("silu", digits=50)
    engine.variance("0.3"), engine.gap(1, "1e-20"), engine.estimated("gap", 1, "1e-20")

Digits are relative to the mean itself. Every value is worked out with digits to spare, and again with more
where it is the small difference of large parts. Method by activation: one smooth formula, the trapezoid rule
and Hermite series; continuous and piecewise linear, Price's theorem; else Gauss-Legendre panels split at
every kink. mpmath is loaded when a number is handed out.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from fractions import Fraction
from functools import lru_cache, partial
from math import ceil
from typing import Any

from flint import arb

from gateproof.numerics.backends.with_balls import exact
from gateproof.numerics.meanfield import mp_hermite, mp_lattice, mp_pairs, mp_price
from gateproof.numerics.meanfield.activation import Phi, Target
from gateproof.numerics.meanfield.activation import phi as activation
from gateproof.numerics.meanfield.engines import PAIRED
from gateproof.numerics.meanfield.mp_means import Moment, moment
from gateproof.numerics.meanfield.mp_numbers import point, to_arb, to_mpf, to_mpfr
from gateproof.numerics.meanfield.mp_panels import Estimate, NotReached
from gateproof.numerics.meanfield.mp_values import Values
from gateproof.numerics.precision import precision

__all__ = ["MpEngine", "NotReached", "mp_engine"]

#: Digits worked with beyond those asked for (for pairs by panels, fewer), added again where a mean cancels.
GUARD, PAIR_GUARD, TIMES = 12, 5, 6
MAX_DIGITS = 2_000

Number = Any

_MOMENTS = {
    "mean": Moment((0,)),
    "variance": Moment((0, 0)),
    "variance_slope": Moment((0, 0), heat=True),
    "slope_energy": Moment((1, 1)),
    "slope_energy_slope": Moment((1, 1), heat=True),
    "curvature_energy": Moment((2, 2)),
    "third_energy": Moment((3, 3)),
}


def mp_engine(target: Target | Phi, digits: int = 30) -> MpEngine:
    """The engine of an activation. Raises RefusedActivation, and ValueError for digits outside 1 to 2000."""
    if not 1 <= digits <= MAX_DIGITS:
        raise ValueError(f"digits = {digits}: between 1 and {MAX_DIGITS} are expected")
    return MpEngine(target if isinstance(target, Phi) else activation(target), digits)


class MpEngine:
    """Means of one activation to ``digits`` digits, as :class:`~.engine.Engine` describes them.

    Arguments are mpmath numbers, Python numbers (a float is the binary number that it is), rationals or
    decimal strings. Raises ValueError outside of q > 0, c in [-1, 1], eps in [0, 2], and NotReached where
    the digits were not reached: a mean that does not exist, a singularity that is no kink.
    """

    def __init__(self, phi: Phi, digits: int) -> None:
        self.phi = phi
        self.digits = digits
        self._values: dict[int, Values] = {}
        self._powers = lru_cache(maxsize=16)(self._new_powers)

    def context(self) -> AbstractContextManager[Any]:
        """mpmath's precision for work with the engine's numbers: its digits and some guard digits."""
        from mpmath import mp

        return mp.workdps(self.digits + GUARD)  # type: ignore[no-any-return]

    # --- the means -----------------------------------------------------------

    def mean(self, q: Number) -> Any:
        """M = E phi(u)."""
        return self._number("mean", q)

    def variance(self, q: Number) -> Any:
        """V = E phi(u)^2."""
        return self._number("variance", q)

    def variance_slope(self, q: Number) -> Any:
        """dV/dq."""
        return self._number("variance_slope", q)

    def slope_energy(self, q: Number) -> Any:
        """D = E phi'(u)^2; infinite where phi jumps."""
        return self._number("slope_energy", q)

    def slope_energy_slope(self, q: Number) -> Any:
        """dD/dq; infinite where phi jumps."""
        return self._number("slope_energy_slope", q)

    def curvature_energy(self, q: Number) -> Any:
        """K2 = E phi''(u)^2; infinite where phi' jumps."""
        return self._number("curvature_energy", q)

    def third_energy(self, q: Number) -> Any:
        """K3 = E phi'''(u)^2; infinite where phi'' jumps."""
        return self._number("third_energy", q)

    def correlation(self, q: Number, c: Number) -> Any:
        """C = E phi(u) phi(v), with digits relative to V."""
        return self._number("correlation", q, c)

    def correlation_slope(self, q: Number, c: Number) -> Any:
        """E phi'(u) phi'(v), with digits relative to D; at a jump of phi (dC/dc)/q, infinite at c = 1."""
        return self._number("correlation_slope", q, c)

    def gap(self, q: Number, eps: Number) -> Any:
        """V - C at c = 1 - eps, with digits relative to itself."""
        return self._number("gap", q, eps)

    def slope_gap(self, q: Number, eps: Number) -> Any:
        """D - E phi'(u) phi'(v) at c = 1 - eps, with digits relative to itself."""
        return self._number("slope_gap", q, eps)

    def estimated(self, what: str, q: Number, second: Number | None = None) -> tuple[Any, Any]:
        """A mean by the name of its method, and its error by estimate (no bound)."""
        found = self._estimate(what, q, second)
        return to_mpf(found.value), to_mpf(found.error)

    # --- how -----------------------------------------------------------------

    def _number(self, what: str, q: Number, second: Number | None = None) -> Any:
        return to_mpf(self._estimate(what, q, second).value)

    def _estimate(self, what: str, q: Number, second: Number | None) -> Estimate:
        variance = exact(q)
        if variance is None or variance <= 0:
            raise ValueError(f"q = {q}: a variance > 0 is expected")
        run: Callable[[int], Estimate]
        if what in PAIRED:
            eps = _gap_of(what, second)
            run = partial(getattr(self, f"_{what}"), variance, eps)
        elif what in _MOMENTS:
            run = partial(self._moment, _MOMENTS[what], variance)
        else:
            raise ValueError(f"{what!r} is no mean of the engine")
        return self._refined(run, absolute=what in ("correlation", "correlation_slope"))

    def _refined(self, run: Callable[[int], Estimate], absolute: bool) -> Estimate:
        """With more digits for as long as the error is too large against the value."""
        digits = self.digits + GUARD
        found = run(digits)
        for _ in range(TIMES):
            if not found.value.is_finite() or absolute:
                return found
            if found.error <= abs(found.value) * arb(10) ** (-self.digits - 2) or found.error == 0:
                return found
            digits += GUARD
            found = run(digits)
        return found

    def _with(self, digits: int, lost: float = 0) -> Values:
        bits = 32 * ceil((digits * 3.33 + lost + 24) / 32)
        found = self._values.get(bits)
        if found is None:
            found = self._values[bits] = Values(self.phi, bits)
        return found

    def _moment(self, what: Moment, q: Fraction, digits: int) -> Estimate:
        highest = max(what.orders)
        if self.phi.infinite_energy(highest):
            return Estimate(arb.pos_inf(), arb(0))
        values = self._with(digits, _bits_small(q))
        return moment(values, what, point(q, values.bits), digits)

    def _new_powers(self, q: Fraction, digits: int) -> mp_hermite.Powers | None:
        values = self._with(digits, _bits_small(q))
        try:
            return mp_hermite.powers(values, point(q, values.bits), digits)
        except NotReached:
            return None

    def _series(self, q: Fraction, digits: int) -> mp_hermite.Powers | None:
        return None if self.phi.kinks else self._powers(q, digits)

    def _gap(self, q: Fraction, eps: Fraction, digits: int) -> Estimate:
        if eps == 0:
            return Estimate(arb(0), arb(0))
        found = self._series(q, digits)
        if found is not None:
            return _estimate_of(mp_hermite.gap(found, to_mpfr(point(eps, found.bits), found.bits)))
        values = self._with(digits, _bits_lost(q * eps))
        variance, part = point(q, values.bits), point(eps, values.bits)
        if self._is_linear():
            energy = moment(values, Moment((1, 1)), variance, digits)
            return mp_price.gap(self._corners(values.bits), variance, part, energy, digits)
        return _by_points(values, 0, variance, part, digits - GUARD + PAIR_GUARD)

    def _slope_gap(self, q: Fraction, eps: Fraction, digits: int) -> Estimate:
        if eps == 0:
            return Estimate(arb(0), arb(0))
        if self.phi.has_jump:
            return Estimate(arb.pos_inf(), arb(0))
        found = self._series(q, digits)
        if found is not None:
            part = _estimate_of(mp_hermite.slope_gap(found, to_mpfr(point(eps, found.bits), found.bits)))
            with precision(found.bits):
                return part.times(1 / point(q, found.bits))
        values = self._with(digits, _bits_lost(q * eps))
        variance, part_eps = point(q, values.bits), point(eps, values.bits)
        if self._is_linear():
            return mp_price.slope_gap(self._corners(values.bits), variance, part_eps, digits)
        return _by_points(values, 1, variance, part_eps, digits - GUARD + PAIR_GUARD)

    def _correlation(self, q: Fraction, eps: Fraction, digits: int) -> Estimate:
        found = self._series(q, digits) if eps else None
        if found is not None:
            return _estimate_of(
                mp_hermite.correlation(found, to_mpfr(point(1 - eps, found.bits), found.bits))
            )
        return _less(
            self._moment(Moment((0, 0)), q, digits), self._gap(q, eps, digits), self._with(digits).bits
        )

    def _correlation_slope(self, q: Fraction, eps: Fraction, digits: int) -> Estimate:
        if self.phi.has_jump and eps:
            values = self._with(digits, _bits_lost(q * eps))
            return mp_pairs.slope_by_density(values, point(q, values.bits), point(eps, values.bits), digits)
        found = self._series(q, digits) if eps else None
        if found is not None:
            part = _estimate_of(mp_hermite.slope(found, to_mpfr(point(1 - eps, found.bits), found.bits)))
            with precision(found.bits):
                return part.times(1 / point(q, found.bits))
        energy = self._moment(Moment((1, 1)), q, digits)
        return _less(energy, self._slope_gap(q, eps, digits), self._with(digits).bits) if eps else energy

    def _is_linear(self) -> bool:
        return self.phi.piecewise_linear and not self.phi.has_jump

    def _corners(self, bits: int) -> mp_price.Corners:
        return mp_price.corners(self.phi, bits)


def _by_points(values: Values, order: int, q: arb, eps: arb, digits: int) -> Estimate:
    """E (phi^(order)(u) - phi^(order)(v))^2 / 2, by a grid where it serves."""
    if not values.phi.kinks and eps < 2:
        with suppress(NotReached):
            return mp_lattice.lattice_mean(values, order, q, eps, digits)
    return mp_pairs.pair_mean(values, order, q, eps, digits)


def _gap_of(what: str, second: Number | None) -> Fraction:
    if second is None:
        raise ValueError(f"{what} takes a variance and a second number")
    given = exact(second)
    if given is None:
        raise ValueError("a number is expected, found a ball")
    if what.startswith("correlation"):
        if not -1 <= given <= 1:
            raise ValueError(f"c = {second}: a correlation in [-1, 1] is expected")
        return 1 - given
    if not 0 <= given <= 2:
        raise ValueError(f"eps = {second}: 1 - c in [0, 2] is expected")
    return given


def _bits_lost(spread: Fraction) -> float:
    """What phi(s + d) - phi(s - d) loses."""
    return max(0, spread.denominator.bit_length() - spread.numerator.bit_length())


def _bits_small(q: Fraction) -> int:
    """What values near phi(0) lose where they are told to digits of 1; in steps, to share values."""
    lost = q.denominator.bit_length() - q.numerator.bit_length()
    return 0 if lost < 20 else 64 * ceil(lost / 64)


def _estimate_of(pair: tuple[Any, Any]) -> Estimate:
    return Estimate(to_arb(pair[0]), to_arb(pair[1]))


def _less(whole: Estimate, part: Estimate, bits: int) -> Estimate:
    with precision(bits):
        return Estimate((whole.value - part.value).mid(), whole.error + part.error)
