"""From a space to a box of rationals that holds it, and bounds on that box."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from gateproof.numerics.bounds import Box, Budget, prove_bounds
from gateproof.numerics.points import enclosure
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.outcome import CERTIFIED, Outcome, undecided
from gateproof.proofs_check.engine.sample import inside
from gateproof.proofs_check.engine.space import Space
from gateproof.proofs_check.engine.witness import failure_at
from gateproof.theory.formula.nodes import Expr, Num, Rel
from gateproof.theory.formula.printer import to_text


def box_of(space: Space) -> Box | None:
    """A box that holds the space (conditions and holes are not looked at); None for vectors."""
    if space.vectors:
        return None
    box: dict[str, tuple[Fraction | None, Fraction | None]] = {}
    for name, domain in space.domains.items():
        lo: Fraction | None = None if domain.lo is None else enclosure(domain.lo)[0]
        hi: Fraction | None = None if domain.hi is None else enclosure(domain.hi)[1]
        box[name] = (lo, hi)
    return box


def accept(certificate: Mapping[str, Any]) -> str | None:
    """None where the independent checker accepts the certificate, else its reason."""
    from gateproof.proofs_check.checker import verify

    verdict = verify(dict(certificate))
    return None if verdict.accepted else verdict.reason


#: Why a bound stays open that balls see fail at an end which is left out of the range.
_OPEN_ENDS = {
    "violated": "at an end that the range leaves out the bound is reached or broken",
    "undefined": "at an end that the range leaves out there is no value",
}


def _at_and_beside(point: Mapping[str, Fraction]) -> Iterator[Mapping[str, Fraction]]:
    """The point, then points close to it: it may be a hole or an open end of the space."""
    yield point
    for name, value in point.items():
        for bits in (8, 16, 32, 64):
            for sign in (1, -1):
                yield {**point, name: value + sign * Fraction(1, 2**bits)}


def bounded_below(
    space: Space, expr: Expr, *, strict: bool, context: Context, budget: Budget | None = None
) -> Outcome:
    """Certify expr >= 0 (or > 0) on the box of the space; the certificate is re-checked."""
    box = box_of(space)
    if box is None:
        return undecided("bounds over vectors are not implemented")
    found = prove_bounds(
        expr,
        box,
        lower=Fraction(0),
        lower_strict=strict,
        budget=budget or context.budget(),
        text=to_text(expr),
    )
    if found.status == "violated" and found.point is not None:
        relation = Rel((">" if strict else ">=",), (expr, Num(Fraction(0))))
        for point in _at_and_beside(found.point):
            failure = failure_at(relation, point) if inside(space, point) else None
            if failure is not None:
                return failure
    if found.status != "proved":
        return undecided(found.reason or _OPEN_ENDS[found.status])
    assert found.certificate is not None
    objection = accept(found.certificate)
    if objection is not None:
        return undecided(f"the certificate was not accepted by the checker: {objection}")
    sign = ">" if strict else ">="
    return Outcome(
        True,
        CERTIFIED,
        "ball arithmetic over the whole domain",
        ("arb", "mpfr"),
        (f"{to_text(expr)} {sign} 0 on every box of a cover, tails by domination; re-checked with MPFR",),
        certificate=found.certificate,
    )
