"""Expansions at infinity: exact terms c x**k exp(b x) and a bounded rest, on [start, oo).

All numbers are rational; every operation encloses. Irrational constants stand as their
rational midpoint with the error in the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from gateproof.theory.exact.enclose import FAR, round_down, round_up
from gateproof.theory.exact.enclose import exp as exp_pair

Key = tuple[Fraction, int]  # (b, k): x**k exp(b x), in order of growth
MAX_TERMS = 10
COEFFICIENT_BITS = 400


class NoTail(ArithmeticError):
    """There is no tail form, and why."""


class Rest(NamedTuple):
    """At most c x**k exp(-a x) in size; c >= 0, any k and a."""

    c: Fraction
    k: int
    a: Fraction


def sup_power(k: int, a: Fraction, start: Fraction, against: Fraction = Fraction(1)) -> Fraction | None:
    """An upper bound of x**k exp(-a x) for x >= start > 0; None if unbounded.

    It is small beside 1/``against`` where the power is: past exp(-FAR) numbers are as long as that takes.
    """
    if a < 0 or (a == 0 and k > 0):
        return None
    if a == 0:
        return round_up(start**k)
    at = max(start, Fraction(k) / a)
    # exp(-y) = exp(-y/n)**n; one factor beyond the bits of ``against`` is enough.
    size = against.numerator.bit_length() - against.denominator.bit_length()
    n = max(1, min(int(a * at / FAR), 1 + int(max(size, 0) / FAR)))
    return round_up(round_up(at, 64) ** k if k >= 0 else at**k) * exp_pair(-a * at / n)[1] ** n


@dataclass(frozen=True)
class Trans:
    """sum terms[b, k] x**k exp(b x) + R, |R| <= sum of the rest, for x >= start."""

    start: Fraction
    terms: dict[Key, Fraction]
    rest: tuple[Rest, ...] = ()


@dataclass(frozen=True)
class Grow:
    """sign f >= c x**k exp(b x) for x >= start, which tends to infinity; c > 0."""

    start: Fraction
    sign: int
    c: Fraction
    k: int
    b: Fraction = field(default=Fraction(0))


Form = Trans | Grow


def number(value: Fraction, start: Fraction) -> Trans:
    """A rational constant."""
    return Trans(start, {(Fraction(0), 0): value} if value else {})


def between(pair: tuple[Fraction, Fraction], start: Fraction) -> Trans:
    """A constant known to lie between two rationals."""
    lo, hi = pair
    if lo == hi:
        return number(lo, start)
    middle = round_down((lo + hi) / 2)
    error = max(hi - middle, middle - lo)
    return Trans(start, {(Fraction(0), 0): middle}, (Rest(round_up(error), 0, Fraction(0)),))


def make(start: Fraction, terms: dict[Key, Fraction], rest: list[Rest]) -> Trans:
    """The form with like parts joined and its size bounded."""
    kept = {key: c for key, c in terms.items() if c}
    for key, c in list(kept.items()):
        if c.numerator.bit_length() > COEFFICIENT_BITS or c.denominator.bit_length() > COEFFICIENT_BITS:
            kept[key] = round_down(c, 200)
            rest = [*rest, Rest(c - kept[key], key[1], -key[0])]
    if len(kept) > MAX_TERMS:
        for key in sorted(kept)[: len(kept) - MAX_TERMS]:
            rest = [*rest, Rest(abs(kept.pop(key)), key[1], -key[0])]
    joined: dict[tuple[Fraction, int], Fraction] = {}
    for c, k, a in rest:
        if c:
            joined[a, k] = joined.get((a, k), Fraction(0)) + c
    items = sorted(((a, -k, c) for (a, k), c in joined.items()))
    while len(items) > MAX_TERMS:
        # The fastest falling part is counted to the one before it.
        a, k, c = items.pop()
        a0, k0, c0 = items.pop()
        factor = sup_power(k0 - k, a - a0, start)
        if factor is None:
            items += [(a0, k0, c0), (a, k, c)]
            break
        items.append((a0, k0, c0 + c * factor))
    return Trans(start, kept, tuple(Rest(round_up(c, 64), -k, a) for a, k, c in items))


def size(f: Trans) -> list[Rest]:
    """|f| as a rest."""
    return [*(Rest(abs(c), k, -b) for (b, k), c in f.terms.items()), *f.rest]


def sup_of(parts: list[Rest] | tuple[Rest, ...], start: Fraction) -> Fraction | None:
    """An upper bound of a rest on [start, oo); None if unbounded."""
    whole = Fraction(0)
    for c, k, a in parts:
        top = sup_power(k, a, start, c)
        if top is None:
            return None
        whole += c * top
    return round_up(whole, 64)


def leading(f: Trans) -> tuple[Key, Fraction, Fraction] | None:
    """(key, coefficient, r): f = c x**k exp(b x) (1 + rho) with |rho| <= r < 1; else None."""
    if not f.terms:
        return None
    key = max(f.terms)
    b, k = key
    c = f.terms[key]
    others = [Rest(abs(d), j - k, b - e) for (e, j), d in f.terms.items() if (e, j) != key]
    others += [Rest(d, j - k, a + b) for d, j, a in f.rest]
    ratio = sup_of(others, f.start)
    if ratio is None or ratio >= abs(c):
        return None
    return key, c, ratio / abs(c)


def as_grow(f: Form) -> Grow | None:
    """The form as a growing one, where its leading term tends to infinity and dominates."""
    if isinstance(f, Grow):
        return f
    lead = leading(f)
    if lead is None or lead[0] <= (Fraction(0), 0):
        return None
    (b, k), c, ratio = lead
    return Grow(f.start, 1 if c > 0 else -1, round_down(abs(c) * (1 - ratio), 64), k, b)


def sign_of(f: Form) -> int | None:
    """The sign on the whole tail, where it is decided."""
    if isinstance(f, Grow):
        return f.sign
    if not f.terms and not f.rest:
        return 0
    lead = leading(f)
    return None if lead is None else (1 if lead[1] > 0 else -1)


def neg(f: Form) -> Form:
    """Negative."""
    if isinstance(f, Grow):
        return Grow(f.start, -f.sign, f.c, f.k, f.b)
    return Trans(f.start, {key: -c for key, c in f.terms.items()}, f.rest)


def add(f: Form, g: Form) -> Form:
    """Sum."""
    if isinstance(f, Trans) and isinstance(g, Trans):
        terms = dict(f.terms)
        for key, c in g.terms.items():
            terms[key] = terms.get(key, Fraction(0)) + c
        return make(f.start, terms, [*f.rest, *g.rest])
    if isinstance(f, Trans):
        return add(g, f)
    assert isinstance(f, Grow)
    if isinstance(g, Grow):
        if f.sign != g.sign:
            raise NoTail("a difference of growing parts")
        return max(f, g, key=lambda h: (h.b, h.k))
    if sign_of(g) in (0, f.sign):
        return f
    small = sup_of([Rest(c, k - f.k, a + f.b) for c, k, a in size(g)], f.start)
    if small is None or small >= f.c:
        raise NoTail("a difference of growing parts")
    return Grow(f.start, f.sign, f.c - small, f.k, f.b)


def mul(f: Form, g: Form) -> Form:
    """Product."""
    if isinstance(f, Trans) and isinstance(g, Trans):
        terms: dict[Key, Fraction] = {}
        for (b, k), c in f.terms.items():
            for (e, j), d in g.terms.items():
                terms[b + e, k + j] = terms.get((b + e, k + j), Fraction(0)) + c * d
        rest = [Rest(c * abs(d), k + j, a - e) for c, k, a in f.rest for (e, j), d in g.terms.items()]
        rest += [Rest(c * abs(d), k + j, a - e) for c, k, a in g.rest for (e, j), d in f.terms.items()]
        rest += [Rest(c * d, k + j, a + e) for c, k, a in f.rest for d, j, e in g.rest]
        return make(f.start, terms, rest)
    if isinstance(f, Trans):
        return mul(g, f)
    assert isinstance(f, Grow)
    if isinstance(g, Trans):
        if not g.terms and not g.rest:
            return g
        lead = leading(g)
        if lead is None:
            raise NoTail("a growing part times one of unknown sign")
        (b, k), c, ratio = lead
        g = Grow(g.start, 1 if c > 0 else -1, abs(c) * (1 - ratio), k, b)
    key = (f.b + g.b, f.k + g.k)
    if key <= (Fraction(0), 0) and (g.b, g.k) < (Fraction(0), 0):
        raise NoTail("a growing part times a falling one")
    return Grow(f.start, f.sign * g.sign, round_down(f.c * g.c, 64), key[1], key[0])


def inverse(f: Form) -> Trans:
    """1/f: 1/(1 + rho) = 1 - rho + rho**2 + r, |r| <= |rho|**3 / (1 - |rho|)."""
    if isinstance(f, Grow):
        return make(f.start, {}, [Rest(1 / f.c, -f.k, f.b)])
    lead = leading(f)
    if lead is None:
        raise NoTail("a divisor that may vanish")
    (b, k), c, ratio = lead
    unit = Trans(f.start, {(-b, -k): 1 / c})
    rho = mul(f, unit)
    assert isinstance(rho, Trans)
    terms = {key: d for key, d in rho.terms.items() if key != (Fraction(0), 0)}
    rho = Trans(f.start, terms, rho.rest)
    square = mul(rho, rho)
    assert isinstance(square, Trans)
    cubed = mul(Trans(f.start, {}, tuple(size(rho))), Trans(f.start, {}, tuple(size(square))))
    assert isinstance(cubed, Trans)
    bound = [Rest(d / (1 - ratio), j, a) for d, j, a in cubed.rest]
    partial = add(number(Fraction(1), f.start), add(neg(rho), square))
    assert isinstance(partial, Trans)
    whole = mul(make(f.start, partial.terms, [*partial.rest, *bound]), unit)
    assert isinstance(whole, Trans)
    return whole


def power(f: Form, n: int) -> Form:
    """f**n for an integer n."""
    if n < 0:
        return inverse(power(f, -n))
    if n > 64:
        raise NoTail("an exponent above 64")
    result: Form = number(Fraction(1), f.start)
    for _ in range(n):
        result = mul(result, f)
    return result
