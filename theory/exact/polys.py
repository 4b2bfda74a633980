"""Polynomials over Q in a fixed number of generators, with limits on their size.

One flint context serves every workspace; a workspace says what generator i stands for.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import gcd

import flint

from gateproof.theory.exact.budget import Unsupported, spend

#: Generators that one workspace can use.
GENERATORS = 28
#: Terms of one polynomial, and the highest power formed.
MAX_TERMS = 3_000
MAX_POWER = 400
#: Up to here factors and greatest common divisors are sought.
MAX_FACTORED_DEGREE = 120
MAX_FACTORED_TERMS = 300
#: Bits of a coefficient that cost about as much as a term.
LONG = 256

Poly = flint.fmpq_mpoly
CONTEXT = flint.fmpq_mpoly_ctx.get([f"g{i}" for i in range(GENERATORS)], "lex")
GENS: tuple[Poly, ...] = tuple(CONTEXT.gens())
ZERO: Poly = CONTEXT.constant(0)
ONE: Poly = CONTEXT.constant(1)


class UndefinedValue(Exception):
    """The expression has no value anywhere: division by a polynomial that is 0."""


def constant(value: Fraction) -> Poly:
    """A rational number as a polynomial."""
    return CONTEXT.constant(flint.fmpq(value.numerator, value.denominator))


def fraction(value: object) -> Fraction:
    """A coefficient of flint as a Fraction."""
    if isinstance(value, flint.fmpq):
        return Fraction(int(value.p), int(value.q))
    assert isinstance(value, int | flint.fmpz)
    return Fraction(int(value))


def times(a: Poly, b: Poly) -> Poly:
    """The product, refused where it could be too large."""
    if len(a) * len(b) > 40 * MAX_TERMS:
        raise Unsupported("polynomials too large")
    product = a * b
    spend(1 + len(product) * _length(product) // 20)
    if len(product) > MAX_TERMS:
        raise Unsupported("polynomials too large")
    return product


def _length(p: Poly) -> int:
    """How much longer work takes than with short coefficients, judged by some of them."""
    coefficients = p.coeffs()
    some = coefficients[:: 1 + len(coefficients) // 8]
    bits = sum(int(c.p).bit_length() + int(c.q).bit_length() for c in some)
    return 1 + bits // (LONG * max(1, len(some)))


def power(a: Poly, n: int) -> Poly:
    """The n-th power, n >= 0, refused where it could be too large."""
    if len(a) <= 1:
        if n > 100_000:
            raise Unsupported("a power too high")
        if a.is_constant() and not a.is_zero():
            value = constant_of(a)
            if n * max(value.numerator.bit_length(), value.denominator.bit_length()) > 40_000:
                raise Unsupported("a number too large")
        return a**n
    if n > MAX_POWER:
        raise Unsupported("a power too high")
    result = ONE
    base = a
    while n:
        if n & 1:
            result = times(result, base)
        n >>= 1
        if n:
            base = times(base, base)
    return result


def constant_of(p: Poly) -> Fraction:
    """The value of a constant polynomial."""
    return Fraction(0) if p.is_zero() else fraction(p.leading_coefficient())


def terms_of(p: Poly) -> Iterator[tuple[tuple[tuple[int, int], ...], Fraction]]:
    """Terms as ((generator, exponent), ...) without zeros, and the coefficient."""
    spend(1 + len(p) * _length(p) // 4)
    for exponents, coefficient in p.to_dict().items():
        yield tuple((i, int(e)) for i, e in enumerate(exponents) if e), fraction(coefficient)


def used(p: Poly) -> list[int]:
    """The generators that occur."""
    return [i for i, d in enumerate(p.degrees()) if d > 0]


def degree(p: Poly, i: int) -> int:
    """The degree in one generator; 0 for the zero polynomial."""
    return max(int(p.degrees()[i]), 0)


def coefficients_in(p: Poly, i: int) -> dict[int, Poly]:
    """Coefficients by power of one generator."""
    spend(1 + len(p) // 4)
    parts: dict[int, dict[tuple[int, ...], flint.fmpq]] = {}
    for exponents, coefficient in p.to_dict().items():
        rest = (*exponents[:i], 0, *exponents[i + 1 :])
        parts.setdefault(int(exponents[i]), {})[rest] = coefficient
    return {k: CONTEXT.from_dict(v) for k, v in parts.items()}


def monomial(powers: tuple[tuple[int, int], ...]) -> Poly:
    """The monomial with these (generator, exponent)."""
    exponents = [0] * GENERATORS
    for i, e in powers:
        exponents[i] = e
    return CONTEXT.from_dict({tuple(exponents): 1})


def replace(p: Poly, i: int, value: Poly) -> Poly:
    """One generator replaced by a polynomial."""
    result = ZERO
    for k, part in coefficients_in(p, i).items():
        result = result + times(part, power(value, k))
    return result


def content_signed(p: Poly) -> tuple[Fraction, Poly]:
    """(c, q) with p = c q, q of coprime integer coefficients and positive leading coefficient."""
    numerators, denominators = 0, 1
    for coefficient in p.coeffs():
        value = fraction(coefficient)
        numerators = gcd(numerators, value.numerator)
        denominators = denominators * value.denominator // gcd(denominators, value.denominator)
    content = Fraction(numerators, denominators)
    if fraction(p.leading_coefficient()) < 0:
        content = -content
    return content, p / flint.fmpq(content.numerator, content.denominator)


def factors(p: Poly) -> tuple[Fraction, list[tuple[Poly, int]]]:
    """Constant and irreducible factors over Q, each primitive with positive leading coefficient.

    Of a large polynomial only its powers of generators are split off: the rest counts as
    one factor, though it may not be irreducible.
    """
    spend(4 + len(p))
    if is_large(p):
        return _monomial_factors(p)
    unit, parts = p.factor()
    content = fraction(unit)
    result = []
    for part, exponent in parts:
        c, q = content_signed(part)
        content *= c ** int(exponent)
        result.append((q, int(exponent)))
    return content, result


def is_large(p: Poly) -> bool:
    """Whether factoring could take long: flint cannot be interrupted in it."""
    if len(p) == 1:
        return False
    return bool(p.total_degree() > MAX_FACTORED_DEGREE or len(p) > MAX_FACTORED_TERMS)


def common_factor(p: Poly, q: Poly) -> Poly:
    """The greatest common divisor; of large polynomials only powers of generators."""
    spend(1 + (len(p) + len(q)) // 20)
    if len(p) > 1 and len(q) > 1 and (is_large(p) or is_large(q)):
        return p.term_content().gcd(q.term_content())
    return p.gcd(q)


def _monomial_factors(p: Poly) -> tuple[Fraction, list[tuple[Poly, int]]]:
    split = p.term_content()
    content, rest = content_signed(p / split)
    c, found = factors(split)
    return content * c, [*found, (rest, 1)]


def key(p: Poly) -> str:
    """A text that is equal for equal polynomials only."""
    return str(p)


def total_degree_in(p: Poly, indices: list[int]) -> int:
    """The highest sum of exponents of these generators in a term."""
    chosen = set(indices)
    return max((sum(e for i, e in powers if i in chosen) for powers, _ in terms_of(p)), default=0)
