"""Softmax with its largest logits split off; see ``softmax.py`` for the formulas.

Rows of one block stay in registers: one read, one write, several short rows a program. A longer row is read
in blocks as often as a pass needs it: its largest logit; what remains without it; results. All in float32, or
float64 for float64 rows. A row without a logit has its largest at place -1 where that is to give 0.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs
# Triton reads these functions' text; the types of their arguments exist only in a compiled kernel.

from __future__ import annotations

import triton
import triton.language as tl

from gateproof.kernels import elementary as m

INFINITY = tl.constexpr(float("inf"))


@triton.jit
def _logits(z, mask, at, keep, place, unit, um, inside, HAS_MASK: tl.constexpr, REAL: tl.constexpr):
    """Logits, -infinity past the end and where masked."""
    value = tl.load(z + (at + place * unit), mask=inside, other=-INFINITY).to(REAL)
    if HAS_MASK:
        kept = tl.load(mask + (keep + place * um), mask=inside, other=0)
        value = tl.where(kept != 0, value, -INFINITY)
    return value


@triton.jit
def _framed(top, first, bad, SAFE: tl.constexpr):
    """The largest logit where it is finite, and its place."""
    found = tl.where((bad != 0) | (top == INFINITY) | (top == -INFINITY), float("nan"), top)
    if SAFE:
        empty = (top == -INFINITY) & (bad == 0)
        found = tl.where(empty, 0.0, found)
        first = tl.where(empty, -1, first)
    return found, first


@triton.jit
def _difference(x, y):
    """X - y, and what its rounding loses; 0 where the difference is infinite."""
    d = x - y
    back = d - x
    lost = (x - (d - back)) - (y + back)
    return d, tl.where(tl.abs(d) < INFINITY, lost, 0.0)


@triton.jit
def weight(x, y):
    """exp(x - y) as if x - y were exact."""
    d, lost = _difference(x, y)
    e = m.exp(d)
    return e + e * lost


@triton.jit
def _left(e, is_next, top, second, u):
    """The sum of exp(z - top) over all but the top logit and the place itself."""
    e_b = weight(second, top)
    t = e_b * u
    rest = t - e
    return tl.where(is_next, t, e_b + tl.where(rest < 0.0, 0.0, rest))


@triton.jit
def _result(value, place, top, first, second, next_, u, ODDS: tl.constexpr):
    """Probabilities (u is S then), or log-odds."""
    is_top = place == first
    e = tl.where(is_top, 0.0, weight(value, top))
    if ODDS:
        left = _left(e, place == next_, top, second, u)
        gap, lost = _difference(tl.where(is_top, top, value), tl.where(is_top, second, top))
        found = gap - (m.log1p(tl.where(is_top, u, left)) - lost)
        # The place itself may be NaN's or infinity's, which top tells.
        return tl.where(top != top, top, found)
    return tl.where(is_top, 1.0 + e, e) / (1.0 + u)


@triton.jit
def _term(d, centre, value, place, top, first, second, next_, u, ODDS: tl.constexpr):
    """What a place gives to the sum over the row: W of log-odds, c of probabilities."""
    is_top = place == first
    e = tl.where(is_top, 0.0, weight(value, top))
    if ODDS:
        s = weight(second, top) * (1.0 + u)
        return tl.where(is_top, 0.0, d * ((1.0 + s) / (1.0 + _left(e, place == next_, top, second, u))))
    shut = (value == -INFINITY) & (e == 0.0)
    return e / (1.0 + u) * tl.where(shut | is_top, 0.0, d - centre)


@triton.jit
def _gradient(d, centre, total, value, place, top, first, second, next_, u, ODDS: tl.constexpr):
    """The gradient in the logits."""
    is_top = place == first
    e = tl.where(is_top, 0.0, weight(value, top))
    if ODDS:
        s = weight(second, top) * (1.0 + u)
        p = tl.where(is_top, 1.0 + e, e) / (1.0 + s)
        w = d * ((1.0 + s) / (1.0 + _left(e, place == next_, top, second, u)))
        alone = second == -INFINITY
        x = tl.where(alone, 0.0, weight(value, tl.where(alone, 0.0, second)))
        r = x / (1.0 + u)
        found = tl.where(is_top, d - p * total, d - centre * r - p * (total - w))
        found = tl.where(first < 0, 0.0, found)
        return tl.where(top != top, top, found)
    p = tl.where(is_top, 1.0 + e, e) / (1.0 + u)
    return _term(d, centre, value, place, top, first, second, next_, u, ODDS) - p * total


@triton.jit
def _short(value, place, inside, ODDS: tl.constexpr, SAFE: tl.constexpr, BLOCK: tl.constexpr):
    """Of rows in registers: top and its place, the second and its place, U; or S in its stead."""
    bad = tl.max((value != value).to(tl.int32), 1, keep_dims=True)
    high = tl.max(value, 1, keep_dims=True)
    first = tl.min(tl.where((value == high) & inside, place, BLOCK), 1, keep_dims=True)
    top, first = _framed(high, first, bad, SAFE)
    rest = tl.where(place == first, -INFINITY, value)
    if ODDS:
        second = tl.max(rest, 1, keep_dims=True)
        next_ = tl.min(tl.where((rest == second) & inside, place, BLOCK), 1, keep_dims=True)
        x = weight(rest, tl.where(second == -INFINITY, 0.0, second))
        return top, first, second, next_, tl.sum(tl.where(place == next_, 0.0, x), 1, keep_dims=True)
    total = tl.sum(weight(rest, top), 1, keep_dims=True)
    return top, first, top, first, total


@triton.jit
def _long(
    z, mask, at, keep, n, unit, um, ODDS: tl.constexpr, SAFE: tl.constexpr, HAS_MASK: tl.constexpr,
    REAL: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """``_short`` of one row in blocks."""
    best = tl.full((), -INFINITY, REAL)
    first = tl.full((), 0, tl.int64)
    bad = tl.full((), 0, tl.int32)
    for start in range(0, n, BLOCK):
        place = start + tl.arange(0, BLOCK).to(tl.int64)
        value = _logits(z, mask, at, keep, place, unit, um, place < n, HAS_MASK, REAL)
        bad = tl.maximum(bad, tl.max((value != value).to(tl.int32), 0))
        high = tl.max(value, 0)
        here = tl.min(tl.where((value == high) & (place < n), place, n), 0)
        first = tl.where(high > best, here, first)
        best = tl.where(high > best, high, best)
    top, first = _framed(best, first, bad, SAFE)
    second = tl.full((), -INFINITY, REAL)
    next_ = tl.full((), 0, tl.int64)
    u = tl.full((), 0.0, REAL)
    for start in range(0, n, BLOCK):
        place = start + tl.arange(0, BLOCK).to(tl.int64)
        value = _logits(z, mask, at, keep, place, unit, um, place < n, HAS_MASK, REAL)
        rest = tl.where(place == first, -INFINITY, value)
        if ODDS:
            high = tl.max(rest, 0)
            here = tl.min(tl.where((rest == high) & (place < n), place, n), 0)
            x = weight(rest, tl.where(high == -INFINITY, 0.0, high))
            own = tl.sum(tl.where(place == here, 0.0, x), 0)
            above = high > second
            # The lower of both frames joins the sum about the higher; -infinity is no frame.
            under, frame = tl.where(above, second, high), tl.where(above, high, second)
            lower = weight(under, tl.where(frame == -INFINITY, 0.0, frame))
            u = tl.where(above, own + (1.0 + u) * lower, u + (1.0 + own) * lower)
            next_ = tl.where(above, here, next_)
            second = tl.where(above, high, second)
        else:
            u += tl.sum(weight(rest, top), 0)
    return top, first, second, next_, u


@triton.jit
def forward_short(
    y, z, mask, rows, n, so, si, unit, sm, um, ODDS: tl.constexpr, SAFE: tl.constexpr,
    HAS_MASK: tl.constexpr, REAL: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Probabilities or log-odds of ROWS rows."""
    row = (tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS))[:, None]
    place = tl.arange(0, BLOCK)[None, :]
    inside = (row < rows) & (place < n)
    value = _logits(z, mask, row * si, row * sm, place, unit, um, inside, HAS_MASK, REAL)
    top, first, second, next_, u = _short(value, place, inside, ODDS, SAFE, BLOCK)
    found = _result(value, place, top, first, second, next_, u, ODDS)
    tl.store(y + (row * so + place), found.to(y.dtype.element_ty), mask=inside)


@triton.jit
def backward_short(
    dz, dy, z, mask, rows, n, so, sd, ud, si, unit, sm, um, ODDS: tl.constexpr, SAFE: tl.constexpr,
    HAS_MASK: tl.constexpr, REAL: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The gradient in the logits of ROWS rows."""
    row = (tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS))[:, None]
    place = tl.arange(0, BLOCK)[None, :]
    inside = (row < rows) & (place < n)
    value = _logits(z, mask, row * si, row * sm, place, unit, um, inside, HAS_MASK, REAL)
    d = tl.load(dy + (row * sd + place * ud), mask=inside, other=0.0).to(REAL)
    top, first, second, next_, u = _short(value, place, inside, ODDS, SAFE, BLOCK)
    centre = tl.sum(tl.where(place == first, d, 0.0), 1, keep_dims=True)
    term = _term(d, centre, value, place, top, first, second, next_, u, ODDS)
    total = tl.sum(tl.where(inside, term, 0.0), 1, keep_dims=True)
    found = _gradient(d, centre, total, value, place, top, first, second, next_, u, ODDS)
    if HAS_MASK:
        kept = tl.load(mask + (row * sm + place * um), mask=inside, other=0)
        found = tl.where(kept != 0, found, 0.0)
    tl.store(dz + (row * so + place), found.to(dz.dtype.element_ty), mask=inside)


@triton.jit
def forward_long(
    y, z, mask, n, so, si, unit, sm, um, ODDS: tl.constexpr, SAFE: tl.constexpr, HAS_MASK: tl.constexpr,
    REAL: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Probabilities or log-odds of one row."""
    row = tl.program_id(0).to(tl.int64)
    top, first, second, next_, u = _long(
        z, mask, row * si, row * sm, n, unit, um, ODDS, SAFE, HAS_MASK, REAL, BLOCK
    )
    for start in range(0, n, BLOCK):
        place = start + tl.arange(0, BLOCK).to(tl.int64)
        value = _logits(z, mask, row * si, row * sm, place, unit, um, place < n, HAS_MASK, REAL)
        found = _result(value, place, top, first, second, next_, u, ODDS)
        tl.store(y + (row * so + place), found.to(y.dtype.element_ty), mask=place < n)


@triton.jit
def backward_long(
    dz, dy, z, mask, n, so, sd, ud, si, unit, sm, um, ODDS: tl.constexpr, SAFE: tl.constexpr,
    HAS_MASK: tl.constexpr, REAL: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The gradient in the logits of one row."""
    row = tl.program_id(0).to(tl.int64)
    top, first, second, next_, u = _long(
        z, mask, row * si, row * sm, n, unit, um, ODDS, SAFE, HAS_MASK, REAL, BLOCK
    )
    centre = tl.load(dy + (row * sd + first * ud), mask=first >= 0, other=0.0).to(REAL)
    total = tl.full((), 0.0, REAL)
    for start in range(0, n, BLOCK):
        place = start + tl.arange(0, BLOCK).to(tl.int64)
        value = _logits(z, mask, row * si, row * sm, place, unit, um, place < n, HAS_MASK, REAL)
        d = tl.load(dy + (row * sd + place * ud), mask=place < n, other=0.0).to(REAL)
        term = _term(d, centre, value, place, top, first, second, next_, u, ODDS)
        total += tl.sum(tl.where(place < n, term, 0.0), 0)
    for start in range(0, n, BLOCK):
        place = start + tl.arange(0, BLOCK).to(tl.int64)
        value = _logits(z, mask, row * si, row * sm, place, unit, um, place < n, HAS_MASK, REAL)
        d = tl.load(dy + (row * sd + place * ud), mask=place < n, other=0.0).to(REAL)
        found = _gradient(d, centre, total, value, place, top, first, second, next_, u, ODDS)
        if HAS_MASK:
            kept = tl.load(mask + (row * sm + place * um), mask=place < n, other=0)
            found = tl.where(kept != 0, found, 0.0)
        tl.store(dz + (row * so + place), found.to(dz.dtype.element_ty), mask=place < n)
