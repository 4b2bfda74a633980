"""Tail arithmetic (docs/certificates.md): what an expression does far out, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from gateproof.theory.formula.nodes import Expr


class Term(NamedTuple):
    """c * x**k * exp(-a*x) with c >= 0, a >= 0."""

    c: Fraction
    k: int
    a: Fraction


@dataclass(frozen=True)
class Expansion:
    """value = sum poly[j] x**j + R with |R| <= sum of the remainder terms, for x >= start."""

    poly: dict[int, Fraction]
    remainder: tuple[Term, ...]
    start: Fraction


@dataclass(frozen=True)
class Growing:
    """sign * value >= c * x**k > 0 for x >= start, and grows without bound."""

    sign: int
    c: Fraction
    k: int
    start: Fraction


@dataclass(frozen=True)
class NoForm:
    """No tail form; false in a condition."""

    reason: str

    def __bool__(self) -> bool:
        return False


def tail_form(expr: Expr, var: str, side: str, start: Fraction) -> Expansion | Growing | NoForm:
    """The form of a core expression in one variable for x >= start > 0; side '-': of f(-x)."""
    raise NotImplementedError


def tail_bounds(form: Expansion | Growing, start: Fraction) -> tuple[Fraction | None, Fraction | None]:
    """Rational lower and upper bounds on [start, oo), start >= form.start; None is infinite."""
    raise NotImplementedError


def limit(form: Expansion | Growing) -> Fraction | int | None:
    """The limit: a Fraction, or the ints 1 and -1 for +oo and -oo; None if the form does not fix it."""
    raise NotImplementedError
