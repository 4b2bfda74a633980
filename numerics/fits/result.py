"""What a fit came to: the gate in exact numbers, how far it is from the target, and how that is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

from gateproof.numerics.fits.request import Request
from gateproof.numerics.fits.target import Target
from gateproof.theory.gate import Gate

if TYPE_CHECKING:
    from gateproof.numerics.fits.exact import Known

#: Sampled peaks of so nearly one height are the largest.
TIED = 1e-9


class Status(StrEnum):
    """How a fit ended, a word: ``Status.OK == "ok"``; ``text`` says it in a sentence."""

    OK = "ok", "the best gate found"
    EXACT = "exact", "the target is this gate: error 0, proved"
    NOT_ATTAINED = "not attained", "no gate is best: the error tends to an infimum as parameters run away"
    SAMPLED = "sampled", "the best gate found; nothing is certified"
    NOT_CONVERGED = "not converged", "the certified error is above that of the search"
    NOT_REACHED = "not reached", "no gate of the most branches there may be was found within the tolerance"
    NOT_CERTIFIED = "not certified", "the error was computed in floats and could not be certified"
    INTERRUPTED = "interrupted", "stopped early: the best gate so far"

    text: str

    def __new__(cls, word: str, text: str) -> Status:
        """The word is the value."""
        made = str.__new__(cls, word)
        made._value_, made.text = word, text
        return made


@dataclass(frozen=True)
class Error:
    """An error between ``lo`` and ``hi``.

    ``evidence`` is 'proved', 'certified', 'enclosed' (in balls, without a certificate) or 'sampled'.
    ``hi`` is None where it is infinite. ``where`` are the places at which it is reached, ascending, each
    enclosed, or none where they are not known; ``certificate`` a document for ``gateproof verify``.
    """

    lo: Fraction
    hi: Fraction | None
    evidence: str
    where: tuple[tuple[Fraction, Fraction], ...] = ()
    at_infinity: tuple[str, ...] = ()
    certificate: Mapping[str, Any] | None = None
    reason: str = ""


@dataclass(frozen=True, repr=False, eq=False)
class Fit:
    """A threshold gate near a target; all fields are final.

    ``gate`` has exact numbers: those printed. ``error`` is about these numbers, in the request's norm, on the
    domain fitted; ``outside`` about all of R where that is more, and ``plain`` is the supremum where the norm
    is another one. ``peaks`` are (place, signed error) in floats, ascending. ``lower_bound``: no gate of the
    family asked for is closer (None: not known), with ``lower_certificate``. ``attained``: whether some gate
    of the family is best (None: not decided), else ``infimum`` is what the error tends to, in floats.
    ``gates_min`` is a lower bound of all gates, near the smallest. ``condition`` says how far errors of the
    parameters are amplified, ``measure`` under which inputs ``rms`` is taken. ``elapsed`` is in seconds.
    Places not farther from 0 than ``near_zero`` are 0: what is left there is rounding. ``fraction_bits``: by
    kind of parameter, the bits after the binary point of its fixed-point format, where one was asked for.

    Fits are equal where all is equal but ``elapsed`` (and the Python function that a target is). They are
    hashable, and can be copied, and pickled unless the target is a Python function (TypeError).
    """

    gate: Gate
    target: Target
    request: Request
    error: Error
    status: Status
    message: str
    peaks: tuple[tuple[float, float], ...] = ()
    rms: float | None = None
    measure: str = ""
    lower_bound: Fraction | None = None
    lower_certificate: Mapping[str, Any] | None = None
    attained: bool | None = None
    infimum: float | None = None
    gates_min: Fraction | None = None
    condition: float | None = None
    outside: Error | None = None
    plain: Error | None = None
    tolerant: Mapping[str, Any] | None = None
    steps: tuple[str, ...] = ()
    elapsed: float = 0.0
    near_zero: float = 0.0
    fraction_bits: Mapping[str, int] = field(default_factory=dict)

    @property
    def k(self) -> int:
        """How many branches the gate has."""
        return self.gate.branches

    @property
    def argmax(self) -> tuple[float, ...]:
        """Places where the error is reached, in floats; those of the largest peaks where it is sampled."""
        if not self.error.where and self.error.evidence == "sampled" and self.request.norm != "rms":
            # A level tail, which is no peak, may be as high.
            top = float(self.error.hi or 0)
            return tuple(x for x, e in self.peaks if abs(e) >= top * (1 - TIED))
        places = (float((a + b) / 2) for a, b in self.error.where)
        return tuple(0.0 if abs(x) <= self.near_zero else x for x in places)

    @property
    def constrained(self) -> bool:
        """Whether the lower bound is one of more gates than were asked for."""
        request = self.request
        bound = request.monotone or request.max_coefficient is not None or request.quantise is not None
        return bound or (request.family != "general" and request.sharpness != "hard")

    @property
    def infimum_is_bound(self) -> bool:
        """Whether ``infimum`` is only known to be an upper bound of what the error tends to.

        The closed family is known for difference gates with one sharpness on R; nothing is below 0.
        """
        if self.infimum == 0:
            return False
        request, target = self.request, self.target
        known = request.sharpness != "free" and request.gates == "difference" and request.family == "general"
        return not known or target.lo is not None or target.hi is not None

    @property
    def certificate(self) -> Mapping[str, Any] | None:
        """The certificate of the error."""
        return self.error.certificate

    @property
    def optimal_within(self) -> Fraction | None:
        """(error - lower bound)/lower bound; None without a lower bound above 0."""
        if self.error.hi == 0:
            return Fraction(0)
        if not self.lower_bound or self.error.hi is None or self.error.evidence == "sampled":
            return None
        return (self.error.hi - self.lower_bound) / self.lower_bound

    @property
    def text(self) -> str:
        """The gate as a formula of the language."""
        return self.gate.text

    @cached_property
    def finite(self) -> Mapping[str, Known] | None:
        """For each gate algebra the target as an exact gate on its domain, why it is none, or None.

        An ``Exact`` has ``gate`` and ``proof``, a ``NotFinite`` has ``reason``; None is not decided. The
        mapping is None for functions and data.
        """
        from gateproof.numerics.fits.exact import everywhere

        return None if self.target.expr is None else everywhere(self.target)

    @cached_property
    def _formula(self) -> Any:
        from gateproof.numerics.backends.formula import formula

        return formula(self.text)

    @property
    def numpy(self) -> Callable[..., Any]:
        """The gate on NumPy arrays."""
        found: Callable[..., Any] = self._formula.numpy
        return found

    @property
    def torch(self) -> Callable[..., Any]:
        """The gate on PyTorch tensors."""
        found: Callable[..., Any] = self._formula.torch
        return found

    @property
    def jax(self) -> Callable[..., Any]:
        """The gate on JAX arrays."""
        found: Callable[..., Any] = self._formula.jax
        return found

    def to_json(self) -> dict[str, Any]:
        """What ``gateproof fit --json`` prints."""
        from gateproof.numerics.fits.result_json import document

        return document(self)

    def export(self, path: str | PathLike[str], *, hardware: Any = None) -> None:
        """Write the gate in the form that the end of the name says, as ``gateproof fit --export`` does.

        ``found.export("gate.c")``; docs/fit.md lists the forms. ``hardware`` is the transistor pair of
        hardware tables, as ``{"temperature_kelvin": 330}``. The file is written whole or not at all. Raises
        ValueError, in one line, for an unknown form, a missing folder, and what a form cannot hold.
        """
        from gateproof.numerics.fits.exports.write import write

        write(self, path, hardware)

    def plot(self, path: str | None = None) -> Any:
        """A picture of target, fit, gates, error and tails; written to a file where a path is given."""
        from gateproof.numerics.fits import picture

        return picture.draw(self, path)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Fit):
            return NotImplemented
        return self._compared() == other._compared() and self.target.same(other.target)

    def __hash__(self) -> int:
        return hash((self.gate, self.target.name, self.error.lo, self.error.hi))

    def _compared(self) -> tuple[Any, ...]:
        return tuple(getattr(self, f.name) for f in fields(self) if f.name not in ("target", "elapsed"))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_formula", "finite")}

    def __copy__(self) -> Fit:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Fit:
        return self

    def __repr__(self) -> str:
        from gateproof.numerics.fits.result_json import short

        return f"<Fit {self.target.name}, K={self.k}: error {short(self.error)}, {self.status.value}>"

    def _repr_html_(self) -> str:
        from gateproof.numerics.fits.result_json import html

        return html(self)
