"""Certificates of lower bounds over parameters: of suprema in general, of the errors of a family of gates."""

# ruff: noqa: D102 - Certificate says what read, check and judge_leaf do

from __future__ import annotations

from itertools import product
from typing import Any

from gateproof.proofs_check.checker.boxes import Box, Certificate, Verdict, fields, need
from gateproof.proofs_check.checker.evaluate import Program, rational
from gateproof.proofs_check.checker.interval import ZERO, Interval
from gateproof.proofs_check.checker.tail import Tails

FAR_OUT = 2**10  # where the asymptotes of a target are looked at

Terms = list[tuple[Interval, Any]]  # (C, y): a sum of C exp(t y)


class Supremum(Certificate):
    """At each point of the domain some inner point gives the formula a value of at least the bound."""

    more = "family inner domain bound strict tree"

    def read(self, family: Any, inner: Any, domain: Any, bound: Any, strict: Any, tree: Any) -> None:
        (self.domain, self.box), self.inner, self.tree = self.read_domain(domain, {}), inner, tree
        fit = isinstance(inner, list) and all(isinstance(name, str) and name.isidentifier() for name in inner)
        fit = fit and family is None and type(strict) is bool and not {*inner} & {*domain}
        need(fit, "family, inner or strict is none that is known")
        self.program = Program(self.core, {*inner, *domain})
        self.bounds = [(1, rational(bound), {1} if strict else {0, 1})]

    def check(self) -> Verdict:
        self.cover(self.tree, self.box)
        return self.verdict("boxes, each with its inner point, checked")

    def judge_leaf(self, rule: Any, box: Box) -> None:
        fit = isinstance(rule, list) and len(rule) == 3 and rule[0] == "at"
        need(fit, f"not a rule with an inner point: {rule!r:.60}")
        point = fields(rule[1], " ".join(self.inner), "an inner point")
        ends = {name: (rational(x), rational(x)) for name, x in zip(self.inner, point, strict=True)}
        self.judge(self.enclose(rule[2], {**box, **ends}, {1}))


class Gates(Certificate):
    """Every gate of K = 2 or 3 branches with one sharpness t > 0 is somewhere off by more than e.

    docs/certificates.md derives the rows: sums R(t) of C exp(t y), C = v (f(x) - m x - n - s e) - e abs(v)
    and y = w (x - h), over weights v at points x, for a term of rate w whose line in the gate is
    m x + n + s e. There is no gate within e if all rows are positive.
    """

    more = "variable family bound tree"

    def read(self, variable: Any, family: Any, bound: Any, tree: Any) -> None:
        self.name, self.bound, self.tree = variable, rational(bound), tree
        self.known: dict[Any, Any] = {}
        need(isinstance(variable, str) and self.bound >= 0, "variable is not a name, or the bound negative")
        self.program = Program(self.core, {variable})
        keys = "branches sharpness theta left right"
        branches, sharpness, theta, *ends = fields(family, keys, "the family")
        need(type(branches) is int and branches in (2, 3) and sharpness == "shared", "not a known family")
        need(theta is None or branches == 2, "a threshold is given for three branches")
        self.middle, self.shift = branches == 3, rational("0" if theta is None else theta)
        terms = []
        for side, end in zip((-1, 1), ends, strict=True):
            slope, intercept, free = fields(end, "slope intercept free", "an end of the family")
            m, n, rate = rational(slope), rational(intercept), side * rational(f"{branches - 1}/2")
            need(type(free) is bool, "free is not true or false")
            self.asymptote(side, m, n, free)
            terms.append([(rate, m, n + s * self.bound) for s in ((-1, 1) if free else (0,))])
        terms += [[(0, 0, 0)]] * self.middle
        self.rows = [*product(*terms)] if theta is not None else [(one,) for some in terms for one in some]

    def asymptote(self, side: int, m: Any, n: Any, free: bool) -> None:
        """The target minus m x + n must go to 0 far out, or at least stay bounded where n is given."""
        tails = Tails(self.field, FAR_OUT, side)
        line = tails.add(tails.mul(tails.number(m), tails.variable), tails.number(n))
        rest = tails.sub(self.evaluate(tails, {self.name: tails.variable}, order=100), line)
        fit = all(a > 0 or (a == 0 and k < (0 if free else 1)) for k, a in rest)
        need(fit, f"the target is not seen to approach its line at {'-oo' if side < 0 else 'oo'}")

    def check(self) -> Verdict:
        self.cover(self.tree, {"t": (rational("0"), None)})
        return self.verdict(f"boxes of t, {len(self.rows)} rows on each, checked")

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
        self.spent["work"] += 50 * len(terms)
        for c, y in terms:
            exponent = self.hull(min(y * lo, y * hi), max(y * lo, y * hi))
            total = field.add(total, field.mul(c, field.function(exponent, "exp")))
        return total
