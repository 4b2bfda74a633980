"""Normal forms of the core functions.

Sources: Abramowitz and Stegun, Handbook of Mathematical Functions, 4.3 (circular),
4.4 (inverse circular), 4.5 and 4.6 (hyperbolic and inverse), 7.1 (error function).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from gateproof.theory.exact import polys
from gateproof.theory.exact.atoms import Frac
from gateproof.theory.exact.budget import Unsupported
from gateproof.theory.exact.polys import ONE, Poly, UndefinedValue

if TYPE_CHECKING:
    from gateproof.theory.exact.normal import Workspace

#: Numbers up to here are split into primes.
MAX_FACTORED = 10**12


def exp(ws: Workspace, u: Frac) -> Frac:
    """exp of a sum is a product of powers of generators; exp(k log v) = v**k."""
    result = ws.number(1)
    for powers, c in polys.terms_of(u.num):
        basis = ws.frac(polys.monomial(powers), u.den)
        inner = list(polys.terms_of(basis.num)) if basis.is_poly else []
        if len(inner) == 1 and len(inner[0][0]) == 1 and inner[0][0][0][1] == 1:
            (((place, _),), factor) = inner[0]
            atom, k = ws.atoms[place], c * factor
            if atom.kind == "log" and (2 * k).denominator == 1:
                assert atom.arg is not None
                base = atom.arg if k.denominator == 1 else sqrt(ws, atom.arg)
                result = ws.mul(result, ws.power(base, int(k if k.denominator == 1 else 2 * k)))
                continue
            if atom.kind == "lambertw" and k.denominator == 1:
                assert atom.arg is not None
                # exp(W(u)) = u/W(u) for u != 0, and W(0) = 0.
                if ws.settle(atom.arg, strict=True):
                    quotient = ws.div(atom.arg, Frac(polys.GENS[place], ONE))
                    result = ws.mul(result, ws.power(quotient, int(k)))
                continue
        result = ws.mul(result, ws.exponential(basis, c))
    return result


def log(ws: Workspace, u: Frac) -> Frac:
    """log of a positive value: factors of known sign are split off.

    The value is taken to be positive (the expression is defined): where one factor's
    sign is not known, it follows from the others.
    """
    if u.is_zero:
        raise UndefinedValue
    unit = Fraction(1)
    total = ws.number(0)
    unknown: list[tuple[Poly, int]] = []
    for part, orientation in ((u.num, 1), (u.den, -1)):
        c, found = polys.factors(part)
        unit *= c**orientation
        for f, e in found:
            signs = ws.signs.of(f)
            if signs == {-1}:
                unit *= Fraction(-1) ** e
                total = ws.add(total, ws.mul(ws.number(orientation * e), _log_factor(ws, -f)))
            elif signs == {1}:
                total = ws.add(total, ws.mul(ws.number(orientation * e), _log_factor(ws, f)))
            else:
                unknown.append((f, orientation * e))
    if len(unknown) == 1 and unknown[0][1] % 2:
        f, e = unknown[0]
        f = f if unit > 0 else -f
        return ws.add(ws.add(total, log_number(ws, abs(unit))), ws.mul(ws.number(e), _log_factor(ws, f)))
    if unknown:
        rest = ws.number(1 if unit > 0 else -1)
        for f, e in unknown:
            rest = ws.mul(rest, ws.power(Frac(f, ONE), e))
        return ws.add(ws.add(total, log_number(ws, abs(unit))), Frac(ws.atom("log", rest), ONE))
    if unit < 0:
        raise UndefinedValue
    return ws.add(total, log_number(ws, unit))


def _log_factor(ws: Workspace, f: Poly) -> Frac:
    """log of a positive irreducible polynomial."""
    used = polys.used(f)
    if len(used) == 1 and f == polys.GENS[used[0]]:
        atom = ws.atoms[used[0]]
        if atom.kind == "exp":
            assert atom.arg is not None
            return ws.mul(ws.number(atom.step), atom.arg)
        if atom.kind == "sqrt" and atom.square is not None:
            return ws.mul(ws.number(Fraction(1, 2)), log(ws, Frac(atom.square, ONE)))
    return Frac(ws.atom("log", Frac(f, ONE)), ONE)


def log_number(ws: Workspace, value: Fraction) -> Frac:
    """log of a positive rational by its primes."""
    total = ws.number(0)
    for number, orientation in ((value.numerator, 1), (value.denominator, -1)):
        for prime, e in primes(number):
            term = Frac(ws.atom("log", ws.number(prime)), ONE)
            total = ws.add(total, ws.mul(ws.number(orientation * e), term))
    return total


def primes(n: int) -> list[tuple[int, int]]:
    """Prime factors of n >= 1; a large number is left whole."""
    from flint import fmpz

    if n == 1:
        return []
    if n > MAX_FACTORED:
        return [(n, 1)]
    return [(int(p), int(e)) for p, e in fmpz(n).factor()]


def sqrt(ws: Workspace, u: Frac) -> Frac:
    """sqrt(n/d) = sqrt(n d)/|d|; known positive factors and squares are taken out."""
    if u.is_zero:
        return u
    outside = ws.number(1)
    if not u.is_poly:
        sign = ws.settle(Frac(u.den, ONE), strict=False)
        outside = ws.div(outside, Frac(u.den if sign > 0 else -u.den, ONE))
    c, found = polys.factors(polys.times(u.num, u.den))
    inside = ONE
    for f, e in found:
        signs = ws.signs.of(f)
        if e >= 2:
            absolute = f
            if (e // 2) % 2 and ws.settle(Frac(f, ONE), strict=False) < 0:
                absolute = -f
            outside = ws.mul(outside, ws.power(Frac(absolute, ONE), e // 2))
        if e % 2:
            if signs == {1} or signs == {-1}:
                positive = f if signs == {1} else -f
                c = c if signs == {1} else -c
                outside = ws.mul(outside, _root_of_positive(ws, positive))
            else:
                inside = polys.times(inside, f)
    if inside.is_constant():
        if c < 0:
            raise UndefinedValue
        return ws.mul(outside, _root_of_number(ws, c))
    if c < 0:
        inside = -inside
    outside = ws.mul(outside, _root_of_number(ws, abs(c)))
    root = ws.atom("sqrt", Frac(inside, ONE), square=inside)
    return ws.mul(outside, Frac(root, ONE))


def _root_of_positive(ws: Workspace, f: Poly) -> Frac:
    used = polys.used(f)
    if len(used) == 1 and f == polys.GENS[used[0]] and ws.atoms[used[0]].kind == "exp":
        atom = ws.atoms[used[0]]
        assert atom.arg is not None
        return ws.exponential(atom.arg, atom.step / 2)
    return Frac(ws.atom("sqrt", Frac(f, ONE), square=f), ONE)


def _root_of_number(ws: Workspace, value: Fraction) -> Frac:
    """sqrt(p/q) = sqrt(p q)/q by square roots of primes."""
    outside = Fraction(1, value.denominator)
    result = ws.number(1)
    for number in (value.numerator, value.denominator):
        for prime, e in primes(number):
            outside *= prime ** (e // 2)
            if e % 2:
                p = polys.constant(Fraction(prime))
                root = ws.atom("sqrt", ws.number(prime), square=p)
                result = ws.mul(result, Frac(root, ONE))
    return ws.mul(result, ws.number(outside))


def without_root(ws: Workspace, num: Poly, den: Poly, i: int) -> tuple[Poly, Poly]:
    """Numerator and denominator with a square root moved out of the denominator.

    Multiplied are sqrt(p), where it divides the denominator, and the conjugate of a
    number built of square roots of primes: neither is 0 where the denominator is not.
    """
    atom = ws.atoms[i]
    if atom.kind != "sqrt" or polys.degree(den, i) == 0:
        return num, den
    parts = polys.coefficients_in(den, i)
    generator = polys.GENS[i]
    if 0 not in parts:
        return ws.reduce(polys.times(num, generator)), ws.reduce(polys.times(den, generator))
    if all(_is_root_of_prime(ws, j) for j in polys.used(den)):
        conjugate = parts[0] - polys.times(parts[1], generator)
        return ws.reduce(polys.times(num, conjugate)), ws.reduce(polys.times(den, conjugate))
    return num, den


def _is_root_of_prime(ws: Workspace, i: int) -> bool:
    # Roots of different primes are independent over Q, so a conjugate is 0 only with the number.
    from flint import fmpz

    atom = ws.atoms[i]
    if atom.kind != "sqrt" or atom.arg is None:
        return False
    value = atom.arg.rational()
    return value is not None and value <= MAX_FACTORED and bool(fmpz(int(value)).is_prime())


def pow_(ws: Workspace, base: Frac, exponent: Frac) -> Frac:
    """Integer powers, half-integer powers by the root, others of a positive base by exp and log."""
    value = exponent.rational()
    if value is not None and value.denominator == 1:
        if abs(value) > 100_000:
            raise Unsupported("a power too high")
        if value == 0 and base.is_zero:
            raise Unsupported("0**0")
        return ws.power(base, int(value))
    if value is not None and value.denominator == 2 and abs(value) <= 200:
        return ws.power(sqrt(ws, base), int(2 * value))
    signs = ws.signs.of_frac(base)
    if value is not None and value > 0 and signs <= {0, 1}:
        # 0**p = 0 for p > 0: the two cases are taken apart, since there is no logarithm of 0.
        if ws.settle(base, strict=True) == 0:
            return ws.number(0)
    elif signs != {1}:
        raise Unsupported("a power of a base that is not known to be positive")
    return exp(ws, ws.mul(exponent, log(ws, base)))


def _of_exp(rule: Callable[[Workspace, Frac], Frac]) -> Callable[[Workspace, Frac], Frac]:
    return lambda ws, u: rule(ws, exp(ws, u))


def _ratio(ws: Workspace, top: Frac, bottom: Frac) -> Frac:
    return ws.div(top, bottom)


def _sigmoid(ws: Workspace, t: Frac) -> Frac:
    return _ratio(ws, t, ws.add(t, ws.number(1)))


def _sinh(ws: Workspace, t: Frac) -> Frac:
    return _ratio(ws, ws.sub(ws.mul(t, t), ws.number(1)), ws.mul(ws.number(2), t))


def _cosh(ws: Workspace, t: Frac) -> Frac:
    return _ratio(ws, ws.add(ws.mul(t, t), ws.number(1)), ws.mul(ws.number(2), t))


def _tanh(ws: Workspace, t: Frac) -> Frac:
    square = ws.mul(t, t)
    return _ratio(ws, ws.sub(square, ws.number(1)), ws.add(square, ws.number(1)))


def _sech(ws: Workspace, t: Frac) -> Frac:
    return _ratio(ws, ws.mul(ws.number(2), t), ws.add(ws.mul(t, t), ws.number(1)))


def _softplus(ws: Workspace, t: Frac) -> Frac:
    return log(ws, ws.add(t, ws.number(1)))


RULES: dict[str, Callable[[Workspace, Frac], Frac]] = {
    "exp": exp,
    "log": log,
    "sqrt": sqrt,
    "sigmoid": _of_exp(_sigmoid),
    "sinh": _of_exp(_sinh),
    "cosh": _of_exp(_cosh),
    "tanh": _of_exp(_tanh),
    "sech": _of_exp(_sech),
    "softplus": _of_exp(_softplus),
}
