"""The domain that is asked for: "R", "[-8, 8]", "x in [0, oo)", or a pair of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, isnan
from numbers import Rational, Real
from typing import Any

from gateproof.numerics.backends.numbers import to_float
from gateproof.numerics.fits.target import RefusedTarget
from gateproof.theory.formula import FormulaError, expand, free_names, parse_expr
from gateproof.theory.formula.nodes import Const, Expr, Extremum, IntervalSet, NamedSet
from gateproof.theory.formula.powers import constant_value

ADVICE = 'give --domain "[-8, 8]", "[0, oo)" or "R"'
#: Ends beyond these sizes, and intervals narrower than this share of their ends, leave no room in doubles.
LARGEST, NARROWEST = Fraction(10) ** 100, Fraction(1, 10**9)


@dataclass(frozen=True)
class Domain:
    """From ``lo`` to ``hi``, None at an infinite end; ``notes`` say what was rounded.

    ``open`` are the ends that were left out; there the target's limit counts.
    """

    lo: Fraction | None = None
    hi: Fraction | None = None
    notes: tuple[str, ...] = ()
    open: tuple[bool, bool] = (False, False)


def read_domain(given: Any) -> Domain | None:
    """The domain; None where none was given. Raises RefusedTarget."""
    if given is None or isinstance(given, Domain):
        return given
    out = False, False
    if isinstance(given, str):
        lo, hi, notes, out = _of_text(given)
    elif isinstance(given, tuple | list) and len(given) == 2:
        lo, hi, notes = _number(given[0], -inf), _number(given[1], inf), ()
    else:
        raise RefusedTarget(f"domain {given!r:.60}: {ADVICE}")
    for end in (lo, hi):
        if end is not None and abs(end) > LARGEST:
            raise RefusedTarget(f"domain {given!s:.60}: an end beyond 1e100 is too large")
    if lo is not None and hi is not None:
        if lo >= hi:
            raise RefusedTarget(f"domain {given!s:.60}: its left end must be below its right end")
        if hi - lo < 1 / LARGEST:
            raise RefusedTarget(f"domain {given!s:.60}: narrower than 1e-100; scale the target's x")
        if hi - lo < NARROWEST * max(abs(lo), abs(hi)):
            raise RefusedTarget(f"domain {given!s:.60}: too narrow for its distance from 0")
    return Domain(lo, hi, notes, out)


def _number(value: Any, infinite: float) -> Fraction | None:
    if value is None:
        return None
    if isinstance(value, str):
        return _end(parse_expr(value), infinite, [])
    if isinstance(value, bool) or not isinstance(value, Real):
        raise RefusedTarget(f"domain: {value!r:.40} is not a number; {ADVICE}")
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    number = float(value)
    if isnan(number) or number == -infinite:
        raise RefusedTarget(f"domain: {value!r:.40} cannot be an end; {ADVICE}")
    return None if number == infinite else Fraction(repr(number))


def _of_text(text: str) -> tuple[Fraction | None, Fraction | None, tuple[str, ...], tuple[bool, bool]]:
    wanted = text.strip()
    wanted = wanted if wanted.startswith("x in ") else f"x in {wanted}"
    try:
        node = parse_expr(f"sup(x, {wanted})")
    except (FormulaError, RecursionError):
        raise RefusedTarget(f"domain {text!r:.60}: {ADVICE}") from None
    if not isinstance(node, Extremum) or len(node.scope.binds) != 1 or node.scope.conditions:
        raise RefusedTarget(f"domain {text!r:.60}: one interval is expected; {ADVICE}")
    found = node.scope.binds[0].within
    if isinstance(found, NamedSet) and found.name == "R":
        return None, None, (), (False, False)
    if not isinstance(found, IntervalSet):
        raise RefusedTarget(f"domain {text!r:.60}: an interval of real numbers is expected; {ADVICE}")
    notes: list[str] = []
    lo, hi = _end(found.lo, -inf, notes), _end(found.hi, inf, notes)
    return (
        lo,
        hi,
        tuple(notes),
        (lo is not None and not found.lo_closed, hi is not None and not found.hi_closed),
    )


def _end(node: Expr, infinite: float, notes: list[str]) -> Fraction | None:
    """A rational end; one that is irrational becomes the double next to it."""
    from gateproof.theory.formula.printer import to_text

    written = to_text(node)
    if node == Const("oo") or written in ("oo", "-oo"):
        if (written == "oo") != (infinite > 0):
            raise RefusedTarget(f"domain: {written} is at the wrong end")
        return None
    if free_names(node):
        raise RefusedTarget(f"domain: {written} is not a number; {ADVICE}")
    core = expand(node)
    exact = constant_value(core)
    if exact is not None:
        return exact
    try:
        near = to_float(core)
    except (FormulaError, ArithmeticError):
        raise RefusedTarget(f"domain: {written} has no value; {ADVICE}") from None
    notes.append(f"the domain's end {written} is taken as {near!r}")
    return Fraction(repr(near))
