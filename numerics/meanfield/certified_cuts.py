"""Where the line is cut before panels are laid on it: at kinks, at 0, and at powers of 2 of the deviation."""

from __future__ import annotations

import flint
from flint import arb

from gateproof.numerics.ball import evaluate
from gateproof.numerics.meanfield.activation import Branch, Phi


def cuts(phi: Phi, reach: float, step: float, *, half: bool) -> list[arb]:
    """The cuts from -reach (from 0 where ``half``) to reach, ascending; kinks are balls."""
    marks = [arb(0), arb(reach)]
    while step < reach / 1.4:
        marks.append(arb(step))
        step *= 2
    if not half:
        marks += [-m for m in marks if m > 0]
    for kink in kinks(phi):
        if abs(kink) < reach and (kink > 0 or not half) and not kink.contains(0):
            # A panel between a cut and a kink next to it would only cost nodes.
            marks = [m for m in marks if m == 0 or abs(m) >= reach or not abs(m - kink) < abs(kink) / 16]
            marks.append(kink)
    return sorted(marks, key=lambda m: float(m.mid()))


def kinks(phi: Phi) -> list[arb]:
    """Where two branches meet, ascending."""
    bits = flint.ctx.prec + 32
    return [evaluate(b.lo, {}, bits) for b in phi.branches if b.lo is not None]


def branch_at(phi: Phi, x: arb) -> Branch:
    """The branch that holds at x, which is no kink."""
    return phi.branches[sum(bool(k < x) for k in kinks(phi))]
