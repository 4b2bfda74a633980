"""Polynomial inequalities in several names by the inequality of weighted means.

A monomial m_b is at most sum_i w_i m_i where the m_i >= 0, the weights w_i >= 0 add up to 1 and the
exponents b are the same mean of the others'. So a sum of monomials is not negative where its negative terms
can be shared out among its positive ones. Reznick, Forms derived from the arithmetic-geometric inequality
(1989); Iliman and de Wolff, Amoebas, nonnegative polynomials and sums of squares on circuits (2016).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from gateproof.theory.exact.domain import Assumptions, Derivation
from gateproof.theory.exact.feasible import feasible
from gateproof.theory.exact.polys import Poly, fraction
from gateproof.theory.exact.rational_identity import NotRational, Rationals
from gateproof.theory.formula.nodes import Expr
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.scopes import free_names

#: Names, and pairs of a negative and a positive term.
MAX_NAMES = 8
MAX_PAIRS = 300
Exponents = tuple[int, ...]
Terms = Mapping[Exponents, Fraction]


def prove_by_means(
    gap: Expr, assumptions: Assumptions, scales: Sequence[Mapping[str, Fraction]], *, strict: bool
) -> Derivation | None:
    """A proof that a rational function that has a value throughout is >= 0 there (> 0), or None.

    ``scales`` are points at which it may be 0, without a coordinate 0: there all the means meet.
    """
    names = sorted(free_names(gap))
    if not 2 <= len(names) <= MAX_NAMES:
        return None
    try:
        ratio = Rationals(names, assumptions, defined=True).ratio(gap)
    except NotRational:
        return None
    signs = [_not_negative(assumptions, name) for name in names]
    over, under = _terms(ratio.over), _terms(ratio.under)
    if all(c < 0 and _is_nonnegative(e, signs) for e, c in under.items()):
        over, under = ({e: -c for e, c in t.items()} for t in (over, under))
    if not all(c > 0 and _is_nonnegative(e, signs) for e, c in under.items()):
        return None
    steps = (
        [] if len(under) == 1 and not any(next(iter(under))) else ["the denominator is a sum of terms >= 0"]
    )
    for scale in ({}, *scales):
        shares = _shared_out(over, names, signs, scale, strict=strict)
        if shares is not None:
            return Derivation((*steps, *shares), ("flint",))
    return None


def _shared_out(
    terms: Terms, names: list[str], signs: list[bool], scale: Mapping[str, Fraction], *, strict: bool
) -> list[str] | None:
    """How the negative terms are shared out among the others, a line each; None where no way was found."""
    scaled = {e: c * _monomial_at(e, names, scale) for e, c in terms.items()}
    plus = {e: c for e, c in scaled.items() if c > 0 and _is_nonnegative(e, signs)}
    minus = {e: abs(c) for e, c in scaled.items() if e not in plus}
    constant = (0,) * len(names)
    if strict:
        if plus.get(constant, Fraction(0)) <= 0:
            return None
        plus[constant] /= 2
    if not minus or len(plus) * len(minus) > MAX_PAIRS:
        return None if minus else ["every term is >= 0"]
    pairs = [(b, a) for b in minus for a in plus]
    rows: list[list[Fraction]] = []
    right: list[Fraction] = []
    width = len(pairs) + len(plus)
    for b, size in minus.items():
        for part in range(len(names) + 1):
            row = [Fraction(a[part - 1] if part else 1) if b == c else Fraction(0) for c, a in pairs]
            rows.append(row + [Fraction(0)] * len(plus))
            right.append(size * (b[part - 1] if part else 1))
    for k, (a, size) in enumerate(plus.items()):
        row = [Fraction(int(a == other)) for _, other in pairs] + [Fraction(0)] * len(plus)
        row[len(pairs) + k] = Fraction(1)
        rows.append(row)
        right.append(size)
    assert all(len(row) == width for row in rows)
    found = feasible(rows, right)
    if found is None:
        return None
    lines = []
    for b, size in minus.items():
        shares = [(a, w) for (c, a), w in zip(pairs, found, strict=False) if c == b and w]
        # The shares are checked as they will be read.
        if sum(w for _, w in shares) != size or any(w < 0 for _, w in shares):
            return None
        if any(sum(w * a[k] for a, w in shares) != size * b[k] for k in range(len(names))):
            return None
        told = " + ".join(_told(a, w / _monomial_at(a, names, scale), names) for a, w in shares)
        here = _told(b, size / _monomial_at(b, names, scale), names)
        lines.append(f"by weighted means |{here}| <= {told}")
    for a, size in plus.items():
        if sum(w for (_, other), w in zip(pairs, found, strict=False) if other == a) > size:
            return None
    return [*lines, "what is left of the other terms is >= 0"]


def _told(exponents: Exponents, factor: Fraction, names: list[str]) -> str:
    parts = [n if e == 1 else f"{n}**{e}" for n, e in zip(names, exponents, strict=True) if e]
    return "*".join([str(factor), *parts]) if factor != 1 or not parts else "*".join(parts)


def _monomial_at(exponents: Exponents, names: list[str], point: Mapping[str, Fraction]) -> Fraction:
    """The size of a monomial at a point; 1 for a name that is not given."""
    value = Fraction(1)
    for name, e in zip(names, exponents, strict=True):
        value *= abs(point.get(name, Fraction(1))) ** e
    return value


def _terms(poly: Poly) -> dict[Exponents, Fraction]:
    return {tuple(int(e) for e in exps): fraction(c) for exps, c in poly.to_dict().items()}


def _not_negative(assumptions: Assumptions, name: str) -> bool:
    domain = assumptions.domains.get(name)
    lo = None if domain is None or domain.lo is None else constant_value(domain.lo)
    return lo is not None and lo >= 0


def _is_nonnegative(exponents: Exponents, signs: list[bool]) -> bool:
    """Whether the monomial has no negative value."""
    return all(known or e % 2 == 0 for e, known in zip(exponents, signs, strict=True))
