"""Normal forms of special functions: exact values, parity, and the equations that bring them to fewer.

Each rewriting holds wherever the function has a value, or where the signs that are known say so: shifts of
gamma go down only for what is known to be positive, recurrences of Bessel functions divide by an argument
known not to be 0 (DLMF 5.5, 5.15, 10.6, 10.16, 10.29, 10.39).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import factorial, floor
from typing import TYPE_CHECKING

from gateproof.theory.exact import functions, opaque, polys
from gateproof.theory.exact.atoms import Frac
from gateproof.theory.exact.polys import ONE, UndefinedValue
from gateproof.theory.special import Function, find
from gateproof.theory.special.registry import head_of
from gateproof.theory.special.symbolic import has_no_value, value_at

if TYPE_CHECKING:
    from gateproof.theory.exact.normal import Workspace

#: Where nothing is known of the sign, arguments are brought to a constant part in [_WINDOW, _WINDOW + 1).
_WINDOW = 4
#: Longer products are not written out.
_MAX_SHIFT = 40


def form(ws: Workspace, head: str, u: Frac) -> Frac:
    """A special function of a normal form."""
    found = find(head)
    assert found is not None
    value = u.rational()
    if value is not None:
        if has_no_value(found, value):
            raise UndefinedValue
        exact = value_at(head, value)
        if exact is not None:
            return ws.form(exact)
    elif ws.signs.of_frac(u) == {0} and not has_no_value(found, Fraction(0)):
        exact = value_at(head, Fraction(0))
        if exact is not None:
            return ws.form(exact)
    rule = _RULES.get(found.family.name)
    return _plain(ws, head, u) if rule is None else rule(ws, found, u)


def _plain(ws: Workspace, head: str, u: Frac) -> Frac:
    """Opaque, with its parity."""
    found = find(head)
    parity = 0 if found is None else found.family.parity(found.params)
    if parity and not u.is_zero and polys.fraction(u.num.leading_coefficient()) < 0:
        inner = Frac(ws.atom(head, Frac(-u.num, u.den)), ONE)
        return inner if parity > 0 else Frac(-inner.num, inner.den)
    return Frac(ws.atom(head, u), ONE)


# --- gamma and its kin ---------------------------------------------------------


def _constant_part(u: Frac) -> Fraction:
    if not u.is_poly:
        return Fraction(0)
    return next((c for powers, c in polys.terms_of(u.num) if not powers), Fraction(0))


def _shifts(ws: Workspace, u: Frac) -> tuple[Frac, int]:
    """(v, k) with u = v + k, where the step from v to u is allowed."""
    c = _constant_part(u)
    low = floor(c)
    bare = ws.sub(u, ws.number(low))
    if bare.is_zero:
        # A whole number without a closed value.
        return ws.number(1), low - 1
    if abs(low) <= _MAX_SHIFT and ws.signs.of_frac(bare) == {1}:
        return bare, low
    if low < _WINDOW and low >= -_MAX_SHIFT:
        return ws.add(bare, ws.number(_WINDOW)), low - _WINDOW
    return u, 0


def _gamma(ws: Workspace, _: Function, u: Frac) -> Frac:
    half = _halved(u)
    if half is not None:
        # gamma(2 w) = 2**(2 w - 1)/sqrt(pi) gamma(w) gamma(w + 1/2): both have a value where gamma(2 w) has.
        two = functions.log_number(ws, Fraction(2))
        power = functions.exp(ws, ws.mul(two, ws.sub(u, ws.number(1))))
        root = functions.sqrt(ws, Frac(ws.atom("pi"), ONE))
        parts = ws.mul(form(ws, "gamma", half), form(ws, "gamma", ws.add(half, ws.number(Fraction(1, 2)))))
        return ws.div(ws.mul(power, parts), root)
    sine = _sine_if_flipped(ws, u)
    if sine is not None:
        mirrored = form(ws, "gamma", ws.sub(ws.number(1), u))
        return ws.div(Frac(ws.atom("pi"), ONE), ws.mul(sine, mirrored))
    v, k = _shifts(ws, u)
    value = Frac(ws.atom("gamma", v), ONE)
    for j in range(abs(k)):
        step = ws.add(v, ws.number(j if k > 0 else -1 - j))
        value = ws.mul(value, step) if k > 0 else ws.div(value, step)
    return value


def _halved(u: Frac) -> Frac | None:
    """u/2 where all coefficients but the constant are even numbers, the first of them being positive."""
    if not u.is_poly or u.num.is_constant():
        return None
    moving = [c for powers, c in polys.terms_of(u.num) if powers]
    if any(c.denominator > 1 or c.numerator % 2 for c in moving):
        return None
    return Frac(u.num / 2, ONE)


def _sine_if_flipped(ws: Workspace, u: Frac) -> Frac | None:
    """sin(pi u) where u goes down in its first name and the sine is known not to be 0."""
    value = u.rational()
    if value is not None:
        # gamma(2/3) by gamma(1/3).
        if value.denominator <= 2 or value % 1 < Fraction(1, 2):
            return None
    elif not u.is_poly or polys.fraction(u.num.leading_coefficient()) > 0:
        return None
    sine = opaque.sin(ws, ws.mul(Frac(ws.atom("pi"), ONE), u))
    return sine if 0 not in ws.signs.of_frac(sine) else None


def _loggamma(ws: Workspace, _: Function, u: Frac) -> Frac:
    """It has a value where u > 0 alone, and is the logarithm of gamma(u) > 0 there."""
    return functions.log(ws, form(ws, "gamma", u))


def _polygamma(ws: Workspace, found: Function, u: Frac) -> Frac:
    n = int(found.params[0]) if found.params else 0
    head = head_of(found.family.name, found.params)
    sine = _sine_if_flipped(ws, u) if n == 0 else None
    if sine is not None:
        # psi(u) = psi(1 - u) - pi cot(pi u)
        turn = ws.mul(Frac(ws.atom("pi"), ONE), u)
        cotangent = ws.div(opaque.cos(ws, turn), sine)
        mirrored = form(ws, head, ws.sub(ws.number(1), u))
        return ws.sub(mirrored, ws.mul(Frac(ws.atom("pi"), ONE), cotangent))
    v, k = _shifts(ws, u)
    value = Frac(ws.atom(head, v), ONE)
    factor = ws.number(Fraction((-1) ** n * factorial(n)))
    for j in range(abs(k)):
        step = ws.add(v, ws.number(j if k > 0 else -1 - j))
        term = ws.div(factor, ws.power(step, n + 1))
        value = ws.add(value, term) if k > 0 else ws.sub(value, term)
    return value


# --- Lambert W -----------------------------------------------------------------


def _lambertw(ws: Workspace, _: Function, u: Frac) -> Frac:
    """W(w exp(w)) = w where w >= -1 is known."""
    for candidate in _exponents(ws, u):
        if ws.sub(ws.mul(candidate, functions.exp(ws, candidate)), u).is_zero:
            above = ws.add(candidate, ws.number(1))
            if -1 not in ws.signs.of_frac(above):
                return candidate
    return Frac(ws.atom("lambertw", u), ONE)


def _exponents(ws: Workspace, u: Frac) -> list[Frac]:
    terms = list(polys.terms_of(u.num))
    if len(terms) != 1:
        return []
    total = ws.number(0)
    for side, sign in ((u.num, 1), (u.den, -1)):
        for powers, _ in list(polys.terms_of(side))[:1]:
            for i, e in powers:
                atom = ws.atoms[i]
                if atom.kind == "exp" and atom.arg is not None:
                    total = ws.add(total, ws.mul(ws.number(atom.step * e * sign), atom.arg))
    # x log(x) = w exp(w) with w = log(x).
    logs = [Frac(polys.GENS[i], ONE) for powers, _ in terms for i, _ in powers if ws.atoms[i].kind == "log"]
    return [c for c in (total, *logs) if not c.is_zero]


# --- Bessel functions ----------------------------------------------------------


def _bessel(a: int, b: int) -> Callable[[Workspace, Function, Frac], Frac]:
    """f_(n+1) = a (2 n/u) f_n + b f_(n-1), with a, b = +-1: all orders by two neighbours beside 0."""

    def rule(ws: Workspace, found: Function, u: Frac) -> Frac:
        n, name = found.params[0], found.family.name
        base = n - floor(n)
        orders = (Fraction(0), Fraction(1)) if base == 0 else (base - 1, base)
        at_zero = name in ("besselj", "besseli") and n > 0
        # At 0 these are 0; the forms below divide by u.
        if at_zero and (n not in orders or base == Fraction(1, 2)) and ws.settle(u, strict=True) == 0:
            return ws.number(0)
        low, high = (_order(ws, name, order, u) for order in orders) if n not in orders else (None, None)
        if low is None or high is None:
            return _order(ws, name, n, u)

        def step(order: Fraction, value: Frac) -> Frac:
            return ws.mul(ws.number(2 * a * order), ws.div(value, u))

        at = orders[1]
        while at < n:
            low, high = high, ws.add(step(at, high), ws.mul(ws.number(b), low))
            at += 1
        if n > orders[0]:
            return high
        at = orders[0]
        while at > n:
            low, high = ws.mul(ws.number(b), ws.sub(high, step(at, low))), low
            at -= 1
        return low

    return rule


def _order(ws: Workspace, name: str, n: Fraction, u: Frac) -> Frac:
    """An order beside 0; +-1/2 is elementary (DLMF 10.16.1, 10.39.1-2)."""
    if abs(n) == Fraction(1, 2):
        return _half(ws, name, n, u)
    n = abs(n) if name == "besselk" else n
    return _plain(ws, head_of(name, (n,)), u)


def _spherical(ws: Workspace, found: Function, u: Frac) -> Frac:
    """Elementary where the argument is not 0 (DLMF 10.49.3), by j_(n+1) = (2 n + 1)/u j_n - j_(n-1)."""
    n = int(found.params[0])
    if n > _MAX_SHIFT or 0 in ws.signs.of_frac(u):
        return _plain(ws, head_of("sphericalj", found.params), u)
    sine, cosine = ws.div(opaque.sin(ws, u), u), ws.div(opaque.cos(ws, u), u)
    before, here = cosine, sine
    for k in range(n):
        before, here = here, ws.sub(ws.mul(ws.number(2 * k + 1), ws.div(here, u)), before)
    return here


def _half(ws: Workspace, name: str, n: Fraction, u: Frac) -> Frac:
    pi, two = Frac(ws.atom("pi"), ONE), ws.number(2)
    if name == "besselk":
        root = functions.sqrt(ws, ws.div(pi, ws.mul(two, u)))
        return ws.mul(root, functions.exp(ws, Frac(-u.num, u.den)))
    root = functions.sqrt(ws, ws.div(two, ws.mul(pi, u)))
    if name == "bessely":
        wave = opaque.sin(ws, u) if n < 0 else opaque.cos(ws, u)
        return ws.mul(root, wave if n < 0 else Frac(-wave.num, wave.den))
    head = {"besselj": ("cos", "sin"), "besseli": ("cosh", "sinh")}[name][0 if n < 0 else 1]
    return ws.mul(root, opaque.RULES[head](ws, u))


_RULES: dict[str, Callable[[Workspace, Function, Frac], Frac]] = {
    "gamma": _gamma,
    "loggamma": _loggamma,
    "digamma": _polygamma,
    "polygamma": _polygamma,
    "lambertw": _lambertw,
    "besselj": _bessel(1, -1),
    "sphericalj": _spherical,
    "bessely": _bessel(1, -1),
    "besseli": _bessel(-1, 1),
    "besselk": _bessel(1, 1),
}
