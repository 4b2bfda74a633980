"""The count of operators: what is a nonlinearity, what was missed, and that it disturbs nothing."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - as the code of networks has it

from gateproof import convert
from gateproof.kernels.convert.census import counted
from gateproof.kernels.convert.census_ops import kind_of
from gateproof.kernels.convert.plan import HANDLERS

aten, quantized = torch.ops.aten, torch.ops.quantized
#: By what PyTorch's documentation says of each.
KINDS = {
    "nonlinear": [
        aten.relu_.default, aten.gelu.default, aten.hardtanh.default, aten._softmax.default, aten.erf.default,
        aten._scaled_dot_product_flash_attention_for_cpu.default, aten.mkldnn_rnn_layer.default,
        aten._native_multi_head_attention.default, aten._transformer_encoder_layer_fwd.default,
        aten._thnn_fused_lstm_cell.default, aten.max.other, aten.clamp_min.default,
        aten._prelu_kernel.default,
        aten.log_sigmoid_forward.default, aten.glu.default, aten.quantized_lstm.input, aten.sign.default,
        quantized.linear_relu.default, quantized.batch_norm2d_relu.default, quantized.add_relu.default,
    ],
    "": [
        aten.add.Tensor, aten.mm.default, aten.where.self, aten.mul.Tensor,
        aten.sigmoid_backward.default, aten._cudnn_rnn_flatten_weight.default, aten.gt.Scalar,
        aten.view.default,
    ],
    "elementary": [aten.exp.default, aten.log1p.default, aten.sin.default, aten.pow.Tensor_Scalar],
    "norm": [
        aten.sqrt.default, aten.rsqrt.default, aten.native_layer_norm.default,
        aten.linalg_vector_norm.default,
    ],
    "pooling": [aten.max_pool2d_with_indices.default, aten.amax.default],
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_what_an_operator_is(kind):
    assert {str(op): kind_of(op) for op in KINDS[kind]} == {str(op): kind for op in KINDS[kind]}


class Spellings(nn.Module):
    """What has no function of its own, and what must not count."""

    def __init__(self, body):
        super().__init__()
        self.body = body

    def forward(self, x):
        return self.body(x)


@pytest.mark.parametrize(
    ("body", "counts"),
    [
        (lambda x: torch.where(x > 0, x, 0.1 * x), {"where[comparison]": 1}),
        (lambda x: x * (x > 0), {"mul[comparison]": 1}),
        (lambda x: x * (x > 0).to(x.dtype), {"mul[comparison]": 1}),
        (lambda x: x.masked_fill((x < 0).unsqueeze(0), 0), {"masked_fill[comparison]": 1}),
        (lambda x: x.masked_fill_(~(x >= 0), 0), {"masked_fill_[comparison]": 1}),
        (lambda x: torch.where(torch.arange(4) > 1, x, 0.0), {}),
        (lambda x: F.normalize(x), {}),
        (lambda x: torch.arange(4).clamp(min=2) + x, {}),
        (lambda x: F.lp_pool1d(x.reshape(1, 1, -1), 2.0, 2), {}),
        (lambda x: F.layer_norm(x, (4,)) / x.norm().sqrt(), {}),
    ],
)
def test_hand_written(body, counts):
    model = Spellings(body)
    with counted(model) as counting:
        model(torch.linspace(-1, 1, 4).reshape(1, 4))
    assert {name: n for (_, name), n in counting.of("nonlinear").items()} == counts


def test_a_miss_is_seen(monkeypatch):
    """Without its handlers relu stays: the census must say so, with the place, and a row appears."""
    for key in [k for k in HANDLERS if "relu" in str(k) and "leaky" not in str(k)]:
        monkeypatch.delitem(HANDLERS, key)
    model = nn.Sequential(nn.Linear(2, 2), Spellings(F.relu), nn.Tanh())
    found = convert(model, inputs=torch.ones(1, 2))
    assert not found.census.agrees
    assert found.census.left == {"relu": 1}
    (missed,) = found.census.missed
    assert missed.startswith("1 (")
    assert missed.endswith(": 1 relu")
    (row,) = found.report.kept
    assert (row.kind, row.place) == ("relu", missed.removesuffix(": 1 relu"))
    assert "missed: 1" in str(found.census)


def test_guards_and_elementary_functions_are_listed():
    model = Spellings(lambda x: torch.where(x == 0, 0.0, torch.exp(x)))
    found = convert(model, inputs=torch.linspace(-1, 1, 4))
    assert found.census.missed == ()
    assert [e.split(": ")[1] for e in found.census.elementary] == ["1 exp"]
    assert any("guard" in r.reason for r in found.report.kept)


def test_without_inputs_it_says_so():
    found = convert(nn.Sequential(nn.ReLU()))
    assert not found.census.ran
    assert "inputs=" in str(found.census)
    assert not found.census.agrees


def test_nothing_is_disturbed():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(), nn.GELU())
    model.cache = torch.full((3,), torch.nan)
    state = {k: v.clone() for k, v in model.state_dict().items()}
    random = torch.get_rng_state()
    convert(model, inputs=[torch.randn(8, 4, generator=torch.Generator()) for _ in range(2)])
    assert all(torch.equal(v, state[k]) for k, v in model.state_dict().items())
    assert torch.equal(torch.get_rng_state(), random)
    assert all(m.training for m in model)


def test_a_network_that_fails_stays_as_it_was():
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        convert(model, inputs=torch.ones(1, 3))
    assert type(model[1]) is nn.ReLU


def test_the_fast_path_of_encoders():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, activation="gelu", batch_first=True)
    model, x = nn.TransformerEncoder(layer, 2).eval(), torch.randn(2, 5, 8)
    with torch.no_grad():
        right = model(x)
    found = convert(model, inputs=x)
    assert found.census.original == {"_transformer_encoder_layer_fwd": 2}
    assert found.census.left == {}
    assert found.census.agrees
    with torch.no_grad():
        torch.testing.assert_close(model(x), right, rtol=0, atol=2e-6)
