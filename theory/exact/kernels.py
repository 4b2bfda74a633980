"""Integrands taken apart: sums of c z^k exp(-A z^2 + B z) times error functions or one cosine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from gateproof.theory.formula.nodes import App, Const, Expr, Num, Var, num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.scopes import free_names

MAX_TERMS = 400
MAX_POWER = 24
ZERO, ONE = num(0), num(1)
PI = Const("pi")


def plus(*parts: Expr) -> Expr:
    """A sum, its rational part folded."""
    known, rest = Fraction(0), list[Expr]()
    for part in parts:
        for item in part.args if isinstance(part, App) and part.head == "add" else (part,):
            value = constant_value(item)
            if value is None:
                rest.append(item)
            else:
                known += value
    if known or not rest:
        rest.append(Num(known))
    return rest[0] if len(rest) == 1 else App("add", tuple(rest))


def times(*parts: Expr) -> Expr:
    """A product, its rational part folded; 0 where a factor is 0."""
    known, rest = Fraction(1), list[Expr]()
    for part in parts:
        for item in part.args if isinstance(part, App) and part.head == "mul" else (part,):
            value = constant_value(item)
            if value is None:
                rest.append(item)
            else:
                known *= value
    if known == 0 or not rest:
        return Num(known)
    if known != 1:
        rest.insert(0, Num(known))
    return rest[0] if len(rest) == 1 else App("mul", tuple(rest))


def minus(a: Expr) -> Expr:
    """-a."""
    return times(num(-1), a)


def over(a: Expr, b: Expr) -> Expr:
    """a/b."""
    value = constant_value(b)
    if value:
        return times(a, Num(1 / value))
    return ZERO if a == ZERO else App("div", (a, b))


def raised(a: Expr, n: int) -> Expr:
    """a**n for n >= 0."""
    if n == 0:
        return ONE
    value = constant_value(a)
    if value is not None:
        return Num(value**n)
    return a if n == 1 else App("pow", (a, num(n)))


def root(a: Expr) -> Expr:
    """The square root."""
    return a if a in (ZERO, ONE) else App("sqrt", (a,))


def exponential(a: Expr) -> Expr:
    """exp(a)."""
    return ONE if a == ZERO else App("exp", (a,))


@dataclass(frozen=True)
class Kernel:
    """c z^k exp(-quad z^2 + lin z), times erf(a z + b) for each of ``erfs``, times cos(w z + p) for ``wave``.

    All coefficients are free of z.
    """

    c: Expr = ONE
    k: int = 0
    quad: Expr = ZERO
    lin: Expr = ZERO
    erfs: tuple[tuple[Expr, Expr], ...] = ()
    wave: tuple[Expr, Expr] | None = None


Kernels = list[Kernel]


class NotCovered(Exception):
    """The integrand is no such sum."""


def kernels(expr: Expr, var: str) -> Kernels | None:
    """The expression as a sum of kernels in ``var``, or None."""
    try:
        return _walk(expr, var)
    except NotCovered:
        return None


def linear_in(expr: Expr, var: str) -> tuple[Expr, Expr] | None:
    """(a, b) where the expression is a*var + b with a and b free of it."""
    found = polynomial_in(expr, var)
    if found is None or max(found, default=0) > 1:
        return None
    return found.get(1, ZERO), found.get(0, ZERO)


def polynomial_in(expr: Expr, var: str) -> dict[int, Expr] | None:
    """Coefficients of a polynomial in ``var``, those that are visibly 0 left out."""
    found = kernels(expr, var)
    if found is None:
        return None
    sums: dict[int, Expr] = {}
    for term in found:
        if term.erfs or term.wave or term.quad != ZERO or term.lin != ZERO:
            return None
        sums[term.k] = plus(sums.get(term.k, ZERO), term.c)
    return {k: c for k, c in sums.items() if c != ZERO}


def _walk(expr: Expr, var: str) -> Kernels:
    if var not in free_names(expr):
        return [Kernel(expr)]
    if isinstance(expr, Var):
        return [Kernel(k=1)]
    if not isinstance(expr, App):
        raise NotCovered
    rule = _RULES.get(expr.head)
    if rule is None:
        raise NotCovered
    return rule(expr.args, var)


def _sum(args: tuple[Expr, ...], var: str) -> Kernels:
    found = [t for a in args for t in _walk(a, var)]
    return _checked(found)


def _checked(found: Kernels) -> Kernels:
    if len(found) > MAX_TERMS:
        raise NotCovered
    return [t for t in found if t.c != ZERO]


def _product(args: tuple[Expr, ...], var: str) -> Kernels:
    total = [Kernel()]
    for arg in args:
        total = _times(total, _walk(arg, var))
    return total


def _times(left: Kernels, right: Kernels) -> Kernels:
    if len(left) * len(right) > MAX_TERMS:
        raise NotCovered
    return _checked(_collected([t for a in left for b in right for t in _pair(a, b)]))


def _pair(a: Kernel, b: Kernel) -> Kernels:
    if a.k + b.k > MAX_POWER or len(a.erfs) + len(b.erfs) > 4:
        raise NotCovered
    erfs = tuple(sorted((*a.erfs, *b.erfs), key=repr))
    whole = Kernel(times(a.c, b.c), a.k + b.k, plus(a.quad, b.quad), plus(a.lin, b.lin), erfs)
    if a.wave is None or b.wave is None:
        return [replace(whole, wave=a.wave or b.wave)]
    # cos x cos y = (cos(x + y) + cos(x - y))/2
    (w, p), (v, r) = a.wave, b.wave
    half = replace(whole, c=times(num(Fraction(1, 2)), whole.c))
    return [
        _waved(half, plus(w, v), plus(p, r)),
        _waved(half, plus(w, minus(v)), plus(p, minus(r))),
    ]


def _waved(term: Kernel, w: Expr, p: Expr) -> Kernel:
    if w != ZERO:
        return replace(term, wave=(w, p))
    return replace(term, c=times(term.c, App("cos", (p,))) if p != ZERO else term.c)


def _collected(found: Kernels) -> Kernels:
    """Equal kernels added up."""
    sums: dict[Kernel, Expr] = {}
    for term in found:
        key = replace(term, c=ONE)
        sums[key] = plus(sums[key], term.c) if key in sums else term.c
    return [replace(key, c=c) for key, c in sums.items()]


def _power(args: tuple[Expr, ...], var: str) -> Kernels:
    n = constant_value(args[1])
    if n is None or n.denominator != 1 or not 0 <= n <= MAX_POWER:
        raise NotCovered
    base, total = _walk(args[0], var), [Kernel()]
    for _ in range(int(n)):
        total = _times(total, base)
    return total


def _quotient(args: tuple[Expr, ...], var: str) -> Kernels:
    if var in free_names(args[1]):
        raise NotCovered
    return [replace(t, c=over(t.c, args[1])) for t in _walk(args[0], var)]


def _exp(args: tuple[Expr, ...], var: str) -> Kernels:
    p = polynomial_in(args[0], var)
    if p is None or max(p, default=0) > 2:
        raise NotCovered
    return [Kernel(exponential(p.get(0, ZERO)), quad=minus(p.get(2, ZERO)), lin=p.get(1, ZERO))]


def _line(arg: Expr, var: str) -> tuple[Expr, Expr]:
    found = linear_in(arg, var)
    if found is None:
        raise NotCovered
    return found


def _hyperbolic(sign: int) -> Callable[[tuple[Expr, ...], str], Kernels]:
    def rule(args: tuple[Expr, ...], var: str) -> Kernels:
        half = num(Fraction(1, 2))
        up, down = _exp(args, var)[0], _exp((minus(args[0]),), var)[0]
        signed = half if sign > 0 else minus(half)
        return [replace(up, c=times(half, up.c)), replace(down, c=times(signed, down.c))]

    return rule


def _wave(quarter: bool) -> Callable[[tuple[Expr, ...], str], Kernels]:
    def rule(args: tuple[Expr, ...], var: str) -> Kernels:
        w, p = _line(args[0], var)
        return [_waved(Kernel(), w, plus(p, times(num(Fraction(-1, 2)), PI)) if quarter else p)]

    return rule


def _erf(args: tuple[Expr, ...], var: str) -> Kernels:
    return [Kernel(erfs=(_line(args[0], var),))]


def _erfc(args: tuple[Expr, ...], var: str) -> Kernels:
    return [Kernel(), Kernel(num(-1), erfs=(_line(args[0], var),))]


_RULES: dict[str, Callable[[tuple[Expr, ...], str], Kernels]] = {
    "add": _sum,
    "mul": _product,
    "neg": lambda args, var: [replace(t, c=minus(t.c)) for t in _walk(args[0], var)],
    "div": _quotient,
    "pow": _power,
    "exp": _exp,
    "sinh": _hyperbolic(-1),
    "cosh": _hyperbolic(1),
    "cos": _wave(False),
    "sin": _wave(True),
    "erf": _erf,
    "erfc": _erfc,
}
