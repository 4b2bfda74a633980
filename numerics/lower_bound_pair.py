"""Gates of three branches with two sharpnesses: what a certificate's leaf says, and the proof of it.

The gate is L1 + (L2 - L1) s1 + (L3 - L2) s2 with s_k = sigmoid(t_k (x - h_k)), that is P/Q with

    Q = (1 + p1)(1 + p2),   P = L1 + p1 L2 + p2 (L1 - L2 + L3) + p1 p2 L3,   p_k = exp(t_k (x - h_k)).

Exchanging the two gates (with L2 for L1 - L2 + L3) changes nothing, so let t1 = t + 2 d, t2 = t, t, d >= 0.
Let c be where p1 = p2, z = d (x - c), and p1 p2 = exp(2 T (x - m)) with T = t + d. Divided by sqrt(p1 p2),
with M = (L1 + L3)/2, L2 = M + N and E(+-) = exp(+-T (x - m)),

    Q = E(-) + 2 cosh z + E(+),   P = E(-) L1 + 2 cosh z M + E(+) L3 + 2 sinh z N.

L1 and L3 are f's asymptotes, M - h and M + h, moved by b1 and b3 with |b1|, |b3| <= e
(:mod:`gateproof.numerics.lower_bound_family`); N is any line. Divide by 2 cosh z, and let y be f minus the
mean of the asymptotes. A sup error of at most e needs at every x

    | c0 A0 (y + h - b1) + c1 (y - (b1 + b3)/2) + c3 A3 (y - h - b3) - N tanh z | <= e (c0 A0 + c1 + c3 A3),
    A0 = exp(-t x) sigmoid(-2 z),   A3 = exp(t x) sigmoid(2 z),   c0, c1, c3 > 0,   c0 c3 = c1^2:

for fixed (t, d, c) linear in (c0, c1, c3), c_j b_k and N. Mirroring x turns c into -c: c in [0, oo] for f and
for f(-x) is everything. *Charts* are coordinates (t, d, place); in each of them A0, A3 and tanh z have
positive factors that do not depend on x taken off (and tanh z, as N has any sign, its own sign).

    cross   place = c in [0, FAR]. Where d is 0 in the box, tanh(z)/d stands for tanh z.
    beyond  c >= FAR, place = r = exp(-2 d (c - FAR)) in [0, 1], q = r exp(2 d (x - FAR)):
            A0 = exp(-t x)/(1 + q),   A3 = exp((t + 2 d) x)/(1 + q),   -tanh z = (1 - q)/(1 + q).
    near    c >= FAR, d <= SMALL, r >= APART, place = y = d coth(d c) in [0, 1/FAR + SMALL]; with
            k = tanh(d c) = d/y in [0, FLAT] and C = 1/(cosh d x - k sinh d x)
            A0 = exp(-(t + d) x) C,   A3 = exp((t + d) x) C,   -tanh(z)/k = (cosh d x - y sinh(d x)/d) C.

(k <= FLAT as exp(-2 d c) = r exp(-2 d FAR) >= APART exp(-2 SMALL FAR); y <= 1/FAR + SMALL as
coth u <= 1/u + 1.) In *beyond* and *near* c0 c3 = c1^2 is forgotten. In *cross* a box may have one side more,
c1/c0 = B in [lo, hi]: there (c0, c1, c3) = c0 (1, B, B^2) is a nonnegative combination of the *rays*

    (1, lo, lo^2), (1, (lo + hi)/2, lo hi), (1, hi, hi^2),
    or (1, lo, lo^2), (0, 1, 2 lo), (0, 0, 1) if hi = oo,

and of the three unit vectors if there is no such side.

A leaf has witnesses x_i with weights v_i, and two pivots a, b whose weights are functions of the coordinates,

    v_a = -sum_i v_i tanh(z_i) (b - x_i)/((b - a) tanh z_a),  v_b the same with x_i - a and tanh z_b,

so that sum v tanh(z) N = 0 for every line N. Then no gate of the box is within e if each *row* is positive on
it: for each ray (c0, c1, c3) and signs s1, s3 = +-1 of b1, b3, with s2 = (s1 + s3)/2,

    sum_j c_j sum_i A_j(x_i) [v_i (y_i + (h, 0, -h)_j - s_j e) - e |v_i|] > 0,   A_1 = 1

(for a unit vector only the sign of its own j counts). |v_a| is split by both signs where the box does not
decide it: the least of the rows is the true one. A row of a unit vector is divided by its exponential at the
outermost witness. It is proved positive by the chord rule in several variables: on a box it is at least

    its least value at the corners - sum_j w_j^2/8 max(0, its second derivative by coordinate j),

w_j the sides (interpolate one coordinate after the other). On an infinite side of t the leading term's least
value must exceed what the negative ones can take off it at the start of the side. On an infinite side of d
sigmoid(+-2 z) and tanh z are enclosed on the whole of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from flint import arb, arb_series

from gateproof.numerics import interval as iv
from gateproof.numerics.lower_bound_pair_shapes import RATES, Box, Number, Ratio, empty, factors, hull, second


@dataclass(frozen=True)
class Residual:
    """y and h at the witnesses: f minus the mean asymptote, half the asymptotes' difference."""

    value: Callable[[Fraction], arb]
    slope: Fraction
    intercept: Fraction

    def half(self, x: Fraction) -> Fraction:
        """h(x)."""
        return self.slope * x + self.intercept

    def mirrored(self) -> Residual:
        """That of f(-x)."""
        return Residual(lambda x: self.value(-x), self.slope, -self.intercept)


@dataclass(frozen=True)
class Leaf:
    """Witnesses with their weights, and the two pivots."""

    weights: Mapping[Fraction, Fraction]
    pivots: tuple[Fraction, Fraction]


#: A ray (c0, c1, c3) with the signs of the intercepts' shifts.
Row = tuple[tuple[Fraction, Fraction, Fraction], tuple[Fraction, Fraction, Fraction]]
_0, _1 = Fraction(0), Fraction(1)


def rows(ratio: Ratio) -> tuple[Row, ...]:
    """All rays with all signs."""
    if ratio is None:
        units = ((_1, _0, _0), (_0, _1, _0), (_0, _0, _1))
        return tuple((u, (s, s, s)) for u in units for s in (-_1, _1))
    lo, hi = ratio
    rays = [(_1, lo, lo * lo)]
    rays += (
        [(_0, _1, 2 * lo), (_0, _0, _1)] if hi is None else [(_1, (lo + hi) / 2, lo * hi), (_1, hi, hi * hi)]
    )
    return tuple((r, (a, (a + b) / 2, b)) for r in rays for a in (-_1, _1) for b in (-_1, _1))


def excludes(
    residual: Residual, bound: Fraction, box: Box, leaf: Leaf
) -> tuple[bool, tuple[float, ...] | None]:
    """Whether no gate of the box has a sup error of at most ``bound``; False says nothing.

    Rigorous at the current precision. Beside it, where the chord rule fails, each side's share in that.
    """
    if empty(box):
        return True, None
    if not leaf.weights or leaf.pivots[0] == leaf.pivots[1] or set(leaf.pivots) & set(leaf.weights):
        return False, None
    if box.ratio is not None and (box.chart != "cross" or box.sides[0][1] is None or box.sides[1][1] is None):
        return False, None
    try:
        return _Proof(residual, bound, box, leaf).run()
    except (ZeroDivisionError, OverflowError):
        return False, None


class _Proof:
    def __init__(self, residual: Residual, bound: Fraction, box: Box, leaf: Leaf) -> None:
        self.box, self.leaf = box, leaf
        self.e = iv.rational(bound)
        self.points = (*leaf.weights, *leaf.pivots)
        self.y = {x: residual.value(x) for x in self.points}
        self.h = {x: iv.rational(residual.half(x)) for x in self.points}
        # Rows of one mode are divided by its exponential at the outermost witness.
        self.ends = (min(self.points), max(self.points)) if box.ratio is None else (_0, _0)
        a, b = leaf.pivots
        self.share = {
            x: (
                iv.rational(-v * (b - x) / (b - a)),
                iv.rational(-v * (x - a) / (b - a)),
                iv.rational(v),
                v > 0,
            )
            for x, v in leaf.weights.items()
        }
        t, d, _ = box.sides
        self.far = (t[1] is None, d[1] is None)
        self.hulls = [hull(s) for s in box.sides]

    def run(self) -> tuple[bool, tuple[float, ...] | None]:
        wide = self._shapes(self.hulls)
        signs = [self._signs(v) for v in self._pivots(wide)]
        combos = [(a, b) for a in signs[0] for b in signs[1]]
        wanted = rows(self.box.ratio)
        chords = [(r, s) for r, s in wanted if not (self.far[0] and (r[0] or r[2]))]
        for row in (r for r in wanted if r not in chords):
            if not all(self._dominated(row, wide, combo) for combo in combos):
                return False, None
        return self._chord(chords, combos)

    def _chord(
        self, wanted: Sequence[Row], combos: Sequence[tuple[int, int]]
    ) -> tuple[bool, tuple[float, ...] | None]:
        """The chord rule for the rows; on an infinite side of d, in t alone."""
        if self.box.chart == "beyond" and self.far[1]:
            third = [r for r in wanted if r[0][2]]
            wide = self._shapes(self.hulls)
            if not all(self._dominated(r, wide, c) for r in third for c in combos):
                return False, None
            wanted = [r for r in wanted if not r[0][2]]
        moving = [j for j in range(3) if not (self.far[1] and j) and self.box.sides[j][1] is not None]
        moving = [j for j in moving if self.box.sides[j][0] != self.box.sides[j][1]]
        low: dict[tuple[int, tuple[int, int]], arb] = {}
        for corner in product(*(self.box.sides[j] for j in moving)):
            at: list[Number] = list(self.hulls)
            for j, value in zip(moving, corner, strict=True):
                assert value is not None
                at[j] = iv.rational(value)
            for key, value in self._rows(self._shapes(at), wanted, combos):
                if not value > 0:
                    return False, None
                here = value.lower()
                low[key] = here if key not in low else min(low[key], here)
        sags = {key: [arb(0)] * 3 for key in low}
        for j in moving:
            lo, hi = self.box.sides[j]
            assert hi is not None
            square = iv.rational((hi - lo) ** 2 / 4)
            at = [*self.hulls[:j], arb_series([self.hulls[j], 1], prec=3), *self.hulls[j + 1 :]]
            for key, value in self._rows(self._shapes(at), wanted, combos):
                bend = (square * second(value)).upper()
                if not bend.is_finite():
                    return False, None
                sags[key][j] = max(bend, arb(0))
        worst = [0.0] * 3
        held = True
        for key, least in low.items():
            held = held and bool(least > sags[key][0] + sags[key][1] + sags[key][2])
            worst = [max(w, float(s) / float(least)) for w, s in zip(worst, sags[key], strict=True)]
        return held, tuple(worst)

    def _rows(
        self,
        shapes: Mapping[Fraction, tuple[Number, ...]],
        wanted: Sequence[Row],
        combos: Sequence[tuple[int, int]],
    ) -> Iterable[tuple[tuple[int, tuple[int, int]], Number]]:
        pivots = self._pivots(shapes)
        for combo in combos:
            sums = self._sums(shapes, pivots, combo)
            for k, (ray, signs) in enumerate(wanted):
                total: Number = arb(0)
                for c, s, (value, weight) in zip(ray, signs, sums, strict=True):
                    if c:
                        total = total + iv.rational(c) * (value - iv.rational(s) * self.e * weight)
                yield (k, combo), total

    def _sums(
        self, shapes: Mapping[Fraction, tuple[Number, ...]], pivots: Sequence[Number], combo: tuple[int, int]
    ) -> list[tuple[Number, Number]]:
        """For each mode sum v A (y + (h, 0, -h) - e sign v), and sum v A."""
        sums: list[list[Number]] = [[arb(0), arb(0)] for _ in range(3)]
        for x, v, sign in self._weights(pivots, combo):
            first, third = v * shapes[x][0], v * shapes[x][1]
            level = self.y[x] - self.e * sign
            for k, (a, moved) in enumerate(
                ((first, level + self.h[x]), (v, level), (third, level - self.h[x]))
            ):
                sums[k][0] = sums[k][0] + a * moved
                sums[k][1] = sums[k][1] + a
        return [(a, b) for a, b in sums]

    def _weights(
        self, pivots: Sequence[Number], combo: tuple[int, int]
    ) -> list[tuple[Fraction, Number, int]]:
        own = [(x, v, 1 if up else -1) for x, (_, _, v, up) in self.share.items()]
        return own + list(zip(self.leaf.pivots, pivots, combo, strict=True))

    def _pivots(self, shapes: Mapping[Fraction, tuple[Number, ...]]) -> tuple[Number, Number]:
        found = []
        for k, pivot in enumerate(self.leaf.pivots):
            total: Number = arb(0)
            for x, share in self.share.items():
                total = total + share[k] * shapes[x][2]
            below = shapes[pivot][2]
            if (below if isinstance(below, arb) else below[0]).contains(0):
                raise ZeroDivisionError
            found.append(total / below)
        return found[0], found[1]

    def _signs(self, v: arb) -> tuple[int, ...]:
        if not v.is_finite():
            raise ZeroDivisionError
        return (1,) if v > 0 else (-1,) if v < 0 else (1, -1)

    def _dominated(
        self, row: Row, wide: Mapping[Fraction, tuple[Number, ...]], combo: tuple[int, int]
    ) -> bool:
        """A row of one mode on an infinite side, by its leading witness."""
        (first, _, _), signs = row
        side = 0 if first else 1
        (t, _), (d, _), _ = self.box.sides
        rate = iv.rational(t + d * RATES[self.box.chart][side])
        weights = self._weights(self._pivots(wide), combo)
        lead = max(x if side else -x for x, _, _ in weights)
        total = arb(0)
        for x, v, sign in weights:
            moved = (
                self.y[x]
                + (-self.h[x] if side else self.h[x])
                - self.e * (sign + iv.rational(signs[2 * side]))
            )
            least = (v * moved * factors(self.box, x, *self.hulls[1:])[side]).lower()
            behind = lead - (x if side else -x)
            if not behind:
                total += least
            elif not least > 0:
                total += least * (-rate * iv.rational(behind)).exp()
        return bool(total > 0)

    def _shapes(self, at: Sequence[Number]) -> dict[Fraction, tuple[Number, ...]]:
        t, d, place = at
        rates = RATES[self.box.chart]
        found = {}
        for x in self.points:
            first, third, turn = factors(self.box, x, d, place)
            falls, grows = (
                iv.rational(x - end) * (t + r * d if r else t)
                for end, r in zip(self.ends, rates, strict=True)
            )
            found[x] = (-falls).exp() * first, grows.exp() * third, turn
        return found
