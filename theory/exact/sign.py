"""The signs that a polynomial can take, from facts and from its form.

A result is a set of possible signs: always a superset of the signs really taken, so
{1} proves positivity and {-1, 0, 1} says nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gateproof.theory.exact import domain_facts, exp_rules, polys, sign_rules
from gateproof.theory.exact.atoms import Frac, NeedSign
from gateproof.theory.exact.bounds import ALL, atom_range
from gateproof.theory.exact.budget import Unsupported
from gateproof.theory.exact.linear_rule import all_infeasible
from gateproof.theory.exact.polys import ONE, Poly, UndefinedValue
from gateproof.theory.formula.nodes import And, Rel, Stmt

if TYPE_CHECKING:
    from gateproof.theory.exact.normal import Workspace
    from gateproof.theory.exact.univariate import Range

Signs = frozenset[int]
MAX_DEPTH = 10
MAX_CALLS = 1_500


def product(a: Signs, b: Signs) -> Signs:
    """Signs of a product."""
    return frozenset(x * y for x in a for y in b)


def squared(a: Signs) -> Signs:
    """Signs of a square."""
    return frozenset(x * x for x in a)


class SignTable:
    """Facts on signs, and the question what sign a polynomial has."""

    def __init__(self, ws: Workspace) -> None:
        self.ws = ws
        self.facts: dict[str, tuple[Poly, Signs]] = {}
        self.ranges: dict[int, Range] = {}
        self.ends: dict[str, list[tuple[Frac, Signs]]] = {}
        self.used_balls = False
        #: Leave out the rules that differentiate.
        self.cheap = False
        #: What settled the sign of a polynomial: the first line of the rule's description.
        self.why: dict[str, str] = {}
        self._memo: dict[str, Signs] = {}
        self._open: set[str] = set()
        self._calls = 0
        self._cut = 0

    # --- facts ---------------------------------------------------------------

    def load(self) -> None:
        """Take in the domains of the names and the further facts."""
        domain_facts.load_domains(self)
        for fact in self.ws.assumptions.facts:
            self.take(fact)

    def take(self, fact: Stmt) -> None:
        """A condition that holds; what cannot be used is left out."""
        from gateproof.theory.exact.conditions import ALLOWED

        if isinstance(fact, And):
            for part in fact.parts:
                self.take(part)
        elif isinstance(fact, Rel):
            for i, op in enumerate(fact.ops):
                try:
                    u = self.ws.sub(self.ws.form(fact.terms[i]), self.ws.form(fact.terms[i + 1]))
                except (NeedSign, Unsupported, UndefinedValue):
                    continue
                self.add(u, ALLOWED[op])

    def add(self, u: Frac, signs: Signs) -> None:
        """A fact on a quotient, kept as a fact on a product of irreducible factors."""
        if u.is_zero:
            return
        content, parts = polys.factors(polys.times(u.num, u.den))
        if content < 0:
            signs = product(signs, frozenset({-1}))
        rest: list[tuple[Poly, int]] = []
        for f, e in parts:
            known = self.of(f)
            if known == {1} or (e % 2 == 0 and 0 not in known):
                continue
            if known == {-1}:
                signs = product(signs, frozenset({(-1) ** e}))
                continue
            rest.append((f, e))
        if len(rest) == 1 and rest[0][1] % 2 == 0:
            if signs == {1}:
                self._store(rest[0][0], frozenset({-1, 1}))
            elif 1 not in signs:
                self._store(rest[0][0], frozenset({0}))
        elif all(e % 2 for _, e in rest) and rest:
            whole = ONE
            for f, _ in rest:
                whole = polys.times(whole, f)
            self._store(whole, signs)

    def _store(self, p: Poly, signs: Signs) -> None:
        content, q = polys.content_signed(p)
        if content < 0:
            signs = product(signs, frozenset({-1}))
        label = polys.key(q)
        old = self.facts.get(label, (q, ALL))[1]
        self.facts[label] = (q, old & signs)
        self._memo.clear()
        self.ranges.clear()

    # --- questions -----------------------------------------------------------

    def of_frac(self, u: Frac) -> Signs:
        """Signs of a quotient where it has a value."""
        bottom = self.of(u.den) - {0}
        return product(self.of(u.num), bottom)

    def of(self, p: Poly) -> Signs:
        """Signs of a polynomial."""
        if p.is_zero():
            return frozenset({0})
        content, parts = polys.factors(p)
        result: Signs = frozenset({1 if content > 0 else -1})
        odd: list[Poly] = []
        for f, e in parts:
            signs = self._irreducible(f)
            if e % 2:
                odd.append(f)
            result = product(result, signs if e % 2 else squared(signs))
        if len(odd) > 1:
            result = result & self._by_product(odd, parts, 1 if content > 0 else -1)
        return result

    def _by_product(self, odd: list[Poly], parts: list[tuple[Poly, int]], unit: int) -> Signs:
        """Facts on a product whose factors have no known sign each."""
        whole = ONE
        for f in odd:
            whole = polys.times(whole, f)
        content, q = polys.content_signed(whole)
        known = self.facts.get(polys.key(q), (q, ALL))[1]
        result = product(known, frozenset({unit * (1 if content > 0 else -1)}))
        for f, e in parts:
            if e % 2 == 0:
                signs = self._irreducible(f)
                result = product(result, squared(signs))
        return result

    def _irreducible(self, f: Poly) -> Signs:
        label = polys.key(f)
        if label in self._memo:
            return self._memo[label]
        if label in self._open or len(self._open) >= MAX_DEPTH or self._calls > MAX_CALLS:
            self._cut += 1
            return self.facts.get(label, (f, ALL))[1]
        self._calls += 1
        cut = self._cut
        self._open.add(label)
        try:
            signs = self.facts.get(label, (f, ALL))[1]
            for rule in self._rules():
                if len(signs) == 1:
                    break
                found = self._attempt(rule, f)
                if not signs <= found:
                    self.why[label] = (rule.__doc__ or "").split("\n")[0].rstrip(".")
                signs = signs & found
        finally:
            self._open.discard(label)
        outermost = not self._open and not self.cheap
        if outermost or len(signs) == 1 or cut == self._cut:
            self._memo[label] = signs
        return signs

    def _rules(self) -> tuple[Callable[[SignTable, Poly], Signs], ...]:
        if self.cheap:
            self._cut += 1
            return sign_rules.CHEAP
        return sign_rules.RULES

    def _attempt(self, rule: Callable[[SignTable, Poly], Signs], f: Poly) -> Signs:
        try:
            return rule(self, f)
        except (Unsupported, NeedSign, UndefinedValue):
            return ALL

    def of_atom(self, i: int) -> Signs:
        """Signs of a generator."""
        known = atom_range(self, i)
        signs = self.facts.get(polys.key(polys.GENS[i]), (ONE, ALL))[1]
        if known.lo is not None and known.lo >= 0:
            signs = signs - {-1} if known.lo_closed and known.lo == 0 else signs - {-1, 0}
        if known.hi is not None and known.hi <= 0:
            signs = signs - {1} if known.hi_closed and known.hi == 0 else signs - {1, 0}
        return signs

    def contradictory(self) -> bool:
        """Whether the facts exclude each other: nothing is left to show."""
        if any(not signs for _, signs in self.facts.values()):
            return True
        if any(atom_range(self, i).is_empty for i in range(len(self.ws.atoms))):
            return True
        return all_infeasible(self)

    def question(self, u: Frac) -> Poly:
        """A simplest factor whose sign is not known and decides the sign of the quotient."""
        unknown: list[Poly] = []
        for part in (u.den, u.num):
            unknown += [f for f, _ in polys.factors(part)[1] if len(self.of(f)) > 1]
        if not unknown:
            raise Unsupported("no sign to ask for")
        simplest = min(unknown, key=lambda f: (len(polys.used(f)), f.total_degree(), len(f)))
        deeper = exp_rules.exponent_of_binomial(self.ws, simplest)
        if deeper is not None and not deeper.is_zero:
            return self.question(deeper)
        return simplest
