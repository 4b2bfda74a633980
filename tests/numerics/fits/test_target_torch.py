"""Torch functions and modules as targets; they stay as they were."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy import special

from gateproof.numerics.fits.target import DOUBLE, RefusedTarget
from gateproof.numerics.fits.target_any import target_of

torch = pytest.importorskip("torch")
nn = torch.nn
X = np.linspace(-6, 6, 41)


@pytest.mark.parametrize(
    "given",
    [
        nn.GELU(),
        torch.nn.functional.gelu,
        lambda x: x * torch.special.ndtr(x),
        lambda x: nn.functional.gelu(x).numpy(),
    ],
)
def test_values_are_those_in_float64(given):
    target = target_of(given)
    assert target.function(X) == pytest.approx(X * special.ndtr(X), abs=1e-15)
    assert (target.left.m, target.right.m, target.resolution) == (0, 1, DOUBLE)


def test_parameters_of_float32_are_told_and_kept():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(1, 4), nn.Dropout(0.5), nn.Tanh(), nn.Linear(4, 1))
    model.train()
    target = target_of(model, (-3, 3))
    w, b, v, c = (p.detach().double().numpy() for p in model.parameters())
    assert target.function(X) == pytest.approx((np.tanh(X[:, None] @ w.T + b) @ v.T + c)[:, 0], abs=1e-14)
    assert "float32 parameters; it is evaluated with them in float64" in target.notes[0]
    assert all(m.training for m in model.modules())
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert all(p.grad is None and p.requires_grad for p in model.parameters())


def test_a_module_that_cannot_be_copied_is_put_back():
    class Stubborn(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Dropout(0.5)

        def __deepcopy__(self, memo):
            raise RuntimeError

        def forward(self, x):
            return self.inner(torch.tanh(x))

    model = Stubborn()
    model.train()
    model.inner.eval()
    target = target_of(model)
    assert target.function(X) == pytest.approx(np.tanh(X), abs=1e-15)
    assert model.training
    assert not model.inner.training


class Random(nn.Module):
    def forward(self, x):
        return x + torch.rand_like(x)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (nn.Softmax(dim=-1), "depends on the other numbers"),
        (Random(), "it is random or remembers"),
        (nn.Linear(3, 3), "no function of one real number"),
        (nn.GLU(), "no function of one real number"),
        (lambda x: torch.sqrt(x.to(torch.complex128)), "complex"),
        (nn.SiLU, "give an object of it"),
    ],
)
def test_one_line_says_what_is_wrong(given, line):
    with pytest.raises(RefusedTarget, match=line) as caught:
        target_of(given, (-3, 3))
    assert "\n" not in str(caught.value)


def test_other_targets_do_not_load_torch():
    code = (
        "import sys, math; from gateproof.numerics.fits.target_any import target_of; "
        "target_of(math.tanh); target_of('gelu'); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-P", "-c", code], check=True, env={"PYTHONPATH": "src"}, cwd="src/..")
