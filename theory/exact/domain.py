"""Where a name ranges, and what is assumed."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from gateproof.theory.formula.nodes import Expr, Stmt
from gateproof.theory.formula.scopes import free_names


@dataclass(frozen=True)
class Domain:
    """An interval of the reals, or of the integers, without finitely many points.

    ``lo`` and ``hi`` are closed core expressions without names; None is no bound on
    that side (the infinite point itself is never in the domain).
    """

    lo: Expr | None = None
    hi: Expr | None = None
    lo_closed: bool = False
    hi_closed: bool = False
    integer: bool = False
    without: tuple[Expr, ...] = ()


@dataclass(frozen=True)
class Assumptions:
    """Names with their domains, and conditions (core statements) that hold as well."""

    domains: Mapping[str, Domain] = field(default_factory=dict)
    facts: tuple[Stmt, ...] = ()

    def __hash__(self) -> int:
        return hash((frozenset(self.domains.items()), self.facts))

    def about(self, names: Set[str]) -> Assumptions:
        """What bears on some names, straight or through facts that tie them to others.

        Fewer assumptions prove no more; what is left out would only be loaded at a cost.
        """
        tied = set(names)
        rest = [(fact, free_names(fact)) for fact in self.facts]
        while touched := [f for f in rest if f[1] & tied and not f[1] <= tied]:
            tied.update(*(found for _, found in touched))
        facts = tuple(fact for fact, found in rest if found <= tied)
        if len(facts) == len(self.facts) and self.domains.keys() <= tied:
            return self
        return Assumptions({n: d for n, d in self.domains.items() if n in tied}, facts)


@dataclass(frozen=True)
class Derivation:
    """A finished argument: steps a person can follow, and what it rests on."""

    steps: tuple[str, ...]
    trust: tuple[str, ...] = ("flint",)
