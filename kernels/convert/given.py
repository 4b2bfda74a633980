"""Gates that a user gives: their error is certified, and they stand where they are asked for."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from gateproof.kernels.convert.forms import Treatment, finite, numbers_of, soft_form
from gateproof.kernels.convert.kinds import Kind
from gateproof.numerics.certify import certify
from gateproof.theory.formula import FormulaError, parse_expr
from gateproof.theory.formula.nodes import Const, Expr, num
from gateproof.theory.gate import Gate

PARTS = ("tau", "theta", "slope", "intercept")


def read_gates(gates: Any) -> dict[str, Gate]:
    """Gates by kind or pattern of module names: from fits, their JSON, or (tau, theta, slope, intercept).

    Raises ValueError for what is none of these.
    """
    if gates is None:
        return {}
    if not isinstance(gates, Mapping):
        raise ValueError(f"convert: gates: a mapping from kinds or names of modules, found {gates!r:.40}")
    return {str(key): _gate(str(key), given) for key, given in gates.items()}


def _gate(key: str, given: Any) -> Gate:
    found = getattr(given, "gate", given)
    if isinstance(found, Gate):
        gate = found
    else:
        if isinstance(found, Mapping):
            missing = [p for p in PARTS if p not in found]
            if missing:
                raise ValueError(f"convert: gates[{key!r}]: {missing[0]} is missing; give {', '.join(PARTS)}")
            algebra, parts = found.get("gates", "difference"), [found[p] for p in PARTS]
        elif isinstance(found, Sequence) and not isinstance(found, str) and len(found) == len(PARTS):
            algebra, parts = "difference", list(found)
        else:
            raise ValueError(
                f"convert: gates[{key!r}]: a fit, its JSON, or (tau, theta, slope, intercept), "
                f"found {found!r:.40}"
            )
        tau, theta, slope, intercept = (tuple(_number(key, v) for v in _listed(p)) for p in parts)
        if len(tau) == 1:
            tau *= len(theta)
        try:
            gate = Gate(tau, theta, slope, intercept, str(algebra))
        except ValueError as error:
            raise ValueError(f"convert: gates[{key!r}]: {error}") from None
    if gate.algebra != "difference":
        raise ValueError(f"convert: gates[{key!r}]: a {gate.algebra} gate; difference gates are run here")
    return gate


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]


def _number(key: str, value: Any) -> Expr:
    try:
        if isinstance(value, str):
            return parse_expr(value)
        return Const("oo") if value == float("inf") else num(Fraction(Decimal(repr(float(value)))))
    except (FormulaError, TypeError, ValueError, ArithmeticError):
        raise ValueError(f"convert: gates[{key!r}]: a number is expected, found {value!r:.40}") from None


def given_gate(gates: Mapping[str, Gate], kind: str, owner: str) -> str | None:
    """The key of the gate for a place; a kind counts before a module's name."""
    if kind in gates:
        return kind
    return next((key for key in gates if fnmatch.fnmatchcase(owner, key)), None)


def certified(kind: Kind, gate: Gate, how: str) -> Treatment:
    """A gate of given numbers in place of a function, its largest error on R certified."""
    value, certificate = _error(kind.formula, gate)
    if value is None:
        return Treatment("kept", f"{how} its error on R is not certified", None, kind.formula)
    if value["lo"] == "oo":
        return Treatment("kept", f"{how} its error on R is infinite", None, kind.formula)
    # Its kinks are its own: the function's sides are not theirs unless they are as many.
    own = kind if len(kind.sides) == len(gate.theta) else replace(kind, sides=())
    form = finite(gate, own).form if all(gate.hard) else soft_form(gate)
    words = (
        f"{how} {gate.branches} branches: {gate.text}; differs from {kind.formula} by at most "
        f"{float(value['hi']):.3g} (certified)"
    )
    ends = value["lo"], value["hi"]
    return Treatment("fit", words, form, kind.formula, numbers_of(gate), ends, certificate=certificate)


@lru_cache(maxsize=256)
def _error(formula: str, gate: Gate) -> tuple[dict[str, str] | None, Any]:
    text = f"{formula}(x)" if formula.isidentifier() else formula
    found = certify(parse_expr(f"sup(abs({gate.text} - ({text})), x in R)"), 8)
    return found["value"], found.get("certificate")
