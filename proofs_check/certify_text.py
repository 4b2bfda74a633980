"""``certify``: one formula in, its value with certified digits out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateproof.proofs_check.accepted import accepted
from gateproof.proofs_check.records import Reading, Settings
from gateproof.proofs_check.refused import RefusedError
from gateproof.theory.formula import Expr, FormulaError, free_names, parse_claim, parse_expr

MAX_DIGITS = 1_000
#: Digits that a worst case must have where none were asked for.
SURE = 6
#: Devices drawn without being told how many, and at most.
SAMPLES, MAX_SAMPLES = 1_000, 100_000
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
    from gateproof.theory.formula.apart import apart

    told = apart(expression)
    assert isinstance(told, Expr)
    return told


def certify_text(
    text: str,
    digits: int | None,
    settings: Settings,
    *,
    tolerance: Mapping[str, str] | None = None,
    noise: Mapping[str, str] | None = None,
    samples: int = SAMPLES,
) -> dict[str, Any]:
    """Return the contract of ``gateproof certify``. Raises RefusedError for what is no formula.

    ``tolerance`` and ``noise`` are sizes by parameter of tg(...), as ``{"tau": "5%"}``. Without ``digits``
    it is 15, of which a worst case needs 6 only.
    """
    if not isinstance(text, str):
        raise RefusedError(f"{text!r:.40}: give a formula as text")
    wanted = _whole("digits", 15 if digits is None else digits, MAX_DIGITS)
    _whole("samples", samples, MAX_SAMPLES)
    for option, given in (("tolerance", tolerance), ("noise", noise)):
        if given is not None and not isinstance(given, Mapping):
            raise RefusedError(f"{option} {given!r:.40}: give sizes by parameter, as {{'tau': '5%'}}")
    expression = read(text)
    if not tolerance and not noise:
        return _plain(text, expression, wanted, settings)
    return _varied(text, expression, wanted, settings, tolerance or {}, noise or {}, samples)


def _whole(name: str, value: Any, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise RefusedError(f"{name} {value!r:.40}: give a whole number from 1 to {most}")
    return value


def _plain(text: str, expression: Expr | None, digits: int, settings: Settings) -> dict[str, Any]:
    """The answer for the formula as it stands."""
    if expression is None:
        return accepted(_statement(text, settings))
    from gateproof.numerics.certify import certify
    from gateproof.numerics.errors import NumericsError

    try:
        found = certify(_without_calculus(expression), digits, _budget(settings))
    except (NumericsError, FormulaError, NotImplementedError, RecursionError) as error:
        return undecided(str(error) or type(error).__name__)
    return accepted({**dict.fromkeys(KEYS), **found, "points": found.get("points") or []})


def _without_calculus(expression: Expr) -> Expr:
    """The formula with values, limits and Taylor polynomials outside of all binders worked out exactly.

    As it stands where that fails or a derivative may not exist: what encloses it then says why not.
    """
    from gateproof.theory.formula.nodes import At, Extremum, Gauss, Gauss2, Integral, Limit, Series, Taylor

    nodes = list(expression.walk())
    if not any(isinstance(node, At | Limit | Taylor) for node in nodes):
        return expression
    if any(isinstance(node, Extremum | Integral | Gauss | Gauss2 | Series) for node in nodes):
        return expression
    from gateproof.proofs_check.engine.calculus import Elimination
    from gateproof.proofs_check.engine.outcome import IllPosedError, NotYetError, UndecidedError
    from gateproof.proofs_check.engine.space import Space
    from gateproof.theory.formula import expand

    work = Elimination(Space())
    try:
        found = work.expr(expand(expression))
    except (IllPosedError, NotYetError, UndecidedError):
        return expression
    return expression if work.owed or work.certain else found


def _varied(
    text: str,
    expression: Expr | None,
    digits: int,
    settings: Settings,
    tolerance: Mapping[str, str],
    noise: Mapping[str, str],
    samples: int,
) -> dict[str, Any]:
    """The answer for gates whose parameters are off: all of them within tolerances, a sample with noise."""
    from gateproof.numerics.errors import NumericsError
    from gateproof.proofs_check import tolerances

    sizes = tolerances.read_sizes("--tolerance", tolerance)
    spread = tolerances.read_sizes("--noise", noise)
    node, held = tolerances.subject(text, expression)
    # Sampled first: what is refused there is refused before the long work.
    block = tolerances.noise_block(node, held, spread, samples, settings.seed) if spread else None
    if sizes:
        try:
            found = tolerances.worst(node, held, digits, sizes, _budget(settings))
        except (NumericsError, FormulaError, RecursionError) as error:
            found = undecided(str(error) or type(error).__name__)
        nominal = _plain(text, node, digits, settings)
        found["nominal"] = nominal["value"]
    else:
        found = _plain(text, expression, digits, settings)
    known = {**dict.fromkeys(KEYS), "points": [], **found}
    return known if block is None else {**known, "noise": block}


def _budget(settings: Settings) -> Any:
    from gateproof.numerics.bounds import Budget

    return Budget(boxes=settings.boxes, max_bits=settings.max_bits)


def undecided(reason: str) -> dict[str, Any]:
    """Return the answer when no value can be given."""
    return {**dict.fromkeys(KEYS), "points": [], "digits": 0, "reason": reason}


def is_conclusive(found: dict[str, Any], digits: int | None) -> bool:
    """Tell whether the answer is the whole answer to the digits asked for."""
    if digits is None:
        digits = SURE if "tolerance" in found else 15
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
