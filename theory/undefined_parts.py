"""Where a function of one variable has no real value: points and intervals, exactly.

The line is cut at every zero of what must have a sign (an argument of log or sqrt, a
denominator) and at every kink. Between two cuts all of these keep their signs, so one
point speaks for the whole interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from gateproof.theory.exact import balls, roots
from gateproof.theory.exact.defined import conditions, prove_defined
from gateproof.theory.exact.derivative import kinks
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.monotone import in_workspace
from gateproof.theory.exact.normal import Workspace
from gateproof.theory.exact.piecewise import linear_root
from gateproof.theory.exact.undefined import is_undefined
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.rewriting import mentions
from gateproof.theory.zeros import ascending, tidy


@dataclass(frozen=True)
class Part:
    """An interval (a point where lo = hi) with its ends in or out; None is an infinite end."""

    lo: Expr | None
    hi: Expr | None
    lo_in: bool
    hi_in: bool


@lru_cache(maxsize=1024)
def undefined_parts(expr: Expr, var: str = "x") -> tuple[Part, ...] | None:
    """All reals at which a core expression has no value, ascending; None where not determined."""
    if prove_defined(expr, Assumptions({var: Domain()})) is not None:
        return ()
    cuts = _cuts(expr, var)
    if cuts is None:
        return None
    cells: list[tuple[Part, bool]] = []
    ends: list[Expr | None] = [None, *cuts, None]
    for lo, hi in pairwise(ends):
        if lo is not None:
            missing = _at(substitute(expr, {var: lo}))
            if missing is None:
                return None
            cells.append((Part(lo, lo, lo_in=True, hi_in=True), missing))
        missing = _between(expr, var, lo, hi)
        if missing is None:
            return None
        cells.append((Part(lo, hi, lo_in=False, hi_in=False), missing))
    return _joined(cells)


def defined_parts(parts: tuple[Part, ...]) -> tuple[Domain, ...]:
    """The open intervals between the undefined parts, from left to right."""
    found: list[Domain] = []
    lo: Expr | None = None
    for part in parts:
        if part.lo is not None and part.lo != lo:
            found.append(Domain(lo, part.lo))
        lo = part.hi
    return (*found, Domain(lo, None)) if not parts or lo is not None else tuple(found)


def _cuts(expr: Expr, var: str) -> tuple[Expr, ...] | None:
    targets = dict.fromkeys(kinks(expr, var))
    for node in expr.walk():
        if not isinstance(node, App):
            continue
        needed = [(node.args[0], None)] if node.head == "pow" else conditions(node)
        if needed is None:
            return None
        if node.head == "pow":
            if mentions(node.args[1], var):
                # (-1)**x has values at whole numbers and hardly anywhere else.
                return None
            n = constant_value(node.args[1])
            if n is not None and n.denominator == 1 and n >= 0:
                continue
        targets.update((_bare(e), None) for e, _ in needed if mentions(e, var))
    found: list[Expr] = []
    for target in targets:
        line = linear_root(target, var)
        if line is not None:
            found.append(line)
            continue
        zeros = in_workspace(Assumptions({var: Domain()}), lambda ws, t=target: _roots(ws, t, var))  # type: ignore[misc]
        if zeros is None:
            return None
        found += [tidy(z) for z in zeros]
    return ascending(found)


def _bare(node: Expr) -> Expr:
    """abs(u), sign(u) and sqrt(u) have the zeros of u."""
    while isinstance(node, App) and node.head in ("abs", "sign", "sqrt"):
        node = node.args[0]
    return node


def _roots(ws: Workspace, target: Expr, var: str) -> list[Expr] | None:
    value = ws.form(target)
    found: list[Expr] = []
    for side in (value.num, value.den):
        zeros = roots.roots_of_factors(ws, side, var)
        if zeros is None:
            return None
        found += zeros
    return found


def _at(value: Expr) -> bool | None:
    """Whether a closed expression has no value; None where not decided."""
    if prove_defined(value, Assumptions()) is not None:
        return False
    return True if is_undefined(value) else None


def _between(expr: Expr, var: str, lo: Expr | None, hi: Expr | None) -> bool | None:
    if prove_defined(expr, Assumptions({var: Domain(lo, hi)})) is not None:
        return False
    point = inner_point(lo, hi)
    return None if point is None else _at(substitute(expr, {var: Num(point)}))


def inner_point(lo: Expr | None, hi: Expr | None) -> Fraction | None:
    """A rational strictly between two closed expressions (None: infinite), short where it can be."""
    low = balls.rational_bounds(lo) if lo is not None else None
    high = balls.rational_bounds(hi) if hi is not None else None
    if (lo is not None and low is None) or (hi is not None and high is None):
        return None
    if low is None and high is None:
        return Fraction(0)
    if low is None and high is not None:
        return Fraction(high[0].__floor__() - 1)
    if high is None and low is not None:
        return Fraction(low[1].__ceil__() + 1)
    assert low is not None
    assert high is not None
    if low[1] >= high[0]:
        return None
    middle, room = (low[1] + high[0]) / 2, (high[0] - low[1]) / 4
    size = 1
    while Fraction(1, size) > room:
        size *= 2
    return Fraction((middle * size).__round__(), size)


def _joined(cells: list[tuple[Part, bool]]) -> tuple[Part, ...]:
    """Neighbours without values made one."""
    found: list[Part] = []
    open_run = False
    for part, missing in cells:
        if missing and open_run:
            last = found[-1]
            found[-1] = Part(last.lo, part.hi, last.lo_in, part.hi_in)
        elif missing:
            found.append(part)
        open_run = missing
    return tuple(found)
