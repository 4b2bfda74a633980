"""``--tolerance KEY=SIZE`` and ``--noise KEY=SIZE``: reading them, and what they make of ``certify``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from gateproof.numerics.bounds import Budget
from gateproof.numerics.tolerance import KEYS, Tolerance
from gateproof.proofs_check.accepted import accepted
from gateproof.proofs_check.refused import RefusedError
from gateproof.theory.formula import FormulaError, parse_claim
from gateproof.theory.formula.nodes import Claim, Expr, Extremum, Rel

_SIZE = re.compile(r"(\d+(\.\d+)?([eE][+-]?\d{1,3})?|\d+/0*[1-9]\d*)\s*(%?)")
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def read_sizes(option: str, given: Iterable[str] | Mapping[str, str]) -> dict[str, Tolerance]:
    """``tau=5%`` or ``theta=0.01``, each key once. Raises RefusedError."""
    if isinstance(given, Mapping):
        words = [(str(key), "=", str(size)) for key, size in given.items()]
    else:
        words = [word.partition("=") for word in given]
    found: dict[str, Tolerance] = {}
    for key, sign, size in words:
        key, size = key.strip(), size.strip()
        if key not in KEYS:
            raise RefusedError(
                f"{option} {key!r:.40}: give a parameter of tg(...) and a size, as tau=5% or theta=0.01; "
                f"the parameters are {', '.join(KEYS)}"
            )
        if key in found:
            raise RefusedError(f"{option} {key} is given twice")
        if not sign:
            raise RefusedError(f"{option} {key}: give a size >= 0 too, as {key}=0.01 or {key}=5%")
        match = _SIZE.fullmatch(size)
        if match is None or len(size) > 100:
            raise RefusedError(f"{option} {key}={size:.40}: give a size >= 0, as 0.01, 1/100 or 5%")
        value = Fraction(match[1])
        found[key] = Tolerance(value / 100 if match[4] else value, bool(match[4]))
    return found


def subject(text: str, expression: Expr | None) -> tuple[Extremum, tuple[str, Expr] | None]:
    """The sup or inf that the tolerances are for, and what it is held against. Raises RefusedError."""
    if isinstance(expression, Extremum) and expression.op in ("sup", "inf"):
        return expression, None
    body = None
    if expression is None:
        try:
            claim: Claim = parse_claim(text)
        except FormulaError as error:
            raise RefusedError(str(error)) from None
        body = None if claim.scope.binds or claim.format else claim.body
    if isinstance(body, Rel) and len(body.terms) == 2 and body.ops[0] in _TURNED:
        (first, second), op = body.terms, body.ops[0]
        if not isinstance(first, Extremum):
            first, second, op = second, first, _TURNED[op]
        if isinstance(first, Extremum) and first.op in ("sup", "inf"):
            wanted = ("<", "<=") if first.op == "sup" else (">", ">=")
            if op in wanted and not any(isinstance(n, Extremum) for n in second.walk()):
                return first, (op, second)
    raise RefusedError(
        "tolerances and noise are for sup(f, x in SET) or inf(f, x in SET), alone or held against "
        "a constant: sup(...) <= c, inf(...) >= c"
    )


def worst(
    node: Extremum, held: tuple[str, Expr] | None, digits: int, sizes: Mapping[str, Tolerance], budget: Budget
) -> dict[str, Any]:
    """The contract for all devices within the tolerances. Raises RefusedError."""
    from gateproof.numerics.certify_tolerant import certify_tolerant
    from gateproof.numerics.tolerance import ToleranceError

    try:
        found = certify_tolerant(node, digits, sizes, budget)
    except ToleranceError as error:
        raise RefusedError(f"{_option('--tolerance', error)}: {error}") from None
    found["tolerance"] = {key: str(size) for key, size in sizes.items()}
    ends = found.pop("ends", None)
    side = found.pop("side", None)
    if found["kind"] == "infinite":
        found["reason"] = _endless(sizes, side)
    found = accepted(found, decides=True)
    return found if held is None else _held(found, node.op, held, ends)


def _endless(sizes: Mapping[str, Tolerance], side: str | None) -> str:
    where = {"+": "to the right", "-": "to the left"}.get(side or "", "far out")
    cause = "a slope that is off by anything" if "slope" in sizes else "the formula"
    return f"{cause} grows without bound {where}; give a finite domain, as in x in [-8, 8]"


def _held(
    found: dict[str, Any], which: str, held: tuple[str, Expr], ends: tuple[Fraction, Fraction] | None
) -> dict[str, Any]:
    """Whether the bound holds for all devices."""
    from gateproof.numerics.points import enclosure
    from gateproof.theory.formula import expand

    op, constant = held
    truth: bool | None = None
    if found["kind"] == "infinite":
        truth = False
    elif found["kind"] is not None and ends is not None:
        lo, hi = enclosure(expand(constant))
        sign = 1 if which == "sup" else -1
        (low, high), (least, most) = (ends, (lo, hi)) if sign > 0 else ((-ends[1], -ends[0]), (-hi, -lo))
        strict = op in ("<", ">")
        if high < least or (high == least and not strict):
            truth = True
        elif low > most or (low == most and strict):
            truth = False
    verdict = {True: "certified", False: "refuted", None: "inconclusive"}[truth]
    known = {**found, "kind": "boolean", "value": truth, "verdict": verdict, "worst_value": found["value"]}
    if truth is None and not known.get("reason"):
        known["reason"] = "the worst case agrees with the bound to all digits looked at"
    return known


def noise_block(
    node: Extremum,
    held: tuple[str, Expr] | None,
    sizes: Mapping[str, Tolerance],
    samples: int,
    seed: int,
) -> dict[str, Any]:
    """What a sample of devices says: never more than ``supported``. Raises RefusedError."""
    from gateproof.numerics.errors import NumericsError
    from gateproof.numerics.tolerance import ToleranceError
    from gateproof.proofs_check.noise import sampled

    try:
        return sampled(node, held, sizes, samples, seed)
    except (ToleranceError, NumericsError) as error:
        raise RefusedError(f"{_option('--noise', error)}: {error}") from None


def _option(option: str, error: Exception) -> str:
    """The option, with the parameter that the error is about."""
    key = getattr(error, "key", "")
    return f"{option} {key}" if key else option
