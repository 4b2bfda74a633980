"""Keys of a fit's document that its gate and its error determine: what contradicts these is rejected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gateproof.proofs_check.fit_match import Side, agree, folded
from gateproof.proofs_check.fit_numbers import Check, read
from gateproof.proofs_check.refused import RefusedError
from gateproof.theory.formula import FormulaError, expand, free_names, parse_expr, substitute
from gateproof.theory.formula.nodes import Expr, Extremum, num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.gate import Gate
from gateproof.theory.threshold_gate import is_hard

if TYPE_CHECKING:
    from gateproof.numerics.fits.target import Target


def all_of(
    path: str, values: Mapping[str, Any], gate: Gate, target: Target | None, hi: Fraction | None
) -> Iterator[Check]:
    """What contradicts the gate, the target, or the error; nothing for what goes with them."""
    lo, most = (None, None) if target is None else (target.lo, target.hi)
    yield from _formula(values, gate, lo, most)
    yield from _options(values, gate, hi)
    yield from _smallest(path, values, gate, target)
    yield from _suprema(path, values, gate, target)
    yield from _finite(values, target, hi)


def _parsed(text: Any) -> Expr | None:
    """A formula in x; None for anything else."""
    try:
        found = parse_expr(text) if isinstance(text, str) else None
        if found is None or any(isinstance(node, Extremum) for node in found.walk()):
            return None
        return None if free_names(found) - {"x"} else expand(found)
    except (FormulaError, RecursionError, NotImplementedError):
        return None


def _formula(values: Mapping[str, Any], gate: Gate, lo: Side, hi: Side) -> Iterator[Check]:
    said = values.get("formula")
    if said is None or said == gate.text:
        return
    one, other = _parsed(said), expand(parse_expr(gate.text))
    if one is None:
        yield Check("formula", False, "it is no formula in x")
    elif folded(one) != folded(other):
        same = agree(one, other, lo, hi)
        if same is False:
            yield Check("formula", False, "it is not this gate")
        else:
            yield Check("formula", None, "that it is this gate was not seen")


def _options(values: Mapping[str, Any], gate: Gate, hi: Fraction | None) -> Iterator[Check]:
    """What was asked for, against the gate."""
    asked = values.get("options")
    if not isinstance(asked, dict):
        return
    most, tol, proved = asked.get("k"), asked.get("tol"), values.get("evidence") == "proved"
    if isinstance(most, int) and gate.branches > most:
        yield Check("options", False, f"k is {most}, and the gate has {gate.branches} branches")
    if gate.branches > 2 and asked.get("gates") not in (None, gate.algebra):
        yield Check("options", False, f"gates are {asked['gates']!r:.40}, and the gate's are {gate.algebra}")
    for key, plain in (("norm", "sup"), ("weight", None)):
        if key in asked and (asked[key] or plain) != (values.get(key) or plain):
            yield Check("options", False, f"{key} is {asked[key]!r:.40}, and another one in the document")
    sharp = asked.get("sharpness")
    if sharp == "shared" and not proved and len(set(gate.tau)) > 1:
        yield Check("options", False, "sharpness is shared, and the gate has several")
    if sharp == "hard" and not all(map(is_hard, gate.tau)):
        yield Check("options", False, "sharpness is hard, and the gate's is finite")
    for family, zero in (("multiplicative", "intercept"), ("constant", "slope")):
        if asked.get("family") == family and any(constant_value(v) != 0 for v in getattr(gate, zero)):
            yield Check("options", False, f"family is {family}, and the gate has {zero}s that are not 0")
    if values.get("status") == "ok" and hi is not None and isinstance(tol, str):
        try:
            if hi > Fraction(tol):
                yield Check("status", False, f"ok, and the error is above the tolerance {tol:.40}")
        except (ValueError, ZeroDivisionError):
            yield Check("options", False, f"tol {tol!r:.40} is no number")


def _value(formula: Expr, x: Fraction) -> tuple[Fraction, Fraction] | None:
    from gateproof.numerics.errors import NumericsError
    from gateproof.numerics.points import enclosure

    try:
        return enclosure(substitute(formula, {"x": num(x)}))
    except (NumericsError, ArithmeticError, ValueError):
        return None


def _smallest(path: str, values: Mapping[str, Any], gate: Gate, target: Target | None) -> Iterator[Check]:
    """A lower bound of all gates is at most what they tend to, and their values at ends and thresholds."""
    if values.get("gates_min") is None or target is None:
        return
    said = read(path, values["gates_min"])
    least = (
        Fraction(1)
        if gate.branches == 1 or (target.lo is not None and target.hi is not None)
        else Fraction(0)
    )
    places = [target.lo, *map(constant_value, gate.theta), target.hi]
    for x in places:
        if (
            x is None
            or (target.lo is not None and x < target.lo)
            or (target.hi is not None and x > target.hi)
        ):
            continue
        for one in gate.gates():
            found = _value(one, x)
            least = least if found is None else min(least, found[1])
    if said > least:
        yield Check("gates_min", False, f"{values['gates_min']} is above a value that a gate has or tends to")


def _suprema(path: str, values: Mapping[str, Any], gate: Gate, target: Target | None) -> Iterator[Check]:
    """Errors beside the one that was fitted: their ends in order, and none below the error that it holds."""
    error = values.get("error")
    norm, weight = values.get("norm") or "sup", values.get("weight")
    for key in ("error_outside", "error_sup"):
        other = values.get(key)
        if other is None:
            continue
        if not isinstance(other, dict):
            raise RefusedError(f"{path}: {key} is an object or null")
        if other.get("hi") == "oo":
            continue
        low, high = read(path, other.get("lo")), read(path, other.get("hi"))
        if low > high:
            yield Check(key, False, "its lower end is above its upper end")
        elif norm == "sup" and weight is None and isinstance(error, dict) and error.get("lo") != "oo":
            if high < read(path, error.get("lo")):
                yield Check(key, False, "it is below the error on the domain")
        elif key == "error_sup" and target is not None and _somewhere(values, gate, target, high, path):
            yield Check(key, False, "the error is larger at a place that is printed")


def _somewhere(values: Mapping[str, Any], gate: Gate, target: Target, high: Fraction, path: str) -> bool:
    """Whether the plain error is above a bound at a peak that is printed, or at an end."""
    from gateproof.numerics.fits.apart import apart

    if target.expr is None:
        return False
    peaks = values.get("alternation")
    listed = [p.get("x") for p in peaks if isinstance(p, dict)] if isinstance(peaks, list) else []
    found = [*(read(path, x) for x in listed), *(x for x in (target.lo, target.hi) if x is not None)]
    for x in found:
        if (target.lo is None or target.lo < x) and (target.hi is None or x < target.hi):
            ends = _value(apart(gate.expression(), target.expr), x)
            if ends is not None and max(ends[0], -ends[1]) > high:
                return True
    return False


def _finite(values: Mapping[str, Any], target: Target | None, hi: Fraction | None) -> Iterator[Check]:
    """Gates that are said to be the target, against it."""
    known = values.get("finite")
    if not isinstance(known, dict) or target is None or target.expr is None:
        return
    for name, one in known.items():
        if not isinstance(one, dict):
            continue
        if one.get("exact") is True:
            gate = _parsed(one.get("formula"))
            if gate is None or agree(gate, target.expr, target.lo, target.hi) is False:
                yield Check("finite", False, f"the target is not the {name:.20} gate that is given")
        elif one.get("exact") is False and hi == 0 and name == values.get("gates"):
            yield Check("finite", False, "the error is 0, so the target is a finite gate")
    if hi == 0 and values.get("attained") is False:
        yield Check("attained", False, "the error is 0, so it is attained")
