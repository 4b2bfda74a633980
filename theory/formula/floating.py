"""Reading floating-point claims: ``in float32: for x in [0, 4]: abs(fl(x*x - 1) - (x*x - 1)) <= 2*ulp``."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from gateproof.theory.formats import FORMATS
from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.nodes import (
    CORE_HEADS,
    And,
    App,
    Claim,
    Const,
    Expr,
    Fl,
    Implies,
    In,
    Index,
    IntervalSet,
    IntRange,
    NamedSet,
    Node,
    Not,
    Num,
    Or,
    Rel,
    SetMinus,
    Stmt,
    Ulp,
    Var,
    Where,
    rebuild,
)

if TYPE_CHECKING:
    from gateproof.theory.formula.calls import Reader as CallReader
    from gateproof.theory.formula.library import Definition
    from gateproof.theory.formula.parser import Parser
    from gateproof.theory.formula.reader import Reader
    from gateproof.theory.formula.tokens import Token

#: Operations that IEEE 754 rounds correctly, and those that are exact; operands are in the format.
ROUNDED = frozenset({"add", "mul", "div", "sqrt", "pow", "fma"})
EXACT = frozenset({"neg", "abs", "max", "min", "sign"})
_FORM = "a floating-point claim starts with its format, as in 'in float32: for x in R: ...'"
_NOT_ROUNDED = (
    "{} is not rounded correctly by IEEE 754: fl(...) takes + - * / sqrt fma abs sign max min where"
)
_KNOWN = ", ".join(FORMATS)
_STATEMENTS = (Rel, And, Or, Not, Implies)


def read_format(reader: Reader) -> None:
    """``in FORMAT:`` at the start of a claim, if it stands there."""
    if not reader.take("in"):
        return
    token = reader.token
    if token.text not in FORMATS:
        raise reader.error(
            f"expected a floating-point format, found {reader.found()}", hint=f"known: {_KNOWN}"
        )
    reader.advance()
    reader.expect(":", "':' behind the format")
    reader.format = token.text


def read_ulp(reader: Reader, token: Token) -> Expr:
    """``ulp`` without an argument."""
    if not reader.format:
        raise reader.error("'ulp' is of no format here", token, _FORM)
    return Ulp(None)


def _call(parser: Parser, token: Token) -> Node:
    word = token.text
    if not parser.format:
        raise parser.error(f"{word}(...) is of no format here", token, _FORM)
    start = parser.at
    arguments = parser.arguments()
    if word == "fl":
        _refuse_early(parser, parser.tokens[start : parser.at])
    wanted = 3 if word == "fma" else 1
    if len(arguments) != wanted:
        raise parser.error(f"{word} takes {wanted} argument(s), found {len(arguments)}", token)
    if word == "fma":
        return App("fma", tuple(arguments))
    return Fl(arguments[0]) if word == "fl" else Ulp(arguments[0])


def _refuse_early(parser: Parser, tokens: list[Token]) -> None:
    """Raise FormulaError at the first core function that no format computes, where it stands in ``fl``."""
    for token, behind in pairwise(tokens):
        core = token.text in CORE_HEADS and behind.text == "("
        if core and token.text not in ROUNDED | EXACT:
            raise parser.error(_NOT_ROUNDED.format(token.text), token)


CALLS: dict[str, CallReader] = dict.fromkeys(("fl", "ulp", "fma"), _call)


def settled(claim: Claim, extra: Mapping[str, Definition]) -> Claim:
    """The claim with each ``ulp`` that of the exact value beside it. Raises FormulaError with a name."""
    for bind in claim.scope.binds:
        within = bind.within
        while isinstance(within, SetMinus):
            within = within.base
        if not isinstance(within, IntervalSet | IntRange | NamedSet):
            raise FormulaError(
                f"{bind.name!r} ranges over R, integers or an interval in a floating-point claim",
                name=bind.name,
            )
    for statement in (*claim.scope.conditions, claim.body):
        _check_statement(statement)
    if not any(isinstance(n, Fl) for n in claim.walk()):
        raise FormulaError("a floating-point claim speaks of fl(...), what the format computes", 4)
    for node in claim.walk():
        if isinstance(node, Fl):
            _check_computed(node.body, extra)
    done: Claim = rebuild(claim, _with_units)
    return done


def _check_statement(stmt: Stmt) -> None:
    if isinstance(stmt, In) and (isinstance(stmt.within, IntervalSet) or stmt.within == NamedSet("Z")):
        return
    if not isinstance(stmt, _STATEMENTS):
        raise FormulaError(
            "a floating-point claim consists of relations, 'in' an interval or Z, and, or, not and =>", 4
        )
    if not isinstance(stmt, Rel):
        for part in stmt.children():
            if isinstance(part, Stmt):
                _check_statement(part)


def _check_computed(node: Node, extra: Mapping[str, Definition], outer: str = "") -> None:
    """Raise FormulaError for what no format computes; ``outer`` is the definition around the node."""
    from gateproof.theory.formula.library import definitions, is_core

    if isinstance(node, App):
        defined = extra.get(node.head) or definitions().get(node.head)
        if defined is not None and not is_core(node):
            _check_computed(defined.body, extra, outer or node.head)
        elif node.head == "pow":
            _check_power(node, outer)
        elif node.head not in ROUNDED | EXACT:
            held = f" (in {outer})" if outer else ""
            raise FormulaError(_NOT_ROUNDED.format(node.head + held), name=outer or node.head)
    elif isinstance(node, Const) and node.name == "oo":
        raise FormulaError("oo is no finite number of a format", name=outer or "oo")
    elif not isinstance(node, Num | Const | Var | Where | Fl | Rel | And | Or | Not):
        raise FormulaError(f"fl(...) cannot compute {type(node).__name__.lower()}", name=outer or "fl")
    for child in node.children():
        _check_computed(child, extra, outer)


def _check_power(node: App, outer: str) -> None:
    """``x**2`` is x*x, and a power of numbers one constant; nothing else is one operation."""
    base, exponent = node.args
    if exponent == Num(_TWO) or (whole(exponent) is not None and constant(base) is not None):
        return
    raise FormulaError(
        "a power in fl(...) is a square or a power of numbers; write products x*x*x", name=outer or "fl"
    )


_TWO = Fraction(2)


def whole(node: Expr) -> int | None:
    """A whole number that is written out, else None."""
    found = constant(node)
    return None if found is None or found.denominator != 1 else int(found)


def constant(node: Expr) -> Fraction | None:
    """The number that is written out, with its sign, else None."""
    if isinstance(node, Num):
        return node.value
    if isinstance(node, App) and node.head == "neg":
        inner = constant(node.args[0])
        return None if inner is None else -inner
    return None


def _with_units(node: Node) -> Node:
    if isinstance(node, Rel):
        return _with_unit(node)
    if isinstance(node, Index):
        raise FormulaError("vectors are not part of floating-point claims", name=node.vector)
    done: Node = rebuild(node, _with_units)
    return done


def _with_unit(relation: Rel) -> Rel:
    """The relation with ``ulp`` as the unit of the exact side of its one difference fl(...) - F."""
    if not any(isinstance(n, Ulp) and n.of is None for n in relation.walk()):
        return relation
    compared = dict.fromkeys(f for n in relation.walk() for f in _exact_side(n))
    if len(compared) != 1:
        found = "none" if not compared else f"{len(compared)}"
        raise FormulaError(
            f"ulp is that of F where the relation holds one difference fl(...) - F, found {found}:"
            " write fl(...) - (F), or ulp(F)",
            name="ulp",
        )
    (exact,) = compared
    if any(isinstance(n, Ulp) and n.of is None for n in exact.walk()):
        raise FormulaError("ulp stands within the value that it is the unit of; write ulp(F)", name="ulp")

    def change(node: Node) -> Node:
        if isinstance(node, Ulp) and node.of is None:
            return Ulp(exact)
        done: Node = rebuild(node, change)
        return done

    done: Rel = rebuild(relation, change)
    return done


def _exact_side(node: Node) -> list[Expr]:
    """F where the node is fl(...) - F or F - fl(...)."""
    match node:
        case App(head="add", args=(first, App(head="neg", args=(second,)))):
            if isinstance(first, Fl) != isinstance(second, Fl):
                return [second if isinstance(first, Fl) else first]
    return []
