"""The kinds of certificates about one formula: range, integral, root, finite."""

# ruff: noqa: D102 - Certificate says what read, check and judge_leaf do

from __future__ import annotations

from itertools import pairwise, product
from math import ceil, floor, prod
from typing import Any

from gateproof.proofs_check.checker.algebra import Guided, Rejected
from gateproof.proofs_check.checker.boxes import Box, Certificate, Verdict, fields, need
from gateproof.proofs_check.checker.evaluate import Program, rational
from gateproof.proofs_check.checker.interval import INF, Interval
from gateproof.proofs_check.checker.jet import Jets
from gateproof.proofs_check.checker.tail import Tails

MAX_POINTS = 200_000


class Range(Certificate):
    """The values of the formula on its domain lie within the bounds."""

    more = "domain conclusion tails tree witnesses"

    def read(self, domain: Any, conclusion: Any, tails: Any, tree: Any, witnesses: Any) -> None:
        (self.domain, self.box), self.tree = self.read_domain(domain, tails), tree
        self.program, self.witnesses = Program(self.core, self.domain), witnesses
        self.read_bounds(conclusion)
        fit = isinstance(witnesses, list) and bool(self.bounds or witnesses)
        need(fit, "it says nothing: no bound and no list of witnesses")

    def check(self) -> Verdict:
        tails = self.tails(self.domain, self.box)
        for where, algebra, value in tails:
            for _, bound, allowed in self.bounds:
                held = algebra.signs(algebra.sub(value, algebra.number(bound))) <= allowed
                need(held, f"the bound is not seen to hold on {where}")
        self.cover(self.tree, self.box)
        for witness in self.witnesses:
            self.witness(witness)
        return self.verdict(f"boxes, {len(tails)} tails, {len(self.witnesses)} witnesses checked")

    def judge_leaf(self, rule: Any, box: Box) -> None:
        self.judge(self.enclose(rule, box, {side for side, _, _ in self.bounds}))

    def witness(self, witness: Any) -> None:
        """The value at an exact point of the domain lies where the witness says."""
        at, lower, upper = fields(witness, "at lower upper", "a witness")
        point = dict(zip(self.domain, fields(at, " ".join(self.domain), "a witness's point"), strict=True))
        for name, (lo, hi) in self.domain.items():
            x = point[name] = rational(point[name])
            inside = (lo is None or lo <= x) and (hi is None or x <= hi)
            need(inside, f"a witness outside the domain of {name}")
        low, high = self.exact(point)
        held = rational(lower) <= low and high <= rational(upper)
        need(held, "the value at a witness is not seen to lie in its bounds")


class Integral(Range):
    """The integral over the domain of the one variable lies within the bounds."""

    def check(self) -> Verdict:
        fit = len(self.domain) == 1 and not self.witnesses
        need(fit, "an integral is over one variable, without witnesses")
        self.total = self.field.number(0)
        for where, tails, value in self.tails(self.domain, self.box):
            for (k, a), (lo, hi) in value.items():
                most = Interval(self.field.number(0).lo, self.mass(k, a, tails.cut, where).hi)
                self.plus(self.field.mul(self.hull(min(lo, 0), max(hi, 0)), most))
        self.cover(self.tree, self.box)
        self.judge(self.total)
        width = float(self.total.hi - self.total.lo)
        return self.verdict(f"boxes checked, the integral is known within {width:.1e}")

    def plus(self, part: Interval) -> None:
        """One more part of the integral."""
        need(part.lo > -INF and part.hi < INF, "the integrand is not seen to be bounded")
        self.total = self.field.add(self.total, part)

    def judge_leaf(self, rule: Any, box: Box) -> None:
        ((name, (lo, hi)),) = box.items()
        field, width = self.field, hi - lo
        match rule:
            case "natural":
                self.plus(field.mul(self.enclose(rule, box), field.number(width)))
            case ["taylor", order] if self.fit(order) and order % 2 == 0:  # h^j gives 2 r^(j+1)/(j+1) or 0
                for j, c in enumerate(self.coefficients(order, name, box)):
                    if j % 2 == 0:
                        self.plus(field.mul(c, field.number(2 * (width / 2) ** (j + 1) / (j + 1))))
            case _:
                raise Rejected(f"not a rule for a box of an integral: {rule!r:.60}")

    def mass(self, k: int, a: Any, cut: Any, where: str) -> Interval:
        """At least the integral of x^k exp(-a x) from the cut M on; it falls at the rate a - max(k, 0)/M."""
        field, rate = self.field, a - max(k, 0) / cut
        if a == 0 and k <= -2:
            return field.number(cut ** (k + 1) / (-k - 1))
        need(a > 0 and rate > 0, f"the integral is not seen to be finite on {where}")
        decay = field.function(field.number(-a * cut), "exp")
        return field.mul(field.mul(field.power(field.number(cut), k), decay), field.number(1 / rate))


class Root(Certificate):
    """Each interval of a list holds one zero of a formula in one variable; complete: there are no others."""

    more = "domain conclusion tails tree"

    def read(self, domain: Any, conclusion: Any, tails: Any, tree: Any) -> None:
        (self.domain, self.box), self.tree = self.read_domain(domain, tails), tree
        roots, self.complete = fields(conclusion, "roots complete", "conclusion")
        fit = isinstance(roots, list) and type(self.complete) is bool and len(self.domain) == 1
        need(fit, "roots is not a list, complete not true or false, or there is not one variable")
        self.program, ((self.name, (lo, hi)),) = Program(self.core, self.domain), self.box.items()
        self.roots = [tuple(map(rational, fields(root, "lo hi", "a root"))) for root in roots]
        line = [end for root in self.roots for end in root]
        fit = all(a < b or (a == b and i % 2 == 0) for i, (a, b) in enumerate(pairwise(line)))
        need(fit, "the roots are not ascending, disjoint intervals")
        if not self.complete:
            fit = line != [] and lo <= line[0] and line[-1] <= hi and tree is None
            need(fit, "an incomplete list has roots, between the cuts, and no tree")

    def check(self) -> Verdict:
        """The leaves must name just the roots of the list; in an incomplete one each has a change of sign."""
        if not self.complete:
            for root in self.roots:
                self.coefficients(1, self.name, {self.name: root})  # so that it is continuous there
                self.crossing(*root)
            return self.verdict(f"boxes, {len(self.roots)} intervals with at least one zero each checked")
        for where, tails, value in self.tails(self.domain, self.box):
            need(tails.signs(value) in ({1}, {-1}), f"there may be a zero on {where}")
        self.found: set[tuple[Any, Any]] = set()
        self.cover(self.tree, self.box)
        need(sorted(self.found) == self.roots, "the roots are not those of the boxes")
        return self.verdict(f"boxes, {len(self.roots)} zeros checked, and that there are no others,")

    def judge_leaf(self, rule: Any, box: Box) -> None:
        """The box holds no zero, or just the one that its rule names."""
        lo, hi = box[self.name]
        match rule:
            case ["root", start, end, order]:
                root = rational(start), rational(end)
                need(lo <= root[0] <= root[1] <= hi, "a root outside its box")
                self.unlike_0(1, order, box)
                self.crossing(*root)
                self.found.add(root)
            case ["zero", at, m, order]:
                c, tails = rational(at), Tails(self.field, 1, 1)
                need(
                    lo <= c <= hi and type(m) is int and m >= 1, "a zero outside its box, or no multiplicity"
                )
                self.unlike_0(m, order, box)
                over, exact = Jets(self.field, m - 1), Jets(tails, m - 1)
                value = over.variable(self.hull(lo, hi)), exact.variable(tails.number(c))
                zeros = self.evaluate(Guided(over, exact), {self.name: value}, order)[1]
                need(zeros == exact.number(0), f"not seen to be a zero of multiplicity {m}")
                self.found.add((c, c))
            case ["monotone", order]:
                self.unlike_0(1, order, box)
                ends = [self.sign(x) for x in (lo, hi)]
                need(ends in ([{1}] * 2, [{-1}] * 2), "the ends of the box are not seen to have one sign")
            case _:
                need(0 not in self.field.signs(self.enclose(rule, box)), "there may be a zero")

    def sign(self, x: Any) -> set[int]:
        """The signs that the value at x may have."""
        return self.field.signs(Interval(*self.exact({self.name: x})))

    def crossing(self, lo: Any, hi: Any) -> None:
        """A continuous formula must have a zero between two numbers, or at both if they are equal."""
        ends = [self.sign(lo), self.sign(hi)]
        fit = ends in ([{-1}, {1}], [{1}, {-1}]) or (lo == hi and ends[0] == {0})
        need(fit, "no change of sign, and not exactly 0")

    def unlike_0(self, m: int, order: Any, box: Box) -> None:
        """Derivative m must have one sign on the box; sum c_j h^j becomes sum j c_j h^(j-1), m times."""
        need(self.fit(order) and m <= order, f"not an order for derivative {m}: {order!r:.60}")
        (lo, hi), series = box[self.name], self.coefficients(order, self.name, box)
        for _ in range(m):
            series = [self.field.mul(self.field.number(j), c) for j, c in enumerate(series)][1:]
        signs = self.field.signs(self.range_of(series, (hi - lo) / 2))
        need(0 not in signs, f"derivative {m} is not seen to have one sign")


class Finite(Certificate):
    """The bounds hold at every point with whole coordinates in finite ranges; each is evaluated."""

    more = "domain conclusion"

    def read(self, domain: Any, conclusion: Any) -> None:
        self.domain, _ = self.read_domain(domain, {})  # an infinite side would need a cut
        self.read_bounds(conclusion)
        need(bool(self.bounds), "it says nothing: no bound")

    def check(self) -> Verdict:
        """Names become numbers, so that a power of one is a whole power and rational arithmetic is exact."""
        sides = [(ceil(lo), floor(hi)) for lo, hi in self.domain.values()]
        count = prod(hi - lo + 1 for lo, hi in sides)
        need(0 < count <= MAX_POINTS, f"it has no point, or more than {MAX_POINTS}")
        for point in product(*(range(lo, hi + 1) for lo, hi in sides)):
            place = dict(zip(self.domain, point, strict=True))
            try:
                self.program = Program(self.core, {}, place)
                self.judge(self.exact({}))
            except Rejected as reason:
                raise Rejected(f"{reason} (at {place!s:.200})") from None
        return self.verdict(f"boxes, {count} points checked")
