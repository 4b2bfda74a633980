"""Targets that are finite gates: their exact gate with error 0 proved, or the proof that they are none."""

from __future__ import annotations

from collections.abc import Mapping

from gateproof.numerics.fits.request import Request
from gateproof.numerics.fits.target import Target
from gateproof.theory.exact.domain import Domain
from gateproof.theory.finite_gate import Exact, NotFinite, finite_gate, without_line
from gateproof.theory.formula.nodes import Num
from gateproof.theory.gate import ALGEBRAS

__all__ = ["Exact", "Known", "NotFinite", "everywhere", "recognise", "word"]


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
    if sharpness == "hard" and isinstance(found, Exact) and not all(found.gate.hard):
        reason = f"it is the soft gate {found.gate.text}; a hard gate is straight between its thresholds"
        return NotFinite(reason, False)
    return found


Known = Exact | NotFinite | None


def everywhere(target: Target) -> dict[str, Known]:
    """For each gate algebra the target as an exact gate, why it is none, or None: not decided."""
    return {algebra: recognise(target, algebra) for algebra in ALGEBRAS}


def word(known: Mapping[str, Known], request: Request) -> str:
    """Whether the target is a finite gate, and of which algebra, in a line with the options that ask for it.

    Empty where nothing is decided.
    """
    found = [(name, one) for name, one in known.items() if isinstance(one, Exact)]
    if not found:
        return _none(known, request.gates)
    own = next((one for name, one in found if name == request.gates), None)
    if own is not None:
        return f"this function is {_a_gate(request.gates, own)}{_asked(own, request)}"
    ways = " and ".join(_a_gate(name, one) for name, one in found)
    how = " or ".join(f"--gates {name} -k {one.gate.branches}{_sharpness(one)}" for name, one in found)
    refused = known.get(request.gates)
    why = f"; no {request.gates} gate: {refused.reason}" if isinstance(refused, NotFinite) else ""
    return f"this function is {ways}: {how}{why}"


def _none(known: Mapping[str, Known], asked: str) -> str:
    """What is known where no algebra has the function."""
    none = {name: one for name, one in known.items() if isinstance(one, NotFinite)}
    every = next((one for one in none.values() if one.every), None)
    if every is not None:
        return f"no gate of any number of branches is this function, in any algebra: {every.reason}"
    if not none:
        return ""
    name = asked if asked in none else next(iter(none))
    other = [n for n in none if n != name]
    more = f"; no {' or '.join(other)} gate either" if other else ""
    open_ = [n for n in known if n not in none]
    undecided = f"; {' and '.join(open_)} gates: not decided" if open_ else ""
    return f"no {name} gate is this function: {none[name].reason}{more}{undecided}"


def _a_gate(algebra: str, found: Exact) -> str:
    n, hard = found.gate.branches, found.gate.hard
    if n == 1:
        return "a line"
    kind = "hard " if all(hard) else "hard and soft " if any(hard) else ""
    return f"a gate of {n} {kind}{algebra} branches"


def _asked(found: Exact, request: Request) -> str:
    """The options that ask for it, where those given do not."""
    n, several, sharpness = found.gate.branches, _sharpness(found), request.sharpness
    if (sharpness == "shared" and several) or (sharpness == "hard" and not all(found.gate.hard)):
        return f": -k {n}{several or ' without --sharpness hard'}"
    return f": -k {n}" if n > request.most else ", which the constraints asked for leave out"


def _sharpness(found: Exact) -> str:
    return " --sharpness free" if len(set(found.gate.tau)) > 1 else ""
