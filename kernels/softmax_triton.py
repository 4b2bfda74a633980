"""Softmax with its largest logit split off, a row a program; see ``softmax.py`` for the formulas.

A row is read in blocks as often as a pass needs it: maximum and its place; sums without that place, and the
second largest logit; results. All in float32, or float64 for float64 rows.
"""

from __future__ import annotations

import triton
import triton.language as tl

from gateproof.kernels import elementary as m

INFINITY = tl.constexpr(float("inf"))


@triton.jit
def _row(z, mask, at, n, unit, HAS_MASK: tl.constexpr, REAL: tl.constexpr, BLOCK: tl.constexpr, start):
    """A block of logits, -infinity past the end and where masked."""
    place = start + tl.arange(0, BLOCK)
    inside = place < n
    value = tl.load(z + at + place * unit, mask=inside, other=-INFINITY).to(REAL)
    if HAS_MASK:
        keep = tl.load(mask + place, mask=inside, other=0)
        value = tl.where(keep != 0, value, -INFINITY)
    return place, inside, value


@triton.jit
def _top(z, mask, at, n, unit, HAS_MASK: tl.constexpr, REAL: tl.constexpr, BLOCK: tl.constexpr):
    """The maximum, the first place that has it, and whether a logit is not-a-number."""
    best = tl.full((), -INFINITY, REAL)
    first = tl.full((), 0, tl.int64)
    bad = tl.full((), 0, tl.int32)
    for start in range(0, n, BLOCK):
        place, inside, value = _row(z, mask, at, n, unit, HAS_MASK, REAL, BLOCK, start)
        bad += tl.sum((value != value).to(tl.int32), 0)
        high = tl.max(value, 0)
        here = tl.min(tl.where((value == high) & inside, place, n), 0).to(tl.int64)
        first = tl.where(high > best, here, first)
        best = tl.where(high > best, high, best)
    return tl.where((bad > 0) | (best == INFINITY) | (best == -INFINITY), float("nan"), best), first


@triton.jit
def _rest(z, mask, at, n, unit, top, first, HAS_MASK: tl.constexpr, REAL: tl.constexpr, BLOCK: tl.constexpr):
    """Without the top logit: the sum of exp(z - top), the second largest, the sum about that one."""
    total = tl.full((), 0.0, REAL)
    second = tl.full((), -INFINITY, REAL)
    own = tl.full((), 0.0, REAL)
    for start in range(0, n, BLOCK):
        place, _, value = _row(z, mask, at, n, unit, HAS_MASK, REAL, BLOCK, start)
        value = tl.where(place == first, -INFINITY, value)
        total += tl.sum(m.exp(value - top), 0)
        high = tl.maximum(second, tl.max(value, 0))
        frame = tl.where(high == -INFINITY, 0.0, high)
        own = own * tl.where(second == -INFINITY, 0.0, m.exp(second - frame)) + tl.sum(
            m.exp(value - frame), 0
        )
        second = high
    return total, tl.where(second == -INFINITY, 0.0, second), own


@triton.jit
def forward(
    y, z, mask, n, so, si, unit, sm, ODDS: tl.constexpr, HAS_MASK: tl.constexpr, REAL: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """Probabilities, or log-odds."""
    row = tl.program_id(0).to(tl.int64)
    at = row * si
    keep = mask + row * sm
    top, first = _top(z, keep, at, n, unit, HAS_MASK, REAL, BLOCK)
    total, second, own = _rest(z, keep, at, n, unit, top, first, HAS_MASK, REAL, BLOCK)
    for start in range(0, n, BLOCK):
        place, inside, value = _row(z, keep, at, n, unit, HAS_MASK, REAL, BLOCK, start)
        e = tl.where(place == first, 0.0, m.exp(value - top))
        if ODDS:
            left = total - e
            left = tl.where(left > 0.0, left, 0.0)
            others = (value - top) - m.log1p(left)
            result = tl.where(place == first, top - (second + m.log(own)), others)
        else:
            result = tl.where(place == first, 1.0 + e, e) / (1.0 + total)
        result = tl.where(top != top, top, result)
        tl.store(y + row * so + place, result.to(y.dtype.element_ty), mask=inside)


@triton.jit
def backward(
    dz, dy, z, mask, n, so, sd, ud, si, unit, sm, ODDS: tl.constexpr, HAS_MASK: tl.constexpr,
    REAL: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The gradient in the logits."""
    row = tl.program_id(0).to(tl.int64)
    at = row * si
    keep = mask + row * sm
    top, first = _top(z, keep, at, n, unit, HAS_MASK, REAL, BLOCK)
    total, second, own = _rest(z, keep, at, n, unit, top, first, HAS_MASK, REAL, BLOCK)
    centre = tl.load(dy + row * sd + first * ud).to(REAL)
    scale = 1.0 + total
    gathered = tl.full((), 0.0, REAL)
    for start in range(0, n, BLOCK):
        place, inside, value = _row(z, keep, at, n, unit, HAS_MASK, REAL, BLOCK, start)
        e = tl.where(place == first, 0.0, m.exp(value - top))
        d = tl.load(dy + row * sd + place * ud, mask=inside, other=0.0).to(REAL)
        if ODDS:
            left = total - e
            left = tl.where(left > 0.0, left, 0.0)
            term = tl.where(place == first, 0.0, d * (scale / (1.0 + left)))
        else:
            term = tl.where(e == 0.0, 0.0, e / scale * (d - centre))
        gathered += tl.sum(tl.where(inside, term, 0.0), 0)
    for start in range(0, n, BLOCK):
        place, inside, value = _row(z, keep, at, n, unit, HAS_MASK, REAL, BLOCK, start)
        e = tl.where(place == first, 0.0, m.exp(value - top))
        p = tl.where(place == first, 1.0 + e, e) / scale
        d = tl.load(dy + row * sd + place * ud, mask=inside, other=0.0).to(REAL)
        if ODDS:
            left = total - e
            left = tl.where(left > 0.0, left, 0.0)
            w = d * (scale / (1.0 + left))
            about = tl.where(own == 0.0, 1.0, own)
            r = m.exp(value - second) / about
            result = tl.where(place == first, d - p * gathered, d - centre * r - p * (gathered - w))
        else:
            moved = tl.where(place == first, 0.0, d - centre)
            result = tl.where(p == 0.0, 0.0, p * moved - p * gathered)
        result = tl.where(top != top, top, result)
        tl.store(dz + row * so + place, result.to(dz.dtype.element_ty), mask=inside)
