"""Relations of a supremum, infimum, maximum or minimum with a closed value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from typing import Any

from gateproof.numerics.bounds import Budget
from gateproof.numerics.decimals import decimal_enclosure
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.extrema import Extremum as Found
from gateproof.numerics.extrema import extremum
from gateproof.numerics.points import at_point, compare, enclosure, rational_bounds
from gateproof.proofs_check.engine.attainment import attained
from gateproof.proofs_check.engine.boxes import accept
from gateproof.proofs_check.engine.conditions import absorbed
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.definedness import decide_defined
from gateproof.proofs_check.engine.extremum_joint import by_joint_enclosure, jointly
from gateproof.proofs_check.engine.holes import over_parts
from gateproof.proofs_check.engine.integers import decide_integer_extremum, over_integers
from gateproof.proofs_check.engine.outcome import (
    CERTIFIED,
    PROVED,
    IllPosedError,
    NotYetError,
    Outcome,
    UndecidedError,
    conjunction,
    negation,
    undecided,
)
from gateproof.proofs_check.engine.periodic import one_period
from gateproof.proofs_check.engine.places_beside import exact_beside, simple_beside
from gateproof.proofs_check.engine.reached import decide_general_maximum, falls_short, near_value
from gateproof.proofs_check.engine.sample import points
from gateproof.proofs_check.engine.space import Space, build, infinite_sign, is_empty
from gateproof.proofs_check.engine.touching import exact_contacts
from gateproof.proofs_check.engine.unbounded import unbounded_certificate
from gateproof.proofs_check.engine.witness import holds_at
from gateproof.theory.exact.critical import equal_constants, exact_extremum_candidates
from gateproof.theory.exact.domain import Domain
from gateproof.theory.exact.limits import limit
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Const, Expr, Extremum, Num, Rel
from gateproof.theory.formula.printer import to_text

_LADDER = (15, 30, 60)
_FLIP = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True)
class Side:
    """One extremum with its space; ``up`` for sup and max."""

    node: Extremum
    body: Expr
    space: Space
    up: bool

    @property
    def name(self) -> str:
        """The single real name, for numeric enclosures."""
        return next(iter(self.space.domains))


def decide_extremum(node: Extremum, body: Expr, op: str, bound: Expr, context: Context) -> Outcome:
    """Decide ``node op bound`` for op in sup inf max min and a closed core bound."""
    side = Side(node, body, set_of(node, context), node.op in ("sup", "max"))
    if over_integers(side.space):
        return _decide(side, op, bound, context)
    defined = decide_defined(side.space, body, context)
    if defined.ill_posed:
        raise IllPosedError(defined.reason)
    found = _decide(replace(side, space=one_period(side.space, body) or side.space), op, bound, context)
    if defined.truth is None and found.method == "exact witness":
        # A value beyond the bound says nothing where others are missing; enclosures see to that themselves.
        return undecided(defined.reason)
    return found


def _decide(side: Side, op: str, bound: Expr, context: Context) -> Outcome:
    node, body = side.node, side.body
    if op == "!=":
        return negation(_decide(side, "==", bound, context))
    if over_integers(side.space):
        return decide_integer_extremum(node, body, side.space, op, bound)
    if node.op in ("sup", "inf") and len(side.space.domains) == 1 and _has_holes(side):
        return over_parts(
            side.space,
            side.up,
            op,
            lambda part, link: _decide(replace(side, space=part), link, bound, context),
        )
    if node.op in ("max", "min") and (len(side.space.domains) != 1 or side.space.facts or _has_holes(side)):
        return _general_maximum(side, op, bound, context)
    reached = _attained(side, context) if node.op in ("max", "min") else None
    if reached is not None and reached.truth is None:
        return reached
    if infinite_sign(bound):
        found = _against_infinity(side, op, infinite_sign(bound), context)
    elif op == "==":
        ends = [_within(side, bound, context)]
        if ends[0].truth is True or ends[0].truth is None:
            ends.append(_reaches(side, bound, context))
        found = conjunction(ends) if ends[-1].truth is not False else ends[-1]
    else:
        found = _one_sided(side, op, bound, context)
    return _with_value(side, found, context)


def _general_maximum(side: Side, op: str, bound: Expr, context: Context) -> Outcome:
    """A maximum that numeric enclosures do not reach, by a point with the greatest value."""
    supremum = replace(side, node=replace(side.node, op="sup" if side.up else "inf"))
    found = decide_general_maximum(
        side.space,
        side.body,
        side.up,
        op,
        bound,
        to_text(side.node),
        lambda: _decide(supremum, "==", bound, context),
        context,
    )
    return found or undecided(f"whether {to_text(side.node)} is attained was not decided")


def _has_holes(side: Side) -> bool:
    return bool(side.space.domains[side.name].without) and not side.space.facts


def set_of(node: Extremum, context: Context) -> Space:
    """What an extremum ranges over. Raises IllPosedError or UndecidedError where it may be empty."""
    space = absorbed(build(node.scope))
    if any(is_empty(domain) for domain in space.domains.values()):
        raise IllPosedError(f"{to_text(node)} ranges over nothing")
    if space.facts and next(points(space, (node.body,), context.settings.seed, 1), None) is None:
        raise UndecidedError(f"no point was found over which {to_text(node)} ranges")
    return space


def _one_sided(side: Side, op: str, bound: Expr, context: Context) -> Outcome:
    inward = op if side.up else _FLIP[op]
    if inward == "<=":
        return _within(side, bound, context)
    if inward == ">=":
        return _reaches(side, bound, context)
    if inward == "<":
        return negation(_reaches(side, bound, context))
    return negation(_within(side, bound, context))


def _within(side: Side, bound: Expr, context: Context) -> Outcome:
    """Sup f <= bound (inf f >= bound): the universal statement."""
    from gateproof.proofs_check.engine.relation import decide_relation

    relation = Rel(("<=" if side.up else ">=",), (side.body, bound))
    compared = _by_enclosure(side, bound, context)
    if compared is not None and compared[0] != 0:
        truth = compared[0] < 0 if side.up else compared[0] > 0
        outcome = replace(compared[1], truth=truth)
        if truth:
            return outcome
        witnesses = (outcome.certificate or {}).get("witnesses")
        if witnesses:
            # The certificate holds an exact point whose value breaks the bound.
            return replace(outcome, witness=dict(witnesses[0]["at"]))
    return decide_relation(side.space, relation, context.deeper())


def _reaches(side: Side, bound: Expr, context: Context) -> Outcome:
    """Sup f >= bound (inf f <= bound): a point, an exact critical point, or a limit."""
    compared = _by_enclosure(side, bound, context)
    if compared is not None and compared[0] != 0:
        truth = compared[0] > 0 if side.up else compared[0] < 0
        return replace(compared[1], truth=truth)
    relation = Rel((">=" if side.up else "<=",), (side.body, bound))
    tried = points(side.space, (side.body, bound), context.settings.seed, 200)
    joint = jointly(side.space, side.body, side.up, context)
    best = [joint.point] if joint is not None and joint.point is not None else []
    for point in chain(tried, best, simple_beside(side.space, best)):
        found = holds_at(relation, point)
        if found is not None:
            return found
    for place in exact_beside(side.space, side.body, best):
        if equal_constants(substitute(side.body, place), bound) is True:
            where = ", ".join(f"{name} = {to_text(value)}" for name, value in place.items())
            step = f"at {where} the value is exactly {to_text(bound)}"
            return Outcome(True, PROVED, "exact critical point", ("flint",), (step,))
    exact = _exactly_reached(side, bound, context)
    if exact is not None:
        return exact
    apart = _stays_away(side, bound, context) if compared is None else None
    if apart is not None:
        return apart
    near = near_value(side.space, side.body, side.up, bound, context)
    if near is not None:
        return near
    if side.space.facts or len(side.space.domains) > 1:
        short = falls_short(side.space, side.body, side.up, bound, context)
        if short is not None:
            return short
    reason = "the bound was not seen to be reached"
    if compared is not None:
        reason = f"agree to {_LADDER[-1]} digits; {reason} exactly"
    return undecided(reason)


def _stays_away(side: Side, bound: Expr, context: Context) -> Outcome | None:
    """Not reached: the body keeps to a number between the best value at sample points and the bound."""
    from gateproof.proofs_check.engine.relation import decide_relation

    lo, hi = enclosure(bound)
    best: Fraction | None = None
    for point in points(side.space, (side.body, bound), context.settings.seed, 200):
        try:
            ends = rational_bounds(at_point(side.body, point, 128))
        except NumericsError:
            continue
        reached = ends[1] if side.up else ends[0]
        if best is None or (reached > best if side.up else reached < best):
            best = reached
    if best is None or not (best < lo if side.up else best > hi):
        return None
    between = (best + (lo if side.up else hi)) / 2
    relation = Rel(("<=" if side.up else ">=",), (side.body, Num(between)))
    found = decide_relation(side.space, relation, context.deeper())
    if found.truth is not True:
        return None
    step = f"{to_text(relation)} everywhere, so {to_text(bound)} is not reached or approached"
    return replace(found, truth=False, steps=(*found.steps, step))


def _exactly_reached(side: Side, bound: Expr, context: Context) -> Outcome | None:
    if len(side.space.domains) != 1 or side.space.facts or side.space.vectors:
        return None
    given = side.space.assumptions()
    for candidate in exact_extremum_candidates(side.body, side.name, given) or ():
        if equal_constants(substitute(side.body, {side.name: candidate}), bound) is True:
            step = f"at {side.name} = {to_text(candidate)} the value is exactly {to_text(bound)}"
            return Outcome(True, PROVED, "exact critical point", ("flint",), (step,))
    gap = App("add", ((bound, App("neg", (side.body,))) if side.up else (side.body, App("neg", (bound,)))))
    for contact in exact_contacts(side.space, side.name, gap, context):
        step = f"at {side.name} = {to_text(contact)} the value is exactly {to_text(bound)}"
        return Outcome(True, PROVED, "exact point", ("flint",), (step,))
    domain = side.space.domains[side.name]
    if domain.lo is not None and domain.hi is not None and compare(domain.lo, domain.hi) != -1:
        return None
    ends: list[tuple[Expr, str]] = []
    ends.append((Const("oo"), "") if domain.hi is None else (domain.hi, "-"))
    ends.append((App("neg", (Const("oo"),)), "") if domain.lo is None else (domain.lo, "+"))
    for point, direction in ends:
        found = limit(side.body, side.name, point, direction, given)
        if isinstance(found, tuple) and equal_constants(found[0], bound) is True:
            step = f"the limit for {side.name} -> {to_text(point)} is exactly {to_text(bound)}"
            return Outcome(True, PROVED, "limit", found[1].trust, (*found[1].steps, step))
    return None


def _by_enclosure(side: Side, bound: Expr, context: Context) -> tuple[int, Outcome] | None:
    """Sign of extremum - bound with the outcome that shows it; 0 where they agree to all digits tried."""
    if len(side.space.domains) > 1:
        return by_joint_enclosure(side.node, side.space, side.body, side.up, bound, context)
    if len(side.space.domains) != 1 or side.space.facts or side.space.vectors:
        return None
    for digits in _LADDER:
        found = numeric(side, digits, context)
        if found.status == "infinite":
            sign = 1 if side.up else -1
            domain = side.space.domains[side.name]
            known = unbounded_certificate(side.body, side.name, domain, side.up)
            trust = ("arb", "mpfr") if known is not None else ("arb",)
            steps = (*found.steps, "the body is unbounded on its set")
            return sign, Outcome(
                True, CERTIFIED, "unbounded", _with_prover(found, trust), steps, certificate=known
            )
        if found.status != "ok" or found.value is None:
            return None
        lo, hi = enclosure(bound, 64 + 4 * digits)
        sign = 1 if found.value[0] > hi else -1 if found.value[1] < lo else 0
        if sign:
            return _certified(side, found, sign, bound, digits)
    return 0, Outcome(None)


def _certified(side: Side, found: Found, sign: int, bound: Expr, digits: int) -> tuple[int, Outcome] | None:
    assert found.value is not None
    certificate = found.certificate
    if _objection(_Kept(found)) is not None:
        return None
    text = decimal_enclosure(*found.value, digits)
    relation = "above" if sign > 0 else "below"
    step = f"{to_text(side.node)} lies in [{text['lo']}, {text['hi']}], {relation} {to_text(bound)}"
    trust = ("arb", "mpfr") if certificate is not None else ("arb",)
    steps = (*found.steps, step)
    return sign, Outcome(
        True,
        CERTIFIED,
        "certified enclosure",
        _with_prover(found, trust),
        steps,
        text,
        certificate=certificate,
    )


def _with_prover(found: Found, trust: tuple[str, ...]) -> tuple[str, ...]:
    """The trust base: what was shown exactly beside open ends rests on the prover's polynomials."""
    return (*trust, "flint") if found.steps else trust


def numeric(side: Side, digits: int, context: Context) -> Found:
    """The enclosure of the extremum."""
    if len(side.space.domains) != 1 or side.space.facts or side.space.vectors:
        raise NotYetError(f"{side.node.op} over several names or with conditions")
    domain = side.space.domains[side.name]
    if domain.integer:
        raise NotYetError(f"{side.node.op} over integers")
    if domain.without:
        raise NotYetError(f"{side.node.op} over a set with holes")
    return _computed(side.body, side.name, domain, "sup" if side.up else "inf", digits, context.budget())


@lru_cache(maxsize=512)
def _computed(body: Expr, name: str, domain: Domain, which: str, digits: int, budget: Budget) -> Found:
    """One enclosure serves both ends of a chain, the report's value and the controls."""
    return extremum(
        body,
        name,
        domain.lo,
        domain.hi,
        which,
        digits,
        budget,
        text=to_text(body),
        lo_closed=domain.lo_closed,
        hi_closed=domain.hi_closed,
        prove_ends=True,
    )


class _Kept:
    """A result as a cache key: the object itself, held so that its identity stays its own."""

    def __init__(self, found: Found) -> None:
        self.found = found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Kept) and other.found is self.found

    def __hash__(self) -> int:
        return id(self.found)


@lru_cache(maxsize=512)
def _objection(kept: _Kept) -> str | None:
    """What the checker says against the certificate of an enclosure; None where it accepts or has none."""
    certificate = kept.found.certificate
    return accept(certificate) if certificate is not None else None


def _attained(side: Side, context: Context) -> Outcome:
    found = numeric(side, 15, context)
    reached = attained(side.body, side.space, found, up=side.up, context=context)
    if reached is True:
        return Outcome(True, trust=("arb",))
    if reached is False:
        raise IllPosedError(f"{to_text(side.node)}: not attained, so there is no {side.node.op}")
    return undecided(f"whether {to_text(side.node)} is attained was not decided: {found.reason}")


def _against_infinity(side: Side, op: str, sign: int, context: Context) -> Outcome:
    found = numeric(side, 15, context)
    always = op == ("<=" if sign > 0 else ">=")
    unknown = found.status not in ("ok", "infinite")
    if unknown and always and decide_defined(side.space, side.body, context).truth is True:
        step = f"{to_text(side.node)} has a value, which may be infinite"
        return Outcome(True, CERTIFIED, "order of the extended reals", ("flint",), (step,))
    tends = found.status not in ("ok", "infinite") and _tends_to_infinity(side)
    if found.status not in ("ok", "infinite") and not tends:
        return undecided(f"whether {to_text(side.node)} is finite was not decided: {found.reason}")
    own = (1 if side.up else -1) if tends or found.status == "infinite" else 0
    order = (own > sign) - (own < sign)
    truth = {"==": order == 0, "<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[op]
    step = f"{to_text(side.node)}: {'infinite' if own else found.status}"
    if own:
        known = unbounded_certificate(side.body, side.name, side.space.domains[side.name], side.up)
    else:
        known = found.certificate if _objection(_Kept(found)) is None else None
    trust = ("arb", "mpfr") if known is not None else ("arb",)
    return Outcome(truth, CERTIFIED, "certified enclosure", trust, (step,), certificate=known)


def _tends_to_infinity(side: Side) -> bool:
    """Whether the body grows beyond all bounds at an end that does not belong to its interval."""
    domain = side.space.domains[side.name]
    if len(side.space.domains) != 1 or side.space.facts or domain.integer or domain.without:
        return False
    ends = [] if domain.lo is None or domain.lo_closed else [(domain.lo, "+")]
    ends += [] if domain.hi is None or domain.hi_closed else [(domain.hi, "-")]
    for point, direction in ends:
        found = limit(side.body, side.name, point, direction, side.space.assumptions())
        if isinstance(found, tuple) and infinite_sign(found[0]) == (1 if side.up else -1):
            return True
    return False


def _with_value(side: Side, outcome: Outcome, context: Context) -> Outcome:
    """The outcome with the enclosure of the extremum, where it is to be had."""
    if outcome.value is not None or outcome.ill_posed or len(side.space.domains) != 1 or side.space.facts:
        return outcome
    try:
        found = numeric(side, context.settings.digits, context)
    except NotYetError:
        return outcome
    if found.status != "ok" or found.value is None:
        return outcome
    lo, hi = (Fraction(v) for v in found.value)
    return replace(outcome, value=decimal_enclosure(lo, hi, context.settings.digits))


def accepted_certificate(
    node: Extremum, body: Expr, digits: int, context: Context
) -> Mapping[str, Any] | None:
    """The certificate of an extremum's enclosure where the checker accepts it, else None."""
    side = Side(node, body, build(node.scope), node.op in ("sup", "max"))
    found = numeric(side, digits, context)
    if found.certificate is None or _objection(_Kept(found)) is not None:
        return None
    return found.certificate
