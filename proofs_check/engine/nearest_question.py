"""What every search for a nearest true statement looks at: one refuted part of a claim, in its scope."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from gateproof.numerics.certify import certify
from gateproof.numerics.errors import NumericsError
from gateproof.proofs_check.engine.calculus import Elimination, eliminate
from gateproof.proofs_check.engine.conditions import absorbed
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.field_values import gap_of, holds_field
from gateproof.proofs_check.engine.outcome import IllPosedError, NotYetError, UndecidedError
from gateproof.proofs_check.engine.space import Space, build
from gateproof.theory.formula import Definition, FormulaError, expand_node
from gateproof.theory.formula.nodes import (
    And,
    App,
    Const,
    Expr,
    Extremum,
    Not,
    Num,
    Or,
    Printed,
    Rel,
    Scope,
    Stmt,
    Var,
    Where,
    num,
)

#: What ends one attempt, and with it only that attempt.
STOPS = (NumericsError, IllPosedError, NotYetError, UndecidedError, FormulaError, ArithmeticError)
#: Digits of a value that becomes part of a proposal, before it is rounded to fewer.
DIGITS = 15
_PLAIN = (App, Num, Var, Const, Where, Rel, And, Or, Not)


@dataclass(frozen=True)
class Change:
    """A part to put in place of the refuted one, over a scope of its own; ``kind`` says what was changed."""

    kind: str
    part: Stmt
    scope: Scope


@dataclass(frozen=True)
class Value:
    """Rational bounds of a closed value, and its exact form where one is known; or its infinite sign."""

    lo: Fraction = Fraction(0)
    hi: Fraction = Fraction(0)
    exact: Expr | None = None
    infinite: int = 0
    attained: bool | None = None


@dataclass(frozen=True)
class Question:
    """A refuted part as it is written, and the scope it stands in."""

    scope: Scope
    part: Stmt
    extra: Mapping[str, Definition]
    context: Context

    def change(self, kind: str, part: Stmt, scope: Scope | None = None) -> Change:
        """A proposal."""
        return Change(kind, part, self.scope if scope is None else scope)

    def space(self) -> Space:
        """The expanded scope. Raises one of STOPS."""
        scope = expand_node(self.scope, self.extra)
        assert isinstance(scope, Scope)
        return absorbed(build(scope))

    def core(self, node: Expr, space: Space | None = None) -> Expr:
        """The expression in core nodes, calculus eliminated. Raises one of STOPS."""
        expanded = expand_node(node, self.extra)
        assert isinstance(expanded, Expr)
        work = Elimination(space or Space())
        found = work.expr(expanded)
        if work.owed:
            raise UndecidedError("a derivative may not exist everywhere")
        return found

    def core_statement(self, stmt: Stmt, space: Space) -> Stmt:
        """The statement in core nodes, calculus eliminated. Raises one of STOPS."""
        expanded = expand_node(stmt, self.extra)
        assert isinstance(expanded, Stmt)
        return eliminate(expanded, space)

    def value(self, node: Expr) -> Value | None:
        """The value of a closed expression as written; None where none was found."""
        exact: Expr | None = None
        try:
            expanded = expand_node(node, self.extra)
            assert isinstance(expanded, Expr)
            if holds_field(expanded):
                ends = gap_of(expanded, num(0), self.context)
                return None if ends is None else Value(*ends, None, 0, False)
            target = expanded
            try:
                target = exact = self.core(node)
            except STOPS:
                exact = None
            found = certify(target, DIGITS, self.context.budget())
        except STOPS:
            return None
        value = found.get("value")
        if found["kind"] == "infinite" and value is not None:
            return Value(infinite=-1 if str(value["lo"]).startswith("-") else 1, attained=False)
        if found["kind"] != "value" or value is None:
            return None
        plain = exact is not None and is_plain(exact)
        return Value(
            Fraction(value["lo"]), Fraction(value["hi"]), exact if plain else None, 0, found.get("attained")
        )


def is_plain(node: Expr | Stmt) -> bool:
    """Whether an expression or statement holds nothing but core nodes."""
    return all(isinstance(n, _PLAIN) for n in node.walk())


def is_literal(node: Expr) -> bool:
    """Whether an expression is a number, or arithmetic of numbers alone."""
    if isinstance(node, Num | Printed):
        return True
    arithmetic = ("neg", "add", "mul", "div", "pow")
    return isinstance(node, App) and node.head in arithmetic and all(map(is_literal, node.args))


def holds_extremum(node: Stmt | Expr) -> bool:
    """Whether a sup, argmax or the like stands in the node."""
    return any(isinstance(n, Extremum) for n in node.walk())
