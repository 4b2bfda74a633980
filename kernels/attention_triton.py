"""Attention in tiles, no score ever stored; see ``attention.py`` and ``softmax.py`` for the formulas.

Forward: a tile of rows a program, over its keys, with a running maximum, its key and the sum about it
(Milakov and Gimelshein 2018; Dao et al. 2022). Backward: with d_j = dp_j - dp_a, centred at a row's largest
score a, c = sum p_j d_j, dq = scale (sum p_j d_j k_j - c sum p_j k_j): one pass of a tile of rows over keys;
then one of a tile of keys over rows for dk and dv. Each result is written by one program: nothing depends on
their order.

Products are of float32 (no TF32) or float64; with NARROW of 16-bit operands as they are, weights rounded to
that type, and then the hardware's exp is good enough.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs
# Triton reads these functions' text; the types of their arguments exist only in a compiled kernel.

from __future__ import annotations

import triton
import triton.language as tl

from gateproof.kernels.softmax_triton import weight

INFINITY = tl.constexpr(float("inf"))


@triton.jit
def _dot(a, b, kind, NARROW: tl.constexpr, REAL: tl.constexpr):
    """A product of tiles; ``kind`` is an operand of the narrow type."""
    if NARROW:
        return tl.dot(a.to(kind.dtype), b.to(kind.dtype))
    return tl.dot(a.to(REAL), b.to(REAL), input_precision="ieee", out_dtype=REAL)


@triton.jit
def _weight(x, y, NARROW: tl.constexpr):
    if NARROW:
        return tl.exp(x - y)
    return weight(x, y)


@triton.jit
def _tile(at, rows, count, step, width, unit, WIDE: tl.constexpr):
    """Rows of a matrix, 0 past its ends."""
    cols = tl.arange(0, WIDE)
    inside = (rows < count)[:, None] & (cols < width)[None, :]
    return tl.load(at + (rows[:, None] * step + cols[None, :] * unit), mask=inside, other=0.0)


@triton.jit
def _put(at, value, rows, count, step, width, WIDE: tl.constexpr):
    cols = tl.arange(0, WIDE)
    inside = (rows < count)[:, None] & (cols < width)[None, :]
    tl.store(at + (rows[:, None] * step + cols[None, :]), value.to(at.dtype.element_ty), mask=inside)


@triton.jit
def _seen(mask, rows, keys, L, S, step, unit, CAUSAL: tl.constexpr, HAS_MASK: tl.constexpr):
    """Which keys a row looks at."""
    seen = (rows < L)[:, None] & (keys < S)[None, :]
    if CAUSAL:
        seen = seen & (keys[None, :] <= rows[:, None])
    if HAS_MASK:
        kept = tl.load(mask + (rows[:, None] * step + keys[None, :] * unit), mask=seen, other=0)
        seen = seen & (kept != 0)
    return seen


@triton.jit
def _number(bits, REAL: tl.constexpr):
    """A float64 from its bits."""
    return bits.to(tl.int64).to(tl.float64, bitcast=True).to(REAL)


@triton.jit
def _place(H, L, S, CAUSAL: tl.constexpr, BM: tl.constexpr):
    """Of a tile of rows: batch, head there and among all, rows, and the key at which what they see ends."""
    tiles = tl.cdiv(L, BM)
    program = tl.program_id(0).to(tl.int64)
    tile, head = program % tiles, program // tiles
    end = S
    if CAUSAL:
        end = tl.minimum(S, (tile + 1) * BM)
    return head // H, head % H, head, tile * BM + tl.arange(0, BM), end


@triton.jit
def _kept(stats, places, line, inside):
    """What the forward pass kept of each row: its largest score, the sum about it, and its key."""
    m = tl.load(stats + line * 2, mask=inside, other=0.0)
    total = tl.load(stats + line * 2 + 1, mask=inside, other=1.0)
    return m, total, tl.load(places + line, mask=inside, other=-1).to(tl.int64)


@triton.jit
def forward(
    out, stats, places, q, k, v, mask, scale_bits, H, G, L, S, E, V,
    qb, qh, ql, qe, kb, kh, ks, ke, vb, vh, vs, ve, mb, mh, ml, ms,
    CAUSAL: tl.constexpr, SAFE: tl.constexpr, HAS_MASK: tl.constexpr, NARROW: tl.constexpr,
    REAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, WE: tl.constexpr, WV: tl.constexpr,
):  # fmt: skip
    """A tile of rows of one head."""
    batch, h, head, rows, end = _place(H, L, S, CAUSAL, BM)
    scale = _number(scale_bits, REAL)
    mask += batch * mb + h * mh
    k += batch * kb + (h // G) * kh
    v += batch * vb + (h // G) * vh
    x = _tile(q + (batch * qb + h * qh), rows, L, ql, E, qe, WE)
    m = tl.full((BM,), -INFINITY, REAL)
    total = tl.zeros((BM,), REAL)
    place = tl.zeros((BM,), tl.int64)
    acc = tl.zeros((BM, WV), REAL)
    for start in range(0, end, BN):
        keys = start + tl.arange(0, BN).to(tl.int64)
        key = _tile(k, keys, S, ks, E, ke, WE)
        s = _dot(x, tl.trans(key), x, NARROW, REAL) * scale
        s = tl.where(_seen(mask, rows, keys, L, S, ml, ms, CAUSAL, HAS_MASK), s, -INFINITY)
        high = tl.max(s, 1)
        here = tl.min(tl.where(s == high[:, None], keys[None, :], S), 1)
        place = tl.where(high > m, here, place)
        top = tl.where(high > m, high, m)
        frame = tl.where(top == -INFINITY, 0.0, top)
        e = _weight(s, frame[:, None], NARROW)
        moved = _weight(m, frame, NARROW)
        total = total * moved + tl.sum(e, 1)
        value = _tile(v, keys, S, vs, V, ve, WV)
        acc = acc * moved[:, None] + _dot(e, value, x, NARROW, REAL)
        m = top
    empty = m == -INFINITY
    m = tl.where(total != total, float("nan"), m)
    if SAFE:
        empty = empty & (total == total)
        m = tl.where(empty, 0.0, m)
        place = tl.where(empty, -1, place)
    else:
        m = tl.where(empty, float("nan"), m)
    total = tl.where(empty, 1.0, total)
    found = tl.where((m != m)[:, None], float("nan"), acc / total[:, None])
    _put(out + head * L * V, found, rows, L, V, V, WV)
    tl.store(stats + (head * L + rows) * 2, m, mask=rows < L)
    tl.store(stats + (head * L + rows) * 2 + 1, total, mask=rows < L)
    tl.store(places + (head * L + rows), place.to(tl.int32), mask=rows < L)


@triton.jit
def _share(x, key, seen, keys, place, m, total, scale, NARROW: tl.constexpr, REAL: tl.constexpr):
    """Probabilities of a tile, and where the largest scores are."""
    s = _dot(x, tl.trans(key), x, NARROW, REAL) * scale
    is_top = keys[None, :] == place[:, None]
    e = tl.where(is_top, 1.0, _weight(s, m[:, None], NARROW))
    e = tl.where((m != m)[:, None], float("nan"), e)
    return tl.where(seen, e / total[:, None], 0.0), is_top


@triton.jit
def backward_rows(
    dq, sums, dout, stats, places, q, k, v, mask, scale_bits, H, G, L, S, E, V, db, dh, dl, de,
    qb, qh, ql, qe, kb, kh, ks, ke, vb, vh, vs, ve, mb, mh, ml, ms,
    CAUSAL: tl.constexpr, HAS_MASK: tl.constexpr, NARROW: tl.constexpr, REAL: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, WE: tl.constexpr, WV: tl.constexpr,
):  # fmt: skip
    """dq of a tile of rows; into ``sums`` each row's dp_a and c."""
    batch, h, head, rows, end = _place(H, L, S, CAUSAL, BM)
    scale = _number(scale_bits, REAL)
    mask += batch * mb + h * mh
    k += batch * kb + (h // G) * kh
    v += batch * vb + (h // G) * vh
    x = _tile(q + (batch * qb + h * qh), rows, L, ql, E, qe, WE)
    d = _tile(dout + (batch * db + h * dh), rows, L, dl, V, de, WV)
    line = head * L + rows
    m, total, place = _kept(stats, places, line, rows < L)
    cols = tl.arange(0, WV)
    best = tl.load(
        v + (place[:, None] * vs + cols[None, :] * ve),
        mask=(place >= 0)[:, None] & (cols < V)[None, :],
        other=0.0,
    )
    centre = tl.sum(d.to(REAL) * best.to(REAL), 1)
    c = tl.zeros((BM,), REAL)
    moved = tl.zeros((BM, WE), REAL)
    mean = tl.zeros((BM, WE), REAL)
    for start in range(0, end, BN):
        keys = start + tl.arange(0, BN).to(tl.int64)
        key = _tile(k, keys, S, ks, E, ke, WE)
        value = _tile(v, keys, S, vs, V, ve, WV)
        seen = _seen(mask, rows, keys, L, S, ml, ms, CAUSAL, HAS_MASK)
        p, is_top = _share(x, key, seen, keys, place, m, total, scale, NARROW, REAL)
        dp = _dot(d, tl.trans(value), x, NARROW, REAL)
        w = p * tl.where(is_top, 0.0, dp - centre[:, None])
        c += tl.sum(w, 1)
        moved += _dot(w, key, x, NARROW, REAL)
        mean += _dot(p, key, x, NARROW, REAL)
    _put(dq + head * L * E, (moved - c[:, None] * mean) * scale, rows, L, E, E, WE)
    tl.store(sums + line * 2, centre, mask=rows < L)
    tl.store(sums + line * 2 + 1, c, mask=rows < L)


@triton.jit
def backward_keys(
    dk, dv, sums, dout, stats, places, q, k, v, mask, scale_bits, H, G, L, S, E, V, db, dh, dl, de,
    qb, qh, ql, qe, kb, kh, ks, ke, vb, vh, vs, ve, mb, mh, ml, ms,
    CAUSAL: tl.constexpr, HAS_MASK: tl.constexpr, NARROW: tl.constexpr, REAL: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, WE: tl.constexpr, WV: tl.constexpr,
):  # fmt: skip
    """dk and dv of a tile of keys, over all rows of the heads that share them."""
    tiles = tl.cdiv(S, BN)
    program = tl.program_id(0).to(tl.int64)
    tile, group = program % tiles, program // tiles
    groups = H // G
    batch, g = group // groups, group % groups
    scale = _number(scale_bits, REAL)
    keys = tile * BN + tl.arange(0, BN)
    key = _tile(k + (batch * kb + g * kh), keys, S, ks, E, ke, WE)
    value = _tile(v + (batch * vb + g * vh), keys, S, vs, V, ve, WV)
    found_k = tl.zeros((BN, WE), REAL)
    found_v = tl.zeros((BN, WV), REAL)
    # A row sees no key past itself: those before the tile's first key are left out.
    first = tile * 0
    if CAUSAL:
        first = tile * BN // BM * BM
    for member in range(G):
        h = g * G + member
        for start in range(first, L, BM):
            rows = start + tl.arange(0, BM).to(tl.int64)
            line = (batch * H + h) * L + rows
            x = _tile(q + (batch * qb + h * qh), rows, L, ql, E, qe, WE)
            d = _tile(dout + (batch * db + h * dh), rows, L, dl, V, de, WV)
            m, total, place = _kept(stats, places, line, rows < L)
            centre = tl.load(sums + line * 2, mask=rows < L, other=0.0)
            c = tl.load(sums + line * 2 + 1, mask=rows < L, other=0.0)
            # Keys down, rows across: no tile that is computed must be turned.
            seen = (keys < S)[:, None] & (rows < L)[None, :]
            if CAUSAL:
                seen = seen & (keys[:, None] <= rows[None, :])
            if HAS_MASK:
                at = mask + (batch * mb + h * mh) + (keys[:, None] * ms + rows[None, :] * ml)
                seen = seen & (tl.load(at, mask=seen, other=0) != 0)
            s = _dot(key, tl.trans(x), x, NARROW, REAL) * scale
            is_top = keys[:, None] == place[None, :]
            e = tl.where(is_top, 1.0, _weight(s, m[None, :], NARROW))
            e = tl.where((m != m)[None, :], float("nan"), e)
            p = tl.where(seen, e / total[None, :], 0.0)
            dp = _dot(value, tl.trans(d), x, NARROW, REAL)
            ds = p * (tl.where(is_top, 0.0, dp - centre[None, :]) - c[None, :])
            found_v += _dot(p, d, x, NARROW, REAL)
            found_k += _dot(ds, x, x, NARROW, REAL)
    _put(dk + group * S * E, found_k * scale, keys, S, E, E, WE)
    _put(dv + group * S * V, found_v, keys, S, V, V, WV)
