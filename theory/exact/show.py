"""Normal forms as a reader sees them: exponentials named t, products factored."""

from __future__ import annotations

from gateproof.theory.exact import polys
from gateproof.theory.exact.atoms import Frac
from gateproof.theory.exact.normal import Workspace
from gateproof.theory.exact.polys import Poly
from gateproof.theory.exact.writeback import scaled, total, write_atom
from gateproof.theory.formula.nodes import App, Expr, Num, Var, num
from gateproof.theory.formula.printer import to_text

MAX_TEXT = 400


def _names(ws: Workspace, indices: list[int]) -> dict[int, str]:
    """Short names for the exponentials among the generators."""
    taken = {a.name for a in ws.atoms}
    found: dict[int, str] = {}
    count = 0
    for i in indices:
        if ws.atoms[i].kind == "exp":
            while True:
                name = "t" if count == 0 else f"t{count}"
                count += 1
                if name not in taken:
                    break
            found[i] = name
    return found


def describe(ws: Workspace, sides: tuple[Expr, ...], left: Frac, right: Frac) -> list[str]:
    """The substitutions and the two sides as quotients of polynomials."""
    names = _names(ws, sorted({*left.used(), *right.used()}))
    steps = []
    if names:
        puts = [f"{n} = {to_text(write_atom(ws, ws.atoms[i]))}" for i, n in names.items()]
        steps.append("put " + ", ".join(puts))
    for side, value in zip(sides, (left, right), strict=True):
        before, after = to_text(side), _quotient(ws, value, names)
        if before != after:
            steps.append(f"{_short(before)} = {_short(after)}")
    return steps


def factored(ws: Workspace, value: Frac) -> str:
    """A quotient with factored numerator and denominator."""
    names = _names(ws, value.used())
    puts = [f"{n} = {to_text(write_atom(ws, ws.atoms[i]))}" for i, n in names.items()]
    text = to_text(_factors(ws, value.num, names))
    if not value.is_poly:
        text = to_text(App("div", (_factors(ws, value.num, names), _factors(ws, value.den, names))))
    return _short(text) + (f" with {', '.join(puts)}" if puts else "")


def factors_of(value: Frac) -> list[Poly]:
    """The irreducible factors of numerator and denominator."""
    return [f for part in (value.num, value.den) for f, _ in polys.factors(part)[1]]


def shown(ws: Workspace, p: Poly, within: Frac) -> str:
    """A factor of a quotient as text, with exponentials by the quotient's short names."""
    return _short(to_text(_poly(ws, p, _names(ws, within.used()))))


def _quotient(ws: Workspace, value: Frac, names: dict[int, str]) -> str:
    top = _poly(ws, value.num, names)
    return to_text(top if value.is_poly else App("div", (top, _poly(ws, value.den, names))))


def _poly(ws: Workspace, p: Poly, names: dict[int, str]) -> Expr:
    terms: list[Expr] = []
    for powers, c in polys.terms_of(p):
        parts: list[Expr] = []
        for i, e in powers:
            base = Var(names[i]) if i in names else write_atom(ws, ws.atoms[i])
            parts.append(base if e == 1 else App("pow", (base, num(e))))
        if not parts:
            terms.append(Num(c))
        else:
            terms.append(scaled(parts[0] if len(parts) == 1 else App("mul", tuple(parts)), c))
    return total(terms)


def _factors(ws: Workspace, p: Poly, names: dict[int, str]) -> Expr:
    content, found = polys.factors(p)
    parts = []
    for f, e in found:
        base = _poly(ws, f, names)
        parts.append(base if e == 1 else App("pow", (base, num(e))))
    if not parts:
        return Num(content)
    return scaled(parts[0] if len(parts) == 1 else App("mul", tuple(parts)), content)


def _short(text: str) -> str:
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 3] + "..."
