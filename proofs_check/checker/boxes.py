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


def need(condition: object, reason: str) -> None:
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
    """A certificate of one formula; a kind says which further keys it has, and what must hold of them.

    ``check`` says what was checked; ``judge_tail`` gets the formula's expansion on an infinite side.
    """

    keys = ""
    check: Callable[[], str]
    judge_leaf: Callable[[Any, Box], None]
    judge_tail: Callable[[Tails, Tail], None]

    def __init__(self, document: Any, spent: Counter[str]) -> None:
        keys = f"kind version text core formula_hash bits {self.keys}"
        _, _, text, self.core, code, bits, *self.given = fields(document, keys, "the certificate")
        need(isinstance(text, str), "text is not a text")
        need(type(bits) is int and bits in BITS, f"bits is not in {BITS}")
        compact = json.dumps(self.core, separators=(",", ":")).encode()
        need(hashlib.sha256(compact).hexdigest() == code, "formula_hash is not the hash of core")
        self.field, self.spent, self.bounds = Intervals(bits), spent, dict[int, tuple[Any, set[int]]]()
        self.domain, self.box = self.read_domain(document.get("domain", {}), document.get("tails", {}))
        self.program: Program | None = None
        self.size = len(compact)

    def read_domain(self, domain: Any, tails: Any) -> tuple[Box, Box]:
        """The ranges of the names, and the box between the cuts, which stand on the infinite sides."""
        need(isinstance(domain, dict) and isinstance(tails, dict), "domain or tails is not an object")
        need({*tails} <= {*domain}, "a tail of a name that is not in the domain")
        whole, inner = {}, {}
        for name, ends in domain.items():
            need(name.isidentifier() and len(name) < 60, "a name in the domain is not a name")
            given = zip(fields(ends, "lo hi", f"the domain of {name}"), ("-oo", "oo"), strict=True)
            sides = [None if end == infinite else rational(end) for end, infinite in given]
            cuts = fields(tails.get(name, {"minus": None, "plus": None}), "minus plus", "tails")
            fit = [end is None for end in sides] == [cut is not None for cut in cuts]
            need(fit, f"{name} needs a cut on each infinite side, and only there")
            lo, hi = (rational(cut) if end is None else end for end, cut in zip(sides, cuts, strict=True))
            need(lo <= hi, f"the ends or cuts of {name} are reversed")
            whole[name], inner[name] = (sides[0], sides[1]), (lo, hi)
        return whole, inner

    def read_bounds(self, conclusion: Any) -> None:
        """For each side (1: lower, -1: upper) the bound, and the signs allowed for value - bound."""
        a, a_strict, b, b_strict = fields(conclusion, "lower lower_strict upper upper_strict", "conclusion")
        for side, bound, strict in ((1, a, a_strict), (-1, b, b_strict)):
            need(type(strict) is bool, "strictness is not true or false")
            if bound is not None:
                self.bounds[side] = rational(bound), {side} if strict else {0, side}

    def judge(self, value: tuple[Any, Any]) -> None:
        """The bounds must hold for all between two numbers."""
        for side, (bound, allowed) in self.bounds.items():
            end = value[side < 0]
            need((end > bound) - (end < bound) in allowed, "the bound is not seen to hold")

    def evaluate(self, algebra: Algebra, values: Mapping[str, Any], order: int = 0) -> Any:
        """The formula's value, within a budget of work for all evaluations; the first fixes its names."""
        self.program = program = self.program or Program(self.core, values)
        bits = self.field.bits // 64
        # MPFR's erfc takes 35 ms at 4,500 bits; its time grows like the square of the bits.
        self.spend(len(program.steps) * (order + 2) ** 2 * (4 + bits) + 20 * program.functions * bits**2)
        return program.evaluate(algebra, values)

    def spend(self, work: int) -> None:
        """Work is capped over all parts of a document."""
        self.spent["work"] += work
        need(self.spent["work"] <= MAX_WORK, "it takes more work than the checker's budget")

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

    def cover(self, tree: Any, box: Box) -> None:
        """Every tail of the domain, and every leaf of the tree, whose boxes fill the box by construction."""
        for name, ends in self.domain.items():
            for side, end, place in zip((-1, 1), ends, self.box[name], strict=True):
                if end is None:
                    beyond = (place, "oo") if side > 0 else ("-oo", place)
                    self.located({name: beyond}, self.tail, name, side)
        todo = [(tree, box)]
        while todo:
            tree, box = todo.pop()
            match tree:
                case ["leaf", rule]:
                    self.spent["boxes"] += 1
                    need(self.spent["boxes"] <= MAX_LEAVES, f"more than {MAX_LEAVES} boxes")
                    self.located(box, self.judge_leaf, rule, box)
                case ["split", at, left, right] if len(box) == 1:
                    todo.append((["split", *box, at, left, right], box))
                case ["split", str(name), at, left, right] if name in box:
                    (lo, hi), cut = box[name], rational(at)
                    need(lo < cut and (hi is None or cut < hi), f"a split of {name} is not inside its box")
                    todo += [(left, {**box, name: (lo, cut)}), (right, {**box, name: (cut, hi)})]
                case _:
                    raise Rejected(f"not a tree of boxes: {tree!r:.60}")

    def located(self, place: Box, judge: Callable[..., None], *args: Any) -> None:
        """Judge, and say where if it is rejected."""
        try:
            judge(*args)
        except Rejected as reason:
            ends = ", ".join(f"{name} in [{lo!s:.30}, {hi!s:.30}]" for name, (lo, hi) in place.items())
            raise Rejected(f"{reason} ({ends})") from None

    def tail(self, name: str, side: int) -> None:
        """The formula's expansion on an infinite side, beyond the box."""
        start = side * self.box[name][side > 0]
        others = {other: ends for other, ends in self.domain.items() if other != name}
        need(all(None not in ends for ends in others.values()), "not the only name with an infinite domain")
        need(1 <= start < 2**64 and start.denominator < 2**64, "nearer to 0 than 1, or too far out")
        tails = Tails(self.field, start, side)
        values = {other: tails.term(*ends) for other, ends in others.items()}
        self.judge_tail(tails, self.evaluate(tails, {**values, name: tails.variable}, order=100))

    def enclose(self, rule: Any, box: Box, sides: Set[int] = BOTH) -> Interval:
        """The values on the box, by a rule; only the ends of the sides (1: lower, -1: upper) must be good."""
        field = self.field
        match rule:
            case "natural":
                found: Interval = self.evaluate(field, self.hulls(box))
                return found
            case ["taylor", order] if len(box) == 1:
                return self.enclose(["taylor", order, *box], box)
            case ["taylor", order, str(name)] if name in box:
                return self.range_of(self.coefficients(order, name, box), (box[name][1] - box[name][0]) / 2)
            case "mean":  # f(x) - f(m) is a sum of d f/d NAME (x_NAME - m_NAME), one name moved after another
                total = self.enclose("natural", {name: ((a + b) / 2,) * 2 for name, (a, b) in box.items()})
                for name, (lo, hi) in box.items():
                    slope, step = self.coefficients(1, name, box)[1], field.hull((lo - hi) / 2, (hi - lo) / 2)
                    total = field.add(total, field.mul(slope, step))
                return total
            case ["bounds", lower, upper]:
                parts = (lower, box), (upper, box)
            case ["face", str(name), inner] if name in box:
                signs = field.signs(self.coefficients(1, name, box)[1])
                need(not signs >= BOTH, f"the formula is not seen to be monotone in {name}")
                least, most = box[name][:: -1 if -1 in signs else 1]
                parts = (inner, {**box, name: (least,) * 2}), (inner, {**box, name: (most,) * 2})
            case _:
                raise Rejected(f"not a rule for a box: {rule!r:.60}")
        low = self.enclose(*parts[0], {1}).lo if 1 in sides else -INF
        return Interval(low, self.enclose(*parts[1], {-1}).hi if -1 in sides else INF)

    def hulls(self, box: Box) -> dict[str, Interval]:
        """The box in intervals."""
        return {name: self.field.hull(*ends) for name, ends in box.items()}

    def coefficients(self, order: Any, name: str, box: Box) -> list[Interval]:
        """Taylor coefficients in one name: below the order at its midpoint, over the box at it."""
        need(type(order) is int and order in ORDERS, f"not an order: {order!r:.60}")
        over, at = Jets(self.field, order), Jets(self.field, order - 1)
        hulls = self.hulls(box)
        values = {other: (over.fixed(x), at.fixed(x)) for other, x in hulls.items()}
        middle = self.field.number(sum(box[name]) / 2)
        values[name] = over.variable(hulls[name]), at.variable(middle)
        first, second = self.evaluate(Guided(over, at), values, order)
        return [*second, first[order]]

    def range_of(self, coefficients: list[Interval], radius: Any) -> Interval:
        """The range of a polynomial for abs(h) <= r."""
        least = self.field.neg(self.peak([self.field.neg(c) for c in coefficients], radius))
        return Interval(least.lo, self.peak(coefficients, radius).hi)

    def peak(self, coefficients: list[Interval], radius: Any) -> Interval:
        """Above a + b h + c h^2 + d h^3 + ... for abs(h) <= r, in its upper end.

        With s = abs(h), the first three are at most a + b s + c s^2 for the largest a, abs(b) and c. If c < 0
        this is at most a + b^2/(-4 c) for every s; it rises on [0, r] if c >= 0 or b >= -2 c r.
        """
        field, r = self.field, self.field.number(radius)
        top, slope, c, *rest = [*coefficients, field.number(0), field.number(0)]
        for j, d in enumerate(rest, 3):
            top = field.add(top, field.mul(d, field.power(field.hull(-radius, radius), j)))
        b = field.abs(slope)
        if c.hi < 0 and b.hi < field.neg(field.mul(Interval(c.hi, c.hi), field.add(r, r))).hi:
            return field.add(top, field.div(field.mul(b, b), field.neg(field.mul(field.number(4), c))))
        return field.add(top, field.mul(field.add(b, field.mul(c, r)), r))
