"""tg_attention against PyTorch's: values, derivatives of all orders, memory, shapes, refusals."""

from __future__ import annotations

import weakref

import mpmath as mp
import pytest
import torch
from torch.autograd.gradcheck import GradcheckError
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention
from torch.utils._python_dispatch import TorchDispatchMode

from gateproof.kernels import attention, attention_chunks, functional
from gateproof.kernels.attention import Kind

#: batch, heads, groups, rows, keys, width, width of v
SHAPES = [(2, 4, 2, 5, 7, 16, 16), (1, 2, 2, 33, 17, 20, 24), (2, 3, 1, 1, 3, 8, 4), (1, 1, 1, 12, 12, 4, 4)]


def made(shape, dtype=torch.float64, seed=0):
    batch, heads, groups, rows, keys, width, out = shape
    random = torch.Generator().manual_seed(seed)
    sizes = [(batch, heads, rows, width), (batch, groups, keys, width), (batch, groups, keys, out)]
    return [torch.randn(s, dtype=dtype, generator=random).requires_grad_() for s in sizes]


def masks(shape):
    """None, one row a key, and one whose first row sees no key."""
    batch, _, _, rows, keys, _, _ = shape
    random = torch.Generator().manual_seed(1)
    wide = torch.rand(batch, 1, rows, keys, generator=random) > 0.4
    wide[:, :, 0] = False
    return {"none": None, "keys": torch.arange(keys) != keys - 1, "pairs": wide}


def by_torch(q, k, v, mask, causal):
    if causal:
        lower = torch.ones(q.shape[-2], k.shape[-2]).tril().bool()
        mask = lower if mask is None else lower & mask
    with sdpa_kernel(SDPBackend.MATH):
        return scaled_dot_product_attention(q, k, v, mask, enable_gqa=True)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("mask", ["none", "keys", "pairs"])
@pytest.mark.parametrize("shape", SHAPES)
def test_values_and_gradients_of_torch(shape, mask, causal, monkeypatch):
    # Several chunks even of these.
    monkeypatch.setattr(attention_chunks, "CHUNK", 64)
    tensors, keep = made(shape), masks(shape)[mask]
    y, right = functional.tg_attention(*tensors, keep, causal), by_torch(*tensors, keep, causal)
    # Products of up to 33 terms of the size of 10 in double precision.
    close = {"rtol": 0, "atol": 2e-14}
    torch.testing.assert_close(y, right, **close)
    dy = torch.randn(right.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    expected = torch.autograd.grad(right, tensors, dy)
    for graph in (False, True):
        found = torch.autograd.grad(y, tensors, dy, create_graph=graph, retain_graph=True)
        for a, b in zip(found, expected, strict=True):
            torch.testing.assert_close(a, b, **close)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_narrow_types_are_rounded_once(dtype):
    shape = (1, 2, 1, 9, 11, 16, 16)
    narrow = [t.detach().to(dtype).requires_grad_() for t in made(shape)]
    wide = [t.detach().double().requires_grad_() for t in narrow]
    y, right = functional.tg_attention(*narrow), functional.tg_attention(*wide)
    dy = torch.randn(right.shape, generator=torch.Generator().manual_seed(2)).to(dtype)
    pairs = [(y, right)]
    found = torch.autograd.grad(y, narrow, dy), torch.autograd.grad(right, wide, dy.double())
    # Half a unit of the type, and float32's own error in sums of terms of the size of 10.
    half = torch.finfo(dtype).eps / 2
    for a, b in [*pairs, *zip(*found, strict=True)]:
        assert a.dtype == dtype
        assert ((a.double() - b).abs() <= 1.01 * half * b.abs() + 4e-6).all()


def test_a_key_that_dominates_keeps_its_gradient():
    # Scores 40 and 0: dv_0 = p_0 dy, and ds_0 = p_0 p_1 dy (v_0 - v_1), which the usual form makes 0.
    q, k, v = (torch.tensor(t, requires_grad=True) for t in ([[40.0]], [[1.0], [0.0]], [[1.0], [3.0]]))
    dq, dk, dv = torch.autograd.grad(functional.tg_attention(q, k, v, scale=1.0), (q, k, v), torch.ones(1, 1))
    p = float(mp.exp(-40) / (1 + mp.exp(-40)))
    assert dk[0].item() == pytest.approx(-2 * p * 40, rel=1e-6, abs=0)
    assert dk[1].item() == pytest.approx(2 * p * 40, rel=1e-6, abs=0)
    assert dq.item() == pytest.approx(-2 * p, rel=1e-6, abs=0)
    assert dv.flatten().tolist() == pytest.approx([1.0, p], rel=1e-6, abs=0)
    with sdpa_kernel(SDPBackend.MATH):
        y = scaled_dot_product_attention(q, k, v, scale=1.0)
    assert torch.autograd.grad(y, k)[0][0].item() != pytest.approx(-2 * p * 40, rel=0.5, abs=0)


SMALL = (1, 2, 1, 3, 3, 2, 2)


@pytest.mark.parametrize(("mask", "causal"), [("none", False), ("pairs", False), ("keys", True)])
def test_all_orders_of_derivatives(mask, causal):
    tensors, keep = made(SMALL), masks(SMALL)[mask]

    def call(q, k, v):
        return functional.tg_attention(q, k, v, keep, causal)

    assert torch.autograd.gradcheck(call, tensors, check_forward_ad=True, fast_mode=True)
    assert torch.autograd.gradgradcheck(call, tensors, fast_mode=True)


def test_gradcheck_sees_a_wrong_gradient(monkeypatch):
    from gateproof.kernels import attention_op

    right = attention_op.gradients_in_chunks
    monkeypatch.setattr(attention_op, "gradients_in_chunks", lambda *a: (2 * right(*a)[0], *right(*a)[1:]))
    q, k, v = made(SMALL)
    with pytest.raises(GradcheckError):
        torch.autograd.gradcheck(lambda q: functional.tg_attention(q, k, v), (q,), fast_mode=True)


class Meter(TorchDispatchMode):
    """The most bytes held at once by tensors made in the block."""

    def __init__(self):
        super().__init__()
        self.live, self.most = {}, 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for t in out if isinstance(out, tuple | list) else (out,):
            if isinstance(t, torch.Tensor):
                place, size = t.untyped_storage().data_ptr(), t.untyped_storage().nbytes()
                count, _ = self.live.get(place, (0, 0))
                self.live[place] = (count + 1, size)
                weakref.finalize(t, self.gone, place)
        self.most = max(self.most, sum(size for _, size in self.live.values()))
        return out

    def gone(self, place):
        count, size = self.live[place]
        self.live[place] = (count - 1, size)
        if count == 1:
            del self.live[place]


def bytes_of(n, function):
    q, k, v = (t.detach() for t in made((1, 1, 1, n, n, 8, 8), torch.float32))
    with Meter() as meter:
        function(q, k, v)
    return meter.most


def test_no_buffer_grows_with_rows_times_keys(monkeypatch):
    monkeypatch.setattr(attention_chunks, "CHUNK", 1 << 14)
    kind = Kind(causal=False, scale=0.3, safe=True)

    def both(q, k, v):
        attention_chunks.in_chunks(q, k, v, None, kind)
        attention_chunks.gradients_in_chunks(q, q, k, v, None, kind)

    found = {n: bytes_of(n, both) for n in (512, 1024)}
    # A few chunks, and tensors of the size of q.
    assert found[1024] < 6 * 4 * attention_chunks.CHUNK + 8 * 4 * 8 * 1024
    assert found[1024] < 1.5 * found[512]
    whole = bytes_of(1024, lambda q, k, v: attention.whole(q, k, v, None, kind))
    assert whole > 4 * 1024 * 1024 > 5 * found[1024]


def test_heads_leading_dimensions_and_lengths_of_0():
    q, k, v = (t.detach() for t in made((2, 4, 2, 3, 5, 4, 6)))
    right = functional.tg_attention(q, k, v)
    torch.testing.assert_close(functional.tg_attention(q[1], k[1], v[1]), right[1])
    torch.testing.assert_close(functional.tg_attention(q[1, 3], k[1, 1], v[1, 1]), right[1, 3])
    several = functional.tg_attention(q.expand(3, 2, 4, 3, 4), k, v)
    torch.testing.assert_close(several, right.expand(3, 2, 4, 3, 6))
    # Not contiguous: heads after rows, as projections leave them.
    turned = [t.transpose(1, 2).contiguous().transpose(1, 2) for t in (q, k, v)]
    torch.testing.assert_close(functional.tg_attention(*turned), right)
    assert functional.tg_attention(q[:, :, :0], k, v).shape == (2, 4, 0, 6)
    assert functional.tg_attention(q[:0], k[:0], v[:0]).shape == (0, 4, 3, 6)
    nothing = functional.tg_attention(q.requires_grad_(), k[:, :, :0], v[:, :, :0])
    assert not nothing.any()
    assert not torch.autograd.grad(nothing.sum(), q)[0].any()


def test_nan_and_infinite_scores_stay_in_their_rows():
    q, k, v = (t.detach() for t in made((1, 1, 1, 3, 4, 2, 2)))
    q[0, 0, 1, 0] = float("nan")
    q[0, 0, 2, 0] = float("inf")
    y = functional.tg_attention(q, k.abs(), v)
    assert torch.isnan(y[0, 0, 1:]).all()
    assert torch.isfinite(y[0, 0, 0]).all()


def test_transforms():
    q, k, v = (t.detach() for t in made((2, 2, 1, 3, 4, 2, 2)))
    mask = masks((2, 2, 1, 3, 4, 2, 2))["pairs"]
    found = torch.vmap(functional.tg_attention)(q, k, v, mask)
    torch.testing.assert_close(found, functional.tg_attention(q, k, v, mask))
    forward, reverse = (
        j(lambda q: functional.tg_attention(q, k, v))(q) for j in (torch.func.jacfwd, torch.func.jacrev)
    )
    torch.testing.assert_close(forward, reverse)


def test_opcheck():
    q, k, v = (t.detach() for t in made((1, 2, 1, 3, 4, 4, 2), torch.float32))
    for mask in (None, torch.ones(1, 2, 3, 4).bool()):
        rest = (True, 0.5, True)
        torch.library.opcheck(torch.ops.gateproof.tg_attention.default, (q, k, v, mask, *rest))
        out, stats, place = torch.ops.gateproof.tg_attention(q, k, v, mask, *rest)
        given = (out, q, k, v, mask, stats, place, *rest)
        torch.library.opcheck(torch.ops.gateproof.tg_attention_backward.default, given)


class Module(torch.nn.Module):
    def forward(self, q, k, v):
        return functional.tg_attention(q * 2, k, v, causal=True)


def test_compiled_code_and_export():
    tensors = made((1, 2, 2, 3, 4, 4, 4), torch.float32)
    right = Module()(*tensors)
    found = torch.compile(Module(), fullgraph=True, backend="aot_eager")(*tensors)
    torch.testing.assert_close(found, right)
    gradients = [torch.autograd.grad(y.square().sum(), tensors) for y in (found, right)]
    torch.testing.assert_close(*gradients)
    plain = tuple(t.detach() for t in tensors)
    torch.testing.assert_close(torch.export.export(Module(), plain).module()(*plain), right.detach())


def test_autocast_as_torch():
    q, k, v = made((1, 1, 1, 3, 4, 4, 4), torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        assert functional.tg_attention(q, k, v).dtype == scaled_dot_product_attention(q, k, v).dtype


Q, K, V = torch.zeros(2, 3, 4), torch.zeros(2, 5, 4), torch.zeros(2, 5, 6)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((Q, K.double(), V), TypeError, "of one type, found torch.float32, torch.float64"),
        ((Q, K, V[:, :4]), ValueError, r"found \(2, 3, 4\), \(2, 5, 4\), \(2, 4, 6\)"),
        ((Q[:, :, :3], K, V), ValueError, "width"),
        ((Q[:, :, :0], K[:, :, :0], V), ValueError, "width at least 1"),
        ((Q[0, 0], K, V), ValueError, "two dimensions or more"),
        ((Q, K, V, torch.zeros(3, 5)), TypeError, "bools, True to keep, found torch.float32"),
        ((Q, K, V, torch.ones(5, 3).bool()), ValueError, r"\(5, 3\) cannot be broadcast to \(2, 3, 5\)"),
        ((torch.zeros(3, 3, 4), K, V), ValueError, "divides q's, found 3 of q, 2 of k, 2 of v"),
        ((Q.int(), K, V), TypeError, "q is of a floating type"),
    ],
)
def test_refusals(arguments, error, text):
    with pytest.raises(error, match=text):
        functional.tg_attention(*arguments)


def test_shapes_alone_suffice():
    q = torch.empty(2, 4, 6, 8, device="meta")
    assert functional.tg_attention(q, q, q).shape == q.shape
