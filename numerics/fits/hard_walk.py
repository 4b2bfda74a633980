"""The fewest pieces through a tunnel, and the narrowest tunnel that K pieces go through.

Each piece goes as far right as any line can. For pieces with jumps the next one then begins where it left.
For a continuous gate let a piece leave through the lower wall at t, its last contact before being the upper
wall at p (mirrored otherwise). Every continuous gate that goes on meets its line between p and t from below,
and the line that it goes on along, left of there, is below the piece and so below the upper walls; right of
there it is in the tunnel itself. So all that the next line has to respect are the upper walls from p on and
the lower walls from t on, and any line that does so meets the piece between p and t. With it the greedy
pieces are a path with the fewest links (Imai and Iri 1986; Suri 1986), for given outer lines as well: a given
last line is the end if it respects these walls.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gateproof.numerics.fits.hard_links import along, between, farthest, forbidden
from gateproof.numerics.fits.hard_walls import Link, Some, State, Straight, Tip, Walls


@dataclass(frozen=True)
class Walk:
    """Pieces, left to right; ``covered`` if they reach the right end as they should."""

    links: tuple[Link, ...]
    covered: bool


def walk(walls: Walls, e: float, most: int) -> Walk:
    """At most so many pieces within the tunnel of half width e."""
    state = State(0)
    links: list[Link] = []
    if walls.continuous and _torn(walls, e):
        return Walk((), False)
    for j in range(most):
        last = _to_the_end(walls, state, e, first=not j)
        if last is not None and _meets(walls, links, last):
            return Walk((*links, last), True)
        if j == most - 1 and walls.right is not None:
            return Walk((*links, forbidden(walls, state, e, walls.right)), False)
        if not j and walls.left is not None:
            link = _first_of(walls, e)
        else:
            link = farthest(walls, state, e)
            if walls.continuous and walls.right is not None and walls.right.pinned and _far(walls, link):
                link = _closed(walls, state, e, link, walls.right)
        links.append(link)
        if not link.side and walls.right is None:
            return Walk(tuple(links), True)
        state = _after(walls, link, e, walls.left if not j else None)
    return Walk(tuple(links), False)


def _torn(walls: Walls, e: float) -> bool:
    """Whether the target jumps by more than the tunnel's width, so that nothing continuous goes through."""
    x, y, v = walls.x, walls.y, walls.v
    near = ((x[k:] == x[:-k]) & (np.abs(y[k:] - y[:-k]) > e * (v[k:] + v[:-k])) for k in (1, 2))
    return any(bool(torn.any()) for torn in near)


def _first_of(walls: Walls, e: float) -> Link:
    assert walls.left is not None
    return _tipped(walls, State(0), e, walls.left)


def _last_of(walls: Walls, state: State, e: float) -> Link:
    assert walls.right is not None
    return _tipped(walls, state, e, walls.right)


def _tipped(walls: Walls, state: State, e: float, tip: Tip) -> Link:
    """A piece that is an asymptote, or has its slope and is within e of it."""
    near = 0.0 if tip.pinned else e
    within = tip.intercept - near, tip.intercept + near
    if walls.weight is not None and not tip.pinned:
        within = -np.inf, np.inf
    return along(replace(walls, highest=np.inf), state, e, tip.slope, within)


def _to_the_end(walls: Walls, state: State, e: float, first: bool) -> Link | None:
    """The last piece of a gate with a given right end, if it can begin here."""
    tip, left = walls.right, walls.left
    if tip is None:
        return None
    if first and left is not None and (left.slope != tip.slope or left.pinned != tip.pinned):
        return None
    if first and left is not None and left.pinned and left.intercept != tip.intercept:
        return None
    if not first and walls.continuous and not state.low < tip.slope < state.high:
        return None
    k, line = state.k, Straight(tip.slope, 0.0, tip.intercept)
    if tip.pinned and abs(line.height(float(walls.x[k])) - walls.y[k]) > e * walls.v[k]:
        return None
    found = _last_of(walls, state, e)
    return None if found.side else found


def _meets(walls: Walls, links: list[Link], last: Link) -> bool:
    """Whether the last line is met where it should be."""
    return not links or walls.near is None or links[-1].line.crossing(last.line) <= walls.near[1]


def _far(walls: Walls, link: Link) -> bool:
    """Whether a link goes on beyond all walls, or beyond where it should have met the last line."""
    return not link.side or (walls.near is not None and link.exit is not None and link.exit.x > walls.near[1])


def _closed(walls: Walls, state: State, e: float, link: Link, tip: Tip) -> Link:
    """Instead of a link that reaches all walls, one that meets the last line, or turns towards it."""
    line = _closing(walls, state, e, tip)
    if line is not None:
        return Link(line, (), len(walls.x), 0, None)
    if link.side:
        return link
    end = float(walls.x[-1])
    above = tip.intercept + tip.slope * end > link.line.height(end)
    return farthest(walls, state, e, turning=-1 if above else 1)


def _closing(walls: Walls, state: State, e: float, tip: Tip) -> Straight | None:
    """A piece that reaches all walls from here and then meets the last line, where that is in the tunnel.

    Going left that line leaves the tunnel at r through the lower wall, say. What meets it right of there
    comes from above: it respects the upper walls everywhere, and the lower ones as far as r.
    """
    x, k = walls.x, state.k
    away = tip.intercept + tip.slope * x - walls.y
    out = np.flatnonzero(np.abs(away) > e * walls.v)
    if not len(out):
        return None
    r = int(out[-1])
    side = 1 if away[r] > 0 else -1
    every, some = _part(walls, k, len(x)), _part(walls, k, max(r + 1, k))
    met = Some()
    if walls.near is not None:
        end = walls.near[1]
        met = Some(np.array([end]), np.array([tip.intercept + tip.slope * end]), np.zeros(1))
    upper, lower = (every.then(met), some) if side < 0 else (some, every.then(met))
    low, high = (
        (state.low, min(state.high, tip.slope)) if side < 0 else (max(state.low, tip.slope), state.high)
    )
    return between(state.upper.then(upper), state.lower.then(lower), e, low, high)


def _after(walls: Walls, link: Link, e: float, tip: Tip | None) -> State:
    """What the piece after a link has to respect; ``tip`` if the link is a bound left end."""
    if not link.side or link.exit is None:
        return _beyond(walls, link)
    k, out = link.index, link.exit
    between = out.x < walls.x[k]
    start = _one(walls, link, e) if between else Some()
    if not walls.continuous:
        return State(k, start, start)
    low = high = None
    if link.contacts:
        p = link.contacts[-1]
        a = int(np.searchsorted(walls.x[:k], p.x, "right"))
        some = Some(np.array([p.x]), np.array([p.y]), np.array([p.v])).then(_part(walls, a, k))
    else:
        some = _part(walls, 0, k)
    if tip is not None and not link.contacts:
        low, high = (tip.slope, None) if link.side < 0 else (None, tip.slope)
        if walls.near is not None:
            # Beyond the given line at this place, so the two meet right of it.
            end = walls.near[0]
            met = Some(np.array([end]), np.array([link.line.height(end)]), np.zeros(1))
            inside = some.x > end
            some = met.then(Some(some.x[inside], some.y[inside], some.v[inside]))
    bounds = -np.inf if low is None else low, np.inf if high is None else high
    pair = (some.then(start), start) if link.side < 0 else (start, some.then(start))
    return State(k, *pair, *bounds)


def _beyond(walls: Walls, link: Link) -> State:
    """After a line that reaches all the walls. A given last line may follow, but for a parallel one.

    That one needs a line between, which goes up or down to it from anywhere before.
    """
    size, tip = len(walls.x), walls.right
    if not walls.continuous or tip is None or link.line.slope != tip.slope:
        return State(size - 1)
    every = _part(walls, 0, size - 1)
    if tip.intercept > link.line.intercept:
        return State(size - 1, upper=every, low=tip.slope)
    return State(size - 1, lower=every, high=tip.slope)


def _part(walls: Walls, a: int, k: int) -> Some:
    return Some(walls.x[a:k], walls.y[a:k], walls.v[a:k])


def _one(walls: Walls, link: Link, e: float) -> Some:
    """The wall right of the place where a piece left: with a jump there its value is another one."""
    out = link.exit
    assert out is not None
    x, y = float(np.nextafter(out.x, np.inf)), out.y
    if walls.function is not None and abs(link.line.height(out.x) - out.y) < (1 - 1e-9) * e * out.v:
        y = float(walls.function(np.array([x]))[0])
    return Some(np.array([x]), np.array([y]), np.array([out.v]))


@dataclass(frozen=True)
class Narrowest:
    """The narrowest tunnel: half widths that no and that some K pieces go through, and both walks.

    ``lower`` is None where the pieces follow the walls without error.
    """

    below: float
    above: float
    lower: Walk | None
    upper: Walk


def narrowest(walls: Walls, most: int, *, low: float, high: float, digits: float) -> Narrowest | None:
    """By bisection, to relative ``digits``; None where even twice ``high`` is too narrow.

    ``low`` > 0 and ``high`` are guesses. Below ``low`` it does not look.
    """
    upper = walk(walls, high, most)
    lower: Walk | None = None
    if not upper.covered:
        lower, low, high = upper, high, 2 * high
        upper = walk(walls, high, most)
        if not upper.covered:
            return None
    while lower is None:
        trial = walk(walls, low, most)
        if trial.covered:
            return Narrowest(0.0, low, None, trial)
        lower = trial
    while high - low > 10.0**-digits * high:
        middle = float(np.sqrt(low * high)) if high > 4 * low else (low + high) / 2
        if not low < middle < high:
            break
        trial = walk(walls, middle, most)
        if trial.covered:
            high, upper = middle, trial
        else:
            low, lower = middle, trial
    return Narrowest(low, high, lower, upper)


def thresholds(walls: Walls, found: Walk, found_at: float) -> list[float]:
    """Where each piece ends and the next one begins, in a tunnel of half width ``found_at``.

    Infinite where two lines do not meet.
    """
    places = []
    for link, then in zip(found.links, found.links[1:], strict=False):
        if walls.continuous:
            places.append(_meeting(link, then.line))
        elif link.exit is None:
            places.append(_from_where(walls, then.line, found_at))
        elif walls.function is None:
            places.append(_between(link, then.line, walls))
        else:
            places.append(link.exit.x)
    return places


def _from_where(walls: Walls, line: Straight, e: float) -> float:
    """From where on a last line is in the tunnel, where the piece before it is so everywhere."""
    out = np.flatnonzero(np.abs(line.at(walls.x) - walls.y) > e * walls.v)
    return float(walls.x[min(int(out[-1]) + 1, len(walls.x) - 1)]) if len(out) else float(walls.x[0])


def _meeting(link: Link, line: Straight) -> float:
    met = link.line.crossing(line)
    return met if np.isfinite(met) else float("-inf")


def _between(link: Link, line: Straight, walls: Walls) -> float:
    """Between two points of data: where the lines cross, or in the middle."""
    a, b = float(walls.x[link.index - 1]), float(walls.x[link.index])
    met = link.line.crossing(line)
    return met if a <= met < b else a + (b - a) / 2
