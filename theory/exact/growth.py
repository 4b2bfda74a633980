"""Leading terms as one name tends to infinity.

f ~ c exp(u) x**p log(x)**q, with c free of x and u a polynomial in x without constant
term. Asymptotic forms used: erfc(u) ~ exp(-u**2)/(u sqrt(pi)) (Abramowitz and Stegun
7.1.23), atan(u) = pi/2 - atan(1/u) for u > 0, log(1 + h) ~ h, and f(h) ~ f'(0) h for
h -> 0. Sums of terms are compared exactly; where the leading ones cancel, nothing is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from gateproof.theory.exact import calculus, functions, opaque, polys, special_forms
from gateproof.theory.exact.atoms import Frac, NeedSign
from gateproof.theory.exact.budget import Unsupported
from gateproof.theory.exact.polys import ONE, Poly
from gateproof.theory.special import find

if TYPE_CHECKING:
    from gateproof.theory.exact.normal import Workspace


@dataclass(frozen=True)
class Lead:
    """c exp(u) x**power log(x)**logs."""

    c: Frac
    u: Frac
    power: Fraction
    logs: int


class Growth:
    """Leading terms in one workspace as ``name`` tends to +infinity."""

    def __init__(self, ws: Workspace, name: str) -> None:
        self.ws = ws
        self.name = name
        self.zero = ws.number(0)
        self.index = next((a.index for a in ws.atoms if a.kind == "name" and a.name == name), None)

    def depends(self, i: int) -> bool:
        """Whether a generator depends on the name."""
        atom = self.ws.atoms[i]
        if atom.kind == "name":
            return atom.name == self.name
        return atom.arg is not None and any(self.depends(j) for j in atom.arg.used())

    def constant(self, c: Frac) -> Lead:
        """A value free of the name."""
        return Lead(c, self.zero, Fraction(0), 0)

    def of_frac(self, value: Frac) -> Lead | None:
        """The leading term of a quotient; None for 0."""
        top = self.of_poly(value.num)
        if top is None:
            return None
        bottom = self.of_poly(value.den)
        if bottom is None:
            raise Unsupported("the leading terms of a denominator cancel")
        return self.times(top, self.to_power(bottom, -1))

    def times(self, a: Lead, b: Lead) -> Lead:
        """The product."""
        ws = self.ws
        return Lead(ws.mul(a.c, b.c), ws.add(a.u, b.u), a.power + b.power, a.logs + b.logs)

    def to_power(self, a: Lead, n: int) -> Lead:
        """An integer power."""
        ws = self.ws
        return Lead(ws.power(a.c, n), ws.mul(ws.number(n), a.u), n * a.power, n * a.logs)

    def of_poly(self, p: Poly) -> Lead | None:
        """The leading term of a polynomial; None for 0."""
        if p.is_zero():
            return None
        expanded = self._expanded(p)
        if not expanded.is_poly:
            return self.of_frac(expanded)
        if expanded.is_zero:
            return None
        best: Lead | None = None
        for powers, c in polys.terms_of(expanded.num):
            term = self.constant(self.ws.number(c))
            for i, e in powers:
                term = self.times(term, self.to_power(self.of_generator(i), e))
            if best is None:
                best = term
                continue
            order = self.compare(term, best)
            if order > 0:
                best = term
            elif order == 0:
                best = Lead(self.ws.add(best.c, term.c), best.u, best.power, best.logs)
        assert best is not None
        signs = self.ws.signs.of_frac(best.c)
        if signs == {0}:
            raise Unsupported("leading terms cancel")
        if 0 in signs:
            raise NeedSign(self.ws.signs.question(best.c))
        return best

    def bounded_limit(self, value: Frac) -> Frac | None:
        """The limit term by term, where no term grows: leading terms may cancel here."""
        top = self._expanded(value.num)
        if not top.is_poly:
            return None
        bottom = self.of_poly(value.den)
        if bottom is None:
            return None
        divisor, one = self.to_power(bottom, -1), self.constant(self.ws.number(1))
        total = self.zero
        for powers, c in polys.terms_of(top.num):
            term = self.times(self.constant(self.ws.number(c)), divisor)
            for i, e in powers:
                term = self.times(term, self.to_power(self.of_generator(i), e))
            order = self.compare(term, one)
            if order > 0:
                return None
            if order == 0:
                total = self.ws.add(total, term.c)
        return total

    def compare(self, a: Lead, b: Lead) -> int:
        """1 where a outgrows b, 0 where they are of one order."""
        grows = self.direction(self.ws.sub(a.u, b.u))
        if grows:
            return grows
        x, y = (a.power, a.logs), (b.power, b.logs)
        return (x > y) - (x < y)

    def direction(self, u: Frac) -> int:
        """1 or -1 for a polynomial in the name that tends to +-infinity, 0 for 0."""
        if u.is_zero:
            return 0
        lead = self._leading_coefficient(u)
        if lead is None:
            raise Unsupported("an exponent that is no polynomial")
        signs = self.ws.signs.of_frac(lead)
        if len(signs) != 1:
            raise NeedSign(self.ws.signs.question(lead))
        if 0 in signs:
            raise Unsupported("an exponent of lower degree than it seems")
        return next(iter(signs))

    def _leading_coefficient(self, u: Frac) -> Frac | None:
        i = self.index
        if i is None or any(self.depends(j) for j in polys.used(u.den)):
            return None
        if any(self.depends(j) and j != i for j in polys.used(u.num)):
            return None
        n = polys.degree(u.num, i)
        if n < 1:
            return None
        return self.ws.frac(polys.coefficients_in(u.num, i)[n], u.den)

    def infinite(self, value: Frac) -> tuple[int, Lead]:
        """(1 or -1, lead) where a value tends to +-infinity, (0, lead) else."""
        lead = self.of_frac(value)
        if lead is None:
            return 0, self.constant(self.zero)
        if self.compare(lead, self.constant(self.ws.number(1))) <= 0:
            return 0, lead
        return self.ws.settle(lead.c, strict=True), lead

    def _expanded(self, p: Poly) -> Frac:
        """Logs, erf and atan of large arguments written as a main part and a small rest."""
        ws = self.ws
        total = Frac(p, ONE)
        for i in polys.used(p):
            if not self.depends(i):
                continue
            new = self._main_part(i)
            if new is not None:
                total = _put(ws, total, i, new)
        return total

    def _main_part(self, i: int) -> Frac | None:
        ws = self.ws
        atom = ws.atoms[i]
        if atom.arg is None:
            return None
        if atom.kind == "log":
            lead = self.of_frac(atom.arg)
            if lead is None or (lead.u.is_zero and lead.power == 0):
                return None
            if lead.u.is_zero:
                return self._log_of_power(atom.arg, lead)
            small = functions.exp(ws, Frac(-lead.u.num, lead.u.den))
            rest = ws.atom("log", ws.mul(atom.arg, small))
            return ws.add(lead.u, Frac(rest, ONE))
        if atom.kind not in ("erf", "atan"):
            return None
        side, _ = self.infinite(atom.arg)
        if side == 0:
            return None
        if atom.kind == "erf":
            tail = Frac(ws.atom("erfc", ws.mul(ws.number(side), atom.arg)), ONE)
            return ws.mul(ws.number(side), ws.sub(ws.number(1), tail))
        half = ws.mul(Frac(ws.atom("pi"), ONE), ws.number(Fraction(side, 2)))
        return ws.sub(half, opaque.atan(ws, ws.div(ws.number(1), atom.arg)))

    def _log_of_power(self, arg: Frac, lead: Lead) -> Frac | None:
        """log(v) = p log(x) + log(v/x**p)."""
        ws = self.ws
        assert self.index is not None
        name = Frac(polys.GENS[self.index], ONE)
        if lead.power.denominator != 1 or lead.logs or arg == name:
            return None
        rest = ws.div(arg, ws.power(name, int(lead.power)))
        main = ws.mul(ws.number(lead.power), Frac(ws.atom("log", name), ONE))
        if rest == ws.number(1):
            return main
        return ws.add(main, Frac(ws.atom("log", rest), ONE))

    def of_generator(self, i: int) -> Lead:
        """The leading term of one generator."""
        ws = self.ws
        atom = ws.atoms[i]
        generator = Frac(polys.GENS[i], ONE)
        if not self.depends(i):
            return self.constant(generator)
        if atom.kind == "name":
            return Lead(ws.number(1), self.zero, Fraction(1), 0)
        assert atom.arg is not None
        if atom.kind == "exp":
            if self._leading_coefficient(atom.arg) is not None:
                u = ws.mul(ws.number(atom.step), atom.arg)
                return Lead(ws.number(1), u, Fraction(0), 0)
            return self._finite(atom.kind, ws.mul(ws.number(atom.step), atom.arg))
        if atom.kind == "erfc":
            return self._erfc(atom.arg)
        if atom.kind == "sqrt":
            lead = self.of_frac(atom.arg)
            if lead is None or lead.logs:
                raise Unsupported("a root")
            half = ws.number(Fraction(1, 2))
            return Lead(functions.sqrt(ws, lead.c), ws.mul(half, lead.u), lead.power / 2, 0)
        if atom.kind == "log":
            return self._log(atom.arg)
        return self._finite(atom.kind, atom.arg)

    def _erfc(self, arg: Frac) -> Lead:
        ws = self.ws
        lead = self.of_frac(arg)
        if lead is None or not lead.u.is_zero or lead.logs or not arg.is_poly:
            raise Unsupported("erfc")
        square = ws.mul(arg, arg)
        root = functions.sqrt(ws, Frac(ws.atom("pi"), ONE))
        exponent = Frac(-square.num, square.den)
        if self._constant_term(exponent):
            raise Unsupported("a shifted exponent")
        return Lead(ws.div(ws.number(1), ws.mul(lead.c, root)), exponent, -lead.power, 0)

    def _constant_term(self, u: Frac) -> bool:
        assert self.index is not None
        return 0 in polys.coefficients_in(u.num, self.index)

    def _log(self, arg: Frac) -> Lead:
        ws = self.ws
        lead = self.of_frac(arg)
        if lead is None or not lead.u.is_zero or lead.logs:
            raise Unsupported("log")
        if lead.power != 0:
            return Lead(ws.number(lead.power), self.zero, Fraction(0), 1)
        if lead.c == ws.number(1):
            small = self.of_frac(ws.sub(arg, ws.number(1)))
            if small is None:
                raise Unsupported("log of 1")
            return small
        return self.constant(functions.log(ws, lead.c))

    def _special(self, kind: str, lead: Lead) -> Lead:
        """A special function whose argument tends to a point inside its domain, where it is not 0."""
        ws = self.ws
        at = lead.c if self.compare(lead, self.constant(ws.number(1))) == 0 else ws.number(0)
        special = find(kind)
        if special is None or not calculus.inside(ws, special, at, smooth=True):
            raise Unsupported(kind)
        value = special_forms.form(ws, kind, at)
        if 0 in ws.signs.of_frac(value):
            raise Unsupported("a value that may be 0")
        return self.constant(value)

    def _finite(self, kind: str, arg: Frac) -> Lead:
        """Functions continuous at the finite limit of their argument."""
        ws = self.ws
        side, lead = self.infinite(arg)
        if side:
            raise Unsupported(f"{kind} of a large argument")
        if find(kind) is not None:
            return self._special(kind, lead)
        to_zero = lead.c.is_zero or self.compare(lead, self.constant(ws.number(1))) < 0
        if to_zero:
            if kind in ("exp", "cos"):
                return self.constant(ws.number(1))
            factor = ws.number(1)
            if kind == "erf":
                root = functions.sqrt(ws, Frac(ws.atom("pi"), ONE))
                factor = ws.div(ws.number(2), root)
            elif kind not in ("atan", "asin", "sin"):
                raise Unsupported(kind)
            return self.times(self.constant(factor), lead)
        value = opaque.RULES[kind](ws, lead.c)
        if 0 in ws.signs.of_frac(value):
            raise Unsupported("a value that may be 0")
        return self.constant(value)


def _put(ws: Workspace, value: Frac, i: int, new: Frac) -> Frac:
    """A generator replaced by a quotient."""
    total = ws.number(0)
    for k, part in polys.coefficients_in(value.num, i).items():
        total = ws.add(total, ws.mul(Frac(part, ONE), ws.power(new, k)))
    return total if value.is_poly else ws.div(total, _put(ws, Frac(value.den, ONE), i, new))
