"""Special functions on complex balls: on the reals by intervals, beside them where they are analytic."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from flint import acb, arb

from gateproof.numerics import interval as iv
from gateproof.numerics import special_boxes
from gateproof.numerics.errors import NumericsError
from gateproof.theory.special import Function, find
from gateproof.theory.special.symbolic import formula

_NOWHERE = acb(arb.nan(), arb.nan())


@lru_cache(maxsize=512)
def on_ball(head: str) -> Callable[[acb, bool], acb]:
    """The form that complex_ball asks for. Raises KeyError for no special function."""
    found = find(head)
    if found is None:
        raise KeyError(head)
    run = special_boxes.on_interval(head)
    assert run is not None

    def value(z: acb, analytic: bool) -> acb:
        if not analytic and z.imag.is_zero():
            if not z.real.is_finite():
                return _NOWHERE
            try:
                return acb(iv.to_ball(run(iv.of_ball(z.real))))
            except NumericsError:
                return _NOWHERE
        return _NOWHERE if _cut(found, z) else found.family.complex(found.params, z)

    return value


def _cut(found: Function, z: acb) -> bool:
    """Whether the ball may meet a cut, or points where the complex function is not the real one continued."""
    side = found.family.cut(found.params)
    if not side or not z.imag.contains(0):
        return False
    from gateproof.numerics.ball import compiled

    end = found.span.lo if side == "<" else found.span.hi
    assert end is not None
    ends = compiled(formula(end))({})
    return not (z.real > ends[1]) if side == "<" else not (z.real < ends[0])
