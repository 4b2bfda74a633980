"""Special functions of a power series: with u = u_0 + d, F(u) = sum_k F^(k)(u_0)/k! d**k."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from flint import arb, arb_series

from gateproof.numerics import interval as iv
from gateproof.numerics import special_boxes
from gateproof.numerics.errors import MaybeUndefined
from gateproof.theory.special import Function, find


@lru_cache(maxsize=512)
def rule(head: str) -> Callable[[arb_series], arb_series] | None:
    """The rule of a head, or None for no special function."""
    found = find(head)
    return None if found is None else lambda u: _composed(head, found, u)


def _composed(head: str, found: Function, u: arb_series) -> arb_series:
    first = u[0]
    inside = iv.of_ball(first)
    special_boxes.check(found, inside)
    run = special_boxes.on_interval(head)
    assert run is not None
    value = iv.to_ball(run(inside))
    n = u.prec - 1
    if n == 0:
        return arb_series([value], prec=1)
    c = [value, *found.series(first, n)[1:]]
    if not all(a.is_finite() for a in c[1:]):
        raise MaybeUndefined(f"{found.family.name} has no bounded slope over the enclosure")
    rest = u.coeffs()
    rest[0:1] = [arb(0)]
    d = arb_series(rest, prec=u.prec)
    total = arb_series([c[n]], prec=u.prec)
    for a in reversed(c[:n]):
        total = total * d + a
    return total
