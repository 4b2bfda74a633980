"""An activation and its derivatives as functions of arrays, branch by branch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jax.numpy as jnp
import numpy as np

from gateproof.numerics.backends.formula import Formula
from gateproof.numerics.backends.numbers import to_float
from gateproof.numerics.meanfield.activation import Phi, X
from gateproof.numerics.meanfield.plain_functions import ORDERS, derivatives, on_arrays
from gateproof.theory.formula import substitute
from gateproof.theory.formula.nodes import Expr

Function = Callable[[Any], Any]


def _traced(form: Formula | float) -> Function:
    if not isinstance(form, Formula):
        return lambda x: jnp.full_like(x, form)
    return lambda x: form.jax(x)


@dataclass(frozen=True, eq=False)
class Functions:
    """By order 0 to 3: ``traced`` for JAX arrays, ``plain`` for NumPy, ``parts`` the branches for NumPy.

    ``kinks`` are the places between branches, ``sides`` the values (left, right) of each order there.
    """

    traced: tuple[Function, ...]
    plain: tuple[Function, ...]
    parts: tuple[tuple[Function, ...], ...]
    kinks: tuple[float, ...]
    sides: tuple[tuple[tuple[float, float], ...], ...]


@lru_cache(maxsize=64)
def functions(phi: Phi) -> Functions:
    """Those of an activation. Raises FormulaError for what has no form on arrays."""
    forms = [derivatives(b.expr) for b in phi.branches]
    places = [b.hi for b in phi.branches[:-1] if b.hi is not None]
    kinks = tuple(to_float(p) for p in places)
    parts = tuple(tuple(on_arrays(f) for f in branch) for branch in forms)
    traced = tuple(_chosen(jnp, [_traced(b[k]) for b in forms], kinks) for k in range(ORDERS))
    plain = tuple(_chosen(np, [p[k] for p in parts], kinks) for k in range(ORDERS))
    sides = []
    for left, right, at in zip(phi.branches, phi.branches[1:], places, strict=False):
        pairs = ((left.expr, right.expr), (left.slope, right.slope), (left.curvature, right.curvature))
        sides.append(tuple((_at(a, at), _at(b, at)) for a, b in pairs))
    return Functions(traced, plain, parts, kinks, tuple(sides))


def _at(expr: Expr, place: Expr) -> float:
    return to_float(substitute(expr, {X: place}))


def _chosen(space: Any, parts: list[Function], kinks: tuple[float, ...]) -> Function:
    """The branch that holds at each x."""
    if not kinks:
        return parts[0]

    def value(x: Any) -> Any:
        result = parts[-1](x)
        for part, kink in zip(reversed(parts[:-1]), reversed(kinks), strict=True):
            result = space.where(x < kink, part(x), result)
        return result

    return value
