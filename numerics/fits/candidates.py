"""Gates for a request, one number of branches after the other, by the search that the request needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from gateproof.numerics.fits.certified_gate import decimal_gate
from gateproof.numerics.fits.driver import Found, steps
from gateproof.numerics.fits.exact import Exact, recognise
from gateproof.numerics.fits.families import direction
from gateproof.numerics.fits.hard import NoHardGate, hard_fit
from gateproof.numerics.fits.infimum import judge
from gateproof.numerics.fits.normal import Normal
from gateproof.numerics.fits.request import RefusedFit, Request
from gateproof.numerics.fits.setting import Setting
from gateproof.numerics.fits.target import Target
from gateproof.theory.formula.nodes import Num
from gateproof.theory.gate import Gate

Watch = Callable[[int, float], None]


@dataclass(frozen=True)
class Candidate:
    """A gate with the numbers to be printed.

    ``error`` is that of the search, in floats. ``attained`` and ``infimum`` as in a fit; ``why`` is what is
    to be said of them. ``proof``: the steps that show that the target is the gate; None where it is not.
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

    def saying(self, word: str) -> Candidate:
        """With a remark."""
        return replace(self, more=(*self.more, word))


class Search:
    """Results for 1, 2, .. branches in normal coordinates, and the candidates that they make."""

    def __init__(self, found: Normal, request: Request, ends: str, watch: Watch | None) -> None:
        self.found, self.request, self.ends = found, request, ends
        self.tell = watch
        #: The best of the size in work.
        self.begun: Found | None = None

    def run(self) -> Iterator[Found]:
        """The best of each size, as they are done."""
        setting = self._setting()
        for one in steps(self.found, setting, seed=self.request.seed, watch=self._watch):
            self.begun = None
            yield one

    def candidate(self, one: Found, *, quick: bool = False) -> Candidate:
        """The gate of a result. ``quick``: without looking whether the infimum is attained."""
        if quick:
            return Candidate(decimal_gate(self.found, one), one.error * self.found.height)
        known = judge(self.found, one)
        gate = decimal_gate(self.found, known.found)
        error = known.found.error * self.found.height
        infimum = known.value if known.attained is False else None
        return Candidate(gate, error, known.attained, infimum, known.why)

    def _setting(self) -> Setting:
        request, target = self.request, self.found.target
        rising = 0
        if request.monotone:
            rising, reason = direction(target)
            if reason:
                raise RefusedFit(f"--monotone: {reason}")
        most = None if request.max_coefficient is None else float(request.max_coefficient)
        return Setting(
            request.most,
            request.sharpness,
            self.ends,
            request.gates,
            request.family,
            max_coefficient=most,
            monotone=rising,
        )

    def _watch(self, one: Found) -> None:
        self.begun = one
        if self.tell is not None:
            self.tell(one.setting.branches, one.error * self.found.height)


def exact_candidate(target: Target, request: Request) -> Candidate | None:
    """The gate that the target is, if it is one and the request allows it."""
    if request.quantise is not None:
        return None
    known = recognise(target, request.gates, request.sharpness)
    if not isinstance(known, Exact) or not _allowed(known.gate, request):
        return None
    kind = {"affine": "a line", "soft": "this gate", "hard": "this hard gate"}.get(known.kind, "this gate")
    return Candidate(known.gate, 0.0, True, None, f"the target is {kind}", known.proof)


def _allowed(gate: Gate, request: Request) -> bool:
    zero = Num(Fraction(0))
    if request.family == "multiplicative" and any(c != zero for c in gate.intercept):
        return False
    if request.family == "constant" and any(s != zero for s in gate.slope):
        return False
    most = request.max_coefficient
    numbers = (*gate.slope, *gate.intercept)
    if most is not None and any(not isinstance(v, Num) or abs(v.value) > most for v in numbers):
        return False
    return not request.monotone


def hard_candidates(target: Target, request: Request, ends: str, *, every: bool) -> Iterator[Candidate]:
    """Hard gates of 1, 2, .. branches, as far as there are any; only the last one if not ``every``."""
    last: NoHardGate | None = None
    first = 1 if every else request.most
    most = None if request.max_coefficient is None else float(request.max_coefficient)
    for branches in range(first, request.most + 1):
        try:
            found = hard_fit(
                target,
                branches,
                continuous=request.continuous,
                ends=None if ends == "free" else ends,
                family=request.family,
                norm="rms" if request.norm == "rms" else "sup",
                max_coefficient=most,
            )
        except NoHardGate as reason:
            last = reason
            continue
        last = None
        infimum = None if found.attained else found.below
        record = found.record if found.bound is not None else None
        yield Candidate(
            found.gate,
            found.error,
            found.attained,
            infimum,
            found.why,
            lower=found.bound,
            lower_certificate=record,
        )
    if last is not None:
        raise RefusedFit(str(last))


def refuse_ends(request: Request, branches: int) -> RefusedFit:
    """No gate of so many branches has the ends asked for."""
    return RefusedFit(
        f"no gate of {branches} branch{'es' if branches > 1 else ''} has the target's asymptotes at both "
        f"ends; give more branches{'' if request.ends == 'slopes' else ', or --ends slopes'}"
    )
