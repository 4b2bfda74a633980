"""Whether a supremum is a value of its function, where enclosures leave it open."""

from __future__ import annotations

from fractions import Fraction

from gateproof.numerics.errors import NumericsError
from gateproof.numerics.extrema import Extremum as Found
from gateproof.numerics.gather import MAY_JUMP
from gateproof.numerics.points import enclosure
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.continuity import continuous
from gateproof.proofs_check.engine.space import Space, contains, infinite_sign
from gateproof.theory.exact.critical import exact_extremum_candidates
from gateproof.theory.exact.limits import limit
from gateproof.theory.exact.piecewise import cut_points, smooth_pieces
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Const, Expr, Rel
from gateproof.theory.formula.scopes import free_names


def attained(body: Expr, space: Space, found: Found, *, up: bool, context: Context) -> bool | None:
    """Whether the supremum (``up``) or infimum that ``found`` encloses is reached; None where undecided."""
    if found.status == "infinite":
        return False
    if found.status != "ok" or found.attained is not None or found.value is None:
        return found.attained
    ((name, domain),) = space.domains.items()
    if found.reason == MAY_JUMP and continuous(body, name, space).truth is True:
        return True
    if _by_a_value(body, space, found.value, up, context):
        return True
    ends: list[Expr] = []
    if domain.hi is None:
        ends.append(Const("oo"))
    if domain.lo is None:
        ends.append(App("neg", (Const("oo"),)))
    if any(_only_approached(body, space, found.value, end, up, context) for end in ends):
        return False
    return None


def _by_a_value(
    body: Expr, space: Space, value: tuple[Fraction, Fraction], up: bool, context: Context
) -> bool:
    """Whether the value at an exact point, where pieces meet or the slope is 0, bounds all others."""
    from gateproof.proofs_check.engine.relation import decide_relation

    ((name, domain),) = space.domains.items()
    cuts = cut_points(smooth_pieces(body, name, domain) or [])
    for point in (*cuts, *(exact_extremum_candidates(body, name, space.assumptions()) or ())):
        best = substitute(body, {name: point})
        try:
            (lo, hi), (left, right) = enclosure(best), enclosure(point)
        except NumericsError:
            continue
        ends = [e for e, c in ((domain.lo, domain.lo_closed), (domain.hi, domain.hi_closed)) if c]
        inside = point in ends or (contains(domain, left) and contains(domain, right))
        if hi < value[0] or value[1] < lo or not inside:
            continue
        bound = Rel(("<=" if up else ">=",), (body, best))
        if decide_relation(space, bound, context.deeper()).truth is True:
            return True
    return False


def _only_approached(
    body: Expr, space: Space, value: tuple[Fraction, Fraction], end: Expr, up: bool, context: Context
) -> bool:
    """Whether the limit at an infinite end is beyond all values: the supremum, and none of them."""
    from gateproof.proofs_check.engine.relation import decide_relation

    (name,) = space.domains
    reached = limit(body, name, end, "", space.without(name).assumptions())
    if not isinstance(reached, tuple) or free_names(reached[0]) or infinite_sign(reached[0]):
        return False
    try:
        lo, hi = enclosure(reached[0])
    except NumericsError:
        return False
    if hi < value[0] or value[1] < lo:
        return False
    beyond = Rel(("<" if up else ">",), (body, reached[0]))
    return decide_relation(space, beyond, context.deeper()).truth is True
