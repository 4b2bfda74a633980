"""One piece of a hard gate, from where it may begin to the farthest right that any line reaches.

A line y = m x + c is below upper walls (x_j, u_j) and above lower walls (x_i, l_i) for some c if and only if

    max over x_j < x_i of s_ij <= m <= min over x_i < x_j of s_ij,      s_ij = (u_j - l_i)/(x_j - x_i).

Going right the two bounds close in on m. Where they would cross, at a lower wall, the last line is the
steepest that was left: it touches a lower wall, later an upper one, and goes below the lower wall there; and
the other way round at an upper wall. These three walls forbid every line (O'Rourke 1981, "An on-line
algorithm for fitting straight lines between data ranges"; Imai and Iri 1986).
"""

from __future__ import annotations

import numpy as np

from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.hard_walls import Contact, Link, Some, State, Straight, Tip, Walls

#: Grid points looked at first.
FIRST = 48


def farthest(walls: Walls, state: State, e: float, *, turning: int = 0) -> Link:
    """The line that goes farthest right, of the kind that the walls ask for.

    Where lines reach all walls it is one of them; with ``turning`` the lowest (1) or the highest one (-1), as
    if it left through the upper or lower wall at the last grid point.
    """
    if walls.kind == "constant":
        return along(walls, state, e, 0.0)
    if walls.kind == "multiplicative":
        return _through_origin(walls, state, e)
    n = FIRST
    while True:
        found = _attempt(walls, state, e, n, turning)
        if found is not None:
            return found
        n *= 2


def _attempt(walls: Walls, state: State, e: float, n: int, turning: int) -> Link | None:
    """The same with n grid points; None where all of them are reached and there are more."""
    rest = _rest(walls, state, n)
    n = len(rest.x)
    upper, lower = state.upper.then(rest), state.lower.then(rest)
    low, high = max(state.low, -walls.steepest), min(state.high, walls.steepest)
    if np.isfinite(walls.highest):
        upper, lower = _with_bound(upper, walls.highest, e, 1), _with_bound(lower, walls.highest, e, -1)
    a, b = len(upper.x) - n, len(lower.x) - n
    slopes, order = _slopes(upper, lower, e, a, b)
    highs = np.where(order > 0, slopes, np.inf)
    lows = np.where(order < 0, slopes, -np.inf)
    over, under = highs.min(axis=0, initial=np.inf), lows.max(axis=1, initial=-np.inf)
    high = min(high, float(over[:a].min(initial=np.inf)))
    low = max(low, float(under[:b].max(initial=-np.inf)))
    if low > high:
        # The state was reached by lines, so this is rounding.
        low = high = (low + high) / 2
    tops = np.minimum.accumulate(np.concatenate([[high], over[a:]]))
    floors = np.maximum.accumulate(np.concatenate([[low], under[b:]]))
    # At a jump that is too high for the tunnel one of them is infinite.
    closed = np.flatnonzero((floors > tops) | (floors == np.inf) | (tops == -np.inf))
    if not len(closed):
        if state.k + n < len(walls.x):
            return None
        if turning:
            slope = float(tops[-1] if turning < 0 else floors[-1])
            line, contacts = _touching(upper, lower, highs if turning < 0 else lows, e, slope, turning)
            return Link(line, contacts, len(walls.x) - 1, turning, _contact(rest, n - 1, turning))
        line = _line_of(upper, lower, e, float(floors[-1]), float(tops[-1]))
        return Link(line, (), len(walls.x), 0, None)
    r = int(closed[0]) - 1
    reached = _first(upper, a + r), _first(lower, b + r)
    with np.errstate(invalid="ignore"):
        side = -1 if not under[b + r] - tops[r] < floors[r] - over[a + r] else 1
    slope = float(tops[r] if side < 0 else floors[r])
    if not np.isfinite(slope):
        # Walls at one place only: any slope will do.
        there = _contact(rest, r, 1)
        line = _line_of(*reached, e, float(floors[r]), float(tops[r])) if len(reached[0].x) else _level(there)
        side = -1 if line.height(there.x) < there.y else 1
        return _left(walls, state, e, line, (), r, side)
    line, contacts = _touching(*reached, highs if side < 0 else lows, e, slope, side)
    return _left(walls, state, e, line, contacts, r, side)


def between(upper: Some, lower: Some, e: float, low: float, high: float) -> Straight | None:
    """A line under all of these walls and over those, with a slope strictly between two; None without one."""
    slopes, order = _slopes(upper, lower, e, len(upper.x), len(lower.x))
    top = min(high, float(np.where(order > 0, slopes, np.inf).min(initial=np.inf)))
    floor = max(low, float(np.where(order < 0, slopes, -np.inf).max(initial=-np.inf)))
    if not floor < top and not (floor == top and low < floor < high):
        return None
    return _line_of(upper, lower, e, floor, top)


def _rest(walls: Walls, state: State, n: int) -> Some:
    part = slice(state.k, state.k + n)
    return Some(walls.x[part], walls.y[part], walls.v[part])


def _with_bound(some: Some, highest: float, e: float, side: int) -> Some:
    """A wall at x = 0 for the bound on the intercept; it stands first, at a height that e does not move."""
    return Some(np.zeros(1), np.array([side * (highest - e)]), np.ones(1)).then(some)


def _first(some: Some, n: int) -> Some:
    return Some(some.x[:n], some.y[:n], some.v[:n])


def _slopes(upper: Some, lower: Some, e: float, a: int, b: int) -> tuple[Array, Array]:
    """The bounds s_ij, shape (lower, upper), and signs of x_j - x_i; entries with one x are in grid order."""
    rise = (upper.y + e * upper.v) - (lower.y - e * lower.v)[:, None]
    run = upper.x - lower.x[:, None]
    order = np.sign(run)
    i, j = np.nonzero(run == 0)
    order[i, j] = np.sign(np.maximum(j - a, -1) - np.maximum(i - b, -1))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        apart = np.where(rise >= 0, order, -order)
        slopes = np.where(run != 0, rise / np.where(run == 0, 1.0, run), apart * np.inf)
    return slopes, order


def _touching(
    upper: Some, lower: Some, bounds: Array, e: float, slope: float, side: int
) -> tuple[Straight, tuple[Contact, ...]]:
    """The line with an extreme slope and the two walls that give it; one wall if the slope was bounded."""
    contacts: tuple[Contact, ...]
    bounds = bounds[: len(lower.x), : len(upper.x)]
    at = np.argwhere(bounds == slope)
    if len(at):
        i, j = (int(v) for v in at[0])
        low, high = _contact(lower, i, -1), _contact(upper, j, 1)
        contacts = (low, high) if side < 0 else (high, low)
    elif side < 0:
        contacts = (_contact(upper, int(np.argmin(upper.y + e * upper.v - slope * upper.x)), 1),)
    else:
        contacts = (_contact(lower, int(np.argmax(lower.y - e * lower.v - slope * lower.x)), -1),)
    last = contacts[-1]
    return Straight(slope, last.x, last.y + last.side * e * last.v), contacts


def _contact(some: Some, k: int, side: int) -> Contact:
    return Contact(float(some.x[k]), float(some.y[k]), float(some.v[k]), side)


def _level(contact: Contact) -> Straight:
    return Straight(0.0, contact.x, contact.y)


def _left(
    walls: Walls, state: State, e: float, line: Straight, contacts: tuple[Contact, ...], r: int, side: int
) -> Link:
    """The link that ends before grid point k + r, with the place where it meets the wall."""
    k = state.k + r
    there = Contact(float(walls.x[k]), float(walls.y[k]), float(walls.v[k]), side)
    if walls.tied(k):
        return Link(line, contacts, k - 1, side, there, before=True)
    before = Contact(float(walls.x[k - 1]), float(walls.y[k - 1]), float(walls.v[k - 1]), side) if r else None
    before = before or _last(state, side)
    if walls.function is None or before is None or not before.x < there.x:
        return Link(line, contacts, k, side, there)
    return Link(line, contacts, k, side, walls.leaving(line, e, side, before, there))


def _last(state: State, side: int) -> Contact | None:
    ends = [_contact(s, len(s.x) - 1, side) for s in (state.upper, state.lower) if len(s.x)]
    return max(ends, key=lambda c: c.x, default=None)


def _line_of(upper: Some, lower: Some, e: float, low: float, high: float) -> Straight:
    """A line of a slope in the middle of what is left."""
    if np.isfinite([low, high]).all():
        slope = (low + high) / 2
    else:
        slope = low + abs(low) + 1 if np.isfinite(low) else high - abs(high) - 1 if np.isfinite(high) else 0.0
    x = float(upper.x[0]) if len(upper.x) else 0.0
    top = float((upper.y + e * upper.v - slope * (upper.x - x)).min(initial=np.inf))
    floor = float((lower.y - e * lower.v - slope * (lower.x - x)).max(initial=-np.inf))
    return Straight(slope, x, (top + floor) / 2)


def along(
    walls: Walls, state: State, e: float, slope: float, within: tuple[float, float] = (-np.inf, np.inf)
) -> Link:
    """The line of a given slope that goes farthest; ``within`` bounds its intercept."""
    rest = _rest(walls, state, len(walls.x))
    upper, lower = state.upper.then(rest), state.lower.then(rest)
    n, a, b = len(rest.x), len(state.upper.x), len(state.lower.x)
    bound = walls.highest
    tops, floors = upper.y + e * upper.v - slope * upper.x, lower.y - e * lower.v - slope * lower.x
    high = min(within[1], bound, float(tops[:a].min(initial=np.inf)))
    low = max(within[0], -bound, float(floors[:b].max(initial=-np.inf)))
    return _narrowing(walls, state, e, (low, high), (floors[b:], tops[a:]), n, _Parallel(slope), upper, lower)


def forbidden(walls: Walls, state: State, e: float, tip: Tip) -> Link:
    """Why the last piece cannot be the right end from here: the walls that it breaks most, as a link."""
    rest = _rest(walls, state, len(walls.x))
    upper, lower = state.upper.then(rest), state.lower.then(rest)
    tops = upper.y + e * upper.v - tip.slope * upper.x
    floors = lower.y - e * lower.v - tip.slope * lower.x
    j, i = int(np.argmin(tops)), int(np.argmax(floors))
    high, low = _contact(upper, j, 1), _contact(lower, i, -1)
    reach = 0.0 if tip.pinned else e if walls.weight is None else np.inf
    # How far each wall is beyond what the asymptote allows, and both walls against each other.
    over, under = tip.intercept - reach - float(tops[j]), float(floors[i]) - tip.intercept - reach
    if float(floors[i] - tops[j]) >= max(over, under) and not tip.pinned and high.x != low.x:
        first, last = (high, low) if high.x < low.x else (low, high)
        line = Straight(tip.slope, first.x, first.y + first.side * e * first.v)
        return Link(line, (first,), len(walls.x), last.side, last)
    last = high if over >= under else low
    return Link(
        Straight(tip.slope, 0.0, tip.intercept - last.side * reach), (), len(walls.x), last.side, last
    )


class _Parallel:
    """Lines of one slope, by their intercept."""

    def __init__(self, slope: float) -> None:
        self.slope = slope

    def line(self, value: float) -> Straight:
        return Straight(self.slope, 0.0, value)


class _Through:
    """Lines through the origin, by their slope."""

    def line(self, value: float) -> Straight:
        return Straight(value, 0.0, 0.0)


def _narrowing(
    walls: Walls,
    state: State,
    e: float,
    start: tuple[float, float],
    bounds: tuple[Array, Array],
    n: int,
    lines: _Parallel | _Through,
    upper: Some,
    lower: Some,
) -> Link:
    """The farthest line of a family with one parameter, which every grid point bounds from both sides."""
    floors = np.maximum.accumulate(np.concatenate([[start[0]], bounds[0]]))
    tops = np.minimum.accumulate(np.concatenate([[start[1]], bounds[1]]))
    closed = np.flatnonzero(floors > tops)
    if not len(closed):
        ends = [v for v in (floors[-1], tops[-1]) if np.isfinite(v)]
        return Link(lines.line(float(np.mean(ends)) if ends else 0.0), (), len(walls.x), 0, None)
    r = max(int(closed[0]) - 1, 0)
    rising = bounds[0][r] > tops[r]
    value = float(tops[r] if rising else floors[r])
    if not np.isfinite(value):
        value = 0.0
    line = lines.line(value)
    k = state.k + r
    y = line.at(walls.x[k : k + 1])[0]
    side = 1 if y > walls.y[k] else -1
    contacts: tuple[Contact, ...] = ()
    for some, which in ((_first(upper, len(upper.x) - n + r), 1), (_first(lower, len(lower.x) - n + r), -1)):
        # A line that is bounded at infinity touches nothing, however near it is to a wall far out.
        bounded = value in start and not len(state.upper.x)
        if len(some.x) and not bounded and (which == -side or isinstance(lines, _Through)):
            gap = np.abs(line.at(some.x) - some.y - which * e * some.v)
            if isinstance(lines, _Through):
                # Right of 0 the upper walls bound the slope from above, left of it the lower ones.
                gap = np.where((some.x * which > 0) == rising, gap, np.inf)
            j = int(np.argmin(gap))
            if gap[j] <= 1e-9 * (e * some.v[j] + abs(some.y[j])):
                contacts = (_contact(some, j, which),)
    return _left(walls, state, e, line, contacts, r, side)


def _through_origin(walls: Walls, state: State, e: float) -> Link:
    rest = _rest(walls, state, len(walls.x))
    both = state.upper.then(rest)
    a, n = len(state.upper.x), len(rest.x)
    top, floor = both.y + e * both.v, both.y - e * both.v
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ends = np.sort(np.stack([floor / both.x, top / both.x]), axis=0)
    met = (floor <= 0) & (top >= 0)
    low = np.where(both.x == 0, np.where(met, -np.inf, np.inf), ends[0])
    high = np.where(both.x == 0, np.where(met, np.inf, -np.inf), ends[1])
    start = (
        max(-walls.steepest, float(low[:a].max(initial=-np.inf))),
        min(walls.steepest, float(high[:a].min(initial=np.inf))),
    )
    return _narrowing(walls, state, e, start, (low[a:], high[a:]), n, _Through(), both, both)
