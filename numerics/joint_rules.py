"""Bounds on a box in several variables by the rules that certificates know.

Monotone in a name: a bound is reached on one face. Where df/dp has one sign on the box, sup f over
the box is sup f over its face p = hi (or lo), so a name after the other is put to an end; what is
left is bounded by interval evaluation, by a second-order Taylor form in the one name left,

    f in c_0 + c_1 h + C_2 h**2,    |h| <= r,    sup = c_0 + c_1**2/(4 |C_2|) for C_2 < 0, vertex inside,

or by the mean value form f(m) + sum_i (df/dx_i)(box) h_i in the several names left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import flint
from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.ball import compiled, names_in
from gateproof.numerics.decided import Decider
from gateproof.numerics.errors import MaybeUndefined, NotSmooth, Undefined
from gateproof.numerics.forms import outer
from gateproof.numerics.interval import Interval
from gateproof.numerics.series import compiled_series
from gateproof.theory.formula.nodes import Expr

Ends = tuple[Fraction, Fraction]
Box = Mapping[str, Ends]
#: Another program's derivatives may be a little wider than these.
ROOM = 100


@dataclass
class Attempt:
    """What became of one bound on one box.

    ``rule`` proves ``top`` as an upper bound of sign * f; None where the bound asked for was not reached.
    Then ``point`` is a place to look for a counterexample, ``slopes`` the derivatives on the faces reached,
    ``open`` the names not put to an end, ``vertex`` where the Taylor form is largest.
    """

    rule: Any = None
    top: arb = field(default_factory=arb.pos_inf)
    point: dict[str, Fraction] = field(default_factory=dict)
    slopes: dict[str, arb] = field(default_factory=dict)
    open: tuple[str, ...] = ()
    vertex: Fraction | None = None


class Rules:
    """A core expression ready for all rules, at flint's current precision."""

    def __init__(self, expr: Expr, names: tuple[str, ...]) -> None:
        self.expr = expr
        self.names = names
        self.natural_run = compiled(expr)
        self.decider = Decider(expr)
        self.used = names_in(expr)

    def value(self, point: Mapping[str, Fraction]) -> Interval:
        """f at an exact point. Raises Undefined, MaybeUndefined."""
        return self.natural_run({n: iv.of_ball(iv.rational(v)) for n, v in point.items()})

    def series(self, env: Mapping[str, Interval], name: str, order: int) -> list[arb]:
        """Taylor coefficients in ``name`` over a box or at a point. Raises NotSmooth and the like."""
        return compiled_series(self.decider.on(env), name)(env, order)

    def partial(self, env: Mapping[str, Interval], name: str) -> Interval | None:
        """df/dname over a box; None where f is not seen to be smooth there."""
        if name not in self.used:
            return iv.ZERO, iv.ZERO
        try:
            found = self.series(env, name, 1)[1]
        except (NotSmooth, MaybeUndefined, Undefined):
            return None
        return iv.of_ball(found) if found.is_finite() else None

    def attempt(self, box: Box, sign: int, bound: arb) -> Attempt:
        """Try to prove sign * f <= bound on the box."""
        env: dict[str, Interval] = {n: outer(*e) for n, e in box.items()}
        ends: dict[str, Ends] = dict(box)
        top, reason = self._natural(env, sign)
        if _clears(top, bound):
            return Attempt("natural", top)
        faces: list[str] = []
        slopes: dict[str, arb] = {}
        for _ in range(3):
            moved = self._faces(env, ends, sign, faces, slopes)
            if not moved:
                break
            top, reason = self._natural(env, sign)
            if _clears(top, bound):
                return Attempt(_nested(faces, "natural"), top)
        left = tuple(n for n in self.names if ends[n][0] < ends[n][1])
        found = Attempt(None, top, {n: (a + b) / 2 for n, (a, b) in ends.items()}, slopes, left)
        if not left or reason:
            return found
        if len(left) == 1:
            self._taylor(found, env, ends, left[0], sign, bound, faces)
        else:
            self._mean(found, sign, bound, faces, ends)
        return found

    def _natural(self, env: Mapping[str, Interval], sign: int) -> tuple[arb, str]:
        try:
            low, high = self.natural_run(env)
        except (MaybeUndefined, Undefined) as error:
            return iv.INF, error.where
        return (high if sign > 0 else iv.up(-low)), ""

    def _faces(
        self,
        env: dict[str, Interval],
        ends: dict[str, Ends],
        sign: int,
        faces: list[str],
        slopes: dict[str, arb],
    ) -> bool:
        """Put every name in which f is monotone to the end where sign * f is largest."""
        moved = False
        for name in self.names:
            lo, hi = ends[name]
            if lo == hi:
                continue
            slope = self.partial(env, name)
            if slope is None:
                slopes.pop(name, None)
                continue
            way = direction(slope)
            slopes[name] = max(abs(slope[0]), abs(slope[1]))
            if way:
                at = hi if way * sign > 0 else lo
                ends[name], env[name] = (at, at), iv.of_ball(iv.rational(at))
                faces.append(name)
                moved = True
        return moved

    def _taylor(
        self,
        found: Attempt,
        env: dict[str, Interval],
        ends: Mapping[str, Ends],
        name: str,
        sign: int,
        bound: arb,
        faces: list[str],
    ) -> None:
        """The second-order form in the one name left."""
        lo, hi = ends[name]
        middle = (lo + hi) / 2
        try:
            # The midpoint takes the branch of its box.
            run = compiled_series(self.decider.on(env), name)
            over = run(env, 2)[2]
            c = run({**env, name: iv.of_ball(iv.rational(middle))}, 1)
        except (NotSmooth, MaybeUndefined, Undefined):
            return
        if not over.is_finite():
            return
        radius = iv.up(iv.rational((hi - lo) / 2))
        c0, c1, c2 = iv.up(sign * c[0]), sign * c[1], sign * over
        most = iv.up(c0 + quadratic_top(c1, c2, radius))
        if _clears(iv.up(most + (most - c0) / ROOM), bound):
            found.rule, found.top = _nested(faces, ["taylor", 2, name]), most
            return
        found.top = min(found.top, most)
        if c2 < 0:
            off = arb((-c1 / (2 * c2)).mid())
            if radius * arb(2) ** -64 < abs(off) < radius:
                found.vertex = middle + iv.to_fraction(off)

    def _mean(
        self,
        found: Attempt,
        sign: int,
        bound: arb,
        faces: list[str],
        ends: Mapping[str, Ends],
    ) -> None:
        """The mean value form in the names left."""
        if any(n not in found.slopes for n in found.open):
            return
        try:
            low, high = self.value(found.point)
        except (MaybeUndefined, Undefined):
            return
        c0 = high if sign > 0 else iv.up(-low)
        swing = sum(
            (found.slopes[n] * iv.up(iv.rational((ends[n][1] - ends[n][0]) / 2)) for n in found.open), arb(0)
        )
        most = iv.up(c0 + swing)
        if _clears(iv.up(most + swing / ROOM), bound):
            found.rule, found.top = _nested(faces, "mean"), most
        else:
            found.top = min(found.top, most)


def direction(slope: Interval) -> int:
    """The sign of a derivative that keeps clear of 0 by a part of its width; else 0."""
    room = (slope[1] - slope[0]) / ROOM
    if slope[0] > room or slope[0] == slope[1] == 0:
        return 1
    return -1 if slope[1] < -room else 0


def quadratic_top(c1: arb, c2: arb, radius: arb) -> arb:
    """An upper bound of c1 h + c2 h**2 over |h| <= radius, for c1 and c2 in their balls."""
    a, b = iv.up(c1.abs_upper()), iv.up(c2)
    if b < 0 and a < -2 * b * radius:
        return iv.up(a * a / (-4 * b))
    return iv.up(a * radius + b * radius * radius) if b >= 0 else iv.up(radius * (a + b * radius))


def _nested(faces: list[str], rule: Any) -> Any:
    for name in reversed(faces):
        rule = ["face", name, rule]
    return rule


def _clears(top: arb, bound: arb) -> bool:
    """Whether top <= bound with room for another program's rounding."""
    return bool(top.is_finite() and top + abs(bound) * arb(2) ** (20 - flint.ctx.prec) < bound)
