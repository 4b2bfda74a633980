"""Whether a certificate of a lower bound is about a fit: its target, and gates of the family of this one."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gateproof.proofs_check.fit_match import Link, folded
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.serial import from_json
from gateproof.theory.gate import Gate
from gateproof.theory.threshold_gate import is_hard

if TYPE_CHECKING:
    from gateproof.numerics.fits.target import Target


def bound_matched(values: Mapping[str, Any], gate: Gate, target: Target, printed: Fraction) -> Link:
    """Whether an accepted certificate excludes gates of the fit's family below ``printed``."""
    certificate = values["lower_certificate"]
    if values.get("norm") == "rms":
        return Link(False, "it is about a supremum, and the error is a root mean square")
    if certificate["kind"] == "composite":
        count = len(certificate["parts"])
        parts = "the inequality" if count == 1 else f"the {count} inequalities"
        words = "no closer hard gate is an argument in words (docs/certificates.md), which was not checked"
        return Link(None, f"{parts} that it rests on hold{'s' * (count == 1)}; that they leave {words}")
    if certificate["kind"] != "parameter-lower-bound" or certificate.get("family") is None:
        return Link(False, "it is no certificate of a lower bound for gates")
    options = values.get("options")
    asked = options if isinstance(options, dict) else {}
    if (values.get("norm") or "sup") != "sup" or values.get("weight") is not None or target.expr is None:
        return Link(False, "it is about the plain supremum, and the error is another one")
    if target.lo is not None or target.hi is not None:
        return Link(False, "it is about errors on R, and the fit is on an interval")
    if Fraction(certificate["bound"]) < printed:
        return Link(False, "its bound is below the one that is printed")
    return _family(certificate, gate, target, asked.get("ends"), asked.get("sharpness"))


def _family(
    certificate: Mapping[str, Any], gate: Gate, target: Target, ends: str | None, sharpness: str | None
) -> Link:
    from gateproof.numerics.lower_bound_units import Units, units_of

    assert target.expr is not None
    family, core = certificate["family"], from_json(certificate["core"])
    known = (Units(), units_of(target.expr, "x"))
    units = next((u for u in known if folded(u.placed(target.expr, "x")) == folded(core)), None)
    if units is None or certificate["variable"] != "x":
        return Link(False, "its formula is not the target")
    if family["branches"] != gate.branches or family["theta"] is not None:
        return Link(False, f"it is about {family['branches']} branches, and the gate has {gate.branches}")
    one = len(set(gate.tau)) == 1 and sharpness != "free"
    if gate.branches > 2 and not (one and gate.algebra == "difference"):
        return Link(False, "it is about difference gates with one sharpness")
    if any(map(is_hard, gate.tau)):
        return Link(None, "it is about soft gates, and this one is hard")
    for side, place in (("left", 0), ("right", -1)):
        slope, intercept = (constant_value(v[place]) for v in (gate.slope, gate.intercept))
        if slope is None or intercept is None:
            return Link(False, "the gate's outer lines are not rational, and its are")
        line = slope * units.kept, intercept + slope * units.centre
        free = family[side]["free"]
        if Fraction(family[side]["slope"]) != line[0] or (
            not free and Fraction(family[side]["intercept"]) != line[1]
        ):
            return Link(False, f"the gate's {side} line is none of its family")
        if not free and ends in ("slopes", "free"):
            return Link(False, f"its {side} line is fixed, and the fit's was not")
    return Link(True, "for gates of so many branches with one sharpness; its formula is the target")
