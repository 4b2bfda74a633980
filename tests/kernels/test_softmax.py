"""tg_softmax as an operation: kinds of rows, masks, dims, derivatives, compilers, refusals."""

from __future__ import annotations

import math

import pytest
import torch
from torch.autograd.gradcheck import GradcheckError

from gateproof.kernels import functional

INF, NAN = math.inf, math.nan
Z = torch.zeros(2)
CLOSE = {"rtol": 2e-15, "atol": 1e-15, "equal_nan": True}


def spread(*shape, dtype=torch.float64, seed=0):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed)) * 3


def odds_by_definition(z, dim):
    """z_i minus torch's logsumexp of the others."""
    z = z.movedim(dim, -1)
    n = z.shape[-1]
    others = [torch.cat([z[..., :i], z[..., i + 1 :]], -1).logsumexp(-1) for i in range(n)]
    return (z - torch.stack(others, -1)).movedim(-1, dim)


@pytest.mark.parametrize("log_odds", [False, True])
@pytest.mark.parametrize("dim", [-1, 0, 1])
def test_every_dimension_with_its_gradients(dim, log_odds):
    z = spread(3, 4, 5).transpose(0, 2).requires_grad_()
    y = functional.tg_softmax(z, dim, log_odds=log_odds)
    right = odds_by_definition(z, dim) if log_odds else torch.softmax(z, dim)
    torch.testing.assert_close(y, right, **CLOSE)
    # The gradient of a sum has strides of 0.
    for dy in (spread(*y.shape, seed=1), torch.ones(()).double().expand(y.shape)):
        found, again = (
            torch.autograd.grad(y, z, dy, create_graph=g, retain_graph=True)[0] for g in (False, True)
        )
        (expected,) = torch.autograd.grad(right, z, dy, retain_graph=True)
        torch.testing.assert_close(found, expected, rtol=1e-14, atol=1e-14)
        torch.testing.assert_close(again.detach(), expected, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("shape", [(5,), (1,), (4, 1), (3, 1, 5), (1, 1, 1)])
def test_masks_are_broadcast(shape):
    mask = spread(*shape, seed=3) > -1
    z = spread(3, 4, 5).requires_grad_()
    hidden = torch.where(mask, z, -INF)
    for safe in (False, True):
        y = functional.tg_softmax(z, mask=mask, safe=safe)
        right = torch.softmax(hidden, -1)
        torch.testing.assert_close(y, right.nan_to_num(0.0) if safe else right, **CLOSE)
        dy = spread(3, 4, 5, seed=4)
        (found,) = torch.autograd.grad(y, z, dy)
        (expected,) = torch.autograd.grad(right, z, dy, retain_graph=True)
        torch.testing.assert_close(found, expected.nan_to_num(0.0), rtol=1e-14, atol=1e-15)


def test_what_is_masked_counts_for_nothing():
    z = torch.tensor([1.0, NAN, 2.0, INF], requires_grad=True)
    y = functional.tg_softmax(z, mask=torch.tensor([True, False, True, False]))
    assert y[[1, 3]].tolist() == [0.0, 0.0]
    torch.testing.assert_close(y[[0, 2]], torch.softmax(torch.tensor([1.0, 2.0]), -1))
    (dz,) = torch.autograd.grad(y, z, torch.tensor([1.0, NAN, 0.0, INF]))
    torch.testing.assert_close(dz, torch.tensor([0.19661194, 0.0, -0.19661194, 0.0]))


@pytest.mark.parametrize(
    ("row", "p", "odds"),
    [
        ([NAN, 0.0, 1.0], [NAN] * 3, [NAN] * 3),
        ([INF, 0.0, 1.0], [NAN] * 3, [NAN] * 3),
        ([INF, INF], [NAN] * 2, [NAN] * 2),
        ([7.0], [1.0], [INF]),
        ([2.0, 2.0], [0.5, 0.5], [0.0, 0.0]),
        ([2.0, 2.0, 2.0, 2.0], [0.25] * 4, [-math.log(3)] * 4),
        ([3e38, -3e38], [1.0, 0.0], [INF, -INF]),
    ],
)
@pytest.mark.parametrize("safe", [False, True])
def test_kinds_of_rows(row, p, odds, safe):
    z = torch.tensor([row], requires_grad=True)
    torch.testing.assert_close(
        functional.tg_softmax(z, safe=safe), torch.tensor([p]), rtol=0, atol=0, equal_nan=True
    )
    found = functional.tg_softmax(z, log_odds=True, safe=safe)
    torch.testing.assert_close(found, torch.tensor([odds]), equal_nan=True)
    if not math.isnan(p[0]):
        (dz,) = torch.autograd.grad(functional.tg_softmax(z), z, torch.arange(1.0, 1 + len(row))[None])
        assert torch.isfinite(dz).all()
        assert abs(dz.sum()) < 1e-6


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4)])
def test_empty_tensors(shape):
    z = torch.empty(shape, requires_grad=True)
    for dim in range(len(shape)):
        y = functional.tg_softmax(z, dim)
        assert y.shape == z.shape
        assert torch.autograd.grad(y.sum(), z)[0].shape == z.shape


@pytest.mark.parametrize("log_odds", [False, True])
@pytest.mark.parametrize("kind", ["spread", "ties", "gaps", "masked"])
def test_all_orders_of_derivatives(kind, log_odds):
    z = spread(1, 3)
    z = {"ties": torch.zeros_like(z), "gaps": z * torch.tensor([1.0, 10.0, -8.0])}.get(kind, z)
    z.requires_grad_()
    mask = torch.tensor([True, False, True]) if kind == "masked" else None

    def call(z):
        y = functional.tg_softmax(z, mask=mask, log_odds=log_odds)
        return torch.where(y.isinf(), 0.0, y)

    assert torch.autograd.gradcheck(call, (z,), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(call, (z,))


def test_gradcheck_sees_a_wrong_gradient(monkeypatch):
    from gateproof.kernels import softmax_op

    def wrong(dy, z, safe):
        return dy * torch.softmax(z, -1)

    monkeypatch.setattr(softmax_op.formulas, "probabilities_gradient", wrong)
    with pytest.raises(GradcheckError):
        torch.autograd.gradcheck(functional.tg_softmax, (spread(2, 3).requires_grad_(),))


@pytest.mark.parametrize("log_odds", [False, True])
def test_transforms(log_odds):
    z, mask = spread(3, 2, 4), spread(3, 4, seed=1) > -3

    def call(z, m):
        return functional.tg_softmax(z, mask=m, log_odds=log_odds)

    each = torch.stack([call(a, m) for a, m in zip(z, mask, strict=True)])
    torch.testing.assert_close(torch.vmap(call)(z, mask), each)
    shared = mask[0, :2]
    expected = functional.tg_softmax(z, 1, shared[:, None], log_odds)
    torch.testing.assert_close(torch.vmap(call, (2, None), 2)(z, shared), expected)
    one = z[0, 0]
    forward, reverse = (j(lambda z: call(z, None))(one) for j in (torch.func.jacfwd, torch.func.jacrev))
    torch.testing.assert_close(forward, reverse)


@pytest.mark.parametrize("log_odds", [False, True])
def test_opcheck(log_odds):
    z, mask = spread(2, 5, dtype=torch.float32), spread(2, 5) > 0
    for keep in (None, mask):
        torch.library.opcheck(torch.ops.gateproof.tg_softmax.default, (z, keep, log_odds, True))
        torch.library.opcheck(torch.ops.gateproof.tg_softmax_backward.default, (z, z, keep, log_odds, True))


@pytest.mark.parametrize("backend", ["aot_eager", pytest.param("inductor", marks=pytest.mark.deep)])
def test_compiled_code(backend):
    z, mask = spread(3, 5, dtype=torch.float32).requires_grad_(), spread(5) > -3
    dy = spread(3, 5, dtype=torch.float32, seed=1)

    def call(z):
        return functional.tg_softmax(z * 2, mask=mask), functional.tg_softmax(z * 2, mask=mask, log_odds=True)

    for y, right in zip(torch.compile(call, fullgraph=True, backend=backend)(z), call(z), strict=True):
        torch.testing.assert_close(y, right, rtol=3e-7, atol=0)
        gradients = [torch.autograd.grad(v, z, dy, retain_graph=True)[0] for v in (y, right)]
        torch.testing.assert_close(*gradients, rtol=1e-5, atol=1e-6)


class Module(torch.nn.Module):
    def forward(self, z):
        return functional.tg_softmax(z, 1)


def test_export():
    z, other = spread(3, 5, dtype=torch.float32), spread(7, 5, dtype=torch.float32, seed=1)
    made = torch.export.export(Module(), (z,), dynamic_shapes={"z": {0: torch.export.Dim("batch")}})
    torch.testing.assert_close(made.module()(other), Module()(other))


def test_autocast_as_softmax():
    z = spread(3, dtype=torch.bfloat16)
    with torch.autocast("cpu", torch.bfloat16):
        assert functional.tg_softmax(z).dtype == torch.softmax(z, -1).dtype


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((torch.tensor(1.0),), ValueError, "reshape"),
        ((torch.zeros(2, 3), 2), ValueError, "dim 2 for a tensor of 2 dimensions"),
        ((torch.zeros(2, dtype=torch.int64),), TypeError, "floating type, found torch.int64"),
        (([1.0],), TypeError, "found list"),
        ((Z, -1, torch.ones(2)), TypeError, "bools, True to keep, found torch.float32"),
        ((Z, -1, torch.ones(3).bool()), ValueError, r"\(3,\) cannot be broadcast to \(2,\)"),
        (
            (torch.zeros(2), -1, torch.ones(1, 2).bool()),
            ValueError,
            r"\(1, 2\) cannot be broadcast to \(2,\)",
        ),
    ],
)
def test_refusals(arguments, error, text):
    with pytest.raises(error, match=text):
        functional.tg_softmax(*arguments)
