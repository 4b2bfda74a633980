"""The worst case under tolerances that a fit prints: its certificate, and that it is about this gate."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gateproof.proofs_check.fit_check_digits import unit
from gateproof.proofs_check.fit_match import abs_least, folded
from gateproof.proofs_check.fit_numbers import Check, leaves, read, size_bound
from gateproof.proofs_check.given_gate import LISTS
from gateproof.proofs_check.refused import RefusedError
from gateproof.theory.formula import FormulaError, expand, parse_expr
from gateproof.theory.formula.nodes import App, Expr, Extremum
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.serial import from_json
from gateproof.theory.gate import Gate

if TYPE_CHECKING:
    from gateproof.numerics.fits.target import Target

WHAT = "worst case"
Box = Mapping[str, tuple[Fraction | None, Fraction | None]]


def worst_case(path: str, values: Mapping[str, Any], gate: Gate, target: Target | None) -> list[Check]:
    """What there is to say of the worst case; nothing where the document gives none."""
    from gateproof.proofs_check.checker import verify

    case = values.get("tolerance")
    if case is None:
        return []
    if not isinstance(case, dict):
        raise RefusedError(f"{path}: tolerance is an object or null")
    value, certificate = case.get("value"), case.get("certificate")
    if value is None and certificate is None:
        return []
    if certificate is None:
        return [Check(WHAT, None, "it holds no certificate of the worst case that it prints")]
    verdict = verify(certificate)
    if not verdict.accepted:
        return [Check(WHAT, False, f"the certificate is rejected: {verdict.reason}")]
    if not isinstance(value, dict) or value.get("hi") in (None, "oo"):
        return [Check(WHAT, None, "it prints no worst case that the certificate could bound")]
    lo, hi = read(path, value.get("lo")), read(path, value["hi"])
    if lo > hi:
        return [Check(WHAT, False, "its lower end is above its upper end")]
    asked = values.get("options")
    sizes, wanted = case.get("tolerance"), asked.get("tolerance") if isinstance(asked, dict) else None
    if not isinstance(sizes, dict) or not sizes:
        return [Check(WHAT, None, "it prints no sizes that the certificate could be about")]
    if wanted is not None and not _one(sizes, wanted):
        return [Check(WHAT, False, "its sizes are others than those of the options")]
    if target is None or target.expr is None:
        return [
            Check(WHAT, None, "the document's target is no formula, so what it is about was not compared")
        ]
    shared = isinstance(asked, dict) and asked.get("sharpness") == "shared"
    return [_compared(certificate, _scenes(gate, target, sizes, shared), lo, hi, value)]


def _one(sizes: Mapping[str, Any], wanted: Any) -> bool:
    from gateproof.proofs_check.tolerances import read_sizes

    try:
        return isinstance(wanted, dict) and read_sizes("tolerance", sizes) == read_sizes("options", wanted)
    except RefusedError:
        return False


def _scenes(
    gate: Gate, target: Target, sizes: Mapping[str, str], shared: bool
) -> list[tuple[Expr, Box]] | None:
    """The formulas that have to be bounded, each with the ranges of its names; None where not known."""
    from gateproof.numerics.certify_tolerant import scene
    from gateproof.numerics.errors import NumericsError
    from gateproof.numerics.tolerance import ToleranceError
    from gateproof.proofs_check.tolerances import read_sizes

    assert target.expr is not None
    if gate.branches > 2 and gate.algebra != "difference":
        return None
    texts = {key: [to_text(v) for v in getattr(gate, key)] for key in LISTS}
    lists = {key: f"[{', '.join(found)}]" for key, found in texts.items()}
    if gate.branches > 2 and len(set(texts["tau"])) == 1 and shared:
        lists["tau"] = texts["tau"][0]
    said = ", ".join(f"{key}={lists[key]}" for key in LISTS)
    try:
        node = parse_expr(f"sup(abs(tg(x, {said}) - ({to_text(target.expr)})), x in {target.domain})")
        assert isinstance(node, Extremum)
        parts = scene(node, read_sizes("tolerance", sizes))
        return [
            (
                expand(piece.node),
                {**parts.limits, parts.line: piece.ends, **{c.name: c.ends for c in piece.components}},
            )
            for piece in parts.pieces
        ]
    except (FormulaError, NumericsError, ToleranceError, RefusedError, RecursionError):
        return None


def _compared(
    certificate: Mapping[str, Any],
    scenes: list[tuple[Expr, Box]] | None,
    lo: Fraction,
    hi: Fraction,
    value: Mapping[str, str],
) -> Check:
    """Whether the ranges bound all that is to be bounded, and a witness has the lower end."""
    if scenes is None:
        return Check(WHAT, None, "the certificate holds; that it is about this gate was not compared")
    seen: list[Fraction] = []
    for formula, box in scenes:
        inner = formula.args[0] if isinstance(formula, App) and formula.head == "abs" else formula
        about = [
            part
            for part in leaves(certificate)
            if part["kind"] == "range" and folded(from_json(part["core"])) in (folded(formula), folded(inner))
        ]
        if not about:
            return Check(WHAT, None, "the certificate holds; that it is about this gate was not seen")
        wide = [part for part in about if _holds(_box(part), box)]
        if not wide:
            return Check(WHAT, False, "the certificate holds, for other sizes than those that are printed")
        if not any(bound is not None and bound <= hi for bound in map(size_bound, wide)):
            return Check(WHAT, False, "the certificate holds, but its bound is above the printed one")
        for part in wide:
            if _box(part) == dict(box):
                seen += [abs_least(Fraction(w["lower"]), Fraction(w["upper"])) for w in part["witnesses"]]
    most = max(seen, default=Fraction(0))
    said = (
        f"at most {value['hi']}, its formula is that of this gate and target, for the sizes that are printed"
    )
    if lo <= most or lo <= 0:
        return Check(WHAT, True, f"{said}; at least {value['lo']}, at a witness")
    if seen and lo > most + unit(value["lo"]):
        return Check(WHAT, False, f"the lower end {value['lo']} is above the value at its witness")
    if seen:
        return Check(WHAT, True, f"{said}; the lower end is a rounding above its witness")
    return Check(WHAT, None, f"{said}; no witness has the lower end {value['lo']}")


def _box(part: Mapping[str, Any]) -> dict[str, tuple[Fraction | None, Fraction | None]]:
    ends = {name: (e["lo"], e["hi"]) for name, e in part["domain"].items()}
    return {
        name: (None if a == "-oo" else Fraction(a), None if b == "oo" else Fraction(b))
        for name, (a, b) in ends.items()
    }


def _holds(outer: Box, inner: Box) -> bool:
    """Whether a box holds another one; of names that are in neither formula none is asked for."""
    for name, (lo, hi) in outer.items():
        if name not in inner:
            return False
        low, high = inner[name]
        if (lo is not None and (low is None or low < lo)) or (hi is not None and (high is None or high > hi)):
            return False
    return True
