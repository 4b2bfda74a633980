"""An activation and its derivatives on NumPy arrays, and panels of nodes that resolve all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.backends.formula import Formula, formula
from gateproof.numerics.backends.numbers import to_float
from gateproof.numerics.meanfield.activation import Phi
from gateproof.theory.formula import to_text
from gateproof.theory.formula.nodes import Expr

Array = NDArray[np.float64]
Function = Callable[[Array], Array]
#: phi, phi', phi'', phi'''.
ORDERS = 4
NODES = 16
POINTS, WEIGHTS = np.polynomial.legendre.leggauss(NODES)
#: Rows give Legendre coefficients of a function from its values at the nodes.
_COEFFICIENTS = (
    np.polynomial.legendre.legvander(POINTS, NODES - 1) * WEIGHTS[:, None] * (np.arange(NODES) + 0.5)
).T
#: A panel is cut until the last coefficients are this part of the function there.
_RESOLVED, _CUTS, _MOST = 1e-12, 44, 60_000


@dataclass(frozen=True)
class Plain:
    """By order 0 to 3; ``kinks`` are the places between branches, ``sides`` the values on both sides."""

    functions: tuple[Function, ...]
    kinks: tuple[float, ...]
    sides: tuple[tuple[tuple[float, float], ...], ...]


def plain_functions(phi: Phi) -> Plain:
    """Those of an activation. Raises FormulaError for what has no form on arrays."""
    branches = [[on_arrays(f) for f in derivatives(b.expr)] for b in phi.branches]
    kinks = tuple(to_float(b.hi) for b in phi.branches[:-1] if b.hi is not None)
    functions = tuple(_chosen([b[k] for b in branches], kinks) for k in range(ORDERS))
    sides = tuple(
        tuple((float(left[k](np.array([x]))[0]), float(right[k](np.array([x]))[0])) for k in range(3))
        for left, right, x in zip(branches, branches[1:], kinks, strict=False)
    )
    return Plain(functions, kinks, sides)


def derivatives(expr: Expr) -> list[Formula | float]:
    """The function and its derivatives; a number for one that is constant."""
    found: list[Formula | float] = []
    here: Formula | None = formula(to_text(expr))
    for _ in range(ORDERS):
        if here is None:
            found.append(0.0)
        elif not here.names:
            found.append(to_float(expr) if not found else float(here.numpy()))
            here = None
        else:
            found.append(here)
            here = here.gradient()
    return found


def on_arrays(form: Formula | float) -> Function:
    """One of the derivatives for NumPy."""
    if not isinstance(form, Formula):
        return lambda x: np.full_like(x, form)
    return lambda x: form.numpy(x)


def _chosen(parts: list[Function], kinks: tuple[float, ...]) -> Function:
    """The branch that holds at each x, none asked for values outside of it."""
    if not kinks:
        return parts[0]

    def value(x: Array) -> Array:
        which = np.searchsorted(kinks, x, side="right")
        out = np.empty_like(x)
        for k, part in enumerate(parts):
            here = which == k
            if here.any():
                out[here] = part(x[here])
        return out

    return value


def resolved(plain: Plain, reach: float, widest: float) -> Array:
    """Ascending edges from -reach to reach, kinks among them, of panels no wider than ``widest``.

    On each one all functions are polynomials of degree 15 to about 1e-12 of their size there. Raises
    ArithmeticError where that takes too many panels.
    """
    inner = [k for k in plain.kinks if abs(k) < reach]
    count = int(np.ceil(2 * reach / widest))
    edges = np.unique(np.concatenate([np.linspace(-reach, reach, max(count, 2) + 1), inner, [0.0]]))
    floors = None
    for _ in range(_CUTS):
        lo, hi = edges[:-1], edges[1:]
        x = (lo + hi)[:, None] / 2 + (hi - lo)[:, None] / 2 * POINTS
        with np.errstate(all="ignore"):
            values = [f(x.ravel()).reshape(x.shape) for f in plain.functions]
        if floors is None:
            floors = [1e-10 * np.max(np.abs(v), initial=0.0, where=np.isfinite(v)) for v in values]
        bad = np.zeros(len(lo), bool)
        for v, floor in zip(values, floors, strict=True):
            with np.errstate(all="ignore"):
                tail = np.abs(v @ _COEFFICIENTS.T[:, -2:]).max(axis=1)
            size = np.maximum(np.abs(v).max(axis=1), floor)
            bad |= tail > _RESOLVED * size
        bad &= hi - lo > 1e-13 * np.maximum(np.abs(lo), np.abs(hi))
        if not bad.any():
            return edges
        if len(edges) > _MOST:
            break
        edges = np.sort(np.concatenate([edges, (lo + hi)[bad] / 2]))
    raise ArithmeticError("the activation has too many features to be resolved in float64")


def nodes_of(edges: Array) -> tuple[Array, Array]:
    """Gauss and Legendre's nodes and weights on all panels; edges may carry rows in front."""
    lo, hi = edges[..., :-1], edges[..., 1:]
    half = (hi - lo) / 2
    x = ((lo + hi) / 2)[..., None] + half[..., None] * POINTS
    shape = (*edges.shape[:-1], -1)
    return x.reshape(shape), (half[..., None] * WEIGHTS).reshape(shape)
