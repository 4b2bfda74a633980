"""Sines and cosines of sums and multiples, by the addition theorems.

exp(i (k1 a1 + k2 a2 + ...)) = (cos a1 + i sin a1)**k1 (cos a2 + i sin a2)**k2 ... for whole k, so
every sine and cosine of a sum of rational multiples is a polynomial in those of a few angles.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING

from gateproof.theory.exact import opaque, polys
from gateproof.theory.exact.atoms import Frac
from gateproof.theory.exact.polys import ONE, Poly

if TYPE_CHECKING:
    from gateproof.theory.exact.normal import Workspace

#: The highest multiple of an angle that is written out, and angles of one argument.
MAX_MULTIPLE = 24
MAX_ANGLES = 6
Powers = tuple[tuple[int, int], ...]
Turn = tuple[Frac, Frac]


def expanded(ws: Workspace, value: Frac) -> Frac | None:
    """The quotient with its sines and cosines in those of the fewest angles; None where none changes."""
    waves = [i for i in value.used() if ws.atoms[i].kind in ("sin", "cos")]
    arguments = {i: _terms(ws, i) for i in waves}
    steps: dict[Powers, Fraction] = {}
    for terms in arguments.values():
        if terms is None or len(terms) > MAX_ANGLES:
            return None
        for powers, c in terms.items():
            steps[powers] = _common(steps.get(powers), abs(c))
    if all(terms is not None and len(terms) == 1 and _is_step(terms, steps) for terms in arguments.values()):
        return None
    put: dict[int, Frac] = {}
    for i, terms in arguments.items():
        assert terms is not None
        turn = _turn(ws, terms, steps)
        if turn is None:
            return None
        put[i] = turn[0] if ws.atoms[i].kind == "cos" else turn[1]
    top, bottom = (_replaced(ws, p, put) for p in (value.num, value.den))
    return None if bottom.is_zero else ws.div(top, bottom)


def _terms(ws: Workspace, i: int) -> dict[Powers, Fraction] | None:
    arg = ws.atoms[i].arg
    if arg is None or not arg.is_poly:
        return None
    return dict(polys.terms_of(arg.num))


def _is_step(terms: dict[Powers, Fraction], steps: dict[Powers, Fraction]) -> bool:
    return all(abs(c) == steps[p] for p, c in terms.items())


def _common(a: Fraction | None, b: Fraction) -> Fraction:
    if a is None:
        return b
    bottom = a.denominator * b.denominator
    return Fraction(gcd(a.numerator * b.denominator, b.numerator * a.denominator), bottom)


def _turn(ws: Workspace, terms: dict[Powers, Fraction], steps: dict[Powers, Fraction]) -> Turn | None:
    """(cos, sin) of the sum of the terms."""
    total: Turn = (ws.number(1), ws.number(0))
    for powers, c in terms.items():
        k = c / steps[powers]
        if abs(k) > MAX_MULTIPLE:
            return None
        angle = Frac(polys.monomial(powers) * polys.constant(steps[powers]), ONE)
        unit: Turn = (opaque.cos(ws, angle), opaque.sin(ws, angle))
        if k < 0:
            unit = (unit[0], Frac(-unit[1].num, unit[1].den))
        for _ in range(abs(int(k))):
            total = _times(ws, total, unit)
    return total


def _times(ws: Workspace, a: Turn, b: Turn) -> Turn:
    real = ws.sub(ws.mul(a[0], b[0]), ws.mul(a[1], b[1]))
    return real, ws.add(ws.mul(a[0], b[1]), ws.mul(a[1], b[0]))


def _replaced(ws: Workspace, p: Poly, put: dict[int, Frac]) -> Frac:
    total = ws.number(0)
    for powers, c in polys.terms_of(p):
        kept = tuple((i, e) for i, e in powers if i not in put)
        term = Frac(polys.monomial(kept) * polys.constant(c), ONE)
        for i, e in powers:
            if i in put:
                term = ws.mul(term, ws.power(put[i], e))
        total = ws.add(total, term)
    return total
