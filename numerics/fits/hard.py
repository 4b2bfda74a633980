"""Hard gates, tau = oo: the best piecewise linear function with K pieces, over all thresholds and lines.

The optimum is global: pieces that go as far as they can are the fewest (:mod:`...fits.hard_walk`), and the
narrowest tunnel that K of them get through is found by bisection. So the lower bound beside the error agrees
with it to about 12 digits, and for formulas it is proved (:mod:`...fits.hard_bound`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from gateproof.numerics.fits.hard_bound import proved
from gateproof.numerics.fits.hard_document import document_of
from gateproof.numerics.fits.hard_exact import without_error
from gateproof.numerics.fits.hard_grid import Grid, dense, some_of
from gateproof.numerics.fits.hard_solve import Pieces, Solved, solve
from gateproof.numerics.fits.hard_squares import least_squares
from gateproof.numerics.fits.hard_walk import walk
from gateproof.numerics.fits.hard_walls import Straight, Tip, Walls
from gateproof.numerics.fits.measure import Measure, measure_of
from gateproof.numerics.fits.target import Line, RefusedTarget, Target
from gateproof.theory.formula.nodes import Const, Expr, Num
from gateproof.theory.gate import Gate

#: The most pieces. Thresholds farther out than ``FAR``, in widths of the target, stand for infinite ones, and
#: are then kept as near as ``NEAR``. Errors that agree to ``SAME`` are one.
MOST, FAR, NEAR, SAME = 64, 300.0, 100.0, 1e-9
#: Points on which pieces are counted for a tolerance; with fewer walls than there are, so never too many.
COUNTED = 1500


class NoHardGate(ValueError):
    """No number of pieces asked for has a finite error, or the options do not fit; one line."""


@dataclass(frozen=True)
class HardFit:
    """A hard gate with its error on a dense grid and at the peaks between, in the target's units.

    ``pieces`` are the same in floats. ``below`` is a lower bound in floats on the error of every gate of the
    kind, ``bound`` a proved one where there is one: ``witness`` says by which points (:mod:`...hard_check`
    checks it), ``record`` is the certificate of the inequalities between them.
    ``attained`` is False where thresholds run away to infinity; ``below`` is then the infimum. ``why`` says
    what is remarkable, in a line. For ``norm`` rms ``error`` is the root mean square, and there is no bound.
    """

    gate: Gate
    pieces: Pieces
    error: float
    below: float | None = None
    bound: Fraction | None = None
    record: Mapping[str, Any] | None = None
    witness: Mapping[str, Any] | None = None
    attained: bool = True
    why: str = ""


def hard_fit(
    target: Target,
    branches: int,
    *,
    continuous: bool = False,
    ends: str | None = None,
    family: str = "general",
    norm: str = "sup",
    max_coefficient: float | None = None,
    measure: Measure | None = None,
) -> HardFit:
    """The best hard gate with at most so many branches, 1 to 64.

    ``ends`` 'pinned' (the default) or 'slopes' bind the lines at infinite ends to the asymptotes; lines at
    finite ends are free. With fewer branches than asked for, more of them would not help. The sup norm takes
    the target's weight into account. Raises NoHardGate and RefusedTarget.
    """
    if not 1 <= branches <= MOST:
        raise NoHardGate(f"K = {branches}: hard gates have 1 to {MOST} branches")
    form = _form(target, continuous, ends, family, max_coefficient, norm)
    grid = dense(target)
    exact = without_error(grid, form, target, branches)
    if exact is not None:
        return _fit(target, form, exact, 0.0, grid, branches)
    if norm == "rms":
        squares = least_squares(grid, form, branches, measure or measure_of(target))
        if squares is None:
            raise NoHardGate(_impossible(form, branches))
        fit = _fit(target, form, squares, squares.error, grid, branches, norm)
        return replace(fit, below=None, bound=None)
    solved = solve(grid, form, branches)
    if solved is None:
        raise NoHardGate(_impossible(form, branches))
    pieces, attained = _within_reach(grid, form, solved, branches)
    found = _fit(target, form, pieces, min(solved.tunnel.below, pieces.error), grid, branches)
    bound, witness = proved(target, solved.walls, solved.tunnel, branches)
    if bound is None and continuous and any(t is not None and t.pinned for t in (form.left, form.right)):
        bound, witness = _of_slopes(target, form, grid, branches)
    if not attained or not pieces.attained:
        how = (
            "thresholds come nearer to the jumps on their right"
            if attained
            else "thresholds run away to infinity; they are kept near"
        )
        lowest = f"not attained: the infimum {solved.tunnel.above:.9g} is approached as {how}"
        found = replace(found, why="; ".join(filter(None, (found.why, lowest))))
    record = None if witness is None else document_of(witness)
    attained = attained and pieces.attained
    return replace(found, attained=attained, bound=bound, record=record, witness=witness)


def _of_slopes(
    target: Target, form: Walls, grid: Grid, branches: int
) -> tuple[Fraction | None, dict[str, Any] | None]:
    """A bound for all gates whose outer lines have the asymptotes' slopes, pinned ones among them."""
    left, right = (None if t is None else replace(t, pinned=False) for t in (form.left, form.right))
    wider = replace(form, left=left, right=right)
    solved = solve(grid, wider, branches)
    return (None, None) if solved is None else proved(target, solved.walls, solved.tunnel, branches)


def hard_smallest(target: Target, tol: float, *, most: int = MOST, **options: Any) -> HardFit | None:
    """The hard gate with the fewest branches whose error is at most ``tol``; None if ``most`` are too few.

    Options are those of :func:`hard_fit`. For the root mean square norms numbers of branches are tried in
    turn; for the sup norm one walk through the tunnel of half width ``tol`` counts them.
    """
    start = 1
    if options.get("norm", "sup") == "sup":
        known = {k: v for k, v in options.items() if k != "norm"}
        form = _form(target, **{"continuous": False, "ends": None, "family": "general", **known})
        grid = dense(target)
        index = some_of(grid, COUNTED, data=form.function is None)
        x = grid.x[index]
        walked = walk(replace(form, x=x, y=grid.y[index], v=form.half_width(x)), tol, most)
        if not walked.covered:
            return None
        start = len(walked.links)
    for branches in range(start, most + 1):
        try:
            found = hard_fit(target, branches, **options)
        except NoHardGate:
            continue
        if found.error <= tol:
            return found
    return None


def _form(
    target: Target,
    continuous: bool,
    ends: str | None,
    family: str,
    max_coefficient: float | None = None,
    norm: str = "sup",
) -> Walls:
    """What is asked of the pieces, without points."""
    if continuous and family != "general":
        raise NoHardGate(f"a continuous hard gate of the {family} family is one line; leave out one of them")
    if continuous and max_coefficient is not None:
        raise NoHardGate("bounded coefficients are for hard gates with jumps; leave out --continuous")
    tips = []
    for line, end, why, sign in (
        (target.left, target.lo, target.why[0], "-"),
        (target.right, target.hi, target.why[1], "+"),
    ):
        if norm == "rms" and ends == "free":
            line = None
        elif line is None and end is None and target.points is None:
            raise RefusedTarget(
                f"{target.name}: {why or 'no asymptote'} at {sign}oo, so a hard gate has an infinite error "
                "there; give an interval"
            )
        tips.append(None if line is None else Tip(line.m, line.b, ends in (None, "pinned")))
    for tip in tips:
        if tip is not None and (
            (family == "constant" and tip.slope != 0)
            or (family == "multiplicative" and tip.pinned and tip.intercept != 0)
        ):
            raise NoHardGate(f"the {family} family has no branch like the asymptote of {target.name}")
    none = np.zeros(0)
    highest = float("inf") if max_coefficient is None else max_coefficient
    function = None if target.points is not None else target.function
    return Walls(
        none, none, none, function, target.weight, tips[0], tips[1], continuous, family, highest, highest
    )  # fmt: skip


def _impossible(form: Walls, branches: int) -> str:
    if branches == 1:
        return "the two asymptotes are different lines, and one branch is one line: give K = 2 or more"
    if form.continuous and branches == 2:
        return "the two asymptotes are parallel and do not meet: a continuous hard gate takes K = 3 or more"
    return f"no hard gate with {branches} branches has a finite error"


def _within_reach(grid: Grid, form: Walls, solved: Solved, asked: int) -> tuple[Pieces, bool]:
    """The pieces, as few as are as good; or the best whose thresholds are near, where those run away."""
    best = solved.pieces
    # At the best error pieces may be of no use; a walk in a slightly wider tunnel has the fewest.
    fewest = walk(solved.walls, (1 + SAME) * solved.tunnel.above, asked)
    trial = solve(grid, form, len(fewest.links)) if fewest.covered and len(fewest.links) < asked else None
    if trial is not None and trial.pieces.error <= (1 + 2 * SAME) * solved.tunnel.above:
        best = trial.pieces
    if form.function is None or _near(grid, best.theta):
        return best, True
    near = grid.centre - NEAR * grid.width, grid.centre + NEAR * grid.width
    closer = solve(grid, replace(form, near=near), asked)
    return (best, False) if closer is None else (closer.pieces, False)


def _near(grid: Grid, theta: tuple[float, ...]) -> bool:
    t = np.array(theta)
    return bool((np.abs(t - grid.centre) <= FAR * grid.width).all() and (np.diff(t) >= 0).all())


def _fit(
    target: Target, form: Walls, pieces: Pieces, below: float, grid: Grid, asked: int, norm: str = "sup"
) -> HardFit:
    pieces = _without_empty(pieces)
    remarks = []
    n = len(pieces.lines)
    if n < asked:
        remarks.append(f"K = {n} is as good as K = {asked}: {asked - n} redundant branch(es) left out")
    if grid.own and not form.continuous and norm == "sup":
        remarks.append(
            f"at x = {grid.own[0]:.6g}, where the target jumps, its value is not the limit from the left, "
            "and the error counts it: the branch that a hard gate takes there holds on the left of it as well"
        )
    gate = _gate(target, form, pieces, grid.width)
    return HardFit(gate, pieces, pieces.error, below, why="; ".join(remarks))


def _without_empty(pieces: Pieces) -> Pieces:
    """Without pieces of no length, and with neighbours that are one line made one."""
    lines, theta = list(pieces.lines), list(pieces.theta)
    j = 0
    while j < len(theta):
        empty = j + 1 < len(theta) and not theta[j] < theta[j + 1]
        if empty:
            del lines[j + 1], theta[j + 1]
        elif lines[j] == lines[j + 1]:
            del lines[j + 1], theta[j]
        else:
            j += 1
    return replace(pieces, lines=tuple(lines), theta=tuple(theta))


def _gate(target: Target, form: Walls, pieces: Pieces, width: float) -> Gate:
    """The same with exact numbers: asymptotes as they are, others as decimals."""
    slopes: list[Expr] = []
    intercepts: list[Expr] = []
    last = len(pieces.lines) - 1
    for k, line in enumerate(pieces.lines):
        tip, asymptote = (form.left, target.left) if k == 0 and form.left is not None else (None, None)
        if k == last and tip is None and form.right is not None:
            tip, asymptote = form.right, target.right
        slope, intercept = _numbers(line, pieces.error, width, tip, asymptote)
        slopes.append(slope)
        intercepts.append(intercept)
    theta = tuple(_decimal(Fraction(t), 0.0) for t in pieces.theta)
    return Gate((Const("oo"),) * last, theta, tuple(slopes), tuple(intercepts))


def _numbers(
    line: Straight, error: float, width: float, tip: Tip | None, asymptote: Line | None
) -> tuple[Expr, Expr]:
    if tip is not None and asymptote is not None and tip.pinned:
        return asymptote.slope, asymptote.intercept
    rough = _decimal(Fraction(line.slope), 1e-14 * error / width)
    slope: Expr = rough if tip is None or asymptote is None else asymptote.slope
    # Far from 0 an intercept needs more digits than a double has, unless rounding is all the error there is.
    near = 1e-14 * error or 2.0**-51 * (abs(line.y) + abs(line.slope * line.x))
    exact = rough.value if tip is None else Fraction(line.slope)
    return slope, _decimal(Fraction(line.y) - exact * Fraction(line.x), near)


def _decimal(value: Fraction, tolerance: float) -> Num:
    """The shortest decimal within the tolerance; with none, what prints as the nearest double."""
    if abs(value) <= tolerance:
        return Num(Fraction(0))
    for digits in range(1, 40) if tolerance > 0 else ():
        context = Context(prec=digits)
        decimal = Fraction(context.divide(Decimal(value.numerator), Decimal(value.denominator)))
        if abs(decimal - value) <= tolerance:
            return Num(decimal)
    return Num(Fraction(repr(float(value))))
