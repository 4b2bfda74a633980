"""A smooth formula as (P(u) + x Q(u))/D(u) with u = exp(rate x), or why no finite gate has it.

All finite gates of one sharpness are of this form, whatever their algebra, and all others are quotients of
polynomials in x and several exp(tau x). What is proved not to be one is no gate:

- a function with a branch point: gates have none in the complex plane;
- one that needs exp(g) for a g that is no line in x. By Ax's theorem (On Schanuel's conjectures, Annals of
  Mathematics 93, 1971) x, exp(tau x) for tau independent over Q, and exp(g) are algebraically independent.
  So are x, exp(tau x) and erf(g), for else its derivative, with exp(-g**2), would be algebraic over them;
- one with x squared, or with x below the line, in lowest terms, since x and exp(x) are independent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from gateproof.theory.exact import balls, polys
from gateproof.theory.exact.atoms import Frac
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.monotone import in_workspace
from gateproof.theory.exact.normal import Workspace
from gateproof.theory.exact.polys import Poly
from gateproof.theory.exact.writeback import write, write_atom, write_poly
from gateproof.theory.formula.nodes import Expr
from gateproof.theory.formula.printer import to_text

T = TypeVar("T")
Coefficients = dict[int, Poly]
NO_RATIO = "a gate is a ratio of polynomials in x and exp(tau*x), and that is none"
_BRANCHED = ("log", "sqrt", "atan")


@dataclass(frozen=True)
class Reason:
    """Why a function is no finite gate; ``every``: in no gate algebra, not only that of differences."""

    text: str
    every: bool = True


@dataclass(frozen=True)
class Form:
    """Numerators by power of x (0 and 1) and the denominator, each by power of u; the rate is positive.

    Coefficients are polynomials in generators that stand for constants; ``rational``: in none. Without u the
    rate is None.
    """

    ws: Workspace
    rate: Expr | None
    above: dict[int, Coefficients]
    below: Coefficients
    rational: bool

    @property
    def degree(self) -> int:
        """The degree in u of the denominator."""
        return max(self.below)


def with_form(
    expr: Expr, var: str, domain: Domain, use: Callable[[Form], T | Reason | None]
) -> T | Reason | None:
    """What ``use`` makes of the form of a formula without kinks; None where there is none or it fails."""

    def go(ws: Workspace) -> T | Reason | None:
        found = _form(ws, expr, var)
        return use(found) if isinstance(found, Form) else found

    return in_workspace(Assumptions({var: Domain(domain.lo, domain.hi)}), go)


def _form(ws: Workspace, expr: Expr, var: str) -> Form | Reason | None:
    value = ws.form(expr)
    if value.is_zero:
        return Form(ws, None, {0: {0: polys.ZERO}}, {0: polys.ONE}, True)
    if polys.is_large(value.num) or polys.is_large(value.den):
        # Common factors are not sought then.
        return None
    x = next((a.index for a in ws.atoms if a.kind == "name" and a.name == var), -1)
    moving = [i for i in value.used() if _moves(ws, i, x)]
    rational = len(moving) == len(value.used())
    lines = [i for i in moving if i != x and _is_line(ws, i, x)]
    rest = [i for i in moving if i != x and i not in lines]
    if len(lines) > 1 or len(rest) > 1:
        return None
    if rest:
        return _other(ws, value, x, lines, rest[0], rational)
    if x >= 0 and polys.degree(value.den, x):
        return Reason(f"x stays in the denominator of {_text(ws, value)}") if rational else None
    above = _by(value.num, x)
    top = max(above)
    if top > 1:
        if any(nonzero(ws, c) for c in _by(above[top], lines[0] if lines else -1).values()):
            return Reason(f"the power x**{top} stays in it; a gate is linear in x beside exponentials")
        return None
    if not lines:
        return Form(ws, None, {k: {0: c} for k, c in above.items()}, {0: value.den}, rational)
    atom = ws.atoms[lines[0]]
    assert atom.arg is not None
    rate = ws.mul(ws.number(atom.step), ws.div(atom.arg, Frac(polys.GENS[x], polys.ONE)))
    if balls.sign_of_constant(write(ws, rate)) != 1:
        return None
    u = lines[0]
    return Form(ws, write(ws, rate), {k: _by(c, u) for k, c in above.items()}, _by(value.den, u), rational)


def _by(p: Poly, i: int) -> Coefficients:
    return polys.coefficients_in(p, i) if i >= 0 else {0: p}


def nonzero(ws: Workspace, c: Poly) -> bool:
    """Whether a constant is surely not 0."""
    if c.is_constant():
        return not c.is_zero()
    return balls.sign_of_constant(write_poly(ws, c)) is not None


def _text(ws: Workspace, value: Frac) -> str:
    return to_text(write(ws, value))


def _moves(ws: Workspace, i: int, x: int) -> bool:
    """Whether a generator depends on the name."""
    arg = ws.atoms[i].arg
    return i == x or (arg is not None and any(_moves(ws, j, x) for j in arg.used()))


def _is_line(ws: Workspace, i: int, x: int) -> bool:
    """Whether it is exp(c x)."""
    atom = ws.atoms[i]
    if atom.kind != "exp" or atom.arg is None or x < 0:
        return False
    return not any(_moves(ws, j, x) for j in ws.div(atom.arg, Frac(polys.GENS[x], polys.ONE)).used())


def _other(ws: Workspace, value: Frac, x: int, lines: list[int], i: int, rational: bool) -> Reason | None:
    """One generator beside x and at most one exp(c x): a branch point, or an exponential of no line."""
    atom = ws.atoms[i]
    assert atom.arg is not None
    inside = [j for j in atom.arg.used() if _moves(ws, j, x)]
    if not _depends(ws, value, i, [x, *lines], rational):
        return None
    more = [j for j in inside if j != x]
    if not all(_is_line(ws, j, x) for j in more) or len({*lines, *more}) > 1:
        return None
    name = to_text(write_atom(ws, atom))
    known = len(inside) == len(atom.arg.used())
    if atom.kind == "erf":
        if inside != [x] or not _grows(ws, atom.arg, x):
            return None
        return Reason(f"{name} stays in it; {NO_RATIO}")
    if atom.kind == "exp":
        if not known and any(_moves(ws, j, x) for j in polys.used(atom.arg.den)):
            return None
        return Reason(f"{name} stays in it; {NO_RATIO}")
    # One of x and u alone: its zeros and poles in the plane are those of a quotient of polynomials.
    if atom.kind not in _BRANCHED or len(inside) != 1 or not known:
        return None
    if inside[0] != x and len(atom.arg.num) == 1 and atom.kind != "atan":
        return None
    return Reason(f"{name} stays in it, which has branch points in the complex plane; a gate has none")


def _grows(ws: Workspace, arg: Frac, x: int) -> bool:
    """Whether it is a polynomial in x that is no constant."""
    parts = polys.coefficients_in(arg.num, x)
    return polys.degree(arg.den, x) == 0 and max(parts) > 0 and nonzero(ws, parts[max(parts)])


def _depends(ws: Workspace, value: Frac, i: int, others: list[int], rational: bool) -> bool:
    """Whether the function surely changes with generator i, for a root with its sign."""
    top, low = polys.coefficients_in(value.num, i), polys.coefficients_in(value.den, i)
    root = ws.atoms[i].kind == "sqrt"
    if rational and not root:
        return True
    if max(low) == 0:
        return any(_surely(ws, c, others) for k, c in top.items() if k % 2 or (k and not root))
    if not rational or max(top) > 1 or max(low) > 1:
        return False
    # (a + b s)/(c + d s) is the same for -s where b c = a d.
    a, b, c, d = (p.get(k, polys.ZERO) for p in (top, low) for k in (0, 1))
    return not (polys.times(b, c) - polys.times(a, d)).is_zero()


def _surely(ws: Workspace, p: Poly, others: list[int]) -> bool:
    """Whether a polynomial in generators with constants as coefficients has one that is surely not 0."""
    parts = [p]
    for i in others:
        parts = [c for part in parts for c in _by(part, i).values()]
    return any(nonzero(ws, c) for c in parts)
