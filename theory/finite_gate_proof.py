"""The proof that a function is the gate found for it, by the prover of identities and once more in balls."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import flint

from gateproof.theory.exact import balls
from gateproof.theory.exact.domain import Assumptions, Derivation, Domain
from gateproof.theory.exact.kernels import ZERO, minus, plus, times
from gateproof.theory.exact.piecewise import Piece
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.finite_gate_soft import soft_sum
from gateproof.theory.finite_gate_sum import GateSum, gate_of, merged, sign
from gateproof.theory.finite_gate_terms import addends
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Num, Var, num
from gateproof.theory.formula.printer import to_text
from gateproof.theory.gate import Gate

_BITS = 256
#: Where values are compared: from the ends of a piece, or from 0.
_STEPS = (Fraction(1, 7), Fraction(1), Fraction(5, 2), Fraction(17, 3))


@dataclass(frozen=True)
class Proof:
    """A statement in the claim language, and the argument for it."""

    statement: str
    steps: tuple[str, ...]
    trust: tuple[str, ...]


def proof_of(
    expr: Expr, var: str, where: Domain, pieces: tuple[Piece, ...], total: GateSum | None, gate: Gate
) -> Proof | None:
    """The proof that the function is the gate on each piece, or None where one of the two engines fails.

    The values at the places between pieces have been compared by the caller.
    """
    steps: list[str] = []
    trust: set[str] = {"arb"}
    for piece in pieces:
        here = _on(gate, piece.domain, var, total)
        shown = None
        if total is not None and not any(s.hard for s in total.steps):
            shown = _term_by_term(piece, var, total)
        if shown is None:
            shown = prove_relation(piece.expr, "==", here, Assumptions({var: piece.domain}))
        if shown is None or not _balls_agree(piece, here, var):
            return None
        label = f"for {_range(piece.domain)}: " if len(pieces) > 1 else ""
        steps += [label + line for line in shown.steps]
        trust |= set(shown.trust)
    steps.append("values in balls agree")
    statement = f"for {var} in {_set(where)}: {to_text(expr)} == {gate.text}"
    return Proof(statement, tuple(steps), tuple(sorted(trust)))


def _term_by_term(piece: Piece, var: str, total: GateSum) -> Derivation | None:
    """Each term of a sum is a gate, and their lines and sigmoids add up to the whole; None elsewhere."""
    parts = addends(piece.expr, var)
    if len(parts) < 2:
        return None
    steps: list[str] = []
    trust: set[str] = set()
    left = total
    for term in parts:
        found = soft_sum(term, var, piece.domain)
        if not isinstance(found, GateSum):
            return None
        right = gate_of(found).expression(Var(var))
        shown = prove_relation(term, "==", right, Assumptions({var: piece.domain}))
        if shown is None:
            return None
        steps += [f"{to_text(term)} == {to_text(right)}:", *(f"  {line}" for line in shown.steps)]
        trust |= set(shown.trust)
        left = left.plus(found.scaled(num(-1)))
    rest = merged(left)
    if rest.steps or rest.slope != ZERO or rest.intercept != ZERO:
        return None
    return Derivation((*steps, "lines beside equal sigmoids are added"), tuple(sorted(trust)))


def _on(gate: Gate, part: Domain, var: str, total: GateSum | None) -> Expr:
    """The gate on an interval without hard thresholds: its line and sigmoids there."""
    if total is None or not any(s.hard for s in total.steps):
        return gate.expression(Var(var))
    x = Var(var)
    parts = [plus(times(total.slope, x), total.intercept)]
    for step in total.steps:
        line = plus(times(step.slope, x), step.intercept)
        if not step.hard:
            parts.append(times(line, App("sigmoid", (times(step.tau, plus(x, minus(step.theta))),))))
        elif part.lo is not None and sign(plus(part.lo, minus(step.theta))) >= 0:
            parts.append(line)
    return plus(*parts)


def _balls_agree(piece: Piece, gate: Expr, var: str) -> bool:
    """Whether the two enclosures overlap, and are narrow, at some points of the piece."""
    told = 0
    for point in _points(piece.domain):
        with flint.ctx.workprec(_BITS):
            put: dict[str, Expr] = {var: Num(point)}
            a, b = balls.enclose(substitute(piece.expr, put)), balls.enclose(substitute(gate, put))
            if a is None or b is None:
                continue
            if not a.overlaps(b):
                return False
            told += (a - b).rad() < flint.arb(2) ** -100 * (1 + abs(a))
    return told > 0


def _points(part: Domain) -> list[Fraction]:
    lo, hi = (None if e is None else balls.rational_bounds(e) for e in (part.lo, part.hi))
    if lo is not None and hi is not None:
        return [lo[1] + (hi[0] - lo[1]) * t / 8 for t in (1, 3, 6)]
    if lo is not None:
        return [lo[1] + s for s in _STEPS]
    if hi is not None:
        return [hi[0] - s for s in _STEPS]
    return [Fraction(0), *_STEPS, *(-s for s in _STEPS)]


def _range(part: Domain) -> str:
    lo = "" if part.lo is None else f"{to_text(part.lo)} < "
    hi = "" if part.hi is None else f" < {to_text(part.hi)}"
    return f"{lo}x{hi}"


def _set(where: Domain) -> str:
    if where.lo is None and where.hi is None:
        return "R"
    lo = "-oo" if where.lo is None else to_text(where.lo)
    hi = "oo" if where.hi is None else to_text(where.hi)
    return f"{'[' if where.lo_closed else '('}{lo}, {hi}{']' if where.hi_closed else ')'}"
