"""Suprema and infima over several real names, enclosed by boxes."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gateproof.numerics.bounds import prove_bounds
from gateproof.numerics.certify_nested import MAX_JOINT
from gateproof.numerics.decimals import decimal_enclosure
from gateproof.numerics.minimax import Minimax, minimax
from gateproof.numerics.points import enclosure
from gateproof.numerics.ranges import Range
from gateproof.proofs_check.engine.boxes import accept, box_of
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.definedness import decide_defined
from gateproof.proofs_check.engine.outcome import CERTIFIED, IllPosedError, Outcome
from gateproof.proofs_check.engine.point_certificates import sign_certificate
from gateproof.proofs_check.engine.sample import inside
from gateproof.proofs_check.engine.space import Space
from gateproof.theory.formula.nodes import App, Expr, Extremum
from gateproof.theory.formula.printer import to_text


def jointly(space: Space, body: Expr, up: bool, context: Context) -> Minimax | None:
    """Minus the supremum, or the infimum, over several real names, enclosed by boxes."""
    domains = space.domains
    real = not any(d.integer or d.without for d in domains.values())
    if len(domains) < 2 or space.facts or space.vectors or not real:
        return None
    defined = decide_defined(space, body, context)
    if defined.ill_posed:
        raise IllPosedError(defined.reason)
    if defined.truth is not True:
        return None
    outer = tuple((n, Range(d.lo, d.hi, d.lo_closed, d.hi_closed)) for n, d in domains.items())
    least = App("neg", (body,)) if up else body
    return minimax(least, (), outer, MAX_JOINT, context.budget())


def by_joint_enclosure(
    node: Extremum, space: Space, body: Expr, up: bool, bound: Expr, context: Context
) -> tuple[int, Outcome] | None:
    """Sign of extremum - bound over several names, where the enclosure tells."""
    found = jointly(space, body, up, context)
    if found is None or found.lower is None or found.upper is None:
        return None
    low, high = (-found.upper, -found.lower) if up else (found.lower, found.upper)
    lo, hi = enclosure(bound)
    sign = 1 if low > hi else -1 if high < lo else 0
    if not sign:
        return None
    text = decimal_enclosure(low, high, MAX_JOINT + 2)
    step = f"{to_text(node)} lies in [{text['lo']}, {text['hi']}], by {found.boxes} boxes"
    known = _certificate(space, App("add", (body, App("neg", (bound,)))), up, sign, found.point, context)
    trust = ("arb", "mpfr") if known is not None else ("arb",)
    method = "branch and bound over several names"
    return sign, Outcome(True, CERTIFIED, method, trust, (step,), text, certificate=known)


def _certificate(
    space: Space, gap: Expr, up: bool, sign: int, point: Mapping[str, Fraction] | None, context: Context
) -> Mapping[str, Any] | None:
    """An accepted certificate that the extremum of the gap has that sign: a point, or all of the box."""
    if up == (sign > 0):
        inside_it = point is not None and inside(space, point)
        return sign_certificate(gap, point, sign) if point is not None and inside_it else None
    box = box_of(space)
    if box is None:
        return None
    lower, upper = (Fraction(0), None) if sign > 0 else (None, Fraction(0))
    found = prove_bounds(
        gap, box, lower=lower, upper=upper, lower_strict=sign > 0, upper_strict=sign < 0,
        budget=context.budget(), text=to_text(gap),
    )  # fmt: skip
    return found.certificate if found.certificate is not None and accept(found.certificate) is None else None
