"""An activation as mean field theory needs it: derivatives, kinks with their jumps, parity, ends."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Protocol

from gateproof.numerics.points import compare
from gateproof.theory.asymptotes import Asymptote, NoAsymptote
from gateproof.theory.exact.derivative import derivative
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.kernels import minus, plus
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.facts import facts
from gateproof.theory.formula import (
    FormulaError,
    arities,
    expand,
    free_names,
    parse_expr,
    substitute,
    to_text,
)
from gateproof.theory.formula.nodes import App, Expr, Num, Var, num
from gateproof.theory.gate import Gate
from gateproof.theory.pieces import pieces_of

X = "x"
#: Nodes of a formula whose third derivative is still written out.
MAX_SIZE = 4_000


class RefusedActivation(ValueError):
    """An activation that the mean field cannot take; the message says why and what to do instead."""


class NoActivation(RefusedActivation, TypeError):
    """What is neither text nor an expression nor a gate."""


class HasGate(Protocol):
    """A fit: what carries a gate with exact numbers."""

    @property
    def gate(self) -> Gate:
        """The gate."""
        ...


Target = str | Expr | Gate | HasGate


@dataclass(frozen=True)
class Corner:
    """A place where the activation is C^order and not C^(order+1); order -1 is a jump.

    ``at`` and the jumps (right limit minus left limit of phi, phi', phi'') are closed core expressions.
    """

    at: Expr
    order: int
    jump: Expr
    slope_jump: Expr
    curvature_jump: Expr


@dataclass(frozen=True)
class Branch:
    """On (lo, hi), None for an infinite end, the activation is the smooth formula ``expr`` in x."""

    lo: Expr | None
    hi: Expr | None
    expr: Expr
    slope: Expr
    curvature: Expr
    third: Expr


@dataclass(frozen=True)
class Phi:
    """An activation R -> R; build it by :func:`phi`.

    ``expr`` and its derivatives ``slope``, ``curvature``, ``third`` are core expressions in x, the
    derivatives valid away from the ``kinks``; ``branches`` are the smooth formulas between these, left to
    right. ``parity`` is 1 (even), -1 (odd), 0 (neither is proved); ``homogeneous`` is True where
    phi(a x) = a phi(x) for all a > 0 is proved. ``left`` and ``right`` are the lines approached at -oo and
    oo, or why there is none, or None where that was not decided.
    """

    text: str
    expr: Expr
    slope: Expr
    curvature: Expr
    third: Expr
    kinks: tuple[Corner, ...]
    branches: tuple[Branch, ...]
    parity: int
    homogeneous: bool
    left: Asymptote | NoAsymptote | None
    right: Asymptote | NoAsymptote | None

    @property
    def has_jump(self) -> bool:
        """Whether phi itself jumps, so that E phi'^2 and chi_1 are infinite."""
        return self.infinite_energy(1)

    @property
    def has_corner(self) -> bool:
        """Whether phi' jumps, so that E phi''^2 is infinite and correlations converge like l^-2."""
        return self.infinite_energy(2)

    def infinite_energy(self, order: int) -> bool:
        """Whether E phi^(order)(u)^2 is infinite: a lower derivative jumps, so that it squares a delta."""
        return any(k.order <= order - 2 for k in self.kinks)

    @cached_property
    def piecewise_linear(self) -> bool:
        """Whether every branch is a line, by its formula."""
        return all(b.curvature == num(0) for b in self.branches)


def must_be_continuous(phi: Phi) -> None:
    """Raise RefusedActivation where phi jumps."""
    if phi.has_jump:
        raise RefusedActivation(
            f"the activation {phi.text!r:.60} jumps, so that chi_1 is infinite everywhere"
        )


def phi(target: Target) -> Phi:
    """The activation of a zoo name ('gelu'), a formula in x, a core expression in x, a gate or a fit.

    Raises RefusedActivation where the text is no formula in x, where the function has no value somewhere on
    R, where its kinks cannot be placed, and where a derivative is too long to be written out.
    """
    if isinstance(target, str):
        return _of_core(_core(target), target.strip())
    gate = target if isinstance(target, Gate) else getattr(target, "gate", None)
    if isinstance(gate, Gate):
        return _of_core(expand(gate.expression()), gate.text)
    if isinstance(target, Expr):
        return _of_core(expand(target), to_text(target))
    raise NoActivation(f"an activation is a name, a formula, a gate or a fit, found {type(target).__name__}")


def _core(text: str) -> Expr:
    written = text.strip()
    if not written:
        raise RefusedActivation("the activation is empty; give a name, as gelu, or a formula in x")
    if written.isidentifier() and written != X:
        known = arities()
        least = known.get(written, (0, 0))
        if least[0] > 1 or least == (0, 0):
            near = get_close_matches(written, [n for n, (low, _) in known.items() if low <= 1], 1, 0.75)
            hint = f"did you mean {near[0]!r}?" if near else "give a name, as gelu, or a formula in x"
            raise RefusedActivation(f"the activation {written!r:.60} is not known; {hint}")
        written = f"{written}(x)"
    try:
        return expand(parse_expr(written))
    except FormulaError as error:
        raise RefusedActivation(f"the activation {text.strip()!r:.60}: {error}") from None
    except RecursionError:
        raise RefusedActivation("the activation is nested too deeply") from None


@lru_cache(maxsize=256)
def _of_core(expr: Expr, text: str) -> Phi:
    name = f"the activation {text!r:.60}"
    others = sorted(free_names(expr) - {X})
    if others:
        raise RefusedActivation(f"{name}: {others[0]!r} is not x; give it a value")
    derivatives = _derivatives(expr, name)
    found = facts(expr, X)
    if found.undefined is None:
        raise RefusedActivation(f"{name}: it was not shown to have a value everywhere on R")
    if found.undefined:
        raise RefusedActivation(f"{name} has no value at some x; a normal input reaches all of R")
    pieces = pieces_of(expr, X)
    if found.kinks is None or pieces is None:
        raise RefusedActivation(f"{name}: its kinks were not placed; write it by where(..) at plain points")
    branches = tuple(Branch(p.domain.lo, p.domain.hi, p.expr, *_derivatives(p.expr, name)) for p in pieces)
    orders = {k.at if isinstance(k.at, Expr) else Num(k.at): k.order for k in found.kinks}
    kinks = tuple(
        _corner(left, right, right.lo, orders[right.lo])
        for left, right in pairwise(branches)
        if right.lo is not None and right.lo in orders
    )
    parity = {"even": 1, "odd": -1}.get(found.parity or "", 0)
    ends = found.left, found.right
    return Phi(text, expr, *derivatives, kinks, branches, parity, _homogeneous(expr, branches), *ends)


def _derivatives(expr: Expr, name: str) -> tuple[Expr, Expr, Expr]:
    """The first three derivatives away from kinks."""
    made = []
    for _ in range(3):
        slope = derivative(expr, X)
        if slope is None or slope.size > MAX_SIZE:
            raise RefusedActivation(f"{name}: its derivatives are too long to be written out")
        made.append(slope)
        expr = slope
    return made[0], made[1], made[2]


def _corner(left: Branch, right: Branch, at: Expr, order: int) -> Corner:
    """The corner where two branches meet; jumps below its order are 0."""
    pairs = ((left.expr, right.expr), (left.slope, right.slope), (left.curvature, right.curvature))
    here = {X: at}
    jumps = [
        num(0) if k <= order else plus(substitute(b, here), minus(substitute(a, here)))
        for k, (a, b) in enumerate(pairs)
    ]
    return Corner(at, order, *jumps)


def _homogeneous(expr: Expr, branches: tuple[Branch, ...]) -> bool:
    """Whether each half line has phi(x) = x phi(1) or x |phi(-1)|: kinks at 0 alone, and lines through it."""
    # Branches are open: 1 - sign(x)**2 is 0 on both, and 1 at 0 itself.
    value = substitute(expr, {X: num(0)})
    if compare(value, num(0)) != 0 and prove_relation(value, "==", num(0), Assumptions()) is None:
        return False
    if len(branches) > 2 or (len(branches) == 2 and branches[0].hi != num(0)):
        return False
    for branch in branches:
        slope = substitute(branch.slope, {X: num(1 if branch.hi is None else -1)})
        line = App("mul", (slope, Var(X)))
        if prove_relation(branch.expr, "==", line, Assumptions({X: Domain(branch.lo, branch.hi)})) is None:
            return False
    return True
