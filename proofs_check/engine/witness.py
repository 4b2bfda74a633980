"""A refutation: one exact point where the statement fails, seen by two engines."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from gateproof.numerics.errors import MaybeUndefined, Undefined
from gateproof.numerics.points import at_point, difference_sign, enclosure
from gateproof.proofs_check.engine.numbers import ball_text, rational_text
from gateproof.proofs_check.engine.outcome import Outcome, ill_posed
from gateproof.proofs_check.engine.sample import Point, points
from gateproof.proofs_check.engine.space import Space, contains
from gateproof.theory.exact.critical import equal_constants, exact_extremum_candidates
from gateproof.theory.exact.domain import Assumptions
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Num, Rel
from gateproof.theory.formula.printer import to_text

_FAILS = {
    "==": lambda s: s != 0,
    "!=": lambda s: s == 0,
    "<": lambda s: s >= 0,
    "<=": lambda s: s > 0,
    ">": lambda s: s <= 0,
    ">=": lambda s: s < 0,
}


def second_sign(a: Expr, b: Expr, point: Point) -> int | None:
    """The sign of a - b by MPFR interval arithmetic, code that shares nothing with the first engine."""
    from gateproof.proofs_check.engine.second_sign import sign_at
    from gateproof.theory.formula.serial import to_json

    return sign_at(
        to_json(App("add", (a, App("neg", (b,))))), {n: rational_text(v) for n, v in point.items()}
    )


def failure_at(relation: Rel, point: Point) -> Outcome | None:
    """The refuting outcome if a binary relation certainly fails at the point, else None.

    Raises Undefined where a side has no value there.
    """
    (op,), (a, b) = relation.ops, relation.terms
    sign = difference_sign(a, b, point)
    if sign is None and _FAILS[op](0) and _same_at(a, b, point):
        return _equal_at(relation, point)
    if sign is None or not _FAILS[op](sign):
        return None
    second = second_sign(a, b, point)
    if second != sign:
        # Equal sides are exact in balls only by luck of exact arithmetic; MPFR must see the same.
        return None
    from gateproof.proofs_check.engine.point_certificates import order_certificate

    at = {name: rational_text(value) for name, value in point.items()}
    with_values = dict(at)
    for label, side in (("left", a), ("right", b)):
        with_values[label] = ball_text(at_point(side, point, 128))
    where = ", ".join(f"{n} = {v}" for n, v in at.items()) or "the numbers given"
    return Outcome(
        False,
        method="exact witness",
        trust=("arb", "mpfr"),
        steps=(
            f"at {where}: left side {with_values['left']}, right side {with_values['right']}",
            f"so {to_text(relation)} fails there; the sign of the difference was found by two engines",
        ),
        witness=with_values,
        certificate=order_certificate(relation, point, sign),
    )


def _same_at(a: Expr, b: Expr, point: Point) -> bool:
    """Whether both sides are one formula once the values are put in: softplus(a), softplus(b) at a = b."""
    values: dict[str, Expr] = {name: Num(value) for name, value in point.items()}
    return substitute(a, values) == substitute(b, values)


def _equal_at(relation: Rel, point: Point) -> Outcome:
    at = {name: rational_text(value) for name, value in point.items()}
    where = ", ".join(f"{n} = {v}" for n, v in at.items()) or "the numbers given"
    step = f"at {where} both sides are the same expression, so {to_text(relation)} fails there"
    return Outcome(False, method="exact witness", trust=("arb",), steps=(step,), witness=at)


def search(space: Space, relation: Rel, seed: int, limit: int = 600) -> Outcome | None:
    """A certified failure (or a point without value) of a binary relation, else None."""
    for point in points(space, (relation,), seed, limit):
        try:
            found = failure_at(relation, point)
        except Undefined as error:
            return no_value(point, str(error))
        except MaybeUndefined:
            continue
        if found is not None:
            return found
    return None


def no_value(point: Mapping[str, Fraction], what: str) -> Outcome:
    """The ill-posed outcome for a point of the scope where a part has no value."""
    at = {name: rational_text(value) for name, value in point.items()}
    where = ", ".join(f"{n} = {v}" for n, v in at.items())
    reason = f"undefined at {where}: {what}" if where else f"undefined: {what}"
    return ill_posed(reason, at)


def exact_failure(space: Space, relation: Rel) -> Outcome | None:
    """A failure at an exact critical point that no rational sample hits (1/2 reached at asinh(1))."""
    names = list(space.domains)
    if len(names) != 1 or space.vectors or space.facts or relation.ops[0] not in ("<", ">", "!="):
        return None
    (name,) = names
    a, b = relation.terms
    gap = App("add", (a, App("neg", (b,))))
    for candidate in exact_extremum_candidates(gap, name, space.assumptions()) or ():
        lo, hi = enclosure(candidate)
        if contains(space.domains[name], lo) is not True or contains(space.domains[name], hi) is not True:
            continue
        left, right = (substitute(side, {name: candidate}) for side in (a, b))
        if (
            equal_constants(left, right) is True
            or prove_relation(left, "==", right, Assumptions()) is not None
        ):
            return Outcome(
                False,
                method="exact witness",
                trust=("flint", "arb"),
                steps=(f"at {name} = {to_text(candidate)} both sides are exactly equal",),
                witness={name: to_text(candidate)},
            )
    return None


def holds_at(relation: Rel, point: Point) -> Outcome | None:
    """The confirming outcome if a binary relation certainly holds at the point, by two engines; else None."""
    from gateproof.proofs_check.engine.point_certificates import order_certificate

    (op,), (a, b) = relation.ops, relation.terms
    try:
        sign = difference_sign(a, b, point, 256)
    except (Undefined, MaybeUndefined):
        return None
    if sign is None or _FAILS[op](sign) or second_sign(a, b, point) != sign:
        return None
    at = {name: rational_text(value) for name, value in point.items()}
    where = ", ".join(f"{n} = {v}" for n, v in at.items())
    step = f"at {where}: {to_text(relation)}" if where else to_text(relation)
    return Outcome(
        True,
        method="exact witness",
        trust=("arb", "mpfr"),
        steps=(step,),
        witness=at,
        certificate=order_certificate(relation, point, sign),
    )
