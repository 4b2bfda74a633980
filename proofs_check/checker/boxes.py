"""What all kinds of certificates share: a formula, boxes, and rules that enclose the formula on a box.

Everything in the document is distrusted, work is capped by counts, and what goes wrong is a rejection.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from typing import Any

from gateproof.proofs_check.checker.algebra import Algebra, Guided, Rejected
from gateproof.proofs_check.checker.evaluate import Program, rational
from gateproof.proofs_check.checker.interval import INF, Interval, Intervals
from gateproof.proofs_check.checker.jet import Jets
from gateproof.proofs_check.checker.tail import Tail, Tails

BITS, ORDERS = range(32, 4501), range(1, 65)  # that a certificate may ask for
MAX_LEAVES, MAX_WORK = 200_000, 500_000_000  # the latter some tenths of a microsecond each
BOTH = frozenset({1, -1})

Box = Mapping[str, tuple[Any, Any]]  # rational ends; None: infinite on that side


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


class Certificate:
    """A certificate of one formula; a kind says how to read and check its further keys, and judge a leaf."""

    more = ""
    program: Program
    read: Callable[..., None]
    judge_leaf: Callable[[Any, Box], None]
    check: Callable[[], Verdict]

    def __init__(self, document: Any, spent: Counter[str]) -> None:
        names = f"kind version text core formula_hash bits {self.more}"
        self.kind, _, text, self.core, code, bits, *more = fields(document, names, "the certificate")
        need(
            isinstance(text, str) and type(bits) is int and bits in BITS, f"bits is not in {BITS}, or no text"
        )
        compact = json.dumps(self.core, separators=(",", ":")).encode()
        need(hashlib.sha256(compact).hexdigest() == code, "formula_hash is not the hash of core")
        self.bits, self.field, self.spent, self.start = bits, Intervals(bits), spent, spent["boxes"]
        self.bounds: list[tuple[int, Any, set[int]]] = []
        self.read(*more)

    def verdict(self, reason: str) -> Verdict:
        """What to say of an accepted certificate."""
        boxes = self.spent["boxes"] - self.start
        return Verdict(True, f"{boxes} {reason} with {self.bits} bits", self.kind, self.spent["boxes"])

    def read_domain(self, domain: Any, tails: Any) -> tuple[Box, Box]:
        """The ranges of the names, and the box between the cuts, which stand on the infinite sides."""
        fit = isinstance(domain, dict) and isinstance(tails, dict) and {*tails} <= {*domain}
        need(fit, "the domain is not an object, or tails not of names in it")
        whole, inner = {}, {}
        for name, ends in domain.items():
            need(name.isidentifier() and len(name) < 60, "a name in the domain is not a name")
            given = zip(fields(ends, "lo hi", f"the domain of {name}"), ("-oo", "oo"), strict=True)
            sides = [None if end == infinite else rational(end) for end, infinite in given]
            cuts = fields(tails.get(name, {"minus": None, "plus": None}), "minus plus", "tails")
            fit = all((end is None) is not (cut is None) for end, cut in zip(sides, cuts, strict=True))
            need(fit, f"{name} needs a cut on each infinite side, and only there")
            lo, hi = (rational(cut) if end is None else end for end, cut in zip(sides, cuts, strict=True))
            need(lo <= hi, f"the ends or cuts of {name} are reversed")
            whole[name], inner[name] = (sides[0], sides[1]), (lo, hi)
        return whole, inner

    def read_bounds(self, conclusion: Any) -> None:
        """Each bound as its side (1: lower, -1: upper), number, and the signs allowed for value - number."""
        sides = fields(conclusion, "lower lower_strict upper upper_strict", "conclusion")
        for side, bound, strict in ((1, *sides[:2]), (-1, *sides[2:])):
            need(type(strict) is bool, "strictness is not true or false")
            if bound is not None:
                self.bounds.append((side, rational(bound), {side} if strict else {0, side}))

    def judge(self, value: tuple[Any, Any]) -> None:
        """The bounds must hold for all between two numbers."""
        for side, bound, allowed in self.bounds:
            end = value[0] if side > 0 else value[1]
            need((end > bound) - (end < bound) in allowed, "the bound is not seen to hold")

    def evaluate(self, algebra: Algebra, values: Mapping[str, Any], order: int = 0) -> Any:
        """The formula's value, within a budget of work for all evaluations."""
        program = self.program
        self.spent["work"] += len(program.steps) * (order + 2) ** 2 * (4 + self.bits // 64)
        need(self.spent["work"] <= MAX_WORK, "it takes more work than the checker's budget")
        return program.evaluate(algebra, values)

    def exact(self, point: Mapping[str, Any]) -> tuple[Any, Any]:
        """Bounds of the value at a rational point, equal where rational arithmetic gives it."""
        tails = Tails(self.field, 1, 1)
        try:
            value = self.evaluate(tails, {name: tails.number(x) for name, x in point.items()})
            need({*value} <= {(0, 0)}, "a constant is not constant")
        except Rejected:
            return self.enclose("natural", {name: (x, x) for name, x in point.items()})
        found: tuple[Any, Any] = value.get((0, 0), (0, 0))
        return found

    def tails(self, domain: Box, box: Box) -> list[tuple[str, Tails, Tail]]:
        """The formula's expansion on each infinite side of the domain, beyond the box."""
        found = []
        for name, ends in domain.items():
            for side, end, start in zip((-1, 1), ends, box[name], strict=True):
                if end is None:
                    where = f"the {'right' if side > 0 else 'left'} tail of {name}"
                    others = {other: ends for other, ends in domain.items() if other != name}
                    fit = not any(end is None for ends in others.values() for end in ends)
                    need(fit, f"{where} is not of the only name with an infinite domain")
                    fit = 1 <= side * start < 2**64 and start.denominator < 2**64
                    need(fit, f"{where} starts nearer to 0 than 1 or too far out")
                    tails = Tails(self.field, side * start, side)
                    values = {other: tails.term(*ends) for other, ends in others.items()}
                    value = self.evaluate(tails, {**values, name: tails.variable}, order=100)
                    found.append((where, tails, value))
        return found

    def cover(self, tree: Any, box: Box) -> None:
        """Every leaf of the tree, whose boxes fill the box by construction."""
        todo = [(tree, box)]
        while todo:
            tree, box = todo.pop()
            match tree:
                case ["leaf", rule]:
                    self.leaf(rule, box)
                case ["split", at, left, right] if len(box) == 1:
                    todo.append((["split", *box, at, left, right], box))
                case ["split", str(name), at, left, right] if name in box:
                    (lo, hi), cut = box[name], rational(at)
                    inside = (lo is None or lo < cut) and (hi is None or cut < hi)
                    need(inside, f"a split of {name} at {at:.40} is not inside its box")
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

    def enclose(self, rule: Any, box: Box, sides: Set[int] = BOTH) -> Interval:
        """The values on the box, by a rule; only the ends of the sides (1: lower, -1: upper) must be good."""
        field = self.field
        match rule:
            case "natural":
                value: Interval = self.evaluate(field, self.hulls(box))
                return value
            case ["taylor", order] if len(box) == 1:
                return self.enclose(["taylor", order, *box], box)
            case ["taylor", order, str(name)] if self.fit(order) and name in box:
                lo, hi = box[name]
                return self.range_of(self.coefficients(order, name, box), (hi - lo) / 2)
            case "mean":  # f(x) - f(m) is a sum of d f/d NAME (x_NAME - m_NAME), one name moved after another
                middle = {name: ((lo + hi) / 2, (lo + hi) / 2) for name, (lo, hi) in box.items()}
                total = self.enclose("natural", middle)
                for name, (lo, hi) in box.items():
                    slope, step = self.coefficients(1, name, box)[1], self.hull((lo - hi) / 2, (hi - lo) / 2)
                    total = field.add(total, field.mul(slope, step))
                return total
            case ["bounds", lower, upper]:
                low = self.enclose(lower, box, {1}).lo if 1 in sides else -INF
                return Interval(low, self.enclose(upper, box, {-1}).hi if -1 in sides else INF)
            case ["face", str(name), inner] if name in box:
                signs = field.signs(self.coefficients(1, name, box)[1])
                need(not signs >= BOTH, f"the formula is not seen to be monotone in {name}")
                lo, hi = box[name][:: -1 if -1 in signs else 1]  # where it is least, and where it is most
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

    def hulls(self, box: Box) -> dict[str, Interval]:
        """The box in intervals."""
        return {name: self.hull(*ends) for name, ends in box.items()}

    def coefficients(self, order: int, name: str, box: Box) -> list[Interval]:
        """Taylor coefficients in one name: below the order at its midpoint, over the box at it."""
        over, at = Jets(self.field, order), Jets(self.field, order - 1)
        values = {other: (over.fixed(x), at.fixed(x)) for other, x in self.hulls(box).items()}
        values[name] = (
            over.variable(self.hull(*box[name])),
            at.variable(self.field.number(sum(box[name]) / 2)),
        )
        first, second = self.evaluate(Guided(over, at), values, order)
        return [*second, first[order]]

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
