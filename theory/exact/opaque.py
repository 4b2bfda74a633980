"""Normal forms of functions that stay opaque: their parity and special values are used.

Sources: Abramowitz and Stegun 4.3 (circular functions), 4.4 (their inverses),
4.6 (inverse hyperbolic functions by logarithms), 7.1 (error function).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from gateproof.theory.exact import functions, polys
from gateproof.theory.exact.atoms import Frac
from gateproof.theory.exact.polys import ONE, UndefinedValue

if TYPE_CHECKING:
    from gateproof.theory.exact.normal import Workspace


def _negated(u: Frac) -> Frac:
    return Frac(-u.num, u.den)


def _is_flipped(u: Frac) -> bool:
    """Whether -u is the chosen one of u and -u."""
    return not u.is_zero and polys.fraction(u.num.leading_coefficient()) < 0


def _odd(ws: Workspace, kind: str, u: Frac) -> Frac:
    """An odd function with value 0 at 0."""
    if u.is_zero:
        return u
    if _is_flipped(u):
        return _negated(Frac(ws.atom(kind, _negated(u)), ONE))
    return Frac(ws.atom(kind, u), ONE)


def erf(ws: Workspace, u: Frac) -> Frac:
    """erf(-u) = -erf(u)."""
    return _odd(ws, "erf", u)


def erfc(ws: Workspace, u: Frac) -> Frac:
    """erfc = 1 - erf."""
    return ws.sub(ws.number(1), erf(ws, u))


def _angle(ws: Workspace, u: Frac) -> tuple[Fraction, Frac]:
    """u as r pi + rest, with rational r."""
    if not u.is_poly:
        return Fraction(0), u
    for atom in ws.atoms:
        if atom.kind == "pi":
            only = ((atom.index, 1),)
            for powers, c in polys.terms_of(u.num):
                if powers == only:
                    pi = Frac(polys.GENS[atom.index], ONE)
                    return c, ws.sub(u, ws.mul(ws.number(c), pi))
    return Fraction(0), u


#: sin(r pi) as (a sqrt(p) + b sqrt(q))/4, and as sqrt(a + b sqrt(p))/4.
_SINES: dict[Fraction, tuple[int, int, int, int]] = {
    Fraction(0): (0, 1, 0, 1),
    Fraction(1, 12): (1, 6, -1, 2),
    Fraction(1, 10): (1, 5, -1, 1),
    Fraction(1, 6): (2, 1, 0, 1),
    Fraction(1, 4): (2, 2, 0, 1),
    Fraction(3, 10): (1, 5, 1, 1),
    Fraction(1, 3): (2, 3, 0, 1),
    Fraction(5, 12): (1, 6, 1, 2),
    Fraction(1, 2): (4, 1, 0, 1),
}
_NESTED: dict[Fraction, tuple[int, int, int]] = {
    Fraction(1, 8): (8, -4, 2),
    Fraction(1, 5): (10, -2, 5),
    Fraction(3, 8): (8, 4, 2),
    Fraction(2, 5): (10, 2, 5),
}


def _special_sine(ws: Workspace, r: Fraction) -> Frac | None:
    """sin(r pi) for 0 <= r <= 1/2 a multiple of 1/8, 1/10 or 1/12 with a form in square roots."""

    def root(n: int) -> Frac:
        return functions.sqrt(ws, ws.number(n))

    quarter = ws.number(Fraction(1, 4))
    if r in _SINES:
        a, p, b, q = _SINES[r]
        return ws.mul(quarter, ws.add(ws.mul(ws.number(a), root(p)), ws.mul(ws.number(b), root(q))))
    if r in _NESTED:
        a, b, p = _NESTED[r]
        inner = ws.add(ws.number(a), ws.mul(ws.number(b), root(p)))
        return ws.mul(quarter, functions.sqrt(ws, inner))
    return None


def sin(ws: Workspace, u: Frac) -> Frac:
    """Shifts by pi/2, parity, and the values at multiples of pi/8, pi/10 and pi/12."""
    r, rest = _angle(ws, u)
    if rest.is_zero:
        r %= 2
        sign = 1
        if r > 1:
            r, sign = r - 1, -1
        if r > Fraction(1, 2):
            r = 1 - r
        value = _special_sine(ws, r)
        if value is not None:
            return value if sign > 0 else _negated(value)
        return _odd(ws, "sin", u)
    if (2 * r).denominator == 1 and r != 0:
        quarter = int(2 * r) % 4
        value = _plain_sin(ws, rest) if quarter % 2 == 0 else _plain_cos(ws, rest)
        return value if quarter < 2 else _negated(value)
    return _plain_sin(ws, u)


def cos(ws: Workspace, u: Frac) -> Frac:
    """cos(u) = sin(u + pi/2)."""
    r, rest = _angle(ws, u)
    if rest.is_zero or ((2 * r).denominator == 1 and r != 0):
        half_pi = Frac(polys.times(ws.atom("pi"), polys.constant(Fraction(1, 2))), ONE)
        shifted = ws.add(u, half_pi)
        if rest.is_zero and _special_angle(r):
            return sin(ws, shifted)
        if not rest.is_zero:
            return sin(ws, shifted)
    return _plain_cos(ws, u)


def _special_angle(r: Fraction) -> bool:
    r %= 1
    return min(r, 1 - r) in _SINES or min(r, 1 - r) in _NESTED


def _of_inverse(ws: Workspace, u: Frac) -> tuple[Frac, Frac] | None:
    """Sine and cosine of atan(v) and asin(v) (A&S 4.3.45, 4.4.32); None for other arguments."""
    if not u.is_poly:
        return None
    places = list(u.used())
    if len(places) != 1 or u.num != polys.GENS[places[0]]:
        return None
    atom = ws.atoms[places[0]]
    if atom.kind not in ("atan", "asin") or atom.arg is None:
        return None
    v, one = atom.arg, ws.number(1)
    if atom.kind == "asin":
        return v, functions.sqrt(ws, ws.sub(one, ws.mul(v, v)))
    root = functions.sqrt(ws, ws.add(one, ws.mul(v, v)))
    return ws.div(v, root), ws.div(one, root)


def _plain_cos(ws: Workspace, u: Frac) -> Frac:
    known = _of_inverse(ws, _negated(u) if _is_flipped(u) else u)
    if known is not None:
        return known[1]
    return Frac(ws.atom("cos", _negated(u) if _is_flipped(u) else u), ONE)


def _plain_sin(ws: Workspace, u: Frac) -> Frac:
    """An opaque sine whose square is 1 - cos**2."""
    if u.is_zero:
        return u
    oriented = _negated(u) if _is_flipped(u) else u
    known = _of_inverse(ws, oriented)
    if known is not None:
        return _negated(known[0]) if _is_flipped(u) else known[0]
    cosine = ws.atom("cos", oriented)
    value = Frac(ws.atom("sin", oriented, square=ONE - cosine * cosine), ONE)
    return _negated(value) if _is_flipped(u) else value


def tan(ws: Workspace, u: Frac) -> Frac:
    """tan = sin/cos."""
    return ws.div(sin(ws, u), cos(ws, u))


def _inverse(ws: Workspace, kind: str, u: Frac, table: list[tuple[Frac, Fraction]]) -> Frac:
    oriented = _negated(u) if _is_flipped(u) else u
    for value, r in table:
        if oriented == value:
            angle = Frac(polys.times(ws.atom("pi"), polys.constant(r)), ONE)
            return _negated(angle) if _is_flipped(u) else angle
    return _odd(ws, kind, u)


def atan(ws: Workspace, u: Frac) -> Frac:
    """Odd; atan of 1, sqrt(3), 1/sqrt(3)."""
    if u.is_zero:
        return u
    if all(ws.atoms[i].kind == "sqrt" for i in u.used()):
        three = functions.sqrt(ws, ws.number(3))
        third = ws.div(three, ws.number(3))
        table = [(ws.number(1), Fraction(1, 4)), (three, Fraction(1, 3)), (third, Fraction(1, 6))]
        return _inverse(ws, "atan", u, table)
    return _odd(ws, "atan", u)


def asin(ws: Workspace, u: Frac) -> Frac:
    """Odd; asin of 1/2, sqrt(2)/2, sqrt(3)/2, 1."""
    if u.is_zero:
        return u
    if all(ws.atoms[i].kind == "sqrt" for i in u.used()):
        half = Fraction(1, 2)
        table = [
            (ws.number(half), Fraction(1, 6)),
            (ws.mul(ws.number(half), functions.sqrt(ws, ws.number(2))), Fraction(1, 4)),
            (ws.mul(ws.number(half), functions.sqrt(ws, ws.number(3))), Fraction(1, 3)),
            (ws.number(1), half),
        ]
        return _inverse(ws, "asin", u, table)
    return _odd(ws, "asin", u)


def acos(ws: Workspace, u: Frac) -> Frac:
    """acos = pi/2 - asin."""
    half_pi = Frac(polys.times(ws.atom("pi"), polys.constant(Fraction(1, 2))), ONE)
    return ws.sub(half_pi, asin(ws, u))


def asinh(ws: Workspace, u: Frac) -> Frac:
    """log(u + sqrt(u**2 + 1)), for the chosen one of u and -u."""
    if u.is_zero:
        return u
    if _is_flipped(u):
        return _negated(asinh(ws, _negated(u)))
    root = functions.sqrt(ws, ws.add(ws.mul(u, u), ws.number(1)))
    return functions.log(ws, ws.add(u, root))


def acosh(ws: Workspace, u: Frac) -> Frac:
    """log(u + sqrt(u**2 - 1))."""
    root = functions.sqrt(ws, ws.sub(ws.mul(u, u), ws.number(1)))
    return functions.log(ws, ws.add(u, root))


def atanh(ws: Workspace, u: Frac) -> Frac:
    """(log(1 + u) - log(1 - u))/2; both are positive where it is defined."""
    one = ws.number(1)
    upper, lower = ws.add(one, u), ws.sub(one, u)
    if upper.is_zero or lower.is_zero:
        raise UndefinedValue
    difference = ws.sub(functions.log(ws, upper), functions.log(ws, lower))
    return ws.mul(ws.number(Fraction(1, 2)), difference)


RULES: dict[str, Callable[[Workspace, Frac], Frac]] = {
    **functions.RULES,
    "erf": erf,
    "erfc": erfc,
    "sin": sin,
    "cos": cos,
    "tan": tan,
    "atan": atan,
    "asin": asin,
    "acos": acos,
    "asinh": asinh,
    "acosh": acosh,
    "atanh": atanh,
}
