"""Certificates of zeros that the independent checker accepts, and outcomes that rest on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from gateproof.numerics.errors import MaybeUndefined, Undefined
from gateproof.numerics.factor_roots import zeros_document
from gateproof.numerics.points import difference_sign
from gateproof.numerics.root_certificate import crossing_certificate
from gateproof.proofs_check.engine.boxes import accept
from gateproof.proofs_check.engine.outcome import Outcome
from gateproof.theory.exact.domain import Domain
from gateproof.theory.formula.nodes import Expr, num

#: Digits of isolating intervals, halvings of an interval with a change of sign.
DIGITS, HALVINGS = 20, 24


Places = Sequence[tuple[Fraction, Fraction]]


def zeros_certificate(body: Expr, name: str, domain: Domain, places: Places) -> Mapping[str, Any] | None:
    """An accepted certificate that the places hold all zeros on a set, its ends counted in; or None."""
    if domain.integer or domain.without:
        return None
    found = zeros_document(body, name, (domain.lo, domain.hi), places, DIGITS)
    return found if found is not None and accept(found) is None else None


def sign_change_certificate(gap: Expr, name: str, lo: Fraction, hi: Fraction) -> Mapping[str, Any] | None:
    """An accepted certificate that the gap, of opposite signs at lo and hi, is 0 between them; or None."""
    first = _sign(gap, name, lo)
    for _ in range(HALVINGS):
        middle = (lo + hi) / 2
        sign = _sign(gap, name, middle)
        if sign not in (1, -1):
            break
        lo, hi = (middle, hi) if sign == first else (lo, middle)
    found = crossing_certificate(gap, name, lo, hi)
    return found if accept(found) is None else None


def _sign(gap: Expr, name: str, x: Fraction) -> int | None:
    try:
        return difference_sign(gap, num(0), {name: x}, 256)
    except (Undefined, MaybeUndefined):
        return None


def resting_on(outcome: Outcome, certificate: Mapping[str, Any] | None) -> Outcome:
    """The outcome with a certificate, if there is one, and what re-checked it."""
    if certificate is None:
        return outcome
    trust = (*(t for t in outcome.trust if t != "mpfr"), "mpfr")
    return replace(outcome, certificate=certificate, trust=trust)
