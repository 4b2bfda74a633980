"""Converted attention beside PyTorch's own: masks, heads, dropout, fast paths, memory, derivatives."""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

from gateproof import convert
from gateproof.kernels import attention_chunks
from gateproof.kernels.convert.biased_attention import biased_attention

INF = float("inf")
SEEN = torch.tensor([[1, 1, 0, 1, 0], [1, 0, 0, 1, 1], [0, 0, 0, 0, 0]]).bool()


class Calls(nn.Module):
    def __init__(self, call):
        super().__init__()
        self.call = call

    def forward(self, *x, **named):
        return self.call(*x, **named)


class Ran(TorchDispatchMode):
    """The operators that run."""

    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.add(str(func))
        return func(*args, **(kwargs or {}))

    def of_pytorch(self):
        words = ("softmax", "scaled_dot", "relu", "gelu", "multi_head", "transformer_encoder")
        return [n for n in self.names if any(w in n for w in words) and "gateproof" not in n]


def both(call, inputs, **named):
    """Results and gradients of the former and of the converted call, from one state of the generator."""
    found = []
    model = deepcopy(call) if isinstance(call, nn.Module) else Calls(call)
    for one in (call, convert(model).model):
        given = [t.detach().requires_grad_(t.is_floating_point()) for t in inputs]
        torch.manual_seed(3)
        y = one(*given, **named)
        y = y if isinstance(y, torch.Tensor) else y[0]
        weights = torch.linspace(0.5, 1.5, y.numel(), dtype=y.dtype).reshape(y.shape)
        wanted = [t for t in given if t.requires_grad]
        found.append((y.detach(), *torch.autograd.grad((y * weights).sum(), wanted)))
    return found


def made(*shapes, dtype=torch.float64):
    random = torch.Generator().manual_seed(0)
    return [torch.randn(s, dtype=dtype, generator=random) for s in shapes]


MASKS = {
    "none": None,
    "bools": SEEN,
    "bools of batches": SEEN.expand(2, 1, 3, 5),
    "keys": torch.tensor([[1, 0, 1, 1, 0]]).bool(),
    "numbers": torch.linspace(-2, 2, 15, dtype=torch.float64).reshape(3, 5).masked_fill(~SEEN, -INF),
    "numbers of heads": torch.linspace(-2, 2, 60, dtype=torch.float64).reshape(1, 4, 3, 5),
}
OPTIONS = {
    "plain": {},
    "scale": {"scale": -0.7},
    "dropout": {"dropout_p": 0.4},
    "causal": {"is_causal": True},
}


@pytest.mark.parametrize("groups", [4, 2])
@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("mask", MASKS)
def test_is_scaled_dot_product_attention(mask, option, groups, monkeypatch):
    monkeypatch.setattr(attention_chunks, "CHUNK", 32)
    if option == "causal" and mask != "none":
        return
    inputs = made((2, 4, 3, 8), (2, groups, 5, 8), (2, groups, 5, 6))
    grouped = {"enable_gqa": groups != 4}

    def call(q, k, v, m=MASKS[mask]):
        return functional.scaled_dot_product_attention(q, k, v, m, **OPTIONS[option], **grouped)

    given = [*inputs, MASKS[mask]] if "numbers" in mask else inputs
    for a, b in zip(*both(call, given), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-13, atol=1e-14, equal_nan=True)


def test_shapes_types_and_layout():
    q, k, v = made((2, 4, 3, 8), (2, 4, 5, 8), (2, 4, 5, 8), dtype=torch.float32)
    found = convert(Calls(functional.scaled_dot_product_attention))
    for cut in (lambda t: t, lambda t: t[0], lambda t: t[0, 0], lambda t: t.expand(3, 2, 4, *t.shape[-2:])):
        right = functional.scaled_dot_product_attention(*map(cut, (q, k, v)))
        torch.testing.assert_close(found.model(*map(cut, (q, k, v))), right)
    single = found.model(q, k[:1, :1], v[:1, :1])
    torch.testing.assert_close(single, functional.scaled_dot_product_attention(q, k[:1, :1], v[:1, :1]))
    # Code views heads and widths as one dimension.
    assert found.model(q, k, v).transpose(1, 2).view(2, 3, 32).shape == (2, 3, 32)
    for none in ((q[:, :, :0], k, v), (q, k[:, :, :0], v[:, :, :0])):
        assert torch.equal(found.model(*none), functional.scaled_dot_product_attention(*none))
    narrow = [t.bfloat16() for t in (q, k, v)]
    right = functional.scaled_dot_product_attention(*(t.double() for t in narrow))
    assert ((found.model(*narrow).double() - right).abs() <= 2.0**-8 * right.abs() + 1e-6).all()
    with torch.autocast("cpu", torch.bfloat16):
        assert found.model(q, k, v, torch.zeros(3, 5)).dtype == torch.bfloat16
    with pytest.raises(RuntimeError, match="same dtype"):
        found.model(q, k.double(), v)
    assert [r.converted for r in found.report] == [True]


def test_a_mask_of_the_least_number_is_uniform_and_none_seen_is_0():
    q, k, v = made((1, 1, 2, 4), (1, 1, 3, 4), (1, 1, 3, 4), dtype=torch.float32)
    model = convert(Calls(functional.scaled_dot_product_attention)).model
    least = torch.full((2, 3), torch.finfo(torch.float32).min)
    torch.testing.assert_close(model(q, k, v, least), v.mean(2, keepdim=True).expand(1, 1, 2, 4))
    for none in (torch.zeros(2, 3).bool(), torch.full((2, 3), -INF)):
        tensors = [t.clone().requires_grad_() for t in (q, k, v)]
        y = model(*tensors, none)
        assert not y.any()
        assert not any(g.any() for g in torch.autograd.grad(y.sum(), tensors))


def test_all_orders_with_a_mask_of_numbers():
    tensors = [t.requires_grad_() for t in made((1, 2, 3, 2), (1, 1, 4, 2), (1, 1, 4, 2), (1, 2, 1, 4))]

    def call(*t):
        return biased_attention(*t, causal=True, scale=0.8)

    assert torch.autograd.gradcheck(call, tensors, check_forward_ad=True, fast_mode=True)
    assert torch.autograd.gradgradcheck(call, tensors, fast_mode=True)
    q, k, v, bias = (t.detach() for t in tensors)
    several = torch.vmap(call, in_dims=(0, None, None, None))(torch.stack([q, 2 * q]), k, v, bias)
    torch.testing.assert_close(several[1], call(2 * q, k, v, bias))
    plain = (q, k, v, bias, True, 0.8)
    torch.library.opcheck(torch.ops.gateproof.biased_attention.default, plain)


def test_compiled_and_exported_as_a_whole():
    def forward(q, k, v, m):
        y = functional.scaled_dot_product_attention(q, k, v, m)
        return y + functional.scaled_dot_product_attention(q, k, v, is_causal=True)

    inputs = made((2, 2, 3, 4), (2, 2, 3, 4), (2, 2, 3, 4), (3, 3), dtype=torch.float32)
    model = convert(Calls(forward)).model
    exported = torch.export.export(model, tuple(inputs)).module()
    torch.testing.assert_close(exported(*inputs), forward(*inputs))
    fused = torch.compile(model, fullgraph=True, backend="aot_eager")
    found = [torch.autograd.grad(f(*t).square().sum(), t) for f in (fused, forward)
             for t in [[x.clone().requires_grad_() for x in inputs]]]  # fmt: skip
    torch.testing.assert_close(*found)


MULTIHEAD = {
    "plain": {},
    "no biases": {"bias": False},
    "keys of its own": {"add_bias_kv": True, "add_zero_attn": True},
    "other widths": {"kdim": 5, "vdim": 6},
    "dropout": {"dropout": 0.3},
}
PADDED = torch.tensor([[0, 0, 0, 1, 1], [0, 0, 0, 0, 0]]).bool()
CALLS = {
    "plain": {},
    "padded": {"key_padding_mask": PADDED, "need_weights": False},
    "both masks": {"attn_mask": ~SEEN[[0, 1, 0]], "key_padding_mask": PADDED},
    "one a head": {"attn_mask": torch.linspace(-1, 1, 60, dtype=torch.float64).reshape(4, 3, 5),
                   "need_weights": False},
    "weights of heads": {"average_attn_weights": False},
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("options", MULTIHEAD)
def test_multihead(options, call):
    module = nn.MultiheadAttention(8, 2, batch_first=True, dtype=torch.float64, **MULTIHEAD[options])
    for p in module.parameters():
        nn.init.normal_(p, std=0.5)
    inputs = made((2, 3, 8), (2, 5, module.kdim), (2, 5, module.vdim))
    for a, b in zip(*both(module, inputs, **CALLS[call]), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-13)
    found = convert(deepcopy(module).eval())
    module.eval()
    with torch.no_grad(), Ran() as ran:
        first, weights = found.model(*inputs, **CALLS[call])
    right, expected = module(*inputs, **CALLS[call])
    torch.testing.assert_close(first, right, rtol=1e-12, atol=1e-13)
    torch.testing.assert_close(weights, expected, rtol=1e-12, atol=1e-13)
    assert not ran.of_pytorch()
    assert [r.converted for r in found.report] == [True]


@pytest.mark.parametrize(
    ("activation", "first"), [("relu", False), (functional.gelu, True), (nn.GELU("tanh"), False)]
)
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested")
def test_encoder_in_eval(activation, first):
    layer = nn.TransformerEncoderLayer(
        8, 2, 16, 0.0, activation, batch_first=True, norm_first=first, dtype=torch.float64
    )
    module = nn.TransformerEncoder(
        layer, 2, nn.LayerNorm(8, dtype=torch.float64), enable_nested_tensor=not first
    )
    for p in module.parameters():
        nn.init.normal_(p, std=0.5)
    module.eval()
    (x,) = made((2, 5, 8))
    found = convert(deepcopy(module))
    for mask in (None, PADDED, PADDED.flip(1)):
        with torch.no_grad(), Ran() as ran:
            y = found.model(x, src_key_padding_mask=mask)
        with torch.no_grad():
            right = module(x, src_key_padding_mask=mask)
        torch.testing.assert_close(y, right, rtol=1e-12, atol=1e-12)
        assert not ran.of_pytorch()
        torch.testing.assert_close(found.model(x), module(x), rtol=1e-12, atol=1e-12)
    assert found.report.kept == ()


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested")
def test_nested_rows():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dtype=torch.float64)
    module = nn.TransformerEncoder(layer, 2).eval()
    rows = torch.nested.nested_tensor(made((3, 8), (5, 8)))
    found = convert(deepcopy(module)).model
    with torch.no_grad():
        for one, other in ((module, found), (module.layers[0], found.layers[0])):
            for a, b in zip(other(rows).unbind(), one(rows).unbind(), strict=True):
                torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)


def test_fused_operators_called_by_themselves():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dtype=torch.float64).eval()
    own, (x,) = layer.self_attn, made((2, 5, 8))
    weights = (own.in_proj_weight, own.in_proj_bias, own.out_proj.weight, own.out_proj.bias)
    norms = (layer.norm1.weight, layer.norm1.bias, layer.norm2.weight, layer.norm2.bias)
    fed = (layer.linear1.weight, layer.linear1.bias, layer.linear2.weight, layer.linear2.bias)

    def forward(x):
        whole = torch._transformer_encoder_layer_fwd(
            x, 8, 2, *weights, False, False, 1e-5, *norms, *fed, PADDED, 1
        )
        return whole, *torch._native_multi_head_attention(x, x, x, 8, 2, *weights, PADDED, True, True, 1)

    found = convert(Calls(forward))
    with torch.no_grad(), Ran() as ran:
        y = found.model(x)
    with torch.no_grad():
        torch.testing.assert_close(y, forward(x), rtol=1e-12, atol=1e-13)
    assert not ran.of_pytorch()
    assert [r.kind for r in found.report] == ["attention", "relu", "attention"]


def test_a_wrong_gate_shows():
    # Its scale off by a thousandth.
    q, k, v = made((1, 2, 9, 8), (1, 2, 9, 8), (1, 2, 9, 8))
    right = functional.scaled_dot_product_attention(q, k, v)
    model = convert(Calls(functional.scaled_dot_product_attention)).model
    difference = (model(q, k, v, scale=8**-0.5 * 1.001) - right).abs().max()
    assert difference > 1e-9 > 1e5 * (model(q, k, v) - right).abs().max()
