"""A set of numbers that the mean field gives, and whether it is all of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from gateproof.theory.formula.nodes import Expr


class NoValue(Exception):
    """The set has no meaning; the message says why."""


@dataclass(frozen=True)
class Element:
    """A number of the set: rational bounds, and the number itself where it is known."""

    lo: Fraction
    hi: Fraction
    exact: Expr | None = None


@dataclass(frozen=True)
class NumberSet:
    """The ``elements``, which need not be distinct, and whether it is proved that there are no others.

    ``every`` stands for all q >= 0 instead. ``searched`` says for which variances they were looked for,
    ``open`` whether some of these were left undecided, which more digits may change.
    """

    elements: tuple[Element, ...]
    complete: bool
    every: bool
    searched: str
    open: bool = False
