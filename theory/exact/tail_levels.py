"""Tail arithmetic with exponentials of polynomials kept apart: the sign of what falls like exp(-x**2).

On [start, oo) a value is sum_w exp(w(x)) T_w(x), each w a polynomial in x and exponentials with constant
coefficients and no linear term with a rational one, each T_w a form of transseries.py. Where exp(w - v) T_w
falls below T_v for every other w, the sign is that of T_v and of what the others are beside it: gelu'' is
exp(-x**2/2) (2 - x**2)/sqrt(2 pi) far out, and gelu' at -x is exp(-x**2/2) times

    1/(x sqrt(2 pi)) - x/sqrt(2 pi) + ...,

as erfc(u) = exp(-u**2)/(u sqrt(pi)) (1 - t/(2 u**2)) for u > 0 with some t in (0, 1).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, reduce

from gateproof.theory.exact import balls, enclose, tail_functions
from gateproof.theory.exact.exponents import PLAIN, Exponent, TooLong, plus, polynomial, scaled
from gateproof.theory.exact.tails import condition_truth, raw_form
from gateproof.theory.exact.transseries import (
    Form,
    Grow,
    NoTail,
    Rest,
    Trans,
    add,
    as_grow,
    between,
    inverse,
    make,
    mul,
    neg,
    number,
    sign_of,
    size,
    sup_of,
)
from gateproof.theory.formula.nodes import App, Expr, Var, Where, num
from gateproof.theory.formula.powers import constant_value

Levels = dict[Exponent, Form]
MAX_LEVELS, MAX_POWER = 12, 16
ZERO, ONE = Fraction(0), Fraction(1)


@lru_cache(maxsize=512)
def far_sign(expr: Expr, var: str, side: str, start: Fraction) -> int | None:
    """The sign of the expression for all x >= start > 0 (side '-': of f(-x)), where this arithmetic tells."""
    try:
        return _Tail(var, side, start).sign(expr)
    except (NoTail, OverflowError):
        return None


def slow_sign(expr: Expr, var: str, side: str, start: Fraction) -> int | None:
    """The same only where no Gaussian dominates: a checker without terms for them may then follow."""
    try:
        return _Tail(var, side, start).sign(expr, slow=True)
    except (NoTail, OverflowError):
        return None


class _Tail:
    """One tail; every part of the formula is looked at once."""

    def __init__(self, var: str, side: str, start: Fraction) -> None:
        self.var, self.side, self.start = var, side, start
        self.x = Trans(start, {(ZERO, 1): ONE if side == "+" else -ONE})
        self.seen: dict[Expr, Levels] = {}

    def sign(self, expr: Expr, *, slow: bool = False) -> int | None:
        found = self.of(expr)
        if not found:
            return 0
        v, form = self.relative(found)
        return None if slow and v != PLAIN else sign_of(form)

    def of(self, expr: Expr) -> Levels:
        """The levels of an expression. Raises NoTail."""
        known = self.seen.get(expr)
        if known is None:
            try:
                known = self._of(expr)
            except NoTail:
                known = _kept({PLAIN: raw_form(expr, self.var, self.side, self.start)})
            self.seen[expr] = known
        return known

    def _of(self, expr: Expr) -> Levels:
        if isinstance(expr, Where):
            truth = condition_truth(expr.cond, self.var, self.x)
            if truth is None:
                raise NoTail("a condition is not decided far out")
            return self.of(expr.then if truth else expr.other)
        if not isinstance(expr, App) or not any(isinstance(n, Var) for n in expr.walk()):
            return _kept({PLAIN: raw_form(expr, self.var, self.side, self.start)})
        head, args = expr.head, expr.args
        if head == "add":
            return self.sum([self.of(a) for a in args])
        if head == "mul":
            return reduce(self.product, [self.of(a) for a in args])
        if head == "neg":
            return self.scale(self.of(args[0]), -ONE)
        if head == "div":
            return self.product(self.of(args[0]), self.inverse(self.of(args[1])))
        if head == "pow":
            return self._power(expr)
        if head == "exp":
            return self.exp(args[0])
        if head in ("abs", "sign"):
            sign = self.sign(args[0])
            if sign is None:
                raise NoTail("a sign is not decided far out")
            factor = Fraction(sign)
            return self.constant(factor) if head == "sign" else self.scale(self.of(args[0]), factor)
        return self._function(head, args)

    def constant(self, value: Fraction) -> Levels:
        return _kept({PLAIN: number(value, self.start)})

    def sum(self, parts: list[Levels]) -> Levels:
        total: Levels = {}
        for part in parts:
            for w, form in part.items():
                total[w] = add(total[w], form) if w in total else form
        return _kept(total)

    def scale(self, f: Levels, c: Fraction) -> Levels:
        return _kept({w: mul(form, number(c, self.start)) for w, form in f.items()})

    def product(self, f: Levels, g: Levels) -> Levels:
        return self.sum([_kept({plus(v, w): mul(a, b)}) for v, a in f.items() for w, b in g.items()])

    def falls(self, w: Exponent) -> Rest:
        """exp(w) as a rest. Raises NoTail where w is not seen to fall at least linearly."""
        (found,) = tail_functions.falling(neg(self.value(w)))
        return found

    def value(self, w: Exponent) -> Form:
        """The exponent as a form."""
        total: Form = Trans(self.start, {})
        for (b, k, atoms), c in w:
            term: Form = Trans(self.start, {(b, k): c})
            for atom, n in atoms:
                pair = balls.rational_bounds(atom)
                if pair is None:
                    raise NoTail("a constant without bounds")
                factor: Form = between(pair, self.start)
                for _ in range(abs(n)):
                    term = mul(term, inverse(factor) if n < 0 else factor)
            total = add(total, term)
        return total

    def relative(self, f: Levels) -> tuple[Exponent, Form]:
        """(v, U) with f = exp(v) U, the other levels in the rest of U."""
        for v in f:
            try:
                small = [r for w, form in f.items() if w != v for r in self._beside(w, v, form)]
            except NoTail:
                continue
            form = f[v]
            return v, add(form, make(self.start, {}, small)) if small else form
        raise NoTail("no exponential is seen to dominate")

    def _beside(self, w: Exponent, v: Exponent, form: Form) -> list[Rest]:
        fall = self.falls(plus(w, scaled(v, -1)))
        if isinstance(form, Grow):
            raise NoTail("a growing part without an upper bound")
        return [Rest(c * fall.c, k, a + fall.a) for c, k, a in size(form)]

    def inverse(self, f: Levels) -> Levels:
        """1/(1 + r) = 1 - r + R, |R| <= r**2/(1 - top), beside the dominating level; |r| <= top < 1."""
        v, _ = self.relative(f)
        back = inverse(f[v])
        lead: Levels = {scaled(v, -1): back}
        others = {w: form for w, form in f.items() if w != v}
        if not others:
            return lead
        r = self.product(others, lead)
        top = sup_of([b for w, form in r.items() for b in self._beside(w, PLAIN, form)], self.start)
        if top is None or top >= 1:
            raise NoTail("a divisor that may vanish")
        square = self.product(_sizes(r), _sizes(r))
        off = {w: self._sized(form, 1 / (1 - top)) for w, form in square.items()}
        near = self.sum([self.constant(ONE), self.scale(r, -ONE), off])
        return self.product(near, lead)

    def _sized(self, form: Form, factor: Fraction) -> Form:
        if isinstance(form, Grow):
            raise NoTail("a growing part without an upper bound")
        return make(self.start, {}, [Rest(c * factor, k, a) for c, k, a in size(form)])

    def _power(self, expr: App) -> Levels:
        n = constant_value(expr.args[1])
        if n is None or n.denominator != 1 or abs(n) > MAX_POWER:
            raise NoTail("a power that is not taken apart")
        base = self.of(expr.args[0])
        base = self.inverse(base) if n < 0 else base
        return reduce(self.product, [base] * abs(int(n)), self.constant(ONE))

    def together(self, f: Levels) -> Form:
        """The value as one form, falling levels in its rest."""
        if set(f) <= {PLAIN}:
            return f.get(PLAIN, Trans(self.start, {}))
        v, form = self.relative(f)
        if v == PLAIN:
            return form
        try:
            rest = [Rest(c * self.falls(v).c, k, a + self.falls(v).a) for c, k, a in size(_trans(form))]
            return make(self.start, {}, rest)
        except NoTail:
            fall = self.falls(scaled(v, -1))
            return mul(Grow(self.start, 1, enclose.round_down(1 / fall.c, 64), 0, fall.a), form)

    def exp(self, arg: Expr) -> Levels:
        """Exponential of a polynomial, exactly; of others as transseries have it."""
        parts = arg.args if isinstance(arg, App) and arg.head == "add" else (arg,)
        found: Levels = self.constant(ONE)
        others: list[Expr] = []
        for part in parts:
            try:
                w, slope, constant = polynomial(part, self.var, -1 if self.side == "-" else 1)
            except TooLong:
                others.append(part)
                continue
            factor = Trans(self.start, {(slope, 0): ONE})
            found = self.product(found, {w: mul(factor, between(enclose.exp(constant), self.start))})
        if others:
            rest: Expr = others[0] if len(others) == 1 else App("add", tuple(others))
            found = self.product(found, {PLAIN: tail_functions.exp(self.together(self.of(rest)))})
        return found

    def _function(self, head: str, args: tuple[Expr, ...]) -> Levels:
        (arg,) = args if len(args) == 1 else (None,)
        if arg is None:
            raise NoTail(f"{head} is not taken apart")
        u = self.of(arg)
        form = self.together(u)
        grow = as_grow(form)
        if grow is None and head in _ODD:
            near = tail_functions.split(_trans(form))
            if near is not None and near[0] == 0 and near[2] <= 1:
                return self._odd(u, _ODD[head])
        if grow is None or head not in _GATES:
            function = tail_functions.FUNCTIONS.get(head)
            if function is None:
                raise NoTail(f"{head} has no tail form")
            return _kept({PLAIN: function(form)})
        return self._gate(head, arg, u, grow.sign)

    def _odd(self, u: Levels, third: Fraction) -> Levels:
        """u within ``third`` |u|**3, for u that tends to 0 and stays in [-1, 1]."""
        sizes = _sizes(u)
        cube = self.product(sizes, self.product(sizes, sizes))
        return self.sum([u, {w: self._sized(form, third) for w, form in cube.items()}])

    def _gate(self, head: str, arg: Expr, u: Levels, sign: int) -> Levels:
        """A function of u that tends to +oo (sign 1) or -oo, by the exponential e that falls."""
        one, v = self.constant(ONE), self.scale(u, Fraction(sign))
        away: Expr = App("neg", (arg,)) if sign > 0 else arg
        if head in ("erf", "erfc"):
            small = self._erfc(away, v)
            if head == "erfc":
                return small if sign > 0 else self.sum([self.constant(Fraction(2)), self.scale(small, -ONE)])
            return self.scale(self.sum([one, self.scale(small, -ONE)]), Fraction(sign))
        e = self.exp(away)
        if head in ("cosh", "sinh"):
            up = self.exp(arg if sign > 0 else App("neg", (arg,)))
            both = self.sum([up, self.scale(e, ONE if head == "cosh" else -ONE)])
            return self.scale(both, Fraction(1 if head == "cosh" else sign, 2))
        if head == "sigmoid":
            return self.product(one if sign > 0 else e, self.inverse(self.sum([one, e])))
        square = self.product(e, e)
        if head == "sech":
            return self.product(self.scale(e, Fraction(2)), self.inverse(self.sum([one, square])))
        if head == "tanh":
            top = self.sum([one, self.scale(square, -ONE)])
            return self.scale(self.product(top, self.inverse(self.sum([one, square]))), Fraction(sign))
        # e - e**2/2 <= log(1 + e) <= e - e**2/2 + e**3/3
        cube = self.product(_sizes(e), _sizes(square))
        off = {w: self._sized(form, Fraction(1, 3)) for w, form in cube.items()}
        near = self.sum([e, self.scale(square, Fraction(-1, 2)), off])
        return self.sum([v, near]) if sign > 0 else near

    def _erfc(self, away: Expr, v: Levels) -> Levels:
        """erfc of v that tends to +oo, -v = ``away``: exp(-v**2)/(v sqrt(pi)) (1 - t/(2 v**2)), 0 < t < 1."""
        weight = self.exp(App("neg", (App("pow", (away, num(2))),)))
        lo, hi = enclose.pi()
        root = between((enclose.sqrt(lo)[0], enclose.sqrt(hi)[1]), self.start)
        back = self.inverse(v)
        half = self.product(back, back)
        off = {w: self._sized(form, Fraction(1, 2)) for w, form in _sizes(half).items()}
        near = self.sum([self.constant(ONE), off])
        return reduce(self.product, [weight, back, {PLAIN: inverse(root)}, near])


_GATES = frozenset({"sigmoid", "tanh", "sech", "softplus", "erf", "erfc", "cosh", "sinh"})
#: |f(u) - u| <= c |u|**3 on [-1, 1].
_ODD = {
    "tanh": Fraction(1, 3),
    "atan": Fraction(1, 3),
    "asinh": Fraction(1, 6),
    "sin": Fraction(1, 6),
    "sinh": Fraction(1, 5),
}


def _trans(form: Form) -> Trans:
    if isinstance(form, Grow):
        raise NoTail("a growing part without an upper bound")
    return form


def _sizes(f: Levels) -> Levels:
    """Each level's absolute value as a rest."""
    return {w: Trans(_trans(form).start, {}, tuple(size(_trans(form)))) for w, form in f.items()}


def _kept(f: Levels) -> Levels:
    """Without the levels that are exactly 0. Raises NoTail where too many are left."""
    kept = {w: form for w, form in f.items() if isinstance(form, Grow) or form.terms or form.rest}
    if len(kept) > MAX_LEVELS:
        raise NoTail("too many exponentials")
    return kept
