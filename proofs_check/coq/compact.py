"""Proofs by coq-interval's own bisection, on boxes that are finite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gateproof.proofs_check.coq.tail import Limits
from gateproof.theory.formula.nodes import App, Expr

#: Bounds with more digits than this ask for more than the 53 bits of the fast numbers.
_DIGITS, _PRECISE = 10**9, 90


def options(variables: Sequence[str], limits: Limits) -> str:
    """What ``interval`` is told: bisection, Taylor models in one variable, precision."""
    ends = [end for end in (limits.lower, limits.upper) if end is not None]
    precise = any(end.denominator > _DIGITS for end in ends)
    bisect = ", ".join(f"i_bisect {name}" for name in variables)
    model = f", i_taylor {variables[0]}, i_degree 5" if len(variables) == 1 else ""
    return f"{bisect}{model}, i_prec {_PRECISE if precise else 53}, i_depth 80"


def unfolding(label: str, parts: Mapping[str, Expr] | Expr) -> str:
    """Tactics that write a formula with functions that coq-interval knows."""
    exprs = list(parts.values()) if isinstance(parts, Mapping) else [parts]
    heads = {node.head for expr in exprs for node in expr.walk() if isinstance(node, App)}
    steps = [f"unfold {label}."]
    steps += [f"repeat rewrite {head}_exp." for head in ("tanh", "sech") if head in heads]
    steps += [f"repeat rewrite {head}_abs." for head in ("max", "min") if head in heads]
    steps += [f"unfold {head}." for head in ("sigmoid", "softplus", "sinh", "cosh") if head in heads]
    return " ".join(steps)
