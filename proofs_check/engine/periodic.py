"""A function on R that repeats takes all of its values on one closed period."""

from __future__ import annotations

from dataclasses import replace

from gateproof.proofs_check.engine.space import Space
from gateproof.theory.exact.domain import Domain
from gateproof.theory.formula.nodes import Expr, num
from gateproof.theory.formula.scopes import free_names
from gateproof.theory.periods import period_of


def one_period(space: Space, body: Expr) -> Space | None:
    """The space cut down to a period of the body, which has a value on all of R; None without a period."""
    if len(space.domains) != 1 or space.facts or space.vectors:
        return None
    ((name, domain),) = space.domains.items()
    if domain != Domain() or free_names(body) != {name}:
        return None
    period = period_of(body, name)
    if period is None or period.slope != 0:
        return None
    return replace(space, domains={name: Domain(num(0), period.length, True, True)})
