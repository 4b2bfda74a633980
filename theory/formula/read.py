"""Reading text: claims, expressions and a file's own definitions."""

from __future__ import annotations

from collections.abc import Mapping

from gateproof.theory.formula import floating, scopes
from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.library import Definition, arities
from gateproof.theory.formula.matrices import ShapeError, is_matrix, write_out
from gateproof.theory.formula.nodes import Claim, Expr, Matrix, Node
from gateproof.theory.formula.parser import Parser

Definitions = Mapping[str, Definition]


def parse_claim(text: str, extra: Definitions | None = None) -> Claim:
    """A closed statement. Raises FormulaError with a column."""
    parser = _parser(text, extra)
    claim = scopes.bind_polynomials(parser.claim())
    try:
        if claim.format:
            claim = floating.settled(claim, extra or {})
        scopes.check(claim)
        _check_shapes(claim, parser)
    except FormulaError as error:
        raise _placed(error, parser) from None
    return claim


def parse_expr(text: str, extra: Definitions | None = None) -> Expr:
    """An expression, whose names may be free. Raises FormulaError with a column."""
    parser = _parser(text, extra)
    node = parser.expression()
    parser.end()
    try:
        _check_shapes(node, parser)
    except FormulaError as error:
        raise _placed(error, parser) from None
    return node


def define(name: str, text: str, extra: Definitions | None = None) -> Definition:
    """A one-variable definition ``name(x) = text`` of a claims file."""
    if not name.isidentifier() or name in arities() or not name.isascii():
        raise FormulaError(f"{name!r} cannot be defined: it is not a name, or it is taken")
    body = parse_expr(text, extra)
    if isinstance(write_out(body), Matrix):
        raise FormulaError(f"the definition of {name!r} is a matrix; a number is needed")
    unknown = sorted(scopes.free_names(body) - {"x"})
    if unknown:
        raise FormulaError(f"the definition of {name!r} uses {unknown[0]!r}; only x is free in it")
    return Definition(name, ("x",), body)


def define_all(texts: Mapping[str, str]) -> dict[str, Definition]:
    """Definitions by name, each of which may use those before it. Raises FormulaError."""
    found: dict[str, Definition] = {}
    for name, text in texts.items():
        found[name] = define(name, text, found)
    return found


def _check_shapes(node: Node, parser: Parser) -> None:
    """Raise ShapeError for matrices that do not fit; a text without any is not walked through once more."""
    if any(map(is_matrix, parser.places)):
        write_out(node)


def _placed(error: FormulaError, parser: Parser) -> FormulaError:
    """The error with the column of the name at fault, the second binding where it is bound twice."""
    if isinstance(error, ShapeError):
        return FormulaError(error.message, _column(error.parts, parser), error.hint)
    tokens = parser.tokens
    at = [i for i, t in enumerate(tokens) if t.kind == "name" and t.text == error.name]
    if error.column is not None or not at:
        return error
    place = at[-1] if "used as" in error.message else at[0]
    if "twice" in error.message:
        binding = [i for i in at if tokens[i + 1].text == "in"]
        place = [*at[:1], *at[1:2], *binding[1:2]][-1]
    return FormulaError(error.message, tokens[place].column, error.hint, error.name)


def _column(parts: tuple[Node, ...], parser: Parser) -> int | None:
    """Where a part or what is around it stands, or the first thing in it whose place is known."""
    inside = [n for part in reversed(parts) for n in part.walk()]
    return next((parser.places[n] for n in (*parts, *inside) if n in parser.places), None)


def _parser(text: str, extra: Definitions | None) -> Parser:
    table = dict(arities())
    if extra:
        table.update({n: d.arity for n, d in extra.items()})
    return Parser(text, table)
