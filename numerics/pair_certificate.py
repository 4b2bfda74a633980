"""Certificates of means over two correlated normal variables: from integrals over one variable.

With a_n = E g(u) He_n(u/s), b_n = E h(v) He_n(v/s), u and v of deviation s and correlation c, Mehler's
formula gives E g(u) h(v) = sum over n of a_n b_n c^n/n!; and since sum a_n^2/n! = E g^2, the terms from N on
are at most |c|^N sqrt(G H) in size, G = E g^2 - sum over n < N of a_n^2/n!, H likewise (Cauchy and Schwarz).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import factorial, isqrt
from typing import Any

from gateproof.numerics.certificate import Bounds, composite_document, range_certificate
from gateproof.numerics.gauss import density_form
from gateproof.numerics.integral import Range, Stop, Work
from gateproof.numerics.integral_certificate import short
from gateproof.numerics.kinked_certificate import any_certificate, total
from gateproof.numerics.points import enclosure, rational_bounds
from gateproof.theory.exact.gaussian_pairs import products
from gateproof.theory.exact.kernels import ONE, ZERO, over, plus, raised, root, times
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Gauss, Gauss2, Num, Var, num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text

#: Terms of Mehler's series that a certificate may have.
TERMS = 32
_TWO = num(2)
Ends = tuple[Fraction, Fraction]


class _NoneError(Exception):
    """A part has no certificate."""


def pair_certificate(node: Gauss2, tolerance: Fraction, text: str = "") -> tuple[dict[str, Any], Ends] | None:
    """A composite certificate and the bounds that it gives, at most 2 tolerances apart; or None.

    The mean must exist, the variance be positive and the correlation lie between -1 and 1.
    """
    pairs = products(node)
    if not pairs:
        return None
    parts: list[dict[str, Any]] = []
    low = high = Fraction(0)
    try:
        c = _closed(node.c, Fraction(1, 2**80), parts)
        for k, g, h in pairs:
            scale = _closed(k, tolerance / 1000, parts)
            share = tolerance / (len(pairs) * max(Fraction(1), abs(scale[0]), abs(scale[1])))
            found = _multiplied(scale, _product(_Law(node, c, share, parts), g, h))
            low, high = low + found[0], high + found[1]
    except (_NoneError, Stop):
        return None
    if high - low > 2 * tolerance:
        return None
    conclusion = f"{text} by Mehler's formula, its rest by E g^2 and E h^2"
    return composite_document(parts, conclusion), (low, high)


@dataclass
class _Law:
    """The mean at hand, bounds of its correlation, the tolerance for one product, and the parts so far."""

    node: Gauss2
    c: Ends
    tolerance: Fraction
    parts: list[dict[str, Any]]
    known: dict[Expr, Ends] = field(default_factory=dict)

    @property
    def size(self) -> Fraction:
        """An upper bound of the size of the correlation."""
        return max(map(abs, self.c))

    def about(self, body: Expr, tolerance: Fraction) -> Ends:
        """The mean of a body in u, within about the tolerance."""
        return rational_bounds(Work(self._range(body)).value(tolerance / 8))

    def mean(self, body: Expr, tolerance: Fraction) -> Ends:
        """The same as a certificate states it."""
        if body not in self.known:
            text = to_text(Gauss(body, self.node.u, self.node.q, ZERO))
            document = any_certificate(self._range(body), self.about(body, tolerance), tolerance / 2, text)
            if document is None:
                raise _NoneError
            self.parts += document.get("parts", [document])
            self.known[body] = total(document.get("parts", [document]))
        return self.known[body]

    def _range(self, body: Expr) -> Range:
        name = self.node.u
        return Range(density_form(body, name, self.node.q, ZERO), name, None, None)


def _closed(value: Expr, tolerance: Fraction, parts: list[dict[str, Any]]) -> Ends:
    """Bounds of a closed value, with a certificate unless it is rational."""
    exact = constant_value(value)
    if exact is not None:
        return exact, exact
    low, high = enclosure(value, 192)
    ends = short(low - tolerance, tolerance, -1), short(high + tolerance, tolerance, 1)
    bounds, text = Bounds(*ends), to_text(value)
    parts.append(range_certificate(value, {}, bounds, ["leaf", "natural"], bits=192, text=text))
    return ends


def _product(law: _Law, g: Expr, h: Expr) -> Ends:
    """Bounds of E g(u) h(v)."""
    h = substitute(h, {law.node.v: Var(law.node.u)})
    if ONE in (g, h):
        return law.mean(h if g == ONE else g, law.tolerance / 2)
    squares = [law.about(App("pow", (f, _TWO)), law.tolerance)[1] for f in (g, h)]
    roots = [max(_root_above(s), Fraction(1, 10**30)) for s in squares]
    count = _count(law, (g, h), squares, roots)
    sums: list[Ends] = []
    left = [law.mean(App("pow", (f, _TWO)), _for_square(law, count, r))[1]
            for f, r in ((g, roots[0]), (h, roots[1]))]  # fmt: skip
    for n in range(count):
        a, b = (
            law.mean(_weighted(f, law.node, n), _for_term(law, n, r))
            for f, r in ((g, roots[1]), (h, roots[0]))
        )
        left = [_less(x, e, n) for x, e in zip(left, (a, b), strict=True)]
        factor = _power(law.c, n)
        sums.append(_multiplied(_multiplied(a, b), (factor[0] / factorial(n), factor[1] / factorial(n))))
    rest = law.size**count * _root_above(left[0] * left[1])
    return sum((s[0] for s in sums), -rest), sum((s[1] for s in sums), rest)


def _count(law: _Law, functions: tuple[Expr, Expr], squares: list[Fraction], roots: list[Fraction]) -> int:
    """How many terms leave a small rest, by enclosures alone."""
    left = list(squares)
    for n in range(TERMS + 1):
        if law.size**n * _root_above(left[0] * left[1]) < law.tolerance / 4:
            return n
        for k, f in enumerate(functions):
            found = law.about(_weighted(f, law.node, n), _for_term(law, n, roots[1 - k]))
            left[k] = _less(left[k], found, n)
    raise _NoneError


def _for_term(law: _Law, n: int, other: Fraction) -> Fraction:
    """The tolerance of a_n: with |b_n| <= sqrt(n! E h^2) its share of the sum stays small."""
    size = max(law.size, Fraction(1, 100)) ** n
    return law.tolerance * Fraction(isqrt(factorial(n) << 40), 1 << 20) / (8 * TERMS * size * other)


def _for_square(law: _Law, count: int, root_of: Fraction) -> Fraction:
    """The tolerance of E g^2: near G itself, since the rest goes by its root."""
    size = max(law.size, Fraction(1, 100)) ** count
    return min(law.tolerance / (8 * size), root_of**2 / 100)


@lru_cache(maxsize=64)
def _hermite(n: int) -> tuple[int, ...]:
    """The coefficients of He_n from the constant one up: He_(n+1) = x He_n - n He_(n-1)."""
    if n < 2:
        return (0,) * n + (1,)
    up, down = (0, *_hermite(n - 1)), _hermite(n - 2)
    return tuple(a - (n - 1) * (down[k] if k < len(down) else 0) for k, a in enumerate(up))


def _weighted(body: Expr, node: Gauss2, n: int) -> Expr:
    """body times He_n(u/s); s is the root of the variance."""
    u = Var(node.u)
    odd = n % 2
    terms = [
        times(Num(Fraction(k)), raised(u, j), raised(over(ONE, node.q), (j - odd) // 2))
        for j, k in enumerate(_hermite(n))
        if k
    ]
    weight = over(plus(*terms), root(node.q)) if odd else plus(*terms)
    return body if n == 0 else App("mul", (weight, body))


def _root_above(value: Fraction) -> Fraction:
    """A rational at or above the square root, within 2^-200."""
    whole = -(-(value.numerator << 400) // value.denominator)
    return Fraction(isqrt(whole) + 1, 1 << 200)


def _less(left: Fraction, a: Ends, n: int) -> Fraction:
    """What remains of E g^2 after one more term a_n^2/n!, from above."""
    least = Fraction(0) if a[0] <= 0 <= a[1] else min(a[0] ** 2, a[1] ** 2)
    return max(left - least / factorial(n), Fraction(0))


def _power(ends: Ends, n: int) -> Ends:
    found = Fraction(1), Fraction(1)
    for _ in range(n):
        found = _multiplied(found, ends)
    return found


def _multiplied(a: Ends, b: Ends) -> Ends:
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)
