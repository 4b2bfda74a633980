"""The certified engine: each mean is a ball that holds the true values for all arguments in theirs."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.meanfield.activation import Phi, Target
from gateproof.numerics.meanfield.activation import phi as activation
from gateproof.numerics.meanfield.certified_hermite import coefficients
from gateproof.numerics.meanfield.certified_moments import Jet, Moments, Quadrature
from gateproof.numerics.meanfield.certified_price import bent
from gateproof.numerics.meanfield.closed_forms_balls import PairForm, pair_form
from gateproof.numerics.meanfield.curves import maps_of
from gateproof.numerics.precision import precision

#: Orders of Hermite series that are tried.
ORDERS = (24, 64, 160)
Number = arb | Fraction | int | str


def certified_engine(target: Target | Phi, digits: int = 30) -> CertifiedEngine:
    """The engine of an activation. Raises RefusedActivation, ValueError for digits outside 1 to 400."""
    if not 1 <= digits <= 400:
        raise ValueError(f"digits = {digits}: between 1 and 400 are expected")
    return CertifiedEngine(target if isinstance(target, Phi) else activation(target), digits)


class CertifiedEngine:
    """Means of one activation in balls, as :class:`~.engine.Engine` describes them.

    Arguments are balls, rationals or decimal strings; ``digits`` are aimed at for exact ones, and a mean over
    one variable for a wide ball is enclosed by expansion about its middle. Pairs are closed forms for waves,
    exponentials, polynomials and the bell, integrals by Price's theorem for continuous piecewise linear phi,
    else Hermite series with a proved rest, wide where the series is slow: near c = 1 and for kinked phi.
    Raises ValueError outside of q > 0, c in [-1, 1], eps in [0, 2];
    NoPanels, NoTailBound where phi is not seen to be analytic or of slow growth: waves at very large q.
    """

    def __init__(self, phi: Phi, digits: int) -> None:
        self.phi, self.digits = phi, digits
        self.bits = int(digits * 3.33) + 64
        self._maps = maps_of(phi)
        self._higher: Quadrature | None = None
        self._series: dict[tuple[str, int], list[arb]] = {}

    def mean(self, q: Number) -> arb:
        """E phi(u)."""
        return self._jet(q, "mean")[0]

    def variance(self, q: Number) -> arb:
        """E phi(u)^2."""
        return self._jet(q, "first")[0]

    def variance_slope(self, q: Number) -> arb:
        """Its derivative in q."""
        return self._jet(q, "first")[1]

    def slope_energy(self, q: Number) -> arb:
        """E phi'(u)^2; oo where phi jumps."""
        return arb.pos_inf() if self.phi.has_jump else self._jet(q, "second")[0]

    def slope_energy_slope(self, q: Number) -> arb:
        """Its derivative in q."""
        return arb.nan() if self.phi.has_jump else self._jet(q, "second")[1]

    def curvature_energy(self, q: Number) -> arb:
        """E phi''(u)^2; oo where phi' jumps."""
        return arb.pos_inf() if self.phi.has_corner else self._jet(q, "first", higher=True)[0]

    def third_energy(self, q: Number) -> arb:
        """E phi'''(u)^2; oo where phi'' jumps."""
        if self.phi.infinite_energy(3):
            return arb.pos_inf()
        return self._jet(q, "second", higher=True)[0]

    def correlation(self, q: Number, c: Number) -> arb:
        """E phi(u) phi(v)."""
        with precision(self.bits):
            c = self._correlation(c)
            if self._form is not None:
                return arb(self._form.correlation(self._ball(q), c))
            if self._by_price:
                return self.variance(q) - self.gap(q, 1 - c)
            return self._pair(self._ball(q), lambda n: c**n, lambda n: _rest(c, n), 0)

    def correlation_slope(self, q: Number, c: Number) -> arb:
        """E phi'(u) phi'(v)."""
        if self.phi.has_jump:
            return arb.nan()
        with precision(self.bits):
            c = self._correlation(c)
            if self._form is not None:
                return arb(self._form.correlation_slope(self._ball(q), c))
            if self._by_price:
                return self.slope_energy(q) - self.slope_gap(q, 1 - c)
            return self._pair(self._ball(q), lambda n: c**n, lambda n: _rest(c, n), 1)

    def gap(self, q: Number, eps: Number) -> arb:
        """V - C at c = 1 - eps."""
        with precision(self.bits):
            e = self._eps(eps)
            if self._form is not None:
                return arb(self._form.gap(self._ball(q), e))
            if self._by_price:
                ball = self._ball(q)
                rest = bent(self.phi, ball, e, self.digits, weighted=True)
                return ball * (e * self.slope_energy(ball) - rest)
            near = self._near(self._ball(q), e, 0)
            return _meet(near, self._pair(self._ball(q), *_gaps(e), 0))

    def slope_gap(self, q: Number, eps: Number) -> arb:
        """D - E phi'(u) phi'(v) at c = 1 - eps."""
        if self.phi.has_jump:
            return arb.nan()
        with precision(self.bits):
            e = self._eps(eps)
            if self._form is not None:
                return arb(self._form.slope_gap(self._ball(q), e))
            if self._by_price:
                return bent(self.phi, self._ball(q), e, self.digits, weighted=False)
            near = self._near(self._ball(q), e, 1)
            return _meet(near, self._pair(self._ball(q), *_gaps(e), 1))

    @cached_property
    def _form(self) -> PairForm | None:
        with precision(self.bits + 32):
            return pair_form(self.phi)

    @property
    def _by_price(self) -> bool:
        return self.phi.piecewise_linear and not self.phi.has_jump

    def _jet(self, q: Number, row: str, *, higher: bool = False) -> Jet:
        """Value and derivatives over the ball, by expansion about its middle."""
        with precision(self.bits):
            ball = self._ball(q)
            over: Jet = getattr(self._moments(ball, higher=higher), row)
            if ball.is_exact():
                return over
            middle = arb(ball.mid())
            at: Jet = getattr(self._moments(middle, higher=higher), row)
            step = ball - middle
            slope = _meet(over[1], at[1] + over[2] * step)
            value = _meet(over[0], at[0] + slope * step)
            return _meet(value, at[0] + at[1] * step + over[2] * step * step / 2), slope, over[2]

    def _moments(self, q: arb, *, higher: bool) -> Moments:
        if not higher:
            return self._maps.at(q, self.digits)
        if self._higher is None:
            self._higher = Quadrature(self.phi, self.digits + 8, higher=True)
        return self._higher.moments(q)

    def _pair(self, q: arb, term: Callable[[int], arb], rest: Callable[[int], arb], order: int) -> arb:
        """The sum of t_n term(n), t_n >= 0 the energy of phi or of phi' at each order of Hermite."""
        total = self.slope_energy(q) if order else self.variance(q)
        found = arb.nan()
        for orders in ORDERS:
            a = self._coefficients(q, orders, total)
            energies = [n * x * x / q for n, x in enumerate(a)][1:] if order else [x * x for x in a]
            left = total - sum(energies, arb(0))
            if not left > 0:
                left = arb(0).union(arb(max(left.upper(), arb(0))))
            value = sum((t * term(n) for n, t in enumerate(energies)), left * rest(len(energies)))
            found = _meet(value, found)
            if found.rad() * arb(10) ** self.digits < abs(found):
                break
        return found

    def _coefficients(self, q: arb, orders: int, total: arb) -> list[arb]:
        key = f"{q.mid().man_exp()} {q.rad().man_exp()}", orders
        if key not in self._series:
            scale = float(total.upper()) ** 0.5 or 1.0
            self._series[key] = coefficients(self.phi, q, orders, self.digits + 4, scale)
        return self._series[key]

    def _near(self, q: arb, eps: arb, order: int) -> arb:
        """The gap by Taylor's series at c = 1, whose partial sums lie on either side of it for eps <= 1."""
        if not eps <= 1:
            return arb.nan()
        steep = [self.slope_energy, self.curvature_energy, self.third_energy][order:]
        sums, factor, partial = [arb(0)], arb(1), arb(0)
        for k, energy in enumerate(steep, 1):
            size = energy(q)
            if not size.is_finite():
                break
            factor *= eps * q / k
            partial += factor * size * (1 if k % 2 else -1)
            sums.append(partial)
        if len(sums) == 1:
            return arb.nan()
        return sums[-1].union(sums[-2])

    def _ball(self, q: Number) -> arb:
        found = _number(q)
        if not found > 0 or not found.is_finite():
            raise ValueError(f"q = {q}: a variance > 0 is expected")
        return found

    def _correlation(self, c: Number) -> arb:
        found = _number(c)
        if not abs(found) <= 1:
            raise ValueError(f"c = {c}: a correlation lies in [-1, 1]")
        return found

    def _eps(self, eps: Number) -> arb:
        found = _number(eps)
        if not (found >= 0 and found <= 2):
            raise ValueError(f"eps = {eps}: 1 - c lies in [0, 2]")
        return found


def _number(x: Number) -> arb:
    if isinstance(x, arb):
        return x
    return iv.rational(Fraction(x))


def _rest(c: arb, n: int) -> arb:
    """c^m for all m >= n."""
    if c >= 0:
        return arb(0).union(c**n)
    return arb(0, (abs(c) ** n).upper())


def _gaps(eps: arb) -> tuple[Callable[[int], arb], Callable[[int], arb]]:
    """1 - (1 - eps)^n, and what holds it for all m >= n."""

    def term(n: int) -> arb:
        return -(n * (-eps).log1p()).expm1() if eps < 0.5 else 1 - (1 - eps) ** n

    return term, lambda n: term(n).union(arb(1)) if eps < 0.5 else 1 - _rest(1 - eps, n)


def _meet(x: arb, y: arb) -> arb:
    """What two enclosures of the same numbers share."""
    if not y.is_finite():
        return x
    if not x.is_finite():
        return y
    lo, hi = max(iv.down(x), iv.down(y)), min(iv.up(x), iv.up(y))
    return lo.union(hi) if lo <= hi else x
