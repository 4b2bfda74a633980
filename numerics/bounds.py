"""Proving bounds on a box: branch and bound with certificates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gateproof.theory.formula.nodes import Expr

#: Closed ranges of names; None is infinite.
Box = Mapping[str, tuple[Fraction | None, Fraction | None]]


@dataclass(frozen=True)
class Budget:
    """How much work may be done: boxes looked at, and bits of precision."""

    boxes: int = 20_000
    max_bits: int = 2_048


@dataclass(frozen=True)
class Outcome:
    """What became of a bound.

    ``status`` is 'proved' (with ``certificate``), 'violated' (``point`` is an exact
    point of the box, ``value`` rational bounds of the expression there, which break
    the bound), 'undefined' (``point``: no real value there) or 'unknown' (``reason``).
    """

    status: str
    certificate: dict[str, Any] | None = None
    point: Mapping[str, Fraction] | None = None
    value: tuple[Fraction, Fraction] | None = None
    reason: str = ""
    boxes: int = 0


def prove_bounds(
    expr: Expr,
    box: Box,
    *,
    lower: Fraction | None = None,
    upper: Fraction | None = None,
    lower_strict: bool = False,
    upper_strict: bool = False,
    budget: Budget | None = None,
    text: str = "",
    open_ends: frozenset[tuple[str, str]] = frozenset(),
    seed: int = 0,
) -> Outcome:
    """Decide lower <= expr <= upper on the box (core expression).

    ``open_ends`` lists ends not in the domain as (name, 'lo'|'hi'); they are treated
    as closed unless the expression is undefined there. Raises nothing for what it
    cannot decide: the outcome says so.
    """
    raise NotImplementedError
