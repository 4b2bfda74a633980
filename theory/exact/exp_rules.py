"""Sign rules that pass between sums and products by exp, log and atan."""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING

from gateproof.theory.exact import balls, functions, polys
from gateproof.theory.exact.atoms import Frac
from gateproof.theory.exact.bounds import ALL, names_in
from gateproof.theory.exact.budget import depth
from gateproof.theory.exact.polys import ONE, ZERO, Poly
from gateproof.theory.exact.writeback import write_poly

if TYPE_CHECKING:
    from gateproof.theory.exact.normal import Workspace
    from gateproof.theory.exact.sign import SignTable

Signs = frozenset[int]
#: Factors 1 + i u of the product in by_arctangents.
MAX_TURNS = 60


def _sign(value: Fraction) -> int:
    return (value > 0) - (value < 0)


def _times(a: Signs, b: Signs) -> Signs:
    return frozenset(x * y for x in a for y in b)


def exponent_of_binomial(ws: Workspace, f: Poly) -> Frac | None:
    """For a M - b N with products M, N of exponentials and a, b > 0: log(a M/(b N))."""
    terms = list(polys.terms_of(f))
    if len(terms) != 2 or terms[0][1] * terms[1][1] > 0:
        return None
    if any(ws.atoms[i].kind != "exp" for powers, _ in terms for i, _ in powers):
        return None
    ratio = abs(terms[0][1] / terms[1][1])
    total = functions.log_number(ws, ratio)
    for (powers, _), side in zip(terms, (1, -1), strict=True):
        for i, e in powers:
            atom = ws.atoms[i]
            assert atom.arg is not None
            total = ws.add(total, ws.mul(ws.number(side * e * atom.step), atom.arg))
    return total


def by_binomial(table: SignTable, f: Poly) -> Signs:
    """exp is increasing: exp(u) - exp(v) has the sign of u - v."""
    exponent = exponent_of_binomial(table.ws, f)
    if exponent is None:
        return ALL
    first = next(iter(polys.terms_of(f)))[1]
    return _times(frozenset({_sign(first)}), table.of_frac(exponent))


def by_logarithms(table: SignTable, f: Poly) -> Signs:
    """A linear combination of logs and other terms u: u + sum k log v > 0 iff exp(u) prod v**k > 1."""
    ws = table.ws
    if polys.total_degree_in(f, [i for i in polys.used(f) if ws.atoms[i].kind == "log"]) != 1:
        return ALL
    scale = 1
    for powers, c in polys.terms_of(f):
        logs = [i for i, _ in powers if ws.atoms[i].kind == "log"]
        if logs and len(powers) != 1:
            return ALL
        if logs:
            scale = scale * c.denominator
            if abs(c) * scale > 60:
                return ALL
    image = functions.exp(ws, Frac(f * scale, ONE))
    return table.of_frac(ws.sub(image, ws.number(1)))


def by_exponential(table: SignTable, f: Poly) -> Signs:
    """a exp(u) - b with a, b > 0 has the sign of u - log(b/a)."""
    ws = table.ws
    if depth() > 1:
        return ALL
    for i in reversed(polys.used(f)):
        atom = ws.atoms[i]
        if atom.kind != "exp" or atom.arg is None or polys.degree(f, i) != 1 or len(f) < 3:
            continue
        parts = polys.coefficients_in(f, i)
        a, b = parts[1], -parts.get(0, ZERO)
        sign = table.of(a)
        if sign not in ({1}, {-1}) or table.of(b) != sign:
            continue
        bound = functions.log(ws, ws.frac(b, a))
        exponent = ws.mul(ws.number(atom.step), atom.arg)
        return _times(sign, table.of_frac(ws.sub(exponent, bound)))
    return ALL


def by_arctangents(table: SignTable, f: Poly) -> Signs:
    """A closed sum of arctangents and multiples of pi that is 0: arg of a product of 1 + i u."""
    ws = table.ws
    if names_in(table, polys.used(f)):
        return ALL
    scale = 1
    for powers, c in polys.terms_of(f):
        if len(powers) != 1 or powers[0][1] != 1 or ws.atoms[powers[0][0]].kind not in ("atan", "pi"):
            return ALL
        scale = scale * c.denominator // gcd(scale, c.denominator)
    real, imaginary = ws.number(1), ws.number(0)
    for powers, c in polys.terms_of(f):
        atom = ws.atoms[powers[0][0]]
        if atom.arg is None:
            continue
        times = int(c * scale)
        if abs(times) > MAX_TURNS:
            return ALL
        u = atom.arg if times > 0 else Frac(-atom.arg.num, atom.arg.den)
        for _ in range(abs(times)):
            real, imaginary = (
                ws.sub(real, ws.mul(u, imaginary)),
                ws.add(imaginary, ws.mul(u, real)),
            )
    # The scaled sum is a multiple of pi where the product is real: 0 if it is also below 1.
    if not imaginary.is_zero:
        return ALL
    near = balls.rational_bounds(write_poly(ws, f * scale))
    if near is None or not (near[0] > -1 and near[1] < 1):
        return ALL
    table.used_balls = True
    return frozenset({0})
