"""All zeros of an expression over one variable, each isolated and proved to be alone."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from gateproof.numerics import interval as iv
from gateproof.numerics.ball import names_in
from gateproof.numerics.bounds import Budget
from gateproof.numerics.cover import split_point
from gateproof.numerics.decimals import agreed_digits
from gateproof.numerics.ends import End, EndExpr, end
from gateproof.numerics.errors import MaybeUndefined, NotReal, Undefined
from gateproof.numerics.forms import Line, outer
from gateproof.numerics.interval import Interval
from gateproof.numerics.jets import jet, multiplicity, side
from gateproof.numerics.newton import refine
from gateproof.numerics.piece_lines import PieceLines
from gateproof.numerics.precision import precision
from gateproof.numerics.results import Enclosure, Zeros
from gateproof.numerics.tailcut import STARTS
from gateproof.theory.exact.critical import equal_constants
from gateproof.theory.exact.tail_levels import far_sign
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.special import is_head

#: Heads without a zero on the reals, and those whose only zero is that of their argument.
_NEVER = frozenset({"exp", "cosh", "sech", "sigmoid", "softplus", "erfc"})
_SAME = frozenset({"neg", "abs", "sign", "sqrt", "sinh", "tanh", "asinh", "atan", "erf", "asin", "atanh"})

#: Denominators of places that are tried as exact zeros.
_SHORT = 64
#: How near to an end, as powers of 1/2, its slope is looked at.
_NEAR = (2, 4, 8, 16, 32)


class _Unsure(ArithmeticError):
    """The zeros were not isolated, and why."""


def zeros(
    expr: Expr,
    var: str,
    lo: EndExpr,
    hi: EndExpr,
    digits: int = 15,
    budget: Budget | None = None,
    *,
    lo_closed: bool = True,
    hi_closed: bool = True,
) -> Zeros:
    """All zeros of a core expression on an interval (None: infinite), with ``digits`` significant digits."""
    budget = budget or Budget()
    bits = int(digits * 3.33) + 48
    reason = "bits"
    while bits <= budget.cap(digits):
        try:
            with precision(bits + 32):
                ends = end(lo, -1, lo_closed), end(hi, 1, hi_closed)
                search = _Search(var, ends, (lo, hi), bits, budget.boxes)
                found = _merged(search.of(expr))
        except Undefined as error:
            return Zeros("undefined", reason=error.where)
        except NotReal as error:
            return Zeros("unknown", reason=str(error))
        except _Unsure as error:
            reason = str(error)
            if reason == "boxes" or bits > 300 + 4 * digits:
                break
        else:
            reached = min((agreed_digits(*p) for p in found), default=10**6)
            if reached >= digits:
                return Zeros("ok", tuple(found), reached)
            reason = "bits"
        bits *= 2
    return Zeros("unknown", reason=reason)


def _merged(points: list[Enclosure]) -> list[Enclosure]:
    """Ascending, without repetition; two different enclosures that overlap are not told apart."""
    found = sorted(set(points))
    for a, b in pairwise(found):
        if b[0] <= a[1]:
            raise _Unsure("zeros of two factors were not told apart")
    return found


class _Search:
    def __init__(
        self, var: str, ends: tuple[End, End], given: tuple[EndExpr, EndExpr], bits: int, boxes: int
    ) -> None:
        self.var, self.ends, self.given, self.bits, self.left = var, ends, given, bits, boxes

    def of(self, expr: Expr) -> list[Enclosure]:
        """Zeros of the expression, factor by factor; every part must be defined."""
        if var_free(expr, self.var):
            sign = side(Line(expr, self.var).natural_run({}))
            if sign:
                return []
            raise _Unsure("a constant that may be 0")
        if isinstance(expr, App):
            if expr.head in _NEVER:
                self._defined(expr.args[0])
                return []
            if expr.head in _SAME:
                self._defined(expr)
                return self.of(expr.args[0])
            if expr.head == "mul":
                return self._product(expr)
            if expr.head == "div":
                self._defined(App("div", (num(1), expr.args[1])))
                return self.of(expr.args[0])
            if expr.head == "pow":
                n = constant_value(expr.args[1])
                if n is not None and n > 0 and n.denominator == 1:
                    return self.of(expr.args[0])
        return self._isolate(expr)

    def _product(self, expr: App) -> list[Enclosure]:
        found: list[Enclosure] = []
        for factor in expr.args:
            try:
                found += self.of(factor)
            except _Unsure as error:
                if str(error) != "a constant that may be 0":
                    raise
                raise _Unsure("a constant factor that may be 0") from error
        return _merged(found)

    def _defined(self, expr: Expr) -> None:
        """Only functions that are defined on all reals are taken apart without a look."""
        partial = {"log", "sqrt", "asin", "acos", "acosh", "atanh", "tan", "div", "pow"}
        for node in expr.walk():
            special = isinstance(node, App) and is_head(node.head)
            if isinstance(node, App) and (node.head in partial or special) and self.var in names_in(node):
                n = constant_value(node.args[1]) if node.head == "pow" else None
                if n is not None and n.denominator == 1 and n >= 0:
                    continue
                if node.head == "div" and var_free(node.args[1], self.var):
                    continue
                self._cover_defined(node)

    def _cover_defined(self, node: App) -> None:
        from gateproof.numerics.bounds import prove_bounds

        box = {self.var: (self.ends[0].outer, self.ends[1].outer)}
        opened = frozenset(
            (self.var, name)
            for name, e in zip(("lo", "hi"), self.ends, strict=True)
            if not e.infinite and not e.closed
        )
        found = prove_bounds(node, box, budget=Budget(self.left, 256), open_ends=opened)
        if found.status == "undefined":
            raise Undefined(f"{node.head} at a point of the domain")
        if found.status != "proved":
            raise _Unsure(f"{node.head} may be undefined: {found.reason}")

    def _isolate(self, expr: Expr) -> list[Enclosure]:
        pieces = PieceLines(expr, self.var)
        line, kinks = pieces.whole, pieces.kinks
        left, right = self.ends
        given = [abs(e.inner) for e in self.ends if e.inner is not None]
        beyond = max([Fraction(1), *map(abs, kinks), *given])
        a = left.inner if left.inner is not None else -self._far(expr, "-", beyond)
        b = right.inner if right.inner is not None else self._far(expr, "+", beyond)
        found: list[Enclosure] = []
        near: list[Fraction | None] = [None, None]
        for i, e in enumerate(self.ends):
            if e.inner is not None and e.outer is not None and not self._clear(line, e):
                near[i] = self._zero_at(line, e, self.given[i])
                found += [(min(e.inner, e.outer), max(e.inner, e.outer))] if e.closed else []
        a, b = (c if n is None else n for n, c in zip(near, (a, b), strict=True))
        if a > b:
            raise _Unsure("a zero at or near an irrational end")
        cuts = [a, *(k for k in kinks if a < k < b), b]
        stack = [(p, q) for p, q in pairwise(cuts) if p < q]
        while stack:
            lo, hi = stack.pop()
            if self.left <= 0:
                raise _Unsure("boxes")
            self.left -= 1
            below = max((k for k in kinks if a <= k <= lo), default=a)
            above = min((k for k in kinks if hi <= k <= b), default=b)
            result = self._box(pieces.beside(lo), lo, hi, (below, above))
            # Beyond a kink the formula is another one, with zeros of its own.
            if result is None or any(p[0] < p[1] and p[0] <= k <= p[1] for p in result for k in kinks):
                if hi - lo <= max(abs(lo), abs(hi), Fraction(1)) / 2**self.bits:
                    raise _Unsure(f"not isolated near {float(lo):.12g}")
                middle = split_point(lo, hi)
                stack += [(lo, middle), (middle, hi)]
            else:
                found += result
        excluded = {e.inner for e in self.ends if e.inner is not None and not e.closed}
        return _joined([p for p in found if not (p[0] == p[1] and p[0] in excluded)])

    def _far(self, expr: Expr, name: str, beyond: Fraction) -> Fraction:
        for start in (s for s in (*STARTS, beyond * 2) if s > beyond):
            if far_sign(expr, self.var, name, start) in (1, -1):
                return start
        raise _Unsure("tail: the sign far out was not found")

    def _clear(self, line: Line, e: End) -> bool:
        """Whether there is no zero at an end that is not rational; at others the boxes beside it look."""
        if e.inner == e.outer:
            return True
        try:
            return bool(side(line.natural_run({self.var: e.sliver()})))
        except (Undefined, MaybeUndefined):
            if e.closed:
                raise
            return False

    def _zero_at(self, line: Line, e: End, given: EndExpr) -> Fraction:
        """A point inside up to which an end that is exactly a zero is the only one, by the slope's sign."""
        assert e.inner is not None
        assert e.outer is not None
        exact = isinstance(given, Expr) and equal_constants(substitute(line.expr, {self.var: given}), num(0))
        for k in _NEAR if exact else ():
            step = max(abs(e.inner), Fraction(1)) / 2**k
            grid, beside = 2 ** (k + 8), e.inner + (step if e.outer < e.inner else -step)
            inner = Fraction(round(beside * grid), grid)
            found = jet(line, min(e.outer, inner), max(e.outer, inner))
            if found is not None and side(found.slope):
                return inner
        raise _Unsure("a zero at or near an irrational end")

    def _box(self, line: Line, lo: Fraction, hi: Fraction, inside: Enclosure) -> list[Enclosure] | None:
        """Zeros in a closed box, or None where it has to be split."""
        found = jet(line, lo, hi)
        if found is None:
            try:
                return [] if side(line.natural(lo, hi)) else None
            except MaybeUndefined:
                return None
        if side(found.value):
            return []
        slope = side(found.slope)
        if not slope:
            return self._multiple(line, lo, hi)
        at_lo, at_hi = self._value(line, lo), self._value(line, hi)
        for x, value in ((lo, at_lo), (hi, at_hi)):
            if value is not None and value[0] == value[1] == 0:
                return [(x, x)]
        if at_lo is not None and at_hi is not None and side(at_lo) * side(at_hi) == 1:
            return []
        root = refine(line, lo, hi, 0, self.bits, inside)
        if root is None:
            return []
        if not root.unique:
            return None
        low, high = iv.to_fraction(iv.down(root.ball)), iv.to_fraction(iv.up(root.ball))
        short = ((low + high) / 2).limit_denominator(_SHORT)
        if low <= short <= high and self._value(line, short) == (iv.ZERO, iv.ZERO):
            return [(short, short)]
        return [(low, high)]

    def _multiple(self, line: Line, lo: Fraction, hi: Fraction) -> list[Enclosure] | None:
        """A zero of order k at a short rational c: f^(k) is not 0 on the box, so that no other lies there."""
        c = split_point(lo, hi)
        for point in (c, lo, hi, Fraction(round((lo + hi) / 2))):
            order = multiplicity(line, point) if lo <= point <= hi else 0
            if order > 1:
                over = line.series({self.var: outer(lo, hi)}, order)[order]
                if side(iv.of_ball(over)):
                    return [(point, point)]
        return None

    def _value(self, line: Line, x: Fraction) -> Interval | None:
        try:
            return line.value(x)
        except (Undefined, MaybeUndefined):
            return None


def _joined(points: list[Enclosure]) -> list[Enclosure]:
    """One enclosure for each zero.

    f' has no zero on either of two neighbouring boxes, and both hold their common end,
    so f is monotone on their union: overlapping enclosures are of one zero.
    """
    joined: list[Enclosure] = []
    for lo, hi in sorted(points):
        if joined and lo <= joined[-1][1]:
            previous = joined[-1]
            joined[-1] = min(previous, (lo, hi), key=lambda p: p[1] - p[0])
        else:
            joined.append((lo, hi))
    return joined


def var_free(expr: Expr, var: str) -> bool:
    """Whether the expression does not use the name."""
    return var not in names_in(expr)
