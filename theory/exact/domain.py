"""Where a name ranges, and what is assumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gateproof.theory.formula.nodes import Expr, Stmt


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


@dataclass(frozen=True)
class Derivation:
    """A finished argument: steps a person can follow, and what it rests on."""

    steps: tuple[str, ...]
    trust: tuple[str, ...] = ("flint",)
