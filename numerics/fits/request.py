"""What is asked of a fit: options that were checked against one another before any work is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

#: The most branches; of hard gates, whose search is quick, more.
MOST_BRANCHES, MOST_HARD = 16, 64
SHARPNESS = ("shared", "free", "hard")
ENDS = ("pinned", "slopes", "free")
#: Sizes beyond this one, and means so many standard deviations from 0, leave no room in doubles.
LARGEST, FARTHEST = Fraction(10) ** 100, 10**9
GATES = ("difference", "stick", "softmax")
NORMS = ("sup", "rms", "relative")
FAMILIES = ("general", "multiplicative", "constant")


class RefusedFit(ValueError):
    """Options that mean nothing, or contradict one another or the target; one line."""


class NotMonotone(RefusedFit):
    """The best gate found is proved not to be monotone, which was asked for; one line."""


@dataclass(frozen=True)
class Request:
    """Options of a fit. Raises RefusedFit for what is out of range or contradicts itself.

    ``branches`` is K, or the most there may be where ``tol`` (an error > 0) asks for the smallest K.
    ``ends`` None: pinned at infinite ends, free at finite ones. ``mu``, ``sigma`` and ``histogram`` say under
    which inputs the root mean square is taken. ``tolerance``: sizes by parameter, as ``{"tau": "5%"}``;
    ``quantise``: bits of a fixed-point number; ``weight``: a formula in x. ``chosen``: the sharpness was
    asked for; where it was not, data that are piecewise linear get a hard gate.
    """

    branches: int | None = None
    tol: Fraction | None = None
    sharpness: str = "shared"
    gates: str = "difference"
    ends: str | None = None
    norm: str = "sup"
    mu: Fraction | None = None
    sigma: Fraction | None = None
    histogram: Any = None
    weight: str | None = None
    family: str = "general"
    monotone: bool = False
    max_coefficient: Fraction | None = None
    quantise: int | None = None
    tolerance: Mapping[str, str] = field(default_factory=dict)
    continuous: bool = False
    seed: int = 0
    chosen: bool = True

    def __post_init__(self) -> None:
        for name in ("monotone", "continuous"):
            if not isinstance(getattr(self, name), bool):
                raise RefusedFit(f"{_said(name)} {getattr(self, name)!r:.40}: give True or False")
        _choice("sharpness", self.sharpness, SHARPNESS)
        _choice("gates", self.gates, GATES)
        _choice("norm", self.norm, NORMS)
        _choice("family", self.family, FAMILIES)
        if self.ends is not None:
            _choice("ends", self.ends, ENDS)
        _whole("k", self.branches, 1, MOST_HARD if self.sharpness == "hard" else MOST_BRANCHES)
        _whole("quantise", self.quantise, 2, 32)
        _whole("seed", self.seed, 0, 2**63 - 1)
        for name in ("tol", "sigma", "max_coefficient"):
            value = getattr(self, name)
            if value is not None and not 0 < value <= LARGEST:
                raise RefusedFit(f"{_said(name)} {_short(value)}: give a number above 0, at most 1e100")
            if value is not None and value < 1 / LARGEST:
                raise RefusedFit(f"{_said(name)} {_short(value)}: too small for doubles; scale the problem")
        if self.mu is not None and abs(self.mu) > FARTHEST * (self.sigma or 1):
            raise RefusedFit(
                f"--mu {_short(self.mu)}: beyond 1e9 standard deviations (--sigma) from 0 doubles cannot "
                "tell inputs apart; fit the target shifted to 0"
            )
        self._against_each_other()

    def _against_each_other(self) -> None:
        if self.tol is not None and self.branches is not None:
            raise RefusedFit("give K or a tolerance for the error, not both: --tol finds the smallest K")
        if self.sharpness == "hard" and self.gates == "softmax":
            raise RefusedFit("softmax gates have no hard limit; use --gates difference with --sharpness hard")
        if self.continuous and self.sharpness != "hard":
            raise RefusedFit("--continuous is for --sharpness hard; other gates are continuous by themselves")
        if self.weight is not None and self.norm == "relative":
            raise RefusedFit("--norm relative is a weight already (1/|target|); leave out one of them")
        if self.histogram is not None and (self.mu is not None or self.sigma is not None):
            raise RefusedFit("the histogram gives the inputs' distribution; leave out --mu and --sigma")
        if self.tolerance and self.quantise is not None:
            raise RefusedFit(
                "give --quantise or --tolerance: one says how parameters are stored, one bounds it"
            )
        self._against_tolerances()
        if self.tol is not None and self.quantise is not None:
            raise RefusedFit("--tol is for exact parameters; give K with --quantise")

    def _against_tolerances(self) -> None:
        if not self.tolerance:
            return
        if self.norm != "sup" or self.weight is not None:
            raise RefusedFit("--tolerance is for the plain supremum; leave out --norm and --weight")
        if self.gates != "difference" and (self.branches or 2) > 2:
            raise RefusedFit(f"--tolerance is for difference gates; of {self.gates} gates only -k 2 are such")
        size = self.tolerance.get("tau")
        if size is not None and self.sharpness == "hard":
            raise RefusedFit("--tolerance tau: a hard gate has no sharpness to be off; leave it out")
        if size is not None and size.endswith("%") and Fraction(size[:-1].strip()) >= 100:
            raise RefusedFit(f"--tolerance tau={size:.40}: sharpness would reach 0; give less than 100%")

    @property
    def most(self) -> int:
        """The K to go up to."""
        if self.tol is not None:
            return MOST_HARD if self.sharpness == "hard" else MOST_BRANCHES
        return 2 if self.branches is None else self.branches


def _said(name: str) -> str:
    return "K" if name == "k" else f"--{name.replace('_', '-')}"


def _short(value: Fraction) -> str:
    """Six digits of any size."""
    return f"{Decimal(value.numerator) / Decimal(value.denominator):.6g}"


def _choice(name: str, value: object, known: tuple[str, ...]) -> None:
    if value not in known:
        raise RefusedFit(f"{_said(name)} {value!r:.40}: give one of {', '.join(known)}")


def _whole(name: str, value: object, lowest: int, highest: int) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
        end = f"{lowest} to {highest}" if highest < 2**32 else f"{lowest} up"
        if name == "k":
            end = f"1 to {MOST_BRANCHES} (hard gates: {MOST_HARD})"
        raise RefusedFit(f"{_said(name)} {value!r:.40}: give a whole number from {end}")
