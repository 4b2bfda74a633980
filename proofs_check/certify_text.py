"""``certify``: one formula in, its value with certified digits out."""

from __future__ import annotations

from typing import Any

from gateproof.proofs_check.records import Reading, Settings
from gateproof.proofs_check.refused import RefusedError
from gateproof.theory.formula import Expr, FormulaError, free_names, parse_claim, parse_expr

MAX_DIGITS = 1_000
KEYS = ("kind", "value", "points", "attained", "digits", "domain", "certificate")


def read(text: str) -> Expr | None:
    """Parse a closed expression; None for a statement. Raises RefusedError."""
    try:
        expression = parse_expr(text)
    except FormulaError as error:
        try:
            parse_claim(text)
        except FormulaError as other:
            # The reader that came further knows better what was meant.
            further = (other.column or 0) > (error.column or 0)
            raise RefusedError(str(other if further else error)) from None
        return None
    except RecursionError:
        raise RefusedError("the formula is nested too deeply") from None
    free = sorted(free_names(expression))
    if free:
        name = free[0]
        advice = f"bind it, as in sup({text[:40].strip()}, {name} in R)"
        raise RefusedError(f"{name!r} is not bound; {advice}")
    return expression


def certify_text(text: str, digits: int, settings: Settings) -> dict[str, Any]:
    """Return the contract of ``gateproof certify``. Raises RefusedError for what is no formula."""
    if not 1 <= digits <= MAX_DIGITS:
        raise RefusedError(f"--digits {digits}: give 1 to {MAX_DIGITS}")
    expression = read(text)
    if expression is None:
        return _statement(text, settings)
    from gateproof.numerics.bounds import Budget
    from gateproof.numerics.certify import certify
    from gateproof.numerics.errors import NumericsError

    budget = Budget(boxes=settings.boxes, max_bits=settings.max_bits)
    try:
        found = certify(expression, digits, budget)
    except (NumericsError, FormulaError, NotImplementedError, RecursionError) as error:
        return undecided(str(error) or type(error).__name__)
    return {**dict.fromkeys(KEYS), **found, "points": found.get("points") or []}


def undecided(reason: str) -> dict[str, Any]:
    """Return the answer when no value can be given."""
    return {**dict.fromkeys(KEYS), "points": [], "digits": 0, "reason": reason}


def is_conclusive(found: dict[str, Any], digits: int) -> bool:
    """Tell whether the answer is the whole answer to the digits asked for."""
    if found["kind"] is None or found["kind"] == "boolean":
        return found["value"] is not None
    if found["kind"] in ("value", "set") and found["digits"] is not None:
        return bool(found["digits"] >= digits)
    return True


def _statement(text: str, settings: Settings) -> dict[str, Any]:
    from gateproof.proofs_check.worker import ENGINE, find

    decision = find(ENGINE)(Reading("", text), settings)
    truth = {"proved": True, "certified": True, "refuted": False}.get(decision.verdict)
    certificate = None if decision.certificate is None else dict(decision.certificate)
    return {
        **dict.fromkeys(KEYS),
        "kind": "undefined" if decision.verdict == "ill-posed" else "boolean",
        "value": truth,
        "points": [],
        "certificate": certificate,
        "verdict": decision.verdict,
        "method": decision.method,
        "witness": None if decision.witness is None else dict(decision.witness),
        "reason": decision.reason,
    }
