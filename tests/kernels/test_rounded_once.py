"""Gates of 16-bit tensors are rounded once, in code of float32 too."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from gateproof.kernels.check.rounding import FORMATS, rounded  # noqa: E402
from gateproof.kernels.composite import Results, composite  # noqa: E402
from gateproof.kernels.gate_graph import Shape, value_graph  # noqa: E402
from gateproof.numerics.backends.with_torch import TorchOps  # noqa: E402


def exactly(slope: float, x: float, intercept: float) -> Fraction:
    return Fraction(slope) * Fraction(x) + Fraction(intercept)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("once", [True, False])
def test_a_line_of_simple_numbers(dtype, once):
    slope, intercept = (torch.tensor(v).item() for v in (0.9, 0.1))
    x = (torch.arange(1, 2001) / 16).to(dtype).unique()
    shape, real = Shape(1, True, False), torch.float32
    (y,) = composite(value_graph(shape, once), [x], [], [slope, intercept], real, Results((dtype,)))
    form = FORMATS[str(dtype).removeprefix("torch.")]
    # 53 bits hold these sums: 24 of the slope, 11 of x, and 5 more below for the intercept's last.
    exact = [float(exactly(slope, v, intercept)) for v in x.tolist()]
    assert all(Fraction(e) == exactly(slope, v, intercept) for e, v in zip(exact, x.tolist(), strict=True))
    right = rounded(np.array(exact), form)
    wrong = int((y.double().numpy() != right).sum())
    # Without care some of them are rounded to the middle of two numbers first.
    assert (wrong == 0) if once else (wrong > 3)


def test_rounding_to_odd():
    ops = TorchOps(torch.float32, torch.device("cpu"))
    one, up, inf = 1.0, 1.0 + 2.0**-23, torch.inf
    cases = [
        (one, 2.0**-60, up), (one, -(2.0**-60), 1.0 - 2.0**-24), (one, 0.0, one), (up, 2.0**-60, up),
        (-one, 2.0**-60, -1.0 + 2.0**-24), (-one, -(2.0**-60), -up), (0.0, 1e-9, torch.tensor(1e-9).item()),
        (0.0, 0.0, 0.0), (inf, torch.nan, inf), (inf, -inf, inf), (-inf, inf, -inf), (3.0, torch.nan, 3.0),
    ]  # fmt: skip
    total, low, right = (torch.tensor(c, dtype=torch.float32) for c in zip(*cases, strict=True))
    assert ops.odd(total, low).tolist() == right.tolist()
    assert torch.isnan(ops.odd(torch.tensor([torch.nan]), torch.zeros(1))).all()
