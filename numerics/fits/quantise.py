"""Parameters as fixed-point numbers of few bits, chosen together rather than rounded one by one.

Each kind of parameter (tau, theta, slope, intercept) has one format: two's complement of ``bits`` bits, of
which f stand after the binary point, so numbers n/2**f with |n| < 2**(bits - 1). f is as large as lets the
largest number of the kind fit (it may exceed the bits, or be negative).

Parameters are put on the grid one after another, those that matter most first, each to the two nearest
numbers, and all others are levelled again; the best few partial choices go on (beam search). Then numbers and
pairs of them move by a few units, and all of them by integer programmes, as long as the error falls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from gateproof.numerics.fits.certified_sample import floats
from gateproof.numerics.fits.embedding import Contradiction, Embedding
from gateproof.numerics.fits.gates import Array, Gates
from gateproof.numerics.fits.levelling import level
from gateproof.numerics.fits.normal import Normal
from gateproof.numerics.fits.quantise_moves import Lattice, descended, together
from gateproof.numerics.fits.setting import Setting, problem
from gateproof.theory.formula.nodes import Const, Expr, Num
from gateproof.theory.gate import Gate

KINDS = ("tau", "theta", "slope", "intercept")
#: Partial choices kept, and programmes for each.
KEPT, STEPS = 2, 12


class NotRepresentable(ValueError):
    """An outer line has no number of these bits, and the error would be infinite; one line."""


@dataclass(frozen=True)
class Quantised:
    """A gate of dyadic numbers; ``error`` in the target's units, on a dense sample.

    ``fraction``: by kind, the bits f after the binary point. ``notes``: outer numbers moved to the grid.
    """

    gate: Gate
    error: float
    bits: int
    fraction: dict[str, int]
    notes: tuple[str, ...]

    @property
    def formats(self) -> str:
        """The formats in words, as 'tau n/2^6'."""
        parts = [f"{kind} n/2^{f}" if f >= 0 else f"{kind} n*2^{-f}" for kind, f in self.fraction.items()]
        return f"{', '.join(parts)}; n whole numbers of {self.bits} bits with the sign"


def quantised(gate: Gate, found: Normal, setting: Setting, bits: int) -> Quantised:
    """The best gate found with all numbers on grids of ``bits`` >= 2 bits, near a given one.

    ``setting`` says which parameters are tied or belong to the target's ends. NotRepresentable where a slope
    at an infinite end is not a number of the grid. A symmetry is not kept; monotone gates may cease to be.
    """
    values = {k: floats(p) for k, p in zip(KINDS, _parts(gate), strict=True)}
    exact, notes = _outer(found, setting, gate)
    fraction = {
        k: _fraction(values[k], [v for (kind, _), v in exact.items() if kind == k], bits) for k in KINDS
    }
    for (kind, k), value in list(exact.items()):
        scaled = value * Fraction(2) ** fraction[kind]
        if scaled.denominator == 1 and abs(scaled) < 2 ** (bits - 1):
            continue
        if kind == "slope":
            raise NotRepresentable(
                f"the slope {_short(value)} of an asymptote is no {bits}-bit number, and any other has an "
                "infinite error on R: give more bits, or an interval with --domain"
            )
        del exact[kind, k]
        notes.append(f"the intercept {_short(value)} of an asymptote is no {bits}-bit number and was moved")
    lattice = _lattice(gate, found, setting, fraction, exact, bits)
    start = np.concatenate([values[k] for k in KINDS])
    tries = [lattice.nearest(start)]
    if not np.isinf(values["tau"]).any():
        tries += _beam(lattice, found, setting, start)
    soft = not np.isinf(values["tau"]).any()
    done = []
    for numbers in tries:
        _, near = descended(lattice, numbers)
        done.append(descended(lattice, together(lattice, near) if soft else near))
    best = min(done, key=lambda r: (r[0], tuple(r[1])))
    return Quantised(_gate(gate, lattice, best[1]), best[0], bits, fraction, tuple(notes))


def _parts(gate: Gate) -> tuple[tuple[Expr, ...], ...]:
    return gate.tau, gate.theta, gate.slope, gate.intercept


def _short(value: Fraction) -> str:
    return str(value) if value.denominator < 1000 else f"{float(value):.10g}"


def _outer(found: Normal, setting: Setting, gate: Gate) -> tuple[dict[tuple[str, int], Fraction], list[str]]:
    """Numbers that are given, by kind and place: outer lines, zeros of the family."""
    given: dict[tuple[str, int], Fraction] = {}
    n = gate.branches
    for k, line in ((0, found.target.left), (n - 1, found.target.right)):
        if line is None or setting.ends == "free":
            continue
        given["slope", k] = _rational(line.slope, line.m)
        if setting.ends == "pinned":
            given["intercept", k] = _rational(line.intercept, line.b)
    for k in range(n):
        if setting.family == "multiplicative":
            given["intercept", k] = Fraction(0)
        elif setting.family == "constant":
            given["slope", k] = Fraction(0)
    return given, []


def _rational(e: Expr, near: float) -> Fraction:
    # A double near an irrational number is on no short grid, as the number itself is not.
    return Fraction(e.value) if isinstance(e, Num) else Fraction(near)


def _fraction(values: Array, exact: Sequence[Fraction], bits: int) -> int:
    """Bits after the point such that the largest number fits; at most 40 (all zero: bits - 1)."""
    finite = values[np.isfinite(values)]
    most = max([float(np.abs(finite).max(initial=0.0)), *(abs(float(v)) for v in exact)], default=0.0)
    if most == 0:
        return bits - 1
    f = int(np.floor(np.log2((2 ** (bits - 1) - 1) / most)))
    return min(f, 40)


def _lattice(
    gate: Gate,
    found: Normal,
    setting: Setting,
    fraction: dict[str, int],
    exact: dict[tuple[str, int], Fraction],
    bits: int,
) -> Lattice:
    n = gate.branches
    gates = Gates(n, gate.algebra)
    places = {"tau": 0, "theta": n - 1, "slope": 2 * n - 2, "intercept": 3 * n - 2}
    counts = {"tau": n - 1, "theta": n - 1, "slope": n, "intercept": n}
    unit = np.concatenate([np.full(counts[k], 2.0 ** -fraction[k]) for k in KINDS])
    fixed = np.full(gates.size, np.nan)
    for (kind, k), value in exact.items():
        fixed[places[kind] + k] = float(value)
    groups = [[i] for i in range(gates.size)]
    if setting.sharpness == "shared" and n > 2:
        groups = [list(range(n - 1)), *groups[n - 1 :]]
    fixed[: n - 1][list(gate.hard)] = np.inf
    return Lattice(
        gates, found, unit, fixed, [g for g in groups if np.isnan(fixed[g[0]])], 2 ** (bits - 1) - 1
    )


def _beam(lattice: Lattice, found: Normal, setting: Setting, start: Array) -> list[Array]:
    """Choices on the grid, best first."""
    free = replace(setting, symmetric=False, largest=np.inf)
    order = lattice.by_effect(start)
    beam: list[tuple[float, dict[int, float], Array]] = [(0.0, {}, start)]
    for g in order:
        grown: list[tuple[float, dict[int, float], Array]] = []
        for _, held, values in beam:
            for n in lattice.around(g, values):
                chosen = held | {i: n * lattice.unit[i] for i in lattice.groups[g]}
                grown.append(_settled(lattice, found, free, chosen, values))
        grown.sort(key=lambda entry: (entry[0], tuple(entry[1].values())))
        beam = grown[:KEPT]
    return [lattice.nearest(values) for _, _, values in beam]


def _settled(
    lattice: Lattice, found: Normal, setting: Setting, chosen: dict[int, float], values: Array
) -> tuple[float, dict[int, float], Array]:
    """The others levelled again with the chosen numbers held."""
    held = chosen | {int(i): float(lattice.fixed[i]) for i in np.flatnonzero(~np.isnan(lattice.fixed))}
    now = values.copy()
    now[list(held)] = list(held.values())
    plain = lattice.error(now)
    try:
        sampled = problem(found, setting, lattice.u, more=lambda tied: _hold(tied, found, held))
    except Contradiction:
        return plain, chosen, now
    if not sampled.basis.shape[1]:
        return plain, chosen, now
    done = level(sampled, sampled.free(lattice.to_normal(now)), steps=STEPS, reach=0.02, digits=4)
    moved = lattice.from_normal(sampled.full(done.q))
    moved[list(held)] = list(held.values())
    after = lattice.error(moved)
    return (after, chosen, moved) if after < plain else (plain, chosen, now)


def _hold(tied: Embedding, found: Normal, held: dict[int, float]) -> None:
    """Fix numbers of the target's coordinates."""
    gates = tied.gates
    n, slope, intercept = gates.branches, gates.place("slope", 0), gates.place("intercept", 0)
    for i, value in held.items():
        if i < n - 1:
            tied.fix(i, float(np.log(value * found.width)))
        elif i < slope:
            tied.fix(i, (value - found.centre) / found.width)
        elif i < intercept:
            tied.fix(i, (value - found.m) * found.width / found.height)
        else:
            # intercept' = (intercept - b)/height + slope' centre/width
            turn, shift = found.centre / found.width, (value - found.b) / found.height
            tied.tie(i, i - intercept + slope, turn, shift)


def _gate(gate: Gate, lattice: Lattice, numbers: Array) -> Gate:
    def exprs(first: int, count: int) -> tuple[Expr, ...]:
        return tuple(
            Const("oo") if np.isinf(lattice.fixed[i]) else Num(Fraction(float(lattice.values(numbers)[i])))
            for i in range(first, first + count)
        )

    n = gate.branches
    return Gate(exprs(0, n - 1), exprs(n - 1, n - 1), exprs(2 * n - 2, n), exprs(3 * n - 2, n), gate.algebra)
