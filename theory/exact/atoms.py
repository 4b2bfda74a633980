"""What a generator of a polynomial stands for, and quotients of polynomials."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from gateproof.theory.exact import polys
from gateproof.theory.exact.polys import Poly


@dataclass(frozen=True)
class Frac:
    """A reduced quotient; the denominator's leading coefficient is 1."""

    num: Poly
    den: Poly

    @property
    def is_zero(self) -> bool:
        """Whether it is identically 0."""
        return bool(self.num.is_zero())

    @property
    def is_poly(self) -> bool:
        """Whether there is no denominator."""
        return bool(self.den.is_one())

    def rational(self) -> Fraction | None:
        """The value where it is a rational number."""
        if self.num.is_zero():
            return Fraction(0)
        if self.num.is_constant() and self.den.is_one():
            return polys.constant_of(self.num)
        return None

    def key(self) -> str:
        """Equal for equal quotients only."""
        return f"{self.num}/{self.den}"

    def used(self) -> list[int]:
        """Generators in numerator or denominator."""
        return sorted({*polys.used(self.num), *polys.used(self.den)})


@dataclass(frozen=True)
class Atom:
    """One generator.

    ``kind`` is ``name``, ``pi``, or a function of ``arg``. An ``exp`` stands for
    exp(step * arg); of a ``sqrt``, a ``sin`` the square is the polynomial ``square``.
    """

    kind: str
    index: int
    arg: Frac | None = None
    step: Fraction = Fraction(1)
    square: Poly | None = None
    name: str = ""


class NeedSign(Exception):
    """The normal form depends on the sign of a quantity that is not known."""

    def __init__(self, poly: Poly) -> None:
        self.poly = poly
        super().__init__("sign needed")


class NewStep(Exception):
    """An exponential needs a finer generator: start again with this step."""

    def __init__(self, basis: str, step: Fraction) -> None:
        self.basis = basis
        self.step = step
        super().__init__(basis)
