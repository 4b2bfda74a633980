"""C09: pytorch#30572: softmax modules without a dimension or along odd ones, empty rows, integers."""

from __future__ import annotations

import warnings

import pytest

torch = pytest.importorskip("torch")
nn = torch.nn
convert = pytest.importorskip("gateproof").convert

SHAPES = [(4,), (2, 4), (2, 3, 4), (2, 3, 4, 5), (2, 0), (0, 3)]
MODULES = [
    lambda: nn.Softmax(None),
    lambda: nn.Softmax(0),
    lambda: nn.Softmax(-1),
    nn.Softmax2d,
    lambda: nn.LogSoftmax(-1),
    lambda: nn.Softmin(1),
]


@pytest.mark.filterwarnings("ignore:Implicit dimension")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("made", MODULES, ids=lambda m: str(m()))
def test_is_the_module_it_replaced(made, shape):
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found = convert(made())
    try:
        right = made()(x)
    except (IndexError, ValueError) as error:
        with pytest.raises(type(error)):
            found.model(x)
        return
    torch.testing.assert_close(found.model(x), right, rtol=1e-14, atol=0)
    # Two roundings of float32 away from that, each of which is less than 1e-7 of the value.
    y = found.model(x.float())
    assert y.dtype == torch.float32
    torch.testing.assert_close(y.double(), right, rtol=6e-7, atol=1e-7)
    assert [r.converted for r in found.report] == [True]


@pytest.mark.parametrize(("shape", "dim"), [*zip(SHAPES[:4], [0, 1, 0, 1], strict=True)], ids=str)
def test_the_implicit_dimension(shape, dim):
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        p = convert(nn.Softmax(None)).model(x)
    assert any("Implicit dimension" in str(w.message) for w in said)
    torch.testing.assert_close(p.sum(dim), torch.ones_like(p.sum(dim)))
    wrong = 1 - dim if x.dim() > 1 else None
    assert wrong is None or not torch.allclose(p.sum(wrong), torch.ones_like(p.sum(wrong)))


def test_integers_need_a_type_as_in_pytorch():
    x = torch.tensor([[0, 1, 2]])
    with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
        convert(nn.Softmax(-1)).model(x)
