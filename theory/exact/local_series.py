"""Power series in h at 0 with normal forms as coefficients: names, e, pi and roots may stand in them.

A function of a series u follows from its differential equation: (exp u)' = u' exp u,
(atan u)' = u'/(1 + u**2) and so on, so that each coefficient takes one sum of products.
Where a function may not be analytic at u(0), there is no series.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from gateproof.theory.exact import calculus, functions, opaque
from gateproof.theory.exact.atoms import Frac
from gateproof.theory.exact.budget import Unsupported
from gateproof.theory.exact.derivative import derivative
from gateproof.theory.exact.polys import ONE
from gateproof.theory.exact.writeback import write
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import And, App, Const, Expr, Not, Num, Or, Rel, Stmt, Var, Where
from gateproof.theory.special import find

if TYPE_CHECKING:
    from gateproof.theory.exact.normal import Workspace

Series = list[Frac]
_SIGNS = {"<": {-1}, "<=": {-1}, ">": {1}, ">=": {1}, "==": set[int](), "!=": {-1, 1}}


def _of_x(head: str) -> Expr:
    return App(head, (Var("x"),))


class LocalSeries:
    """Series of expressions in one name, in a workspace, up to h**order."""

    def __init__(self, ws: Workspace, name: str, order: int) -> None:
        self.ws = ws
        self.name = name
        self.order = order
        self._kept: dict[Expr, Series] = {}

    # --- arithmetic -----------------------------------------------------------

    def constant(self, value: Frac) -> Series:
        """A value free of h."""
        return [value, *([self.ws.number(0)] * self.order)]

    def add(self, a: Series, b: Series) -> Series:
        """a + b."""
        return [self.ws.add(x, y) for x, y in zip(a, b, strict=True)]

    def neg(self, a: Series) -> Series:
        """-a."""
        return [Frac(-x.num, x.den) for x in a]

    def _dot(self, pairs: list[tuple[Frac, Frac]]) -> Frac:
        total = self.ws.number(0)
        for x, y in pairs:
            if not x.is_zero and not y.is_zero:
                total = self.ws.add(total, self.ws.mul(x, y))
        return total

    def mul(self, a: Series, b: Series) -> Series:
        """a b."""
        return [self._dot([(a[k], b[n - k]) for k in range(n + 1)]) for n in range(self.order + 1)]

    def div(self, a: Series, b: Series) -> Series:
        """a/b for b(0) != 0."""
        self.need(b[0], {-1, 1})
        found: Series = []
        for n in range(self.order + 1):
            rest = self._dot([(b[k], found[n - k]) for k in range(1, n + 1)])
            found.append(self.ws.div(self.ws.sub(a[n], rest), b[0]))
        return found

    def slope(self, a: Series) -> Series:
        """The derivative, its last coefficient (not known) put as 0."""
        ws = self.ws
        return [*(ws.mul(ws.number(k), a[k]) for k in range(1, self.order + 1)), ws.number(0)]

    def integral(self, first: Frac, a: Series) -> Series:
        """The series with the derivative a and this value at 0."""
        ws = self.ws
        return [first, *(ws.div(a[k], ws.number(k + 1)) for k in range(self.order))]

    def need(self, value: Frac, allowed: set[int]) -> None:
        """Raise Unsupported unless the value has one of these signs."""
        if not self.ws.signs.of_frac(value) <= allowed:
            raise Unsupported("a function that may not be analytic at the point")

    # --- expressions ------------------------------------------------------------

    def of(self, node: Expr) -> Series:
        """The series of an expression. Raises Unsupported, NeedSign and the like."""
        if node not in self._kept:
            self._kept[node] = self._series(node)
        return self._kept[node]

    def _series(self, node: Expr) -> Series:
        if isinstance(node, Num | Const):
            return self.constant(self.ws.form(node))
        if isinstance(node, Var):
            found = self.constant(self.ws.number(0) if node.name == self.name else self.ws.form(node))
            if node.name == self.name and self.order:
                found[1] = self.ws.number(1)
            return found
        if isinstance(node, Where):
            return self.of(node.then if self._truth(node.cond) else node.other)
        if not isinstance(node, App):
            raise Unsupported(type(node).__name__)
        if node.head == "pow":
            return self._power(node)
        args = [self.of(a) for a in node.args]
        if node.head in ("add", "mul"):
            total = args[0]
            for other in args[1:]:
                total = self.add(total, other) if node.head == "add" else self.mul(total, other)
            return total
        if node.head == "div":
            return self.div(args[0], args[1])
        if node.head in ("max", "min"):
            return self._extreme(node.head, args)
        rule = _RULES.get(node.head)
        if rule is not None:
            return rule(self, args[0])
        return self.special(node.head, args[0])

    def special(self, head: str, u: Series) -> Series:
        """Of a special function by its derivatives at u_0, a point inside its domain."""
        found = find(head)
        if found is None or not calculus.inside(self.ws, found, u[0], smooth=True):
            raise Unsupported(head)
        at = write(self.ws, u[0])
        step = [self.ws.number(0), *u[1:]]
        power, total, slope, scale = self.one(), self.constant(self.ws.number(0)), _of_x(head), Fraction(1)
        for k in range(self.order + 1):
            value = self.ws.mul(self.ws.number(scale), self.ws.form(substitute(slope, {"x": at})))
            total = self.add(total, self.mul(self.constant(value), power))
            if k < self.order:
                after = derivative(slope, "x")
                if after is None:
                    raise Unsupported(head)
                slope, power, scale = after, self.mul(power, step), scale / (k + 1)
        return total

    def sign(self, value: Frac) -> int:
        """1 or -1; raises Unsupported where the value may be 0."""
        signs = self.ws.signs.of_frac(value)
        if signs not in ({1}, {-1}):
            raise Unsupported("a kink at the point, or perhaps one")
        return next(iter(signs))

    def _extreme(self, head: str, args: list[Series]) -> Series:
        best = args[0]
        for other in args[1:]:
            gap = self.sign(self.ws.sub(best[0], other[0]))
            best = best if (gap > 0) == (head == "max") else other
        return best

    def _truth(self, cond: Stmt) -> bool:
        """A condition that holds, or fails, all around the point."""
        if isinstance(cond, Rel):
            sides = [self.of(t)[0] for t in cond.terms]
            pairs = zip(cond.ops, sides, sides[1:], strict=False)
            truths = [self.sign(self.ws.sub(a, b)) in _SIGNS[op] for op, a, b in pairs]
            return all(truths)
        if isinstance(cond, And | Or):
            parts = [self._truth(p) for p in cond.parts]
            return all(parts) if isinstance(cond, And) else any(parts)
        if isinstance(cond, Not):
            return not self._truth(cond.part)
        raise Unsupported(type(cond).__name__)

    def _power(self, node: App) -> Series:
        base, exponent = node.args
        value = self.ws.form(exponent).rational() if isinstance(exponent, Num) else None
        if value is None:
            return self.exp(self.mul(self.of(exponent), self.log(self.of(base))))
        u = self.of(base)
        if value.denominator == 2:
            u, value = self.sqrt(u), 2 * value
        if value.denominator != 1:
            return self.exp(self.mul(self.of(exponent), self.log(u)))
        if abs(value) > 64:
            raise Unsupported("a power too high")
        total = self.constant(self.ws.number(1))
        for _ in range(abs(int(value))):
            total = self.mul(total, u)
        return total if value >= 0 else self.div(self.constant(self.ws.number(1)), total)

    # --- functions --------------------------------------------------------------

    def exp(self, u: Series) -> Series:
        """n E_n = sum k u_k E_(n-k)."""
        ws = self.ws
        found = [functions.exp(ws, u[0])]
        for n in range(1, self.order + 1):
            total = self._dot([(ws.mul(ws.number(k), u[k]), found[n - k]) for k in range(1, n + 1)])
            found.append(ws.div(total, ws.number(n)))
        return found

    def log(self, u: Series) -> Series:
        """log u for u(0) > 0."""
        self.need(u[0], {1})
        return self.integral(functions.log(self.ws, u[0]), self.div(self.slope(u), u))

    def sqrt(self, u: Series) -> Series:
        """sqrt u for u(0) > 0."""
        self.need(u[0], {1})
        ws = self.ws
        found = [functions.sqrt(ws, u[0])]
        double = ws.mul(ws.number(2), found[0])
        for n in range(1, self.order + 1):
            rest = self._dot([(found[k], found[n - k]) for k in range(1, n)])
            found.append(ws.div(ws.sub(u[n], rest), double))
        return found

    def waves(self, u: Series) -> tuple[Series, Series]:
        """sin u and cos u."""
        ws = self.ws
        sines, cosines = [opaque.sin(ws, u[0])], [opaque.cos(ws, u[0])]
        slopes = [ws.mul(ws.number(k), c) for k, c in enumerate(u)]
        for n in range(1, self.order + 1):
            up = self._dot([(slopes[k], cosines[n - k]) for k in range(1, n + 1)])
            down = self._dot([(slopes[k], sines[n - k]) for k in range(1, n + 1)])
            sines.append(ws.div(up, ws.number(n)))
            cosines.append(ws.div(Frac(-down.num, down.den), ws.number(n)))
        return sines, cosines

    def by_slope(self, head: str, u: Series, slope: Series) -> Series:
        """f(u) from f'(u) given as a series."""
        return self.integral(opaque.RULES[head](self.ws, u[0]), self.mul(self.slope(u), slope))

    def one(self) -> Series:
        """The constant 1."""
        return self.constant(self.ws.number(1))

    def less(self, u: Series) -> Series:
        """1 - u**2."""
        return self.add(self.one(), self.neg(self.mul(u, u)))


def _tan(s: LocalSeries, u: Series) -> Series:
    sines, cosines = s.waves(u)
    return s.div(sines, cosines)


def _logistic(s: LocalSeries, u: Series) -> Series:
    return s.div(s.one(), s.add(s.one(), s.exp(s.neg(u))))


def _tanh(s: LocalSeries, u: Series) -> Series:
    e = s.exp(s.neg(s.add(u, u)))
    return s.div(s.add(s.one(), s.neg(e)), s.add(s.one(), e))


def _hyperbolic(sign: int) -> Callable[[LocalSeries, Series], Series]:
    def rule(s: LocalSeries, u: Series) -> Series:
        up, down = s.exp(u), s.exp(s.neg(u))
        whole = s.add(up, down if sign > 0 else s.neg(down))
        return [s.ws.div(c, s.ws.number(2)) for c in whole]

    return rule


def _erf(s: LocalSeries, u: Series) -> Series:
    bell = s.exp(s.neg(s.mul(u, u)))
    root = functions.sqrt(s.ws, Frac(s.ws.atom("pi"), ONE))
    scale = s.ws.div(s.ws.number(2), root)
    return s.by_slope("erf", u, [s.ws.mul(scale, c) for c in bell])


def _asin(s: LocalSeries, u: Series) -> Series:
    return s.by_slope("asin", u, s.div(s.one(), s.sqrt(s.less(u))))


def _acosh(s: LocalSeries, u: Series) -> Series:
    s.need(s.ws.sub(u[0], s.ws.number(1)), {1})
    root = s.sqrt(s.add(s.mul(u, u), s.neg(s.one())))
    return s.by_slope("acosh", u, s.div(s.one(), root))


def _atanh(s: LocalSeries, u: Series) -> Series:
    less = s.less(u)
    s.need(less[0], {1})
    return s.by_slope("atanh", u, s.div(s.one(), less))


def _abs(s: LocalSeries, u: Series) -> Series:
    return u if s.sign(u[0]) > 0 else s.neg(u)


def _half_pi(s: LocalSeries) -> Series:
    return s.constant(s.ws.div(Frac(s.ws.atom("pi"), ONE), s.ws.number(2)))


_RULES: dict[str, Callable[[LocalSeries, Series], Series]] = {
    "neg": LocalSeries.neg,
    "exp": LocalSeries.exp,
    "log": LocalSeries.log,
    "sqrt": LocalSeries.sqrt,
    "sin": lambda s, u: s.waves(u)[0],
    "cos": lambda s, u: s.waves(u)[1],
    "tan": _tan,
    "sinh": _hyperbolic(-1),
    "cosh": _hyperbolic(1),
    "sech": lambda s, u: s.div(s.one(), _hyperbolic(1)(s, u)),
    "tanh": _tanh,
    "sigmoid": _logistic,
    "softplus": lambda s, u: s.by_slope("softplus", u, _logistic(s, u)),
    "erf": _erf,
    "erfc": lambda s, u: s.add(s.one(), s.neg(_erf(s, u))),
    "atan": lambda s, u: s.by_slope("atan", u, s.div(s.one(), s.add(s.one(), s.mul(u, u)))),
    "asin": _asin,
    "acos": lambda s, u: s.add(_half_pi(s), s.neg(_asin(s, u))),
    "asinh": lambda s, u: s.by_slope("asinh", u, s.div(s.one(), s.sqrt(s.add(s.one(), s.mul(u, u))))),
    "acosh": _acosh,
    "atanh": _atanh,
    "abs": _abs,
    "sign": lambda s, u: s.constant(s.ws.number(s.sign(u[0]))),
}
