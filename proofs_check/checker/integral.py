"""Integral certificates: the bounds are on the integral over the domain of the one variable.

Taylor boxes are integrated term by term: over a box of radius r, h^j gives 2 r^(j+1)/(j+1) for even j and
0 for odd j; the order must be even. On a natural box the range counts times the width. On a tail from M on

    integral of x^k exp(-a x) <= M^k exp(-a M)/(a - max(k, 0)/M)  for a > max(k, 0)/M,
                              =  M^(k+1)/(-k-1)                   for a = 0, k <= -2

since x^k exp(-a x) falls at that rate or faster.
"""

from __future__ import annotations

from typing import Any

from gateproof.proofs_check.checker.algebra import Rejected
from gateproof.proofs_check.checker.boxes import Range, Verdict
from gateproof.proofs_check.checker.interval import INF, Interval
from gateproof.proofs_check.checker.tail import Tails


class Integral(Range):
    """A certificate with the keys of a range certificate, without witnesses."""

    def verdict(self) -> Verdict:
        """Add up everything, then compare with the bounds."""
        if len(self.domain) != 1 or self.witnesses:
            raise Rejected("an integral is over one variable, without witnesses")
        self.total, start = self.field.number(0), self.spent["boxes"]
        ((name, ends),) = self.domain.items()
        for i in (0, 1):
            if ends[i] is None:
                self.tail(name, 2 * i - 1, (2 * i - 1) * self.box[name][i])
        self.cover()
        for sign, bound, strict in self.bounds:
            low = self.total.lo if sign > 0 else self.field.neg(self.total).lo
            if not (low > bound or (low == bound and not strict)):
                raise Rejected("the bound on the integral is not seen to hold")
        boxes, width = self.spent["boxes"] - start, float(self.total.hi - self.total.lo)
        reason = f"{boxes} boxes checked with {self.bits} bits; the integral is known within {width:.1e}"
        return Verdict(True, reason, "integral", self.spent["boxes"])

    def plus(self, part: Interval) -> None:
        """One more part of the integral."""
        if not -INF < part.lo <= part.hi < INF:
            raise Rejected("the integrand is not seen to be bounded")
        self.total = self.field.add(self.total, part)

    def judge_leaf(self, rule: Any, box: dict[str, tuple[Any, Any]]) -> None:
        """The part over one box."""
        ((name, (lo, hi)),) = box.items()
        field, width = self.field, hi - lo
        match rule:
            case "natural":
                self.plus(field.mul(self.enclose("natural", box, {1, -1}), field.number(width)))
            case ["taylor", order] if self.fit(order) and order % 2 == 0:
                for j, c in enumerate(self.coefficients(order, name, box)):
                    if j % 2 == 0:
                        self.plus(field.mul(c, field.number(2 * (width / 2) ** (j + 1) / (j + 1))))
            case _:
                raise Rejected(f"not a rule for a box of an integral: {rule!r:.60}")

    def judge_tail(self, where: str, tails: Tails, value: Any) -> None:
        """The part over one tail."""
        for (k, a), (lo, hi) in value.items():
            size, rate = self.mass(k, a, tails.cut, where), self.hull(min(lo, 0), max(hi, 0))
            self.plus(self.field.mul(rate, Interval(self.field.number(0).lo, size.hi)))

    def mass(self, k: int, a: Any, cut: Any, where: str) -> Interval:
        """At least the integral of x^k exp(-a x) from the cut on."""
        field, rate = self.field, a - max(k, 0) / cut
        if a == 0 and k <= -2:
            return field.number(cut ** (k + 1) / (-k - 1))
        if a <= 0 or rate <= 0:
            raise Rejected(f"the integral is not seen to be finite on {where}")
        decay = field.function(field.number(-a * cut), "exp")
        return field.mul(field.mul(field.power(field.number(cut), k), decay), field.number(1 / rate))
