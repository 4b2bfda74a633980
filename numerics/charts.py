"""Coordinates for boxes of parameters.

A gate uses a sharpness t and a threshold h as t*(x - h). Far out, where t is small and h is
large, t*h can be anything, and a box in t and h says nothing; in t and u = t*h it does. For
t > 0 the map (t, h) -> (t, t*h) is one to one, so the parameters with t <= 1 are looked at in
the second way and those with t >= 1 in the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.polynomials import expanded
from gateproof.numerics.ranges import Range, hull
from gateproof.theory.formula.nodes import App, Expr, Num, Var, num
from gateproof.theory.formula.scopes import free_names

Box = tuple[tuple[str, arb, arb], ...]


@dataclass(frozen=True)
class Chart:
    """The body in its coordinates, a closed box of them (ends may be infinite), and the way back.

    ``products`` maps a threshold's name to that of its sharpness: the coordinate is their product.
    """

    body: Expr
    box: Box
    scale: Mapping[str, Fraction]
    products: Mapping[str, str]

    def back(self, point: Mapping[str, Fraction]) -> dict[str, Fraction] | None:
        """The parameters at a point of the chart; None where a sharpness is 0."""
        found = dict(point)
        for threshold, sharpness in self.products.items():
            if point[sharpness] == 0:
                return None
            found[threshold] = point[threshold] / point[sharpness]
        return found


def charts(body: Expr, outer: Mapping[str, Range]) -> list[Chart]:
    """Charts whose boxes together hold all parameters."""
    pair = _pair(body, outer)
    plain = {name: _ends(r) for name, r in outer.items()}
    if pair is None:
        return [_chart(body, plain, {})]
    changed, sharpness, thresholds = pair
    lo, hi = plain[sharpness]
    one = arb(1)
    small = {**plain, sharpness: (lo, min(hi, one))}
    found = [_chart(changed, small, dict.fromkeys(thresholds, sharpness))]
    if not hi <= 1:
        found.append(_chart(body, {**plain, sharpness: (max(lo, one), hi)}, {}))
    return found


def _chart(body: Expr, ends: Mapping[str, tuple[arb, arb]], products: Mapping[str, str]) -> Chart:
    box = tuple((n, lo, hi) for n, (lo, hi) in ends.items())
    scale = {
        n: iv.to_fraction(arb((hi - lo).mid())) / 8
        if lo.is_finite() and hi.is_finite() and lo < hi
        else Fraction(1)
        for n, lo, hi in box
    }
    return Chart(body, box, scale, products)


def _ends(within: Range) -> tuple[arb, arb]:
    lo, hi = hull(within)
    low = iv.NEG_INF if lo is None else iv.down(iv.rational(lo))
    high = iv.INF if hi is None else iv.up(iv.rational(hi))
    return low, high


def _pair(body: Expr, outer: Mapping[str, Range]) -> tuple[Expr, str, list[str]] | None:
    """A positive name that starts below 1 and the names over R that only occur times it, in the new body."""
    for sharpness, within in outer.items():
        lo, _ = hull(within)
        if lo is None or lo < 0 or lo >= 1:
            continue
        changed, thresholds = body, []
        for name, other in outer.items():
            if name == sharpness or hull(other) != (None, None) or name not in free_names(body):
                continue
            done = _times(changed, name, sharpness)
            if done is not None:
                changed = done
                thresholds.append(name)
        if thresholds:
            return changed, sharpness, thresholds
    return None


def _times(node: Expr, h: str, t: str) -> Expr | None:
    """The expression with h/t put for h, where h only occurs in monomials with as high a power of t."""
    if h not in free_names(node):
        return node
    polynomial = expanded(node)
    if polynomial is None:
        return None
    terms: list[Expr] = []
    for monomial, factor in polynomial.items():
        powers: dict[Expr, int] = {}
        for base, n in monomial:
            done: Expr | None = base
            if not isinstance(base, Var):
                done = _inside(base, h, t)
            if done is None:
                return None
            powers[done] = powers.get(done, 0) + n
        b, a = powers.get(Var(h), 0), powers.get(Var(t), 0)
        if b > a:
            return None
        powers[Var(t)] = a - b
        terms.append(_product(factor, powers))
    return num(0) if not terms else terms[0] if len(terms) == 1 else App("add", tuple(terms))


def _inside(node: Expr, h: str, t: str) -> Expr | None:
    """A function with its arguments changed; a quotient or power is taken apart as well."""
    if h not in free_names(node):
        return node
    if not isinstance(node, App):
        return None
    args = [_times(a, h, t) for a in node.args]
    if any(a is None for a in args):
        return None
    return App(node.head, tuple(a for a in args if a is not None))


def _product(factor: Fraction, powers: Mapping[Expr, int]) -> Expr:
    parts: list[Expr] = [] if factor == 1 else [Num(factor)]
    for base, n in powers.items():
        if n:
            parts.append(base if n == 1 else App("pow", (base, num(n))))
    return num(1) if not parts else parts[0] if len(parts) == 1 else App("mul", tuple(parts))
