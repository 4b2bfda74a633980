"""Formulas: text in, exact syntax trees out. Nothing typed by a user is evaluated."""

from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.expand import expand, expand_node
from gateproof.theory.formula.library import Definition, arities, definitions, substitute, substitute_node
from gateproof.theory.formula.nodes import Claim, Expr, Stmt
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.read import define, define_all, parse_claim, parse_expr
from gateproof.theory.formula.scopes import free_names

__all__ = [
    "Claim",
    "Definition",
    "Expr",
    "FormulaError",
    "Stmt",
    "arities",
    "define",
    "define_all",
    "definitions",
    "expand",
    "expand_node",
    "free_names",
    "parse_claim",
    "parse_expr",
    "substitute",
    "substitute_node",
    "to_text",
]
