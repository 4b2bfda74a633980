"""Range certificates: the bounds hold on every box and every tail.

Everything in the document is distrusted, work is capped by counts, and what goes wrong is a rejection.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

from gateproof.proofs_check.checker.algebra import Algebra, Guided, Pair, Rejected
from gateproof.proofs_check.checker.evaluate import Program, rational
from gateproof.proofs_check.checker.interval import INF, Interval, Intervals
from gateproof.proofs_check.checker.jet import Jets
from gateproof.proofs_check.checker.tail import Tails

BITS, ORDERS = range(32, 4501), range(1, 65)  # that a certificate may ask for
MAX_LEAVES, MAX_WORK = 200_000, 100_000_000  # the latter about one microsecond each

Box = dict[str, tuple[Any, Any]]


@dataclass(frozen=True)
class Verdict:
    """``reason`` says why not, or what was checked; ``boxes`` counts the leaves of the trees.

    ``conclusion_checked`` is False for a composite: its conclusion is a text, which none can judge.
    """

    accepted: bool
    reason: str
    kind: str = ""
    boxes: int = 0
    conclusion_checked: bool = True


def need(condition: bool, reason: str) -> None:
    """Reject with a reason unless the condition holds."""
    if not condition:
        raise Rejected(reason)


def fields(item: Any, names: str, what: str) -> list[Any]:
    """The values of exactly these keys."""
    need(isinstance(item, dict), f"{what} is not an object")
    wanted = names.split()
    need({*item} <= {*wanted}, f"{what} has unknown keys: {sorted({*item} - {*wanted})!r:.60}")
    need({*item} >= {*wanted}, f"{what} lacks keys: {sorted({*wanted} - {*item})}")
    return [item[name] for name in wanted]


class Range:
    """One range certificate; reading it checks its shape."""

    def __init__(self, document: Any, spent: Counter[str]) -> None:
        names = "kind version text core formula_hash bits domain conclusion tails tree witnesses"
        _, _, text, core, code, self.bits, *rest = fields(document, names, "the certificate")
        (domain, conclusion, tails, self.tree, self.witnesses), self.spent = rest, spent
        self.spent, bits = spent, self.bits
        fit = isinstance(text, str) and isinstance(self.witnesses, list)
        need(fit, "text is not a text, or witnesses is not a list")
        need(type(bits) is int and bits in BITS, f"bits is not from {BITS[0]} to {BITS[-1]}")
        compact = json.dumps(core, separators=(",", ":")).encode()
        need(hashlib.sha256(compact).hexdigest() == code, "formula_hash is not the hash of core")
        need(isinstance(domain, dict) and isinstance(tails, dict), "domain or tails is not an object")
        fit = {*tails} <= {*domain} and all(name.isidentifier() and len(name) < 60 for name in domain)
        need(fit, "a name in the domain is not a name, or one in tails not in the domain")
        self.field, self.program = Intervals(self.bits), Program(core, domain)
        keys = "lower lower_strict upper upper_strict"
        lower, low_strict, upper, up_strict = fields(conclusion, keys, "conclusion")
        need(type(low_strict) is type(up_strict) is bool, "strictness is not true or false")
        # Each bound as (sign, b, strict): sign * value >= b, or > b.
        given = (1, lower, low_strict), (-1, upper, up_strict)
        self.bounds = [(s, s * rational(b), strict) for s, b, strict in given if b is not None]
        need(bool(self.bounds or self.witnesses), "it says nothing: no bound and no witness")
        self.domain: Box = {}
        self.box: Box = {}
        for name, ends in domain.items():
            lo, hi = fields(ends, "lo hi", f"the domain of {name}")
            minus, plus = fields(tails.get(name, {"minus": None, "plus": None}), "minus plus", "tails")
            fit = (lo == "-oo") is not (minus is None) and (hi == "oo") is not (plus is None)
            need(fit, f"{name} needs a cut on each infinite side, and only there")
            low, high = None if lo == "-oo" else rational(lo), None if hi == "oo" else rational(hi)
            left, right = rational(lo if minus is None else minus), rational(hi if plus is None else plus)
            need(left <= right, f"the ends or cuts of {name} are reversed")
            self.domain[name], self.box[name] = (low, high), (left, right)

    def verdict(self) -> Verdict:
        """Check everything."""
        sides = [(name, i) for name in self.domain for i in (0, 1) if self.domain[name][i] is None]
        for name, i in sides:
            self.tail(name, 2 * i - 1, (2 * i - 1) * self.box[name][i])
        self.cover()
        for witness in self.witnesses:
            self.witness(witness)
        reason = f"{self.spent['boxes']} boxes, {len(sides)} tails, {len(self.witnesses)} witnesses checked"
        return Verdict(True, f"{reason} with {self.bits} bits", "range", self.spent["boxes"])

    def evaluate(self, algebra: Algebra, values: dict[str, Any], order: int = 0) -> Any:
        """The formula's value, within a budget of work for all evaluations."""
        self.spent["work"] += len(self.program.steps) * (order + 2) ** 2 * (1 + self.bits // 256) ** 2
        need(self.spent["work"] <= MAX_WORK, "it takes more work than the checker's budget")
        return self.program.evaluate(algebra, values)

    def tail(self, name: str, side: int, start: Any) -> None:
        """The bounds for x >= start, or for x <= -start."""
        where = f"the {'right' if side > 0 else 'left'} tail of {name}"
        fit = 1 <= start < 2**64 and start.denominator < 2**64
        need(fit, f"{where} starts nearer to 0 than 1 or too far out")
        tails, others = Tails(self.field, start, side), {**self.domain}
        others.pop(name)
        fit = not any(end is None for ends in others.values() for end in ends)
        need(fit, f"{where} is not the tail of the only name with an infinite domain")
        values = {other: tails.between(*ends) for other, ends in others.items()}
        self.judge_tail(where, tails, self.evaluate(tails, {**values, name: tails.variable}, order=100))

    def judge_tail(self, where: str, tails: Tails, value: Any) -> None:
        """The bounds must hold on a tail."""
        for sign, bound, strict in self.bounds:
            spare = tails.sub(value if sign > 0 else tails.neg(value), tails.number(bound))
            held = tails.signs(spare) <= ({1} if strict else {0, 1})
            need(held, f"the bound is not seen to hold on {where}")

    def cover(self) -> None:
        """Every leaf of the tree, whose boxes fill the box by construction."""
        todo = [(self.tree, self.box)]
        while todo:
            tree, box = todo.pop()
            match tree:
                case ["leaf", rule]:
                    self.leaf(rule, box)
                case ["split", str(name), at, left, right] if name in box:
                    (lo, hi), cut = box[name], rational(at)
                    need(lo < cut < hi, f"a split of {name} at {at:.40} is not inside its box")
                    todo += [(left, {**box, name: (lo, cut)}), (right, {**box, name: (cut, hi)})]
                case _:
                    raise Rejected(f"not a tree of boxes: {tree!r:.60}")

    def leaf(self, rule: Any, box: Box) -> None:
        """One box, with its ends in whatever is wrong with it."""
        self.spent["boxes"] += 1
        need(self.spent["boxes"] <= MAX_LEAVES, f"more than {MAX_LEAVES} boxes")
        try:
            self.judge_leaf(rule, box)
        except Rejected as reason:
            ends = ", ".join(f"{name} in [{lo!s:.30}, {hi!s:.30}]" for name, (lo, hi) in box.items())
            raise Rejected(f"{reason} (box {ends})") from None

    def judge_leaf(self, rule: Any, box: Box) -> None:
        """The rule must prove the bounds on the box."""
        value = self.enclose(rule, box, {sign for sign, _, _ in self.bounds})
        for sign, bound, strict in self.bounds:
            low = value.lo if sign > 0 else self.field.neg(value).lo
            need(low > bound or (low == bound and not strict), "the bound is not seen to hold")

    def enclose(self, rule: Any, box: Box, sides: set[int]) -> Interval:
        """The values on the box, by a rule; only the ends of the sides (1: lower, -1: upper) must be good."""
        field = self.field
        match rule:
            case "natural":
                value: Interval = self.evaluate(field, {name: self.hull(*ends) for name, ends in box.items()})
                return value
            case ["taylor", order] if len(box) == 1:
                return self.enclose(["taylor", order, *box], box, sides)
            case ["taylor", order, str(name)] if self.fit(order) and name in box:
                lo, hi = box[name]
                return self.range_of(self.coefficients(order, name, box), (hi - lo) / 2)
            case "mean":  # f(x) - f(m) = sum of d f/d NAME times (x_NAME - m_NAME), one name moved at a time
                total = self.enclose(
                    "natural", {name: ((lo + hi) / 2,) * 2 for name, (lo, hi) in box.items()}, sides
                )
                for name, (lo, hi) in box.items():
                    step = self.hull((lo - hi) / 2, (hi - lo) / 2)
                    total = field.add(total, field.mul(self.coefficients(1, name, box)[1], step))
                return total
            case ["bounds", first, second]:
                low = self.enclose(first, box, {1}).lo if 1 in sides else -INF
                return Interval(low, self.enclose(second, box, {-1}).hi if -1 in sides else INF)
            case ["face", str(name), inner] if name in box:
                signs = field.signs(self.coefficients(1, name, box)[1])
                need(len(signs - {0}) <= 1, f"the formula is not seen to be monotone in {name}")
                lo, hi = box[name] if -1 not in signs else box[name][::-1]
                low = self.enclose(inner, {**box, name: (lo, lo)}, {1}).lo if 1 in sides else -INF
                high = self.enclose(inner, {**box, name: (hi, hi)}, {-1}).hi if -1 in sides else INF
                return Interval(low, high)
        raise Rejected(f"not a rule for a box: {rule!r:.60}")

    def fit(self, order: Any) -> bool:
        """Whether it is an order for a Taylor rule."""
        return type(order) is int and order in ORDERS

    def hull(self, lo: Any, hi: Any) -> Interval:
        """An interval that holds both rationals."""
        return Interval(self.field.number(lo).lo, self.field.number(hi).hi)

    def coefficients(self, order: int, name: str, box: Box) -> list[Interval]:
        """Taylor coefficients in one name: below the order at its midpoint, over the box at it."""
        over, at = Jets(self.field, order), Jets(self.field, order - 1)
        values = {}
        for other, ends in box.items():
            whole, middle = self.hull(*ends), self.field.number(sum(ends) / 2)
            here, there = over.variable(whole), at.variable(middle)
            values[other] = Pair(here, there) if other == name else Pair(over.fixed(whole), at.fixed(whole))
        found = self.evaluate(Guided(over, at), values, order)
        return [*found.second, found.first[order]]

    def range_of(self, coefficients: list[Interval], radius: Any) -> Interval:
        """The range of a polynomial for abs(h) <= r; c_0 + c_1 h + c_2 h^2 is bounded jointly."""
        field, step, size = self.field, self.hull(-radius, radius), self.field.number(radius)
        start, slope, bend = [*coefficients, field.number(0), field.number(0)][:3]
        for j, c in enumerate(coefficients[3:], 3):
            start = field.add(start, field.mul(c, field.power(step, j)))
        least = field.neg(self.peak(field.neg(start), field.neg(slope), field.neg(bend), size))
        return Interval(least.lo, self.peak(start, slope, bend, size).hi)

    def peak(self, start: Interval, slope: Interval, bend: Interval, radius: Interval) -> Interval:
        """Above every a + b h + c h^2 for abs(h) <= r, in its upper end.

        With s = abs(h), that is at most a + b s + c s^2 for the largest a, abs(b) and c. If c < 0 this is at
        most a + b^2/(-4 c) for every s; it rises on [0, r] if c >= 0 or b >= -2 c r.
        """
        field, steepest = self.field, max(slope.hi, self.field.neg(slope).hi)
        if not max(steepest, bend.hi) < INF:
            return Interval(-INF, INF)
        b, c = Interval(steepest, steepest), Interval(bend.hi, bend.hi)
        if c.hi < 0 and b.hi < field.neg(field.mul(field.add(c, c), radius)).hi:
            return field.add(start, field.div(field.mul(b, b), field.neg(field.mul(field.number(4), c))))
        return field.add(start, field.mul(field.add(b, field.mul(c, radius)), radius))

    def witness(self, witness: Any) -> None:
        """The value at an exact point of the domain lies where the witness says."""
        at, lower, upper = fields(witness, "at lower upper", "a witness")
        point = dict(zip(self.domain, fields(at, " ".join(self.domain), "a witness's point"), strict=True))
        for name, (lo, hi) in self.domain.items():
            x = point[name] = rational(point[name])
            inside = (lo is None or lo <= x) and (hi is None or x <= hi)
            need(inside, f"a witness outside the domain of {name}")
        low, high = self.enclose("natural", {name: (x, x) for name, x in point.items()}, {1, -1})
        held = rational(lower) <= low and high <= rational(upper)
        need(held, "the value at a witness is not seen to lie in its bounds")
