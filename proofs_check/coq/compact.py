"""Proofs by coq-interval's own bisection, on boxes that are finite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gateproof.proofs_check.coq.tail import Limits
from gateproof.theory.formula.nodes import App, Expr

#: Bounds with more digits than this need more than the 53 bits of the fast numbers.
_DIGITS, _FAST, _PRECISE = 10**9, 53, 90


def bisection(variables: Sequence[str], limits: Limits) -> str:
    """The tactic: bisection with Taylor models in one variable, with few bits and then with more."""
    ends = [end for end in (limits.lower, limits.upper) if end is not None]
    bisect = ", ".join(f"i_bisect {name}" for name in variables)
    model = f", i_taylor {variables[0]}, i_degree 5" if len(variables) == 1 else ""
    ways = [f"interval with ({bisect}{model}, i_prec {_PRECISE}, i_depth 60)"]
    if all(end.denominator <= _DIGITS for end in ends):
        # 53 bits are too few for steep formulas: a gate of tau = 20 on [-1, 8] needed the second way.
        ways.insert(0, f"interval with ({bisect}{model}, i_prec {_FAST}, i_depth 40)")
    return f"first [ {' | '.join(ways)} ]" if len(ways) > 1 else ways[0]


def unfolding(label: str, parts: Mapping[str, Expr] | Expr) -> str:
    """Tactics that write a formula with functions that coq-interval knows."""
    exprs = list(parts.values()) if isinstance(parts, Mapping) else [parts]
    heads = {node.head for expr in exprs for node in expr.walk() if isinstance(node, App)}
    steps = [f"unfold {label}."]
    steps += [f"repeat rewrite {head}_exp." for head in ("tanh", "sech") if head in heads]
    steps += [f"repeat rewrite {head}_abs." for head in ("max", "min") if head in heads]
    steps += [f"unfold {head}." for head in ("sigmoid", "softplus", "sinh", "cosh") if head in heads]
    return " ".join(steps)
