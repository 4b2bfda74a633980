"""Proved lower bounds for hard gates: a few points that no K pieces pass within e of.

They are what the pieces that go farthest touch, in a tunnel that is a little too narrow; :mod:`...hard_check`
has the argument, and checks the record in balls.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from gateproof.numerics.backends.numbers import to_float
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.fits.hard_check import KIND, holds, least_of
from gateproof.numerics.fits.hard_spots import Spot, at_spot
from gateproof.numerics.fits.hard_walk import Narrowest
from gateproof.numerics.fits.hard_walls import Contact, Link, Walls
from gateproof.numerics.fits.target import Line, Target
from gateproof.theory.formula import to_text

#: For continuous gates: shares by which the bound stays below what was found in floats.
LESS = (1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7)


def proved(
    target: Target, walls: Walls, tunnel: Narrowest, branches: int
) -> tuple[Fraction | None, dict[str, Any] | None]:
    """A bound and its record; None for targets that are no formulas, and where a check fails."""
    torn = walls.continuous and tunnel.lower is not None and not tunnel.lower.links
    if target.expr is None or tunnel.lower is None or (len(tunnel.lower.links) != branches and not torn):
        return None, None
    if walls.weight is not None and target.weight_expr is None:
        return None, None
    if np.isfinite(walls.highest) or np.isfinite(walls.steepest):
        return None, None
    blocks = _torn(target, walls) if torn else _blocks(target, walls, tunnel.lower.links, tunnel.below)
    if blocks is None:
        return None, None
    pinned = walls.left or walls.right
    record: dict[str, Any] = {
        "kind": KIND,
        "target": to_text(target.expr),
        "weight": None if target.weight_expr is None or walls.weight is None else to_text(target.weight_expr),
        "domain": [None if end is None else str(end) for end in (target.lo, target.hi)],
        "branches": branches,
        "continuous": walls.continuous,
        "family": walls.kind,
        "left": _tip(target.left, walls, pinned is not None and pinned.pinned, walls.left is not None),
        "right": _tip(target.right, walls, pinned is not None and pinned.pinned, walls.right is not None),
        "blocks": [{"side": s, "points": [p.text for p in points]} for s, points in blocks],
    }
    if not walls.continuous or torn:
        try:
            bound = least_of(record, target.expr, target.weight_expr)
        except (NumericsError, ArithmeticError, ValueError):
            bound = None
        if bound is None:
            return None, None
        # A double below it: short, and with room for another program's rounding.
        bound = Fraction(float(np.nextafter(float(bound), 0.0)))
        return bound, {**record, "bound": str(bound)}
    for less in LESS:
        bound = Fraction(tunnel.below * (1 - less))
        trial = {**record, "bound": str(bound)}
        if bound > 0 and holds(trial):
            return bound, trial
    return None, None


# --- the record ---------------------------------------------------------------


def _tip(line: Line | None, walls: Walls, pinned: bool, bound: bool) -> dict[str, Any] | None:
    if line is None or not bound:
        return None
    intercept = to_text(line.intercept)
    if walls.kind == "multiplicative":
        intercept, pinned = "0", True
    return {"slope": to_text(line.slope), "intercept": intercept, "pinned": pinned}


def _blocks(
    target: Target, walls: Walls, links: tuple[Link, ...], e: float
) -> list[tuple[int, list[Spot]]] | None:
    found: list[tuple[int, list[Spot]]] = []
    for number, link in enumerate(links):
        if link.exit is None:
            return None
        points = [_place(target, c, e, sides=not walls.continuous) for c in (*link.contacts, link.exit)]
        if link.before and len(points) == 1 and (number or walls.left is None):
            points = [Spot(points[0].x, -1), *points]
        if not walls.continuous and found and points[0].cut < found[-1][1][-1].cut:
            beside = float(np.nextafter(float(found[-1][1][-1].x), np.inf))
            points[0] = _inside(target, Fraction(beside))
        if any(b <= a for a, b in pairwise(points)):
            return None
        if len(points) == 2 and points[0].cut == points[1].cut:
            return [(link.side, points)]
        found.append((link.side, points))
    return found


def _torn(target: Target, walls: Walls) -> list[tuple[int, list[Spot]]]:
    """Both sides of the jump that is the highest in terms of the tunnel's width."""
    x, y, v = walls.x, walls.y, walls.v
    pairs = [(i, i + n) for n in (1, 2) for i in np.flatnonzero(x[n:] == x[:-n])]
    i, j = max(pairs, key=lambda p: float(np.abs(y[p[1]] - y[p[0]]) / (v[p[0]] + v[p[1]])))
    sides = (Contact(float(x[k]), float(y[k]), float(v[k]), 1) for k in (i, j))
    return [(1, [_place(target, c, 1e-3) for c in sides])]


def _place(target: Target, contact: Contact, e: float, *, sides: bool = True) -> Spot:
    """The place of a wall; at a jump, the limit that is the wall's value, or a double beside it."""
    x, allowed = contact.x, 1e-3 * e * contact.v
    near = np.array([x, np.nextafter(x, -np.inf), np.nextafter(x, np.inf)])
    with np.errstate(all="ignore"):
        away = np.abs(target.function(near) - contact.y)
    if away[0] <= allowed:
        return _inside(target, Fraction(float(near[0])))
    k = int(np.nanargmin(away))
    spot = Spot(Fraction(x), (0, -1, 1)[k])
    if k and sides and target.expr is not None and spot.inside(target.lo, target.hi):
        value = at_spot(target.expr, spot)
        if value is not None and abs(to_float(value) - contact.y) <= allowed:
            return spot
    return _inside(target, Fraction(float(near[k])))


def _inside(target: Target, x: Fraction) -> Spot:
    """In the domain, whose ends may lie beside the doubles next to them."""
    x = x if target.lo is None else max(x, target.lo)
    return Spot(x if target.hi is None else min(x, target.hi))
