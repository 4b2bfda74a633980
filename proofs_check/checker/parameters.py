"""Certificates of lower bounds over parameters: of suprema in general, of the errors of a family of gates."""

# ruff: noqa: D102 - Certificate says what check, judge_tail and judge_leaf do

from __future__ import annotations

from itertools import product
from typing import Any

from gmpy2 import mpq

from gateproof.proofs_check.checker.boxes import Box, Certificate, fields, need
from gateproof.proofs_check.checker.evaluate import rational
from gateproof.proofs_check.checker.interval import ZERO, Interval
from gateproof.proofs_check.checker.tail import Tail, Tails

FAR_OUT = mpq(2**10)  # where the asymptotes of a target are looked at

Terms = list[tuple[Interval, Any]]  # (C, y): a sum of C exp(t y)


class Supremum(Certificate):
    """At each point of the domain some inner point gives the formula a value of at least the bound."""

    keys = "family inner domain bound strict tree"

    def check(self) -> str:
        _, self.inner, _, bound, strict, tree = self.given
        fit = isinstance(self.inner, list) and all(
            isinstance(name, str) and name.isidentifier() for name in self.inner
        )
        need(fit and not {*self.inner} & {*self.domain}, "inner is not a list of names beside the domain")
        self.read_bounds({"lower": bound, "lower_strict": strict, "upper": None, "upper_strict": False})
        need(self.bounds, "it says nothing: no bound")
        self.cover(tree, self.box)
        return "boxes, each with its inner point, checked"

    def judge_leaf(self, rule: Any, box: Box) -> None:
        fit = isinstance(rule, list) and len(rule) == 3 and rule[0] == "at"
        need(fit, f"not a rule with an inner point: {rule!r:.60}")
        point = map(rational, fields(rule[1], " ".join(self.inner), "an inner point"))
        ends = {name: (x, x) for name, x in zip(self.inner, point, strict=True)}
        self.judge(self.enclose(rule[2], {**box, **ends}, {1}))


class Gates(Certificate):
    """Every gate of K = 2 or 3 branches with one sharpness t > 0 is somewhere off by more than e.

    docs/certificates.md derives the rows: sums R(t) of C exp(t y), C = v (f(x) - m x - n - s e) - e abs(v)
    and y = w (x - h), over weights v at points x, for a term of rate w whose line in the gate is
    m x + n + s e. There is no gate within e if all rows are positive.
    """

    keys = "variable family bound tree"

    def check(self) -> str:
        self.name, family, bound, tree = self.given
        need(isinstance(self.name, str), "variable is not a name")
        self.bound, self.known = rational(bound), dict[Any, Interval]()
        keys = "branches sharpness theta left right"
        branches, sharpness, theta, *ends = fields(family, keys, "the family")
        fit = type(branches) is int and branches in (2, 3) and sharpness == "shared" and self.bound >= 0
        need(fit and (theta is None or branches == 2), "not a known family, or the bound is negative")
        self.middle, self.shift = branches == 3, rational("0" if theta is None else theta)
        self.lines, terms = {}, []
        for side, end in zip((-1, 1), ends, strict=True):
            slope, intercept, free = fields(end, "slope intercept free", "an end of the family")
            need(type(free) is bool, "free is not true or false")
            m, n, rate = rational(slope), rational(intercept), side * rational(f"{branches - 1}/2")
            self.lines[side] = m, n, free
            terms.append([(rate, m, n + s * self.bound) for s in ((-1, 1) if free else (0,))])
        terms += [[(0, 0, 0)]] * self.middle
        self.rows = [*product(*terms)] if theta is not None else [(one,) for some in terms for one in some]
        self.domain, self.box = {self.name: (None, None)}, {self.name: (-FAR_OUT, FAR_OUT)}
        self.cover(tree, {"t": (rational("0"), None)})
        return f"boxes of t, {len(self.rows)} rows on each, checked"

    def judge_tail(self, tails: Tails, value: Tail) -> None:
        """The target minus m x + n must go to 0 far out, or at least stay bounded where n is given."""
        m, n, free = self.lines[tails.side]
        line = tails.add(tails.mul(tails.number(m), tails.variable), tails.number(n))
        fit = all(a > 0 or (a == 0 and k < (0 if free else 1)) for k, a in tails.sub(value, line))
        need(fit, "the target is not seen to approach its line")

    def judge_leaf(self, rule: Any, box: Box) -> None:
        fit = isinstance(rule, list) and rule != [] and all(isinstance(w, list) and len(w) == 2 for w in rule)
        need(fit, "a leaf is not a list of points and weights")
        weights, ((lo, hi),) = [(rational(x), rational(v)) for x, v in rule], box.values()
        fit = not self.middle or sum(v for _, v in weights) == sum(v * x for x, v in weights) == 0
        need(fit, "the weights do not annihilate the lines")
        for row in self.rows:
            terms = [
                (self.coefficient(x, v, m * x + n), rate * (x - self.shift))
                for rate, m, n in row
                for x, v in weights
            ]
            need(self.positive(terms, lo, hi), "a row is not seen to be positive")

    def coefficient(self, x: Any, v: Any, line: Any) -> Interval:
        """v (f(x) - line) - e abs(v)."""
        if x not in self.known:
            self.known[x] = self.enclose("natural", {self.name: (x, x)})
        field = self.field
        off = field.mul(field.number(v), field.sub(self.known[x], field.number(line)))
        return field.add(off, field.number(-self.bound * abs(v)))

    def positive(self, terms: Terms, lo: Any, hi: Any) -> bool:
        """Whether a sum of C exp(t y) is positive for t in [lo, hi], or in [lo, oo).

        On [lo, hi] it is at least its least value at an end - (hi - lo)^2/8 max(0, its second derivative). On
        [lo, oo), divided by the largest exponential, it is at least its value at lo without positive
        terms that fall.
        """
        field = self.field
        if hi is None:
            top = max(y for _, y in terms)
            falling = [(c if y == top else field.min(c, Interval(ZERO, ZERO)), y - top) for c, y in terms]
            return bool(self.total(falling, lo, lo).lo > 0)
        bent = [(field.mul(c, field.number(y * y)), y) for c, y in terms]
        sag = field.mul(field.number((hi - lo) ** 2 / 8), self.total(bent, lo, hi)).hi
        return all(low > max(ZERO, sag) for low in (self.total(terms, t, t).lo for t in (lo, hi)))

    def total(self, terms: Terms, lo: Any, hi: Any) -> Interval:
        """The sum for t in [lo, hi]."""
        field, total = self.field, self.field.number(0)
        self.spend(50 * len(terms))
        for c, y in terms:
            exponent = self.field.hull(min(y * lo, y * hi), max(y * lo, y * hi))
            total = field.add(total, field.mul(c, field.function(exponent, "exp")))
        return total
