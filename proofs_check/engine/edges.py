"""Whether a closed number exists whose parts lie at the edge of a domain, where balls cannot tell."""

from __future__ import annotations

from gateproof.proofs_check.engine.touching import is_zero
from gateproof.theory.exact.defined import conditions
from gateproof.theory.formula.nodes import App, Expr
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text


def edge_without_value(side: Expr) -> str | None:
    """A part that is proved to be 0 and must not be, in words; None where none is known."""
    for node in side.walk():
        if not isinstance(node, App):
            continue
        for part, allowed in _needed(node):
            if 0 not in allowed and is_zero(part):
                return f"{to_text(part)} is 0 in {to_text(node)}"
    return None


def _needed(node: App) -> list[tuple[Expr, frozenset[int]]]:
    if node.head != "pow":
        return conditions(node) or []
    exponent = constant_value(node.args[1])
    below = exponent is not None and exponent < 0
    return [(node.args[0], frozenset({-1, 1}))] if below else []
