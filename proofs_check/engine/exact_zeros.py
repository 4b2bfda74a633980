"""Zeros that boxes do not isolate: multiple ones, tails known only by their factors, whole stretches.

At an exact zero e where the derivatives up to order k - 1 are exactly 0 and that of order k has one sign on a
neighbourhood N, f(x) = f^(k)(xi) (x - e)^k / k! is not 0 for any other x in N. Outside of the
neighbourhoods boxes show that there is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice

from gateproof.numerics.errors import NumericsError
from gateproof.numerics.exact_point import exact_value
from gateproof.numerics.points import compare, enclosure
from gateproof.numerics.results import Zeros
from gateproof.numerics.roots import zeros
from gateproof.proofs_check.engine.boxes import bounded_below
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.definedness import decide_defined
from gateproof.proofs_check.engine.outcome import (
    CERTIFIED,
    Outcome,
    composite,
    undecided,
)
from gateproof.proofs_check.engine.root_certificates import resting_on, zeros_certificate
from gateproof.proofs_check.engine.sample import points
from gateproof.proofs_check.engine.space import Space
from gateproof.proofs_check.engine.touching import is_zero
from gateproof.theory.exact.critical import exact_extremum_candidates, sign_of
from gateproof.theory.exact.derivative import derivative, kinks
from gateproof.theory.exact.domain import Domain
from gateproof.theory.exact.piecewise import smooth_pieces
from gateproof.theory.exact.sign_points import in_factors
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Const, Expr, Num, num
from gateproof.theory.formula.printer import to_text
from gateproof.theory.undefined_parts import inner_point

MAX_ORDER, MAX_SIZE = 6, 10_000
_RADII = (Fraction(1, 2), Fraction(1, 8), Fraction(1, 64), Fraction(1, 1024))
#: Multiples of pi/2, and sample points, at which another zero is looked for.
HALF_TURNS, SAMPLES = 16, 60


def through_factors(body: Expr, name: str, domain: Domain, context: Context) -> Zeros | None:
    """The zeros of the body's factors, where the body can be written as a product.

    The body must be defined on the whole set.
    """
    factors = in_factors(body, Space({name: domain}).assumptions())
    if factors is None:
        return None
    kept = [_simpler(f) for f in dict.fromkeys(factors) if not isinstance(f, Num)]
    if not kept:
        return None
    found = numeric_zeros(kept[0] if len(kept) == 1 else App("mul", tuple(kept)), name, domain, context)
    return found if found.status == "ok" else None


def _simpler(factor: Expr) -> Expr:
    """log(u) is 0 where u is 1, and u has a value at an open end where log(u) has none."""
    if isinstance(factor, App) and factor.head == "log":
        return App("add", (factor.args[0], num(-1)))
    return factor


def numeric_zeros(body: Expr, name: str, domain: Domain, context: Context) -> Zeros:
    """Zeros by boxes and Newton's method, to 20 digits."""
    return zeros(
        body,
        name,
        domain.lo,
        domain.hi,
        20,
        context.budget(),
        lo_closed=domain.lo_closed,
        hi_closed=domain.hi_closed,
    )


def by_given_points(
    space: Space, body: Expr, items: tuple[Expr, ...], reason: str, context: Context
) -> Outcome:
    """Decide ``zeros == {items}`` from the items: each a zero, no other one."""
    ((name, domain),) = space.domains.items()
    defined = decide_defined(space, body, context)
    if defined.truth is not True:
        return defined
    for item in items:
        wrong = _no_zero(body, name, domain, item)
        if wrong is not None:
            return wrong
    other = next(_others(space, body, name, domain, items, context), None)
    if other is not None:
        step = f"at {name} = {to_text(other)} the value is exactly 0"
        return Outcome(
            False,
            CERTIFIED,
            "exact witness",
            ("flint",),
            (step,),
            witness={name: to_text(other)},
        )
    if not all(_inside(domain, i) and is_zero(substitute(body, {name: i})) for i in items):
        return undecided(f"zeros: {reason}; that the points given are zeros was not proved")
    return _no_others(space, body, name, domain, items, reason, context)


def _no_zero(body: Expr, name: str, domain: Domain, item: Expr) -> Outcome | None:
    """The refuting outcome where an item is certainly no zero in the set."""
    if _outside(domain, item):
        step = f"{to_text(item)} is not in the set"
    else:
        try:
            sign = sign_of(substitute(body, {name: item}))
        except NumericsError:
            return None
        if sign not in (1, -1):
            return None
        step = f"the value at {to_text(item)} is {'above' if sign > 0 else 'below'} 0"
    witness = {name: to_text(item)}
    return Outcome(False, CERTIFIED, "exact witness", ("flint", "arb"), (step,), witness=witness)


def _outside(domain: Domain, item: Expr) -> bool:
    for end, closed, side in ((domain.lo, domain.lo_closed, 1), (domain.hi, domain.hi_closed, -1)):
        if end is None:
            continue
        order = compare(end, item)
        if order == side or (order == 0 and not closed):
            return True
    return any(compare(hole, item) == 0 for hole in domain.without)


def _inside(domain: Domain, item: Expr) -> bool:
    for end, closed, side in ((domain.lo, domain.lo_closed, -1), (domain.hi, domain.hi_closed, 1)):
        if end is None:
            continue
        order = 0 if end == item else compare(end, item)
        if order != side and not (closed and order == 0):
            return False
    return all(compare(hole, item) in (1, -1) for hole in domain.without)


def _others(
    space: Space, body: Expr, name: str, domain: Domain, items: tuple[Expr, ...], context: Context
) -> Iterator[Expr]:
    """Exact zeros in the set that are certainly none of the items."""
    for candidate in _guesses(space, body, name, context):
        apart = all(compare(candidate, item) in (1, -1) for item in items)
        if apart and _inside(domain, candidate) and is_zero(substitute(body, {name: candidate})):
            yield candidate


def _guesses(space: Space, body: Expr, name: str, context: Context) -> Iterator[Expr]:
    for point in points(space, (body,), context.settings.seed, SAMPLES):
        try:
            value = exact_value(body, point)
        except NumericsError:
            continue
        if value == 0:
            yield Num(point[name])
    yield from _on_stretches(body, name, space.domains[name])
    if is_zero_everywhere(space, body):
        yield from (Num(p[name]) for p in islice(points(space, (body,), 0, 8), 8))
    yield from exact_extremum_candidates(body, name, space.assumptions()) or ()
    if any(isinstance(n, App) and n.head in ("sin", "cos", "tan") for n in body.walk()):
        for k in range(HALF_TURNS + 1):
            for sign in (1, -1) if k else (1,):
                yield App("mul", (Num(Fraction(sign * k, 2)), Const("pi")))


def _on_stretches(body: Expr, name: str, domain: Domain) -> Iterator[Expr]:
    """A point inside each piece whose formula is 0."""
    for piece in smooth_pieces(body, name, domain) or () if not domain.integer else ():
        if piece.expr == num(0):
            inside = inner_point(piece.domain.lo, piece.domain.hi)
            if inside is not None:
                yield Num(inside)


def is_zero_everywhere(space: Space, body: Expr) -> bool:
    """Whether the body is proved to be 0 on the whole set."""
    from gateproof.theory.exact.prove import prove_relation

    return prove_relation(body, "==", num(0), space.assumptions()) is not None


def _no_others(
    space: Space,
    body: Expr,
    name: str,
    domain: Domain,
    items: tuple[Expr, ...],
    reason: str,
    context: Context,
) -> Outcome:
    if domain.without or kinks(body, name):
        return undecided(f"zeros: {reason}")
    ordered = sorted(items, key=lambda i: enclosure(i)[0])
    outcomes: list[Outcome] = []
    steps: list[str] = []
    left, left_closed = domain.lo, domain.lo_closed
    for item in ordered:
        near = _near(space, body, name, domain, item, context)
        if near is None:
            return undecided(f"zeros: {reason}; near {to_text(item)} no derivative was seen to keep its sign")
        (lo, hi), order, shown = near
        outcomes.append(shown)
        steps.append(
            f"at {to_text(item)} the derivatives up to order {order - 1} are exactly 0, and that of order "
            f"{order} has one sign on [{lo}, {hi}]"
        )
        if left is None or enclosure(left)[1] < lo:
            apart = _empty(body, name, Domain(left, Num(lo), left_closed, True), context)
            if apart is not None:
                return undecided(f"zeros: {apart}")
        left, left_closed = Num(hi), True
    if domain.hi is None or left is None or enclosure(domain.hi)[1] > enclosure(left)[0]:
        apart = _empty(body, name, Domain(left, domain.hi, left_closed, domain.hi_closed), context)
        if apart is not None:
            return undecided(f"zeros: {apart}")
    certificates = [dict(o.certificate) for o in outcomes if o.certificate is not None]
    found = Outcome(
        True,
        CERTIFIED,
        "exact zeros with their orders, boxes elsewhere",
        ("arb", "flint"),
        (*steps, "boxes show that there is none elsewhere"),
        certificate=composite(certificates),
    )
    return resting_on(found, zeros_certificate(body, name, domain, [enclosure(i) for i in ordered]))


def _empty(body: Expr, name: str, domain: Domain, context: Context) -> str | None:
    """None where there is no zero in a part of the set, else why that was not seen."""
    found = numeric_zeros(body, name, domain, context)
    if found.status != "ok":
        return found.reason
    return "another zero was met" if found.points else None


def _near(
    space: Space, body: Expr, name: str, domain: Domain, item: Expr, context: Context
) -> tuple[tuple[Fraction, Fraction], int, Outcome] | None:
    """A neighbourhood, the order k, and what shows that f^(k) has one sign there."""
    slope: Expr = body
    for order in range(1, MAX_ORDER + 1):
        following = derivative(slope, name)
        if following is None or following.size > MAX_SIZE or kinks(following, name):
            return None
        slope = following
        value = substitute(slope, {name: item})
        sign = sign_of(value)
        if sign in (1, -1):
            return _one_sign(space, slope, name, domain, item, order, sign or 1, context)
        if not is_zero(value):
            return None
    return None


def _one_sign(
    space: Space,
    slope: Expr,
    name: str,
    domain: Domain,
    item: Expr,
    order: int,
    sign: int,
    context: Context,
) -> tuple[tuple[Fraction, Fraction], int, Outcome] | None:
    below, above = enclosure(item)
    for radius in _RADII:
        grid = 2 / radius
        lo, hi = Fraction(below * grid // 1 - 1) / grid, Fraction(above * grid // 1 + 2) / grid
        # Inside the set only: beyond its ends the body may have no value.
        low: Expr = Num(lo) if domain.lo is None or compare(domain.lo, Num(lo)) == -1 else domain.lo
        high: Expr = Num(hi) if domain.hi is None or compare(Num(hi), domain.hi) == -1 else domain.hi
        part = space.with_domain(name, Domain(low, high, True, True))
        signed = slope if sign > 0 else App("neg", (slope,))
        shown = bounded_below(part, signed, strict=True, context=context, budget=context.first_budget())
        if shown.truth is True:
            return (lo, hi), order, shown
    return None
