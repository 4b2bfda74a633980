"""Gates for a request, one number of branches after the other, by the search that the request needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from gateproof.numerics.backends.numbers import to_float
from gateproof.numerics.fits.certified_gate import decimal_gate
from gateproof.numerics.fits.driver import Found, steps
from gateproof.numerics.fits.exact import Exact, recognise
from gateproof.numerics.fits.families import monotone_refusal
from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.hard import HardFit, NoHardGate, hard_fit, hard_smallest
from gateproof.numerics.fits.hard_exact import without_error
from gateproof.numerics.fits.hard_grid import dense
from gateproof.numerics.fits.hard_joined import is_continuous
from gateproof.numerics.fits.hard_walls import Walls
from gateproof.numerics.fits.infimum import judge
from gateproof.numerics.fits.monotone import certify_monotone
from gateproof.numerics.fits.normal import Normal
from gateproof.numerics.fits.request import RefusedFit
from gateproof.numerics.fits.squares import squares
from gateproof.numerics.fits.target import RefusedTarget
from gateproof.numerics.fits.task import Task
from gateproof.theory.formula.nodes import Expr, Num
from gateproof.theory.gate import Gate

#: What a gate under the bound of lines may lose, relatively, where nothing says that it must.
WORSE = 1e-3
#: Changes of so many units of the last place are rounding.
LOST = 16.0

Watch = Callable[[int, float], None]


@dataclass(frozen=True)
class Candidate:
    """A gate with the numbers to be printed.

    ``error`` is that of the search, in floats. ``attained`` and ``infimum`` as in a fit; ``why`` is what is
    to be said of them. ``proof``: the steps that show that the target is the gate; None where it is not.
    ``fraction_bits`` as in a fit.
    """

    gate: Gate
    error: float
    attained: bool | None = None
    infimum: float | None = None
    why: str = ""
    proof: tuple[str, ...] | None = None
    lower: Fraction | None = None
    lower_certificate: Mapping[str, Any] | None = None
    more: tuple[str, ...] = ()
    fraction_bits: Mapping[str, int] = field(default_factory=dict)

    def saying(self, word: str) -> Candidate:
        """With a remark."""
        return replace(self, more=(*self.more, word))


class Search:
    """Results for 1, 2, .. branches in normal coordinates, and the candidates that they make."""

    def __init__(self, task: Task, watch: Watch | None) -> None:
        self.task, self.tell = task, watch
        #: The best of the size in work.
        self.begun: Found | None = None

    def run(self) -> Iterator[Found]:
        """The best of each size, as they are done."""
        task, seed = self.task, self.task.request.seed
        if task.request.norm == "rms":
            found = squares(task.found, task.setting, task.measure, seed=seed, watch=self._watch)
        else:
            found = steps(task.found, task.setting, seed=seed, watch=self._watch)
        for one in found:
            self.begun = None
            branches = one.setting.branches
            if not task.rising or not monotone_refusal(task.target, branches, task.ends):
                yield one

    def candidate(self, one: Found, *, quick: bool = False) -> Candidate:
        """The gate of a result. ``quick``: without looking whether the infimum is attained."""
        found = self.task.found
        if quick or self.task.request.norm == "rms":
            return Candidate(decimal_gate(found, one), one.error * found.height)
        known = judge(found, one)
        if known.attained is not False and known.found.error > one.error * (1 + WORSE):
            # Of an undecided infimum the gate of the search is the better one.
            known = replace(known, found=one)
        infimum = known.value if known.attained is False else None
        error = known.found.error * found.height
        return Candidate(decimal_gate(found, known.found), error, known.attained, infimum, known.why)

    def _watch(self, one: Found) -> None:
        self.begun = one
        if self.tell is not None:
            self.tell(one.setting.branches, one.error * self.task.found.height)


def exact_candidate(task: Task) -> Candidate | None:
    """The gate that the target is, if it is one and the request allows it."""
    known = recognise(task.target, task.request.gates, task.request.sharpness)
    if not isinstance(known, Exact) or not _allowed(known.gate, task):
        return None
    kind = {"affine": "it is a line", "hard": "it is piecewise linear"}.get(known.kind, "")
    return Candidate(known.gate, 0.0, True, None, kind, known.proof)


def _allowed(gate: Gate, task: Task) -> bool:
    request, zero = task.request, Num(Fraction(0))
    if request.continuous and not is_continuous(gate):
        return False
    if request.family == "multiplicative" and any(c != zero for c in gate.intercept):
        return False
    if request.family == "constant" and any(s != zero for s in gate.slope):
        return False
    most = request.max_coefficient
    numbers = (*gate.slope, *gate.intercept)
    if most is not None and any(not isinstance(v, Num) or abs(v.value) > most for v in numbers):
        return False
    if not task.rising:
        return True
    return bool(certify_monotone(gate, task.rising, task.target.lo, task.target.hi).holds)


def refuse_monotone(task: Task) -> None:
    """Raise RefusedFit where no soft gate of the most branches there may be is monotone."""
    request = task.request
    if task.rising and request.sharpness != "hard":
        reason = monotone_refusal(task.target, request.most, task.ends)
        if reason:
            raise RefusedFit(f"--monotone: {reason}")


def refuse_lost(found: Normal) -> None:
    """Raise RefusedTarget for a formula that is no constant but one number in doubles, as gelu(x) + 1e200."""
    target = found.target
    if target.expr is None:
        return
    lo, hi = (None if e is None else float(e) for e in (target.lo, target.hi))
    x = np.clip(found.centre + found.width * np.linspace(-8, 8, 401), lo, hi)
    y = target.function(x)
    size = float(np.abs(y).max())
    if np.ptp(y) <= LOST * target.resolution * size and size > 0:
        raise RefusedTarget(
            f"{target.name:.60} changes by less than doubles can tell beside its size {size:.3g}: leave out "
            "the constant, which the gate takes up exactly"
        )


def hard_candidates(task: Task, *, every: bool) -> Iterator[Candidate]:
    """Hard gates of 1, 2, .. branches, as far as there are any; only the last one if not ``every``.

    With a tolerance the one with the fewest branches that reaches it, or none.
    """
    request = task.request
    options: dict[str, Any] = {
        "continuous": request.continuous,
        "ends": None if task.ends == "free" else task.ends,
        "family": request.family,
        "norm": "rms" if request.norm == "rms" else "sup",
        "max_coefficient": task.largest,
    }
    if request.norm == "rms":
        options["measure"] = task.measure
    if request.tol is not None:
        # A little less, for the rounding of the numbers.
        found = hard_smallest(task.target, float(request.tol) * (1 - 1e-9), most=request.most, **options)
        if found is not None:
            yield _of_hard(found)
        return
    last: NoHardGate | None = None
    for branches in range(1 if every else request.most, request.most + 1):
        try:
            found = hard_fit(task.target, branches, **options)
        except NoHardGate as reason:
            last = reason
            continue
        last = None
        yield _of_hard(found)
    if last is not None:
        raise RefusedFit(str(last))


def linear_data(task: Task) -> Candidate | None:
    """The hard gate on which data lie, where no sharpness was asked for; None for other data.

    Three points or more of each piece have to be on its line: any two are.
    """
    target, request = task.target, task.request
    points = target.points
    if points is None or request.chosen or request.gates != "difference" or request.quantise is not None:
        return None
    none, highest = np.zeros(0), float("inf") if task.largest is None else task.largest
    walls = Walls(none, none, none, kind=request.family, steepest=highest, highest=highest)
    pieces = without_error(dense(target), walls, target, request.most)
    if pieces is None or np.bincount(np.searchsorted(pieces.theta, points.x)).min(initial=3) < 3:
        return None
    found = next(iter(hard_candidates(hardened(task, len(pieces.lines)), every=False)))
    if not _allowed(found.gate, task):
        return None
    if not found.gate.theta:
        return found
    words = (
        "the points lie on straight lines to rounding, so the gate is hard (--sharpness shared: a soft one)"
    )
    return replace(found, gate=_meeting(found.gate, points.x)).saying(words)


def _meeting(gate: Gate, x: Array) -> Gate:
    """Thresholds moved to where their lines meet, where no point lies between."""
    theta: list[Expr] = []
    for k, at in enumerate(gate.theta):
        numbers = (gate.slope[k], gate.slope[k + 1], gate.intercept[k], gate.intercept[k + 1])
        m, n, a, b = (v.value if isinstance(v, Num) else Fraction(0) for v in numbers)
        place = int(np.searchsorted(x, to_float(at), side="right"))
        meets = Fraction(f"{float((a - b) / (n - m)):.12g}") if m != n else None
        between = meets is not None and 0 < place < len(x) and x[place - 1] <= meets <= x[place]
        theta.append(Num(meets) if meets is not None and between else at)
    return replace(gate, theta=tuple(theta))


def hardened(task: Task, branches: int | None = None) -> Task:
    """The same for hard gates."""
    request = replace(task.request, sharpness="hard")
    if branches is not None:
        request = replace(request, branches=branches, tol=None)
    return replace(task, request=request)


def _of_hard(found: HardFit) -> Candidate:
    return Candidate(
        found.gate,
        found.error,
        found.attained,
        None if found.attained else found.below,
        found.why,
        lower=found.bound,
        lower_certificate=found.record if found.bound is not None else None,
    )


def on_grid(task: Task, candidate: Candidate) -> Candidate:
    """The gate near a candidate whose numbers have few bits, where that is asked for. Raises RefusedFit."""
    bits = task.request.quantise
    if bits is None:
        return candidate
    from gateproof.numerics.fits.quantise import NotRepresentable, quantised

    setting = task.setting.with_branches(candidate.gate.branches)
    try:
        made = quantised(candidate.gate, task.found, setting, bits)
    except NotRepresentable as error:
        raise RefusedFit(f"--quantise {bits}: {error}") from None
    if made.gate == candidate.gate:
        return replace(candidate, fraction_bits=made.fraction).saying(made.formats)
    words = (candidate.why, *candidate.more, made.formats, *made.notes)
    more = tuple(w for w in words if w)
    return Candidate(made.gate, made.error, more=more, fraction_bits=made.fraction)


def refuse_ends(branches: int) -> RefusedFit:
    """No gate of so many branches has the ends asked for."""
    return RefusedFit(
        f"no gate of {branches} branch{'es' if branches > 1 else ''} has the target's asymptotes at both "
        "ends; give more branches, or an interval with --domain"
    )
