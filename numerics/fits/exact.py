"""Targets that are finite gates: their exact gate with error 0 proved, or the proof that they are none."""

from __future__ import annotations

from gateproof.numerics.fits.target import Target
from gateproof.theory.exact.domain import Domain
from gateproof.theory.finite_gate import Exact, NotFinite, finite_gate, without_line
from gateproof.theory.formula.nodes import Const, Num
from gateproof.theory.formula.printer import to_text
from gateproof.theory.gate import ALGEBRAS

__all__ = ["Exact", "NotFinite", "elsewhere", "recognise", "word"]

_HARD = Const("oo")


def recognise(
    target: Target, algebra: str = "difference", sharpness: str = "free"
) -> Exact | NotFinite | None:
    """The target as an exact gate on its domain, why it is none, or None where it is not decided.

    ``sharpness`` is 'free' (any, oo among them), 'shared' (one, which may be oo) or 'hard'. The answer
    comes from the formula alone: a target without one is not decided.
    """
    if target.expr is None:
        return None
    lo, hi = (None if e is None else Num(e) for e in (target.lo, target.hi))
    domain = Domain(lo, hi, lo is not None, hi is not None)
    shared = sharpness == "shared"
    found = finite_gate(target.expr, "x", domain, algebra=algebra, shared=shared, limits=False)
    if found is None:
        return without_line(target.why[0], "left") or without_line(target.why[1], "right")
    if sharpness == "hard" and isinstance(found, Exact) and any(t != _HARD for t in found.gate.tau):
        reason = f"it is the soft gate {found.gate.text}; a hard gate is straight between its thresholds"
        return NotFinite(reason, False)
    return found


def word(found: Exact, asked: int | None = None) -> str:
    """One line about an exact gate; ``asked``: the number of branches that was asked for."""
    gate = found.gate
    count = f"{gate.branches} branch" + ("es" if gate.branches > 1 else "")
    sharp = "" if not gate.tau else ", sharpness " + ", ".join(dict.fromkeys(to_text(t) for t in gate.tau))
    kind = {"affine": "a line", "hard": "a hard gate", "mixed": "a gate with soft and hard thresholds"}
    text = f"exact: the target is {kind.get(found.kind, 'a soft gate')}, {count}{sharp}; error 0, proved"
    if asked is not None and asked > gate.branches:
        spare = asked - gate.branches
        return f"{text}; {spare} of the {asked} branches asked for would change nothing: left out"
    return text


def elsewhere(target: Target, algebra: str = "difference") -> str:
    """One line where the target is no gate of this algebra but one of another; '' elsewhere."""
    if not isinstance(recognise(target, algebra), NotFinite):
        return ""
    found = [(name, recognise(target, name)) for name in ALGEBRAS if name != algebra]
    exact = [f"{name} gates, {f.gate.branches} branches" for name, f in found if isinstance(f, Exact)]
    return f"the target is no {algebra} gate; it is exact as {' and as '.join(exact)}" if exact else ""
