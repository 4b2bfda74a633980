"""Polynomials in x and exp(b x) with constant coefficients, exact: the exponents of tail_levels.py.

A monomial is c x**k exp(b x) times whole powers of constants such as pi and sqrt(2); squares of square
roots are written out, so that (x/sqrt(2))**2 is x**2/2.
"""

from __future__ import annotations

from fractions import Fraction

from gateproof.theory.exact import balls
from gateproof.theory.formula.nodes import App, Const, Expr, Node, Num, Var
from gateproof.theory.formula.powers import constant_value

Atoms = tuple[tuple[Expr, int], ...]
Monomial = tuple[Fraction, int, Atoms]
Exponent = frozenset[tuple[Monomial, Fraction]]
_Sum = dict[Monomial, Fraction]

PLAIN: Exponent = frozenset()
MAX_DEGREE, MAX_TERMS = 16, 24
_LINE, _CONSTANT = (Fraction(0), 1, ()), (Fraction(0), 0, ())
#: A rational constant beyond it is not put into exp.
LARGEST = 200


class TooLong(ArithmeticError):
    """Not a polynomial, or a longer one than is worked with."""


def polynomial(expr: Expr, var: str, sign: int) -> tuple[Exponent, Fraction, Fraction]:
    """(w, a, b) with expr = w + a x + b at ``sign`` x, a and b rational. Raises TooLong."""
    terms = _polynomial(expr, var)
    turned = {(b * sign, k, atoms): c * sign**k for (b, k, atoms), c in terms.items()}
    slope, constant = turned.pop(_LINE, Fraction(0)), turned.pop(_CONSTANT, Fraction(0))
    if abs(constant) > LARGEST:
        raise TooLong("a large constant")
    return frozenset((m, c) for m, c in turned.items() if c), slope, constant


def plus(v: Exponent, w: Exponent) -> Exponent:
    """Sum."""
    return _frozen(_added(dict(v), dict(w)))


def scaled(v: Exponent, c: int) -> Exponent:
    """A multiple."""
    return frozenset((m, c * q) for m, q in v) if c else PLAIN


def _frozen(terms: _Sum) -> Exponent:
    return frozenset((m, c) for m, c in terms.items() if c)


def _added(a: _Sum, b: _Sum) -> _Sum:
    total = dict(a)
    for m, c in b.items():
        total[m] = total.get(m, Fraction(0)) + c
    return total


def _times(a: _Sum, b: _Sum) -> _Sum:
    total: _Sum = {}
    for (e, k, p), c in a.items():
        for (f, j, q), d in b.items():
            if k + j > MAX_DEGREE:
                raise TooLong("a high degree")
            m, scale = _product(p, q)
            key = (e + f, k + j, m)
            total[key] = total.get(key, Fraction(0)) + c * d * scale
    if len(total) > MAX_TERMS:
        raise TooLong("many terms")
    return {m: c for m, c in total.items() if c}


def _product(p: Atoms, q: Atoms) -> tuple[Atoms, Fraction]:
    """Of two powers of constants, with sqrt(r)**2 = r for rational r."""
    powers = dict(p)
    for atom, n in q:
        powers[atom] = powers.get(atom, 0) + n
    scale = Fraction(1)
    for atom, n in list(powers.items()):
        if isinstance(atom, App) and atom.head == "sqrt" and isinstance(atom.args[0], Num):
            scale *= atom.args[0].value ** (n // 2)
            powers[atom] = n % 2
    kept = sorted(((a, n) for a, n in powers.items() if n), key=repr)
    return tuple(kept), scale


def _polynomial(expr: Expr, var: str) -> _Sum:
    if isinstance(expr, Num):
        return {_CONSTANT: expr.value} if expr.value else {}
    if isinstance(expr, Var) and expr.name == var:
        return {_LINE: Fraction(1)}
    if isinstance(expr, App):
        if expr.head == "neg":
            return {m: -c for m, c in _polynomial(expr.args[0], var).items()}
        if expr.head == "add":
            total: _Sum = {}
            for part in expr.args:
                total = _added(total, _polynomial(part, var))
            return {m: c for m, c in total.items() if c}
        if expr.head == "mul":
            product: _Sum = {_CONSTANT: Fraction(1)}
            for part in expr.args:
                product = _times(product, _polynomial(part, var))
            return product
        if expr.head == "div":
            return _times(_polynomial(expr.args[0], var), _inverse(_polynomial(expr.args[1], var)))
        if expr.head == "pow":
            return _power(expr, var)
        if expr.head == "sqrt" and not _moves(expr):
            return _root(expr, var)
        if expr.head == "exp" and _moves(expr):
            return _wave(expr, var)
    return _constant(expr)


def _moves(expr: Node) -> bool:
    return any(isinstance(n, Var) for n in expr.walk())


def _constant(expr: Expr) -> _Sum:
    """A constant that is not 0, as it stands."""
    if _moves(expr) or expr == Const("oo"):
        raise TooLong("not a polynomial")
    pair = balls.rational_bounds(expr)
    if pair is None or pair[0] <= 0 <= pair[1]:
        raise TooLong("a constant that may be 0")
    return {(Fraction(0), 0, ((expr, 1),)): Fraction(1)}


def _inverse(terms: _Sum) -> _Sum:
    if len(terms) != 1:
        raise TooLong("a quotient")
    (((b, k, atoms), c),) = terms.items()
    if k or not c:
        raise TooLong("a quotient")
    turned, scale = _product(tuple((a, -n) for a, n in atoms), ())
    return {(-b, 0, turned): scale / c}


def _power(expr: App, var: str) -> _Sum:
    n = constant_value(expr.args[1])
    if n is None or n.denominator != 1 or abs(n) > MAX_DEGREE:
        return _constant(expr)
    base = _polynomial(expr.args[0], var)
    if n < 0:
        base = _inverse(base)
    product: _Sum = {_CONSTANT: Fraction(1)}
    for _ in range(abs(int(n))):
        product = _times(product, base)
    return product


def _root(expr: App, var: str) -> _Sum:
    """Sqrt of a positive rational c, so written that its square is seen; others as they stand."""
    inner = _polynomial(expr.args[0], var)
    c = inner.get(_CONSTANT, Fraction(0))
    if len(inner) != 1 or c <= 0:
        return _constant(expr)
    return {(Fraction(0), 0, ((App("sqrt", (Num(c),)), 1),)): Fraction(1)}


def _wave(expr: App, var: str) -> _Sum:
    """exp(b x + c) for rational b and c."""
    terms = _polynomial(expr.args[0], var)
    slope, constant = terms.pop(_LINE, Fraction(0)), terms.pop(_CONSTANT, Fraction(0))
    if terms or abs(constant) > LARGEST:
        raise TooLong("an exponential of more than a line")
    atoms: Atoms = ((App("exp", (Num(constant),)), 1),) if constant else ()
    return {(slope, 0, atoms): Fraction(1)}
