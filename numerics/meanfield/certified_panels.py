"""Gauss-Legendre panels for normal means, with proved errors, whose nodes serve a whole range of variances.

On a panel of half-width r an analytic f is integrated by n nodes with an error of at most
(64/15) r M rho^(-2n)/(1 - rho^-2), M the supremum of |f| on the ellipse with foci at the panel's ends and
semi-axes r (rho +- 1/rho)/2 (Trefethen, Approximation Theory and Approximation Practice, theorem 19.3).
M is bounded on boxes that cover the ellipse, where the formula must be seen to be analytic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, exp, inf, log

from flint import acb, arb

from gateproof.numerics.complex_ball import Shared, compiled_complex
from gateproof.numerics.meanfield.activation import X
from gateproof.numerics.precision import precision
from gateproof.theory.formula.nodes import Expr

#: Ellipses tried, and boxes along and across the upper half of one.
ELLIPSES, ALONG, ACROSS = (5.0, 3.0, 2.0), 6, 2
#: Bits for bounds, how often a panel is halved, and how many panels one rule may have.
LOW, HALVINGS, MOST = 64, 24, 1_000
#: Where a half needs more than this part of the whole's nodes, it may have so many times more than the cap.
FEWER, FULL = 0.8, 8
Complex = Callable[[acb], acb]
Sizes = Callable[[arb, arb], list[arb] | None]


class NoPanels(ArithmeticError):
    """The formula was not seen to be analytic near some part of the line."""


@dataclass(frozen=True)
class Span:
    """Variances from ``lo`` to ``hi`` that share their nodes."""

    lo: float
    hi: float


@dataclass(frozen=True)
class Panel:
    """Middle and half-width, number of nodes, and the error of each integral."""

    middle: arb
    radius: arb
    nodes: int
    errors: tuple[float, ...]


def evaluator(expr: Expr) -> Complex:
    """The formula in x on complex balls; not finite where it is not seen to be analytic."""
    run = compiled_complex(expr)
    return lambda z: run(Shared({X: z}), True)


@lru_cache(maxsize=256)
def legendre(n: int, bits: int) -> tuple[tuple[arb, arb], ...]:
    """Nodes in (-1, 1) and weights."""
    with precision(bits):
        return tuple(arb.legendre_p_root(n, k, weight=True) for k in range(n))


def panels(sizes: Sizes, lo: arb, hi: arb, goals: Sequence[float], cap: int, bits: int) -> list[Panel]:
    """Panels from lo to hi (finite) for integrands that are analytic between.

    ``sizes(x, y)`` bounds their absolute values on the box x + i y, or is None where one may not be analytic.
    ``goals`` are the errors aimed at on a panel, which is halved beyond about ``cap`` nodes. Middles and
    radii are known to ``bits`` bits. Raises NoPanels.
    """
    found: list[Panel] = []
    stack = [(lo, hi, 0, inf)]
    with precision(LOW):
        while stack:
            a, b, depth, whole = stack.pop()
            panel = _panel(sizes, a, b, goals, bits)
            # A half needs fewer nodes only until the integrand is about constant on it.
            enough = cap if panel is None or panel.nodes <= FEWER * whole else FULL * cap
            if panel is not None and (panel.nodes <= enough or depth >= HALVINGS):
                found.append(panel)
                continue
            if depth >= HALVINGS or len(found) + len(stack) > MOST:
                raise NoPanels("a part of the line is too close to where the formula is not analytic")
            middle = ((a + b) / 2).mid()
            nodes = inf if panel is None else panel.nodes
            stack += [(middle, b, depth + 1, nodes), (a, middle, depth + 1, nodes)]
    return found


def _panel(sizes: Sizes, a: arb, b: arb, goals: Sequence[float], bits: int) -> Panel | None:
    best: Panel | None = None
    with precision(bits):
        middle, radius = (a + b) / 2, (b - a) / 2
    for rho in ELLIPSES:
        tops = _on_ellipse(sizes, middle, radius, rho, len(goals))
        if tops is None:
            continue
        factor = 64 / 15 * float(radius.upper()) / (1 - rho**-2) * 1.0001
        bounds = [factor * top for top in tops]
        if inf in bounds:
            continue
        nodes = 1
        for bound, goal in zip(bounds, goals, strict=True):
            if bound > 0:
                nodes = max(nodes, ceil((log(bound) - log(goal)) / (2 * log(rho))))
        nodes += -nodes % 4
        if best is None or nodes < best.nodes:
            # 1.0001 covers the rounding of these few floats.
            errors = tuple(bound * exp(-2 * nodes * log(rho)) * 1.0001 + 1e-300 for bound in bounds)
            best = Panel(middle, radius, nodes, errors)
        elif nodes > 2 * best.nodes:
            break
    return best


def _on_ellipse(sizes: Sizes, middle: arb, radius: arb, rho: float, count: int) -> list[float] | None:
    """Bounds on the ellipse, or None where an integrand may not be analytic."""
    long, high = radius * (rho + 1 / rho) / 2, radius * (rho - 1 / rho) / 2
    tops = [0.0] * count
    for i in range(ALONG):
        x = middle + long * (2 * arb(i) / ALONG - 1).union(2 * arb(i + 1) / ALONG - 1)
        for j in range(ACROSS):
            y = high * (arb(j) / ACROSS).union(arb(j + 1) / ACROSS)
            found = sizes(x, y)
            if found is None:
                return None
            tops = [max(t, _float(v)) for t, v in zip(tops, found, strict=True)]
    return tops if all(t < inf for t in tops) else None


def bell(x: arb, y: arb, span: Span) -> arb:
    """A bound of the density at x + i y for all variances of the span."""
    tall = (y * y - x * x) / 2
    top = arb((tall / span.lo).exp().upper()).max(arb((tall / span.hi).exp().upper()))
    return top / (2 * arb.pi() * span.lo).sqrt()


def squares(functions: Sequence[Complex], span: Span, line: tuple[arb, ...] = ()) -> Sizes:
    """Bounds of f^2 for each function, and of |f| for the first, times the density and 1 + x^2/q + x^4/q^2.

    So the errors also hold, divided by q and q^2, for the first two derivatives in q. With the slope and
    level of a ``line`` r it is f^2 - r^2 and |f - r| for the first, f^2 - slope^2 for the second.
    """

    def sizes(x: arb, y: arb) -> list[arb] | None:
        values = [size(f, x, y) for f in functions]
        known = [v for v in values if v is not None]
        if len(known) < len(values):
            return None
        far = (x * x + y * y) / span.lo
        weight = bell(x, y, span) * (1 + far + far * far)
        energies = [v * v for v in known]
        if line:
            slope, level = line
            high = abs(slope * acb(x, y) + level)
            energies = [energies[0] + high * high, energies[1] + slope * slope]
            known = [known[0] + high]
        return [*(e * weight for e in energies), known[0] * weight]

    return sizes


def size(f: Complex, x: arb, y: arb, depth: int = 2) -> arb | None:
    """An upper bound of |f| on a box, halved both ways where needed."""
    value = f(acb(x, y))
    if value.is_finite():
        return arb(abs(value).upper())
    if not depth:
        return None
    top = arb(0)
    for u in _halves(x):
        for v in _halves(y):
            part = size(f, u, v, depth - 1)
            if part is None:
                return None
            top = top.max(part)
    return top


def _halves(x: arb) -> tuple[arb, arb]:
    middle = arb(x.mid())
    return arb(x.lower()).union(middle), middle.union(arb(x.upper()))


def _float(x: arb) -> float:
    """An upper bound."""
    try:
        return float(x.upper()) * (1 + 1e-15) + 1e-308
    except OverflowError:
        return inf
