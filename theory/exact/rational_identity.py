"""Equal rational functions of many names: both sides over one denominator, and expanded.

Every denominator has to be a constant times names and polynomials that are not 0 in scope, so that both
sides have a value there; then a/b = c/d where a d - c b is the polynomial 0. Cheaper than the general
prover, whose workspace has few generators.
"""

from __future__ import annotations

from dataclasses import dataclass

import flint

from gateproof.theory.exact.domain import Assumptions, Derivation, Domain
from gateproof.theory.exact.polys import Poly
from gateproof.theory.formula.nodes import App, Expr, Num, Rel, Var
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

#: Terms of a polynomial, products of numbers of terms, and the highest power formed.
MAX_TERMS = 40_000
MAX_PRODUCT = 2_000_000
MAX_POWER = 60


class NotRational(ValueError):
    """An expression that is no rational function, or too large a one."""


@dataclass(frozen=True)
class Ratio:
    """A numerator over a denominator; the denominator is a known product."""

    over: Poly
    under: Poly


def prove_identity(lhs: Expr, rhs: Expr, assumptions: Assumptions) -> Derivation | None:
    """A proof that two rational functions with rational coefficients are equal throughout, or None."""
    names = sorted(free_names(lhs) | free_names(rhs))
    if not names:
        return None
    try:
        work = Rationals(names, assumptions)
        a, b = work.ratio(lhs), work.ratio(rhs)
        gap = work.sum(a, Ratio(-b.over, b.under)).over
    except NotRational:
        return None
    if len(gap):
        return None
    steps = [f"{text} != 0, a divisor" for text in work.used]
    return Derivation((*steps, "as rational functions both sides expand to the same"), ("flint",))


def prove_defined_ratio(expr: Expr, assumptions: Assumptions) -> Derivation | None:
    """A proof that a rational function has a value throughout, or None."""
    names = sorted(free_names(expr))
    if not names or not assumptions.facts:
        return None
    try:
        work = Rationals(names, assumptions)
        work.ratio(expr)
    except NotRational:
        return None
    return Derivation(tuple(f"{text} != 0, a divisor" for text in work.used), ("flint",))


class Rationals:
    """Rational functions of some names, and which polynomials are known not to be 0.

    ``defined`` says that every divisor is known to be none.
    """

    def __init__(self, names: list[str], assumptions: Assumptions, *, defined: bool = False) -> None:
        self.defined = defined
        self.context = flint.fmpq_mpoly_ctx.get(names, "lex")
        self.gens: dict[str, Poly] = dict(zip(names, self.context.gens(), strict=True))
        self.used: list[str] = []
        self.nonzero: list[tuple[Poly, str]] = []
        for name in names:
            domain = assumptions.domains.get(name)
            if domain is not None and _one_sided(domain):
                self.nonzero.append((self.gens[name], name))
        for fact in assumptions.facts:
            strict = isinstance(fact, Rel) and fact.ops in (("!=",), (">",), ("<",))
            if isinstance(fact, Rel) and strict and free_names(fact) <= set(names):
                self._know(fact)

    def _know(self, fact: Rel) -> None:
        try:
            a, b = (self.ratio(t) for t in fact.terms)
            gap = self.sum(a, Ratio(-b.over, b.under)).over
        except NotRational:
            return
        if not gap.is_constant():
            self.nonzero.append((gap, to_text(fact.terms[0]) if not len(b.over) else to_text(fact)))

    def ratio(self, node: Expr) -> Ratio:
        """The expression over one denominator."""
        one = self.context.constant(1)
        if isinstance(node, Num):
            return Ratio(self.context.constant(flint.fmpq(node.value.numerator, node.value.denominator)), one)
        if isinstance(node, Var):
            return Ratio(self.gens[node.name], one)
        if not isinstance(node, App):
            raise NotRational
        if node.head == "pow":
            return self._power(self.ratio(node.args[0]), node.args[1])
        if node.head not in ("add", "mul", "neg", "div"):
            raise NotRational
        args = [self.ratio(a) for a in node.args]
        if node.head == "neg":
            return Ratio(-args[0].over, args[0].under)
        if node.head == "div":
            over, under = args
            self._not_zero(under.over)
            return Ratio(self.times(over.over, under.under), self.times(over.under, under.over))
        found = args[0]
        for arg in args[1:]:
            found = self.sum(found, arg) if node.head == "add" else self._product(found, arg)
        return found

    def times(self, a: Poly, b: Poly) -> Poly:
        """The product, refused where it could be too large."""
        if len(a) * len(b) > MAX_PRODUCT:
            raise NotRational
        done = a * b
        if len(done) > MAX_TERMS:
            raise NotRational
        return done

    def sum(self, a: Ratio, b: Ratio) -> Ratio:
        """The sum, over the common denominator where there is one."""
        if a.under == b.under:
            return Ratio(a.over + b.over, a.under)
        quotient, rest = divmod(b.under, a.under)
        if not len(rest):
            return Ratio(self.times(a.over, quotient) + b.over, b.under)
        quotient, rest = divmod(a.under, b.under)
        if not len(rest):
            return Ratio(a.over + self.times(b.over, quotient), a.under)
        return Ratio(self.times(a.over, b.under) + self.times(b.over, a.under), self.times(a.under, b.under))

    def _product(self, a: Ratio, b: Ratio) -> Ratio:
        return Ratio(self.times(a.over, b.over), self.times(a.under, b.under))

    def _power(self, base: Ratio, exponent: Expr) -> Ratio:
        if not isinstance(exponent, Num) or exponent.value.denominator != 1:
            raise NotRational
        count = int(exponent.value)
        if abs(count) > MAX_POWER:
            raise NotRational
        if count <= 0:
            # 0**0 is left to the general prover.
            self._not_zero(base.over)
            base, count = Ratio(base.under, base.over), -count
        done = Ratio(self.context.constant(1), self.context.constant(1))
        for _ in range(count):
            done = self._product(done, base)
        return done

    def _not_zero(self, poly: Poly) -> None:
        """Raise NotRational unless the polynomial is a constant times what is known not to be 0."""
        if not len(poly):
            raise NotRational
        if self.defined:
            return
        left, used = poly, []
        for factor, text in self.nonzero:
            while not left.is_constant():
                quotient, rest = divmod(left, factor)
                if len(rest):
                    break
                left = quotient
                used.append(text)
        if not left.is_constant():
            raise NotRational
        self.used += [t for t in dict.fromkeys(used) if t not in self.used]


def _one_sided(domain: Domain) -> bool:
    """Whether an interval holds no 0 because it lies on one side of it."""
    lo, hi = domain.lo, domain.hi
    above = isinstance(lo, Num) and (lo.value > 0 or (lo.value == 0 and not domain.lo_closed))
    return above or (isinstance(hi, Num) and (hi.value < 0 or (hi.value == 0 and not domain.hi_closed)))
