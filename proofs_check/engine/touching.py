"""Bounds that are attained: exact critical points, where boxes alone can never end.

For g >= 0 with g(x0) = 0 at an exact point x0: if g^(j)(x0) = 0 exactly for all j < k and
g^(k) > 0 on a neighbourhood N of x0, then by Taylor's theorem with Lagrange's remainder
g(x) = g^(k)(xi) (x - x0)^k / k! >= 0 on N for even k (for odd k: on the right of x0; with
g^(k) < 0 on the left). Outside of N boxes prove g > 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction

from gateproof.numerics.decimals import simplest_between
from gateproof.numerics.extrema import extremum
from gateproof.numerics.points import enclosure
from gateproof.proofs_check.engine.boxes import bounded_below
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.outcome import CERTIFIED, Outcome, composite, merged_trust, undecided
from gateproof.proofs_check.engine.space import Space, contains
from gateproof.theory.exact.critical import equal_constants, exact_extremum_candidates
from gateproof.theory.exact.derivative import derivative, kinks
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.piecewise import cut_points, smooth_pieces
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Const, Expr, Num, num
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

MAX_ORDER = 6
#: Derivatives written out larger than this are not formed.
MAX_SIZE = 10_000
MAX_POINTS = 6
_RADII = (Fraction(1, 2), Fraction(1, 8), Fraction(1, 64), Fraction(1, 1024))


def is_zero(expr: Expr) -> bool:
    """Whether a closed expression is proved to be 0."""
    if equal_constants(expr, num(0)) is True:
        return True
    return prove_relation(expr, "==", num(0), Assumptions()) is not None


def touching_bound(space: Space, name: str, gap: Expr, context: Context, *, strict: bool = False) -> Outcome:
    """Certify gap >= 0 in one variable where it is 0 at finitely many exact points.

    With ``strict`` gap > 0, where it is 0 at open ends alone.
    """
    domain = space.domains[name]
    if domain.integer or domain.without:
        return undecided("attained bounds over integers or with holes are not implemented")
    if free_names(gap) != {name}:
        return undecided("attained bounds that depend on other names are not implemented")
    if kinks(gap, name):
        return undecided("the gap has kinks, so Taylor's theorem does not serve")
    if strict:
        return _above_open_ends(space, name, gap, context)
    found = undecided("")
    seen: list[Expr] = []
    for candidates in (_cheap_candidates(gap, name, space), _searched_candidates(gap, name, domain, context)):
        contacts = _contacts(gap, name, domain, [*seen, *candidates])
        if contacts and contacts != seen:
            seen = contacts
            found = _from_contacts(space, name, gap, contacts, context)
            if found.truth is not None:
                return found
    return found if seen else undecided("no exact point was found at which the bound is attained")


def _above_open_ends(space: Space, name: str, gap: Expr, context: Context) -> Outcome:
    domain = space.domains[name]
    ends = [e for e, closed in ((domain.lo, domain.lo_closed), (domain.hi, domain.hi_closed)) if not closed]
    contacts = [e for e in ends if e is not None and is_zero(substitute(gap, {name: e}))]
    return _from_contacts(space, name, gap, contacts, context, strict=True) if contacts else undecided("")


def _from_contacts(
    space: Space, name: str, gap: Expr, contacts: list[Expr], context: Context, *, strict: bool = False
) -> Outcome:
    """Taylor's theorem near each contact, boxes between them."""
    domain = space.domains[name]
    steps: list[str] = []
    outcomes: list[Outcome] = []
    left: Expr | None = domain.lo
    left_closed = domain.lo_closed
    for contact in contacts:
        found = _near(space, name, gap, contact, context)
        if isinstance(found, str):
            return undecided(found)
        (lo, hi), near_steps, near = found
        steps += near_steps
        outcomes += near
        if left is None or enclosure(left)[0] < lo:
            part = space.with_domain(name, Domain(left, Num(lo), left_closed, True))
            outcomes.append(bounded_below(part, gap, strict=strict, context=context))
        left, left_closed = Num(hi), True
    touched = bool(contacts) and contacts[-1] == domain.hi
    if domain.hi is None or (not touched and enclosure(domain.hi)[1] > enclosure(left or num(0))[0]):
        tail = space.with_domain(name, Domain(left, domain.hi, True, domain.hi_closed))
        outcomes.append(bounded_below(tail, gap, strict=strict, context=context))
    for outcome in outcomes:
        if outcome.truth is not True:
            return undecided(f"away from the contact points: {outcome.reason}")
    certificates = [dict(o.certificate) for o in outcomes if o.certificate is not None]
    return Outcome(
        True,
        CERTIFIED,
        "exact critical point and ball arithmetic",
        tuple(dict.fromkeys(("flint", *merged_trust(*outcomes)))),
        tuple(steps),
        certificate=composite(certificates, f"{to_text(gap)} {'> 0' if strict else '>= 0, attained'}"),
    )


def _cheap_candidates(gap: Expr, name: str, space: Space) -> Iterator[Expr]:
    """Ends, small whole numbers and exact critical points."""
    domain = space.domains[name]
    yield from (e for e in (domain.lo, domain.hi) if e is not None)
    yield from (num(k) for k in (0, 1, -1))
    yield from list(exact_extremum_candidates(gap, name, space.assumptions()) or ())[:MAX_POINTS]


def _searched_candidates(gap: Expr, name: str, domain: Domain, context: Context) -> Iterator[Expr]:
    """Short fractions, and those of pi in a wave, where the least values were found numerically."""
    found = extremum(gap, name, domain.lo, domain.hi, "inf", 12, context.first_budget())
    wave = any(isinstance(n, App) and n.head in ("sin", "cos") for n in gap.walk())
    below, above = enclosure(Const("pi"))
    for lo, hi in (found.points or ())[:MAX_POINTS]:
        yield Num(simplest_between(lo, hi))
        if wave:
            low, high = sorted((lo / below, lo / above))[0], sorted((hi / below, hi / above))[1]
            yield App("mul", (Num(simplest_between(low, high)), Const("pi")))


def exact_contacts(space: Space, name: str, gap: Expr, context: Context) -> list[Expr]:
    """Exact points of the space at which the gap is 0, as far as its least values show them."""
    domain = space.domains[name]
    if domain.integer or domain.without or space.facts or free_names(gap) != {name}:
        return []
    cuts = cut_points(smooth_pieces(gap, name, domain) or [])
    return _contacts(gap, name, domain, [*cuts, *_searched_candidates(gap, name, domain, context)])


def inner_contact(space: Space, name: str, gap: Expr, context: Context) -> Expr | None:
    """The first of them strictly between the ends: at an end a piece's formula need not be the function."""
    domain = space.domains[name]
    opened = replace(domain, lo_closed=False, hi_closed=False)
    return next(iter(exact_contacts(space.with_domain(name, opened), name, gap, context)), None)


def _contacts(gap: Expr, name: str, domain: Domain, candidates: Iterable[Expr]) -> list[Expr]:
    """The candidates in the domain where gap is provably 0, ascending and well apart."""
    kept: list[Expr] = []
    for candidate in candidates:
        lo, hi = enclosure(candidate)
        if candidate in (domain.lo, domain.hi):
            inside = domain.lo_closed if candidate == domain.lo else domain.hi_closed
        else:
            inside = bool(contains(domain, lo) and contains(domain, hi))
        near = any(abs(enclosure(k)[0] - lo) < Fraction(1, 10**6) for k in kept)
        if inside and not near and is_zero(substitute(gap, {name: candidate})):
            kept.append(candidate)
    return sorted(kept, key=lambda k: enclosure(k)[0])[:MAX_POINTS]


def _near(
    space: Space, name: str, gap: Expr, contact: Expr, context: Context
) -> tuple[tuple[Fraction, Fraction], list[str], list[Outcome]] | str:
    """A neighbourhood of the contact on which gap >= 0, its steps and bounds; or why there is none."""
    domain = space.domains[name]
    at_lo = domain.lo is not None and domain.lo == contact
    at_hi = domain.hi is not None and domain.hi == contact
    current = gap
    for order in range(1, MAX_ORDER + 1):
        following = derivative(current, name)
        if following is None or following.size > MAX_SIZE:
            return f"no derivative of order {order} at {name} = {to_text(contact)}"
        current = following
        value = substitute(current, {name: contact})
        if is_zero(value):
            continue
        (low, _), (_, high) = enclosure(value), enclosure(value)
        sign = 1 if low > 0 else -1 if high < 0 else 0
        wanted = _signs_needed(order, at_lo=at_lo, at_hi=at_hi)
        if sign == 0 or sign not in wanted:
            return f"the derivative of order {order} at {name} = {to_text(contact)} has the wrong sign"
        return _neighbourhood(space, name, contact, current, order, sign, (at_lo, at_hi), context)
    return f"the first {MAX_ORDER} derivatives vanish at {name} = {to_text(contact)}"


def _signs_needed(order: int, *, at_lo: bool, at_hi: bool) -> tuple[int, ...]:
    if order % 2 == 0:
        return (1,)
    return (1,) if at_lo and not at_hi else (-1,) if at_hi and not at_lo else ()


def _neighbourhood(
    space: Space,
    name: str,
    contact: Expr,
    top: Expr,
    order: int,
    sign: int,
    ends: tuple[bool, bool],
    context: Context,
) -> tuple[tuple[Fraction, Fraction], list[str], list[Outcome]] | str:
    lo, hi = enclosure(contact)
    signed = top if sign > 0 else App("neg", (top,))
    for radius in _RADII:
        left = lo if ends[0] else _clip(lo - radius)
        right = hi if ends[1] else _clip(hi + radius)
        part = space.with_domain(name, Domain(Num(left), Num(right), True, True))
        found = bounded_below(part, signed, strict=True, context=context)
        if found.truth is True:
            steps = [
                f"at {name} = {to_text(contact)} the value and all derivatives below order {order} are 0",
                f"the derivative of order {order} keeps its sign on [{left}, {right}]: Taylor's theorem",
            ]
            return (left, right), steps, [found]
    return f"the derivative of order {order} changes sign near {name} = {to_text(contact)}"


def _clip(value: Fraction) -> Fraction:
    """A nearby fraction of small denominator; the neighbourhood need not be exact."""
    return value.limit_denominator(4096)
