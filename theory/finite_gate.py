"""Whether a function of x is a finite threshold gate: its gate and a proof, or why it is none.

Between its kinks a finite gate is one analytic function, that of its finite sharpnesses, plus a line; the
hard thresholds are where the line changes. So each smooth piece of the function is decided by itself, as a
function on the whole line, and the pieces may differ by lines only. See docs/theory.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from gateproof.theory.asymptotes import AWAY, FASTER, PERIODIC, WAVES, NoAsymptote, asymptote
from gateproof.theory.exact.budget import bounded
from gateproof.theory.exact.domain import Domain
from gateproof.theory.exact.kernels import minus, plus
from gateproof.theory.exact.piecewise import Piece
from gateproof.theory.finite_gate_algebras import softmax_gate, stick_gate, stick_power
from gateproof.theory.finite_gate_form import Reason, with_form
from gateproof.theory.finite_gate_proof import Proof, proof_of
from gateproof.theory.finite_gate_soft import soft_sum
from gateproof.theory.finite_gate_sum import HARD, GateSum, Step, UndecidedError, gate_of, merged, sign
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import Expr, Num
from gateproof.theory.formula.printer import to_text
from gateproof.theory.gate import Gate
from gateproof.theory.pieces import pieces_of

#: Nodes of a formula that is looked at.
MAX_SIZE = 2_000
_NO_LINE = (PERIODIC, WAVES, FASTER, AWAY)


@dataclass(frozen=True)
class Exact:
    """The function is this gate.

    ``kind`` is 'affine', 'soft', 'hard' or 'mixed'. ``least``: no gate of this algebra with fewer branches is
    it. ``statement`` says so in the language of the claims.
    """

    gate: Gate
    kind: str
    least: bool
    statement: str
    proof: tuple[str, ...]
    trust: tuple[str, ...]


@dataclass(frozen=True)
class NotFinite:
    """The function is no gate of the algebra asked for; ``every``: of none of the three, for any sharpness.

    Where it is one but for single points, ``near`` is that gate and ``misses`` are the points.
    """

    reason: str
    every: bool
    near: Gate | None = None
    misses: tuple[Expr, ...] = ()


@lru_cache(maxsize=256)
def finite_gate(
    expr: Expr,
    var: str = "x",
    domain: Domain | None = None,
    *,
    algebra: str = "difference",
    shared: bool = False,
    limits: bool = True,
) -> Exact | NotFinite | None:
    """The gate, why there is none, or None where it is not decided.

    ``expr`` is a core expression, ``domain`` an interval with values throughout; ``shared``: with one
    sharpness for all thresholds. ``limits``: where nothing else decides, lines at the ends are sought, which
    can take seconds.
    """
    where = domain or Domain()
    if expr.size > MAX_SIZE:
        return None
    try:
        found = _decided(expr, var, where, algebra, shared)
    except UndecidedError:
        return None
    return _without_line(expr, var, where) if found is None and limits else found


def _decided(expr: Expr, var: str, where: Domain, algebra: str, shared: bool) -> Exact | NotFinite | None:
    pieces = pieces_of(expr, var, Domain(where.lo, where.hi))
    if not pieces or _jumps_at_an_end(expr, var, where, pieces):
        return None
    first = pieces[0]
    sums: list[GateSum] = []
    reasons: list[Reason | None] = []
    for piece in pieces:
        found = soft_sum(piece.expr, var, piece.domain)
        if isinstance(found, GateSum):
            sums.append(found)
        else:
            reasons.append(_at(found, piece, len(pieces)))
    worst = next((r for r in reasons if r and r.every), None)
    if worst:
        return NotFinite(worst.text, True)
    if algebra == "difference" or len(pieces) > 1:
        if reasons:
            known = [r for r in reasons if r]
            return NotFinite(known[0].text, False) if known and algebra == "difference" else None
        return _of_pieces(expr, var, where, pieces, sums, algebra, shared)
    total = sums[0] if sums else None
    told = bool(sums) or any(reasons)
    return _other_algebra(expr, var, where, first, total, algebra, shared, decided=told)


def _jumps_at_an_end(expr: Expr, var: str, where: Domain, pieces: tuple[Piece, ...]) -> bool:
    """Whether the value at a closed end is not that of the formula beside it."""
    ends = ((where.lo, where.lo_closed, pieces[0]), (where.hi, where.hi_closed, pieces[-1]))
    return any(
        end is not None
        and closed
        and sign(plus(substitute(expr, {var: end}), minus(substitute(piece.expr, {var: end})))) != 0
        for end, closed, piece in ends
    )


def _at(found: Reason | None, piece: Piece, count: int) -> Reason | None:
    if found is None or count == 1:
        return found
    lo, hi = piece.domain.lo, piece.domain.hi
    ends = [f"{to_text(lo)} < x"] if lo is not None and hi is None else []
    if hi is not None:
        ends = [f"x < {to_text(hi)}"] if lo is None else [f"{to_text(lo)} < x < {to_text(hi)}"]
    return replace(found, text=f"for {ends[0]}: {found.text}" if ends else found.text)


def _of_pieces(
    expr: Expr,
    var: str,
    where: Domain,
    pieces: tuple[Piece, ...],
    sums: list[GateSum],
    algebra: str,
    shared: bool,
) -> Exact | NotFinite | None:
    """Pieces that are all sums of lines and sigmoids: they may differ by lines."""
    total, misses = sums[0], list[Expr]()
    for piece, before, after in zip(pieces[1:], sums, sums[1:], strict=False):
        change = merged(after.plus(before.scaled(Num(Fraction(-1)))))
        cut = piece.domain.lo
        assert cut is not None
        if change.steps:
            text = f"the two sides of {to_text(cut)} differ by more than a line"
            return NotFinite(text, False) if algebra == "difference" else None
        total = total.plus(GateSum(steps=(Step(HARD, cut, change.slope, change.intercept),)))
    total = merged(total)
    for piece, left in zip(pieces[1:], pieces, strict=False):
        cut = piece.domain.lo
        assert cut is not None
        here = {var: cut}
        gap = plus(substitute(expr, here), minus(substitute(left.expr, here)))
        misses += [cut] if sign(gap) else []
    gate = gate_of(total)
    hard = [s for s in total.steps if s.hard]
    if algebra == "softmax" and hard:
        cut = hard[0].theta
        return NotFinite(f"it is not smooth at {to_text(cut)}; softmax gates are analytic", False)
    if algebra == "stick" and hard and len(hard) < len(total.steps) and len(total.steps) > 1:
        return None
    if algebra != "difference" and not hard:
        return _other_algebra(expr, var, where, pieces[0], total, algebra, shared, decided=True)
    gate = replace(gate, algebra=algebra)
    if misses:
        return _but_for_points(gate, misses)
    return _exact(expr, var, where, pieces, total, gate, shared, least=True)


def _but_for_points(gate: Gate, misses: list[Expr]) -> NotFinite:
    places = ", ".join(to_text(m) for m in misses)
    text = f"it is the gate {gate.text} but for x = {places}"
    if HARD in gate.tau:
        text += ", where a hard gate has the left branch's value"
    return NotFinite(text, False, gate, tuple(misses))


def _other_algebra(
    expr: Expr,
    var: str,
    where: Domain,
    piece: Piece,
    total: GateSum | None,
    algebra: str,
    shared: bool,
    *,
    decided: bool,
) -> Exact | NotFinite | None:
    """One smooth formula in softmax or stick gates; ``decided``: whether it is a difference gate is known."""
    if total is not None and len(total.steps) < 2:
        gate = replace(gate_of(total), algebra=algebra)
        return _exact(expr, var, where, (piece,), total, gate, shared, least=True)
    found = _in_algebra(piece.expr, var, piece.domain, total, algebra, shared)
    if isinstance(found, Reason):
        return NotFinite(found.text, found.every)
    if found is None:
        return None
    # Two branches of any algebra are two of differences, and it is not those.
    gate, fewest = found
    return _exact(
        expr, var, where, (piece,), total, gate, shared, least=gate.branches <= max(fewest, 3 * decided)
    )


@bounded
def _in_algebra(
    expr: Expr, var: str, domain: Domain, total: GateSum | None, algebra: str, shared: bool
) -> tuple[Gate, int] | Reason | None:
    """A gate of more than two branches, and a number that it takes at least."""
    if algebra == "softmax":
        return with_form(expr, var, domain, lambda form: softmax_gate(form, shared=shared))
    if total is None:
        return with_form(expr, var, domain, stick_power)
    gate = stick_gate(total)
    return None if gate is None else (gate, 3)


def _exact(
    expr: Expr,
    var: str,
    where: Domain,
    pieces: tuple[Piece, ...],
    total: GateSum | None,
    gate: Gate,
    shared: bool,
    *,
    least: bool,
) -> Exact | NotFinite | None:
    if shared and any(t != gate.tau[0] for t in gate.tau):
        if not least:
            return None
        sharp = ", ".join(to_text(t) for t in gate.tau)
        return NotFinite(f"it is the gate {gate.text} with sharpnesses {sharp}, in this way only", False)
    proof: Proof | None = proof_of(expr, var, where, pieces, total, gate)
    if proof is None:
        return None
    hard = sum(t == HARD for t in gate.tau)
    kind = (
        "affine"
        if gate.branches == 1
        else "soft"
        if not hard
        else "hard"
        if hard == len(gate.tau)
        else "mixed"
    )
    return Exact(gate, kind, least, proof.statement, proof.steps, proof.trust)


def _without_line(expr: Expr, var: str, where: Domain) -> NotFinite | None:
    """A function on an infinite domain that approaches no line at an end."""
    for end, side, word in ((where.lo, "-", "left"), (where.hi, "+", "right")):
        if end is not None:
            continue
        found = asymptote(expr, var, side)
        told = without_line(found.reason, word) if isinstance(found, NoAsymptote) else None
        if told is not None:
            return told
    return None


def without_line(reason: str, end: str) -> NotFinite | None:
    """What the reason for which there is no asymptote at an end says, where it is one of these."""
    if reason not in _NO_LINE:
        return None
    verb = f"is {reason}" if reason == PERIODIC else reason
    return NotFinite(f"at the {end} end it {verb}; a finite gate approaches a line there", True)
