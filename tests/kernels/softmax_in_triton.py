"""tg_softmax and tg_attention in Triton's interpreter: run as a script of its own, prints what failed.

TRITON_INTERPRET=1 python softmax_in_triton.py
"""

from __future__ import annotations

import math
import sys
import traceback
import warnings
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from softmax_truth import rows_with_gaps, worst

from gateproof.kernels import attention_op, choice, functional, softmax_op
from gateproof.kernels.check.interpreter import repair

INF, NAN = math.inf, math.nan
MARK, GUARD = -77.0, 256
WHOLE = "all" in sys.argv
RANDOM = torch.Generator().manual_seed(0)


class Guarded:
    """Kernels write between guard zones; what stands there is looked at after each launch."""

    def __init__(self, beyond=0):
        self.beyond, self.launches, self.real = beyond, 0, softmax_op.start

    def __enter__(self):
        softmax_op.start = attention_op.start = self
        return self

    def __exit__(self, *_):
        softmax_op.start = attention_op.start = self.real

    def __call__(self, device, kernel, grid, *args, **options):
        name = kernel.fn.__name__
        count = {"forward": 3, "backward_rows": 2, "backward_keys": 2}.get(name, 1)
        zones = [torch.full((t.numel() + 2 * GUARD,), MARK, dtype=t.dtype) for t in args[:count]]
        inside = [z[GUARD : z.numel() - GUARD].view(t.shape) for z, t in zip(zones, args, strict=False)]
        rest = list(args[count:])
        if self.beyond:
            place = next(i for i, a in enumerate(rest) if isinstance(a, int) and a == rows_of(args[0]))
            rest[place] += self.beyond
        self.real(device, kernel, grid, *inside, *rest, **options)
        self.launches += 1
        for z, i, t in zip(zones, inside, args, strict=False):
            assert (z[:GUARD] == MARK).all(), f"{name}: a store beside a tensor"
            assert (z[z.numel() - GUARD :] == MARK).all(), f"{name}: a store beside a tensor"
            t.copy_(i)


def rows_of(t):
    return t.shape[0]


def close(found, right, rtol, atol=0.0):
    torch.testing.assert_close(found, right, rtol=rtol, atol=atol, equal_nan=True)


def random(*shape, dtype=torch.float32):
    return torch.randn(*shape, generator=RANDOM).to(dtype)


def both(call, *tensors, dy=None):
    """Results and gradients by PyTorch's own operations, then by Triton."""
    made = []
    for code in ("torch", "triton"):
        with choice.use(code):
            given = [t.detach().requires_grad_() for t in tensors]
            y = call(*given)
            d = torch.ones_like(y) if dy is None else dy
            made.append((y.detach(), *torch.autograd.grad(y, given, d)))
    return made


# --- softmax ------------------------------------------------------------------


def softmax_within_the_bounds():
    def ours(z, dy):
        found = []
        for odds in (False, True):
            x = z.clone().requires_grad_()
            y = functional.tg_softmax(x, log_odds=odds)
            found += [y.detach(), torch.autograd.grad(y, x, dy)[0]]
        return dict(zip(("p", "dp", "l", "dl"), found, strict=True))

    with choice.use("triton"):
        for n in (2, 5, 64, 300) if WHOLE else (5, 64):
            # At ties log-odds are small sums with exp's and log1p's errors, a unit each.
            for gaps, most in (((0.0, 0.5, 3.0), 2.4e-7), ((10.0, 20.0, 88.0, 200.0), 1.1e-7)):
                e = worst((z, dy, ours(z, dy)) for z, dy in rows_with_gaps(n, gaps))
                assert e["p"] <= 4, (n, e)
                assert e["l"] <= most, (n, gaps, e)
                assert max(e["dp"], e["dl"]) <= 5e-6, (n, e)


def kinds_of_rows():
    ends = torch.tensor(
        [[0.0, 0, -INF], [-INF] * 3, [-INF, 3, -INF], [INF, 0, 1], [NAN, 0, 1], [200, 0, -200], [2, 2, 2]]
    )
    for n in (3, 4099):
        z = torch.full((7, n), -INF)
        z[:, -3:] = ends
        for odds in (False, True):
            for safe in (False, True):
                right, found = both(lambda z, o=odds, s=safe: functional.tg_softmax(z, log_odds=o, safe=s), z)
                for a, b in zip(found, right, strict=True):
                    close(a, b, 1e-6)


def lengths_layouts_and_guards():
    with Guarded() as guard:
        for rows, n in ((1, 1), (5, 7), (3, 129), (2, 4096), (2, 4097)):
            inner = torch.full((rows, n + 9), NAN)
            inner[:, 4 : 4 + n] = random(rows, n) * 4
            z, mask = inner[:, 4 : 4 + n], random(n) > -1
            mask[0] = True
            for odds in (False, True):
                for keep in (None, mask):
                    dy = random(1, 1).expand(rows, n) if odds else random(rows, n)
                    right, found = both(
                        lambda z, m=keep, o=odds: functional.tg_softmax(z, mask=m, log_odds=o), z, dy=dy
                    )
                    close(found[0], right[0], 4e-7)
                    close(found[1], right[1], 1e-5, 1e-6)
        assert guard.launches == 40
    right, found = both(lambda z: functional.tg_softmax(z, 1), random(2, 5, 3).transpose(0, 2))
    close(found[0], right[0], 3e-7)


def a_store_beside_is_seen():
    with choice.use("triton"), Guarded(beyond=1):
        try:
            functional.tg_softmax(random(3, 7))
        except AssertionError as error:
            assert "beside" in str(error)  # noqa: PT017 - no pytest in a script
            return
    raise AssertionError("a row too many was not seen")


def narrow_types_are_rounded_once():
    for dtype in (torch.bfloat16, torch.float16):
        z = random(20, 50, dtype=dtype) * 3
        right, found = both(functional.tg_softmax, z, dy=random(20, 50, dtype=dtype))
        assert found[0].dtype == dtype
        assert (found[0] != right[0]).sum() <= 1, dtype


def rows_past_32_bits():
    try:
        wide = torch.empty(2**32 + 64, dtype=torch.bfloat16).as_strided((3, 8), (2**31, 1))
    except RuntimeError:
        return
    z = random(3, 8, dtype=torch.bfloat16)
    wide.copy_(z)
    with choice.use("triton"):
        assert torch.equal(functional.tg_softmax(wide), functional.tg_softmax(z))


def softmax_gradcheck():
    z = random(2, 3, dtype=torch.float64).requires_grad_()
    with choice.use("triton"):
        for odds in (False, True):
            call = lambda z, o=odds: functional.tg_softmax(z, log_odds=o)  # noqa: E731
            assert torch.autograd.gradcheck(call, (z,), fast_mode=True)


# --- attention ----------------------------------------------------------------

#: batch, heads, groups, rows, keys, width, width of v
SHAPES = [(1, 2, 1, 33, 40, 20, 24), (1, 4, 2, 1, 3, 128, 64)]
MORE = [
    (1, 1, 1, 40, 40, 64, 128),
    (2, 2, 2, 5, 7, 16, 16),
    (1, 1, 1, 70, 33, 16, 17),
    (1, 2, 1, 33, 70, 16, 16),
]
SHAPES += MORE if WHOLE else []


def tensors(shape, dtype):
    batch, heads, groups, rows, keys, width, out = shape
    return (
        random(batch, rows, heads, width, dtype=dtype).transpose(1, 2),
        random(batch, groups, keys, width, dtype=dtype),
        random(batch, groups, keys, out, dtype=dtype),
    )


def attention_as_in_chunks():
    # Sums of up to 128 products; nearly equal numbers rounded to 16 bits differ by one unit at most.
    bounds = {torch.float32: 2e-5, torch.float64: 1e-13, torch.bfloat16: 2.0**-7, torch.float16: 2.0**-10}
    with Guarded() as guard:
        for k, shape in enumerate(SHAPES):
            wide = random(shape[0], 1, shape[3], shape[4]) > -0.3
            wide[:, :, 0] = False
            kinds = ((None, False), (wide, False), (None, True), (wide[0, 0], True))
            for j, (mask, causal) in enumerate(kinds):
                dtype = list(bounds)[(j + k) % 4]

                def call(*t, m=mask, c=causal):
                    return functional.tg_attention(*t, m, c)

                dy = random(*shape[:2], shape[3], shape[6], dtype=dtype)
                right, found = both(call, *tensors(shape, dtype), dy=dy)
                for a, b in zip(found, right, strict=True):
                    close(a, b, bounds[dtype], 1e-13 if dtype == torch.float64 else 4e-6)
        assert guard.launches == 3 * 4 * len(SHAPES)


def attention_rows_without_a_key_and_other_ends():
    q, k, v = tensors((1, 1, 1, 4, 5, 16, 16), torch.float32)
    q = q.clone()
    q[0, 0, 1, 0], q[0, 0, 2, 0] = NAN, INF
    mask = torch.ones(4, 5).bool()
    mask[3] = False
    for safe in (False, True):
        call = lambda *t, s=safe: functional.tg_attention(*t, mask, safe=s)  # noqa: E731
        right, found = both(call, q, k.abs(), v)
        close(found[0], right[0], 1e-5, 1e-6)
        close(found[1], right[1], 1e-5, 1e-6)
        assert torch.isnan(found[0][0, 0, 3]).all() == (not safe)


def a_dominating_key_keeps_its_gradient():
    q, k, v = (torch.tensor(t) for t in ([[40.0]], [[1.0], [0.0]], [[1.0], [3.0]]))
    _, found = both(lambda *t: functional.tg_attention(*t, scale=1.0), q, k, v)
    p = math.exp(-40) / (1 + math.exp(-40))
    right = [torch.tensor(t) for t in ([[-2 * p]], [[-80 * p], [80 * p]], [[1.0], [p]])]
    for a, b in zip(found[1:], right, strict=True):
        close(a, b, 1e-6)


def attention_gradcheck():
    given = [t.requires_grad_() for t in tensors((1, 2, 1, 3, 4, 2, 3), torch.float64)]
    with choice.use("triton"):
        for causal in (False, True):
            call = lambda *t, c=causal: functional.tg_attention(*t, causal=c)  # noqa: E731
            assert torch.autograd.gradcheck(call, given, fast_mode=True)


def keys_past_32_bits():
    try:
        wide = torch.empty(2**32 + 64, dtype=torch.bfloat16).as_strided((1, 1, 3, 16), (0, 0, 2**31, 1))
    except RuntimeError:
        return
    q, k, v = tensors((1, 1, 1, 4, 3, 16, 16), torch.bfloat16)
    wide.copy_(k)
    with choice.use("triton"):
        assert torch.equal(functional.tg_attention(q, wide, v), functional.tg_attention(q, k, v))


CHECKS = [
    softmax_within_the_bounds,
    kinds_of_rows,
    lengths_layouts_and_guards,
    a_store_beside_is_seen,
    narrow_types_are_rounded_once,
    rows_past_32_bits,
    softmax_gradcheck,
    attention_as_in_chunks,
    attention_rows_without_a_key_and_other_ends,
    a_dominating_key_keeps_its_gradient,
    attention_gradcheck,
    keys_past_32_bits,
]

if __name__ == "__main__":
    repair()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    for function in CHECKS:
        try:
            function()
        except Exception:
            print(f"{function.__name__}: {traceback.format_exc(limit=3)}")
