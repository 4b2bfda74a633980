"""The kinds of certificates about one formula: range, integral, root, finite."""

# ruff: noqa: D102 - Certificate says what check, judge_tail and judge_leaf do

from __future__ import annotations

from itertools import pairwise, product
from math import ceil, floor, prod
from typing import Any

from gateproof.proofs_check.checker.algebra import Guided, Rejected
from gateproof.proofs_check.checker.boxes import BOTH, Box, Certificate, fields, need
from gateproof.proofs_check.checker.evaluate import Program, rational
from gateproof.proofs_check.checker.interval import INF, Interval
from gateproof.proofs_check.checker.jet import Jets
from gateproof.proofs_check.checker.tail import Tail, Tails

MAX_POINTS = 200_000


class Range(Certificate):
    """The values of the formula on its domain lie within the bounds."""

    keys = "domain conclusion tails tree witnesses"

    def check(self) -> str:
        _, conclusion, _, tree, witnesses = self.given
        self.read_bounds(conclusion)
        need(isinstance(witnesses, list) and (self.bounds or witnesses), "no bound and no list of witnesses")
        self.cover(tree, self.box)
        for witness in witnesses:
            self.witness(witness)
        return f"boxes, {len(witnesses)} witnesses checked"

    def judge_tail(self, tails: Tails, value: Tail) -> None:
        for bound, allowed in self.bounds.values():
            signs = tails.signs(tails.sub(value, tails.number(bound)))
            need(signs <= allowed, "the bound is not seen to hold")

    def judge_leaf(self, rule: Any, box: Box) -> None:
        # Without a bound both ends count: that the formula is defined on the box is claimed all the same.
        self.judge(self.enclose(rule, box, self.bounds.keys() or BOTH))

    def witness(self, witness: Any) -> None:
        """The value at an exact point of the domain lies where the witness says."""
        at, lower, upper = fields(witness, "at lower upper", "a witness")
        texts = fields(at, " ".join(self.domain), "a witness's point")
        point = dict(zip(self.domain, map(rational, texts), strict=True))
        for name, (lo, hi) in self.domain.items():
            inside = (lo is None or lo <= point[name]) and (hi is None or point[name] <= hi)
            need(inside, f"a witness outside the domain of {name}")
        low, high = self.exact(point)
        need(
            rational(lower) <= low and high <= rational(upper),
            "a value is not seen to be where a witness says",
        )


class Integral(Range):
    """The integral over the domain of the one variable lies within the bounds."""

    def check(self) -> str:
        _, conclusion, _, tree, witnesses = self.given
        need(len(self.domain) == 1 and witnesses == [], "an integral is over one variable, without witnesses")
        self.read_bounds(conclusion)
        need(self.bounds, "it says nothing: no bound")
        self.total = self.field.number(0)
        self.cover(tree, self.box)
        self.judge(self.total)
        return f"boxes checked, the integral is known within {float(self.total.hi - self.total.lo):.1e}"

    def plus(self, part: Interval, factor: Any) -> None:
        """One more part of the integral."""
        need(part.lo > -INF and part.hi < INF, "the integrand is not seen to be bounded")
        self.total = self.field.add(self.total, self.field.mul(part, factor))

    def judge_tail(self, tails: Tails, value: Tail) -> None:
        for (k, a), (lo, hi) in value.items():
            most = Interval(self.field.number(0).lo, self.mass(k, a, tails.cut).hi)
            self.plus(most, self.field.hull(min(lo, 0), max(hi, 0)))

    def judge_leaf(self, rule: Any, box: Box) -> None:
        ((name, (lo, hi)),) = box.items()
        match rule:
            case "natural":
                self.plus(self.enclose(rule, box), self.field.number(hi - lo))
            case ["taylor", order]:
                series = self.coefficients(order, name, box)
                need(order % 2 == 0, "a Taylor rule of odd order")
                for j, c in [*enumerate(series)][::2]:  # an even h^j gives 2 r^(j+1)/(j+1), an odd one 0
                    self.plus(c, self.field.number(2 * ((hi - lo) / 2) ** (j + 1) / (j + 1)))
            case _:
                raise Rejected(f"not a rule for a box of an integral: {rule!r:.60}")

    def mass(self, k: int, a: Any, cut: Any) -> Interval:
        """At least the integral of x^k exp(-a x) from the cut M on; it falls at the rate a - max(k, 0)/M."""
        field, rate = self.field, a - max(k, 0) / cut
        if a == 0 and k <= -2:
            return field.number(cut ** (k + 1) / (-k - 1))
        need(a > 0 and rate > 0, "the integral is not seen to be finite")
        decay = field.function(field.number(-a * cut), "exp")
        return field.mul(field.mul(field.power(field.number(cut), k), decay), field.number(1 / rate))


class Root(Certificate):
    """Each interval of a list holds one zero of a formula in one variable; complete: there are no others."""

    keys = "domain conclusion tails tree"

    def check(self) -> str:
        """The leaves must name just the roots of the list; in an incomplete one each has a change of sign."""
        _, conclusion, _, tree = self.given
        roots, complete = fields(conclusion, "roots complete", "conclusion")
        fit = isinstance(roots, list) and type(complete) is bool and len(self.domain) == 1
        need(fit, "roots is not a list, complete not true or false, or there is not one variable")
        listed = [tuple(map(rational, fields(root, "lo hi", "a root"))) for root in roots]
        line = [end for root in listed for end in root]
        fit = all(a < b or (a == b and i % 2 == 0) for i, (a, b) in enumerate(pairwise(line)))
        need(fit, "the roots are not ascending, disjoint intervals")
        ((self.name, (lo, hi)),) = self.box.items()
        if complete:
            self.found: set[tuple[Any, ...]] = set()
            self.cover(tree, self.box)
            need(sorted(self.found) == listed, "the roots are not those of the boxes")
            return f"boxes, {len(listed)} zeros checked, and that there are no others,"
        fit = line != [] and lo <= line[0] and line[-1] <= hi and tree is None
        need(fit, "an incomplete list has roots, between the cuts, and no tree")
        for root in listed:
            self.coefficients(1, self.name, {self.name: root})  # so that it is continuous there
            self.crossing(*root)
        return f"boxes, {len(listed)} intervals with at least one zero each checked"

    def judge_tail(self, tails: Tails, value: Tail) -> None:
        need(tails.signs(value) in ({1}, {-1}), "there may be a zero")

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
                need(lo <= c <= hi, "a zero outside its box")
                self.unlike_0(m, order, box)
                over, exact = Jets(self.field, m - 1), Jets(tails, m - 1)
                value = over.variable(self.field.hull(lo, hi)), exact.variable(tails.number(c))
                zeros = self.evaluate(Guided(over, exact), {self.name: value}, order)[1]
                need(zeros == exact.number(0), f"not seen to be a zero of multiplicity {m}")
                self.found.add((c, c))
            case ["monotone", order]:
                self.unlike_0(1, order, box)
                need(self.sign(lo) * self.sign(hi) == 1, "the ends of the box have not one sign")
            case _:
                need(0 not in self.field.signs(self.enclose(rule, box)), "there may be a zero")

    def sign(self, x: Any) -> int:
        """The sign of the value at x."""
        signs = self.field.signs(Interval(*self.exact({self.name: x})))
        need(len(signs) == 1, "the sign of a value is not seen")
        return signs.pop()

    def crossing(self, lo: Any, hi: Any) -> None:
        """A continuous formula must have a zero between two numbers, or at both if they are equal."""
        ends = self.sign(lo), self.sign(hi)
        zero = lo == hi and ends == (0, 0)
        need(zero or ends in ((-1, 1), (1, -1)), "no change of sign, and not exactly 0")

    def unlike_0(self, m: Any, order: Any, box: Box) -> None:
        """Derivative m must have one sign on the box; sum c_j h^j becomes sum j c_j h^(j-1), m times."""
        (lo, hi), series = box[self.name], self.coefficients(order, self.name, box)
        need(type(m) is int and 1 <= m <= order, f"not a derivative of a Taylor rule: {m!r:.60}")
        for _ in range(m):
            series = [self.field.mul(self.field.number(j), c) for j, c in enumerate(series)][1:]
        signs = self.field.signs(self.range_of(series, (hi - lo) / 2))
        need(0 not in signs, f"derivative {m} is not seen to have one sign")


class Finite(Certificate):
    """The bounds hold at every point with whole coordinates in finite ranges; each is evaluated."""

    keys = "domain conclusion"

    def check(self) -> str:
        """Names become numbers, so that a power of one is a whole power and rational arithmetic is exact."""
        self.read_bounds(self.given[1])
        need(self.bounds, "it says nothing: no bound")
        sides = [(ceil(lo), floor(hi)) for lo, hi in self.box.values()]
        count = prod(hi - lo + 1 for lo, hi in sides)
        need(0 < count <= MAX_POINTS, f"it has no point, or more than {MAX_POINTS}")
        for point in product(*(range(lo, hi + 1) for lo, hi in sides)):
            self.located(dict(zip(self.domain, zip(point, point, strict=True), strict=True)), self.at, point)
        return f"boxes, {count} points checked"

    def at(self, point: tuple[int, ...]) -> None:
        self.spend(10 * self.size)
        self.program = Program(self.core, {}, dict(zip(self.domain, point, strict=True)))
        self.judge(self.exact({}))
