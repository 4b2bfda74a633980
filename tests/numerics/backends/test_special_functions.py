"""Special functions on arrays against mpmath, nan outside of the domain; refused where there is none."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

import gateproof

RIGHT = {
    "gamma(x)": mp.gamma,
    "loggamma(x)": mp.loggamma,
    "polygamma(1, x)": lambda x: mp.polygamma(1, x),
    "zeta(x)": mp.zeta,
    "zetaderiv(1, x)": lambda x: mp.zeta(x, 1, 1),
    "lambertw(x)": mp.lambertw,
    "besselj(2, x)": lambda x: mp.besselj(2, x),
    "besselk(1/3, x)": lambda x: mp.besselk(mp.mpf(1) / 3, x),
    "airybi(x)": mp.airybi,
    "elliptick(x/4)": lambda x: mp.ellipk(x / 4),
    "ci(x)": mp.ci,
    "beta(x, 2)": lambda x: mp.beta(x, 2),
}


@pytest.mark.parametrize("text", RIGHT)
def test_numpy_and_its_gradient(text):
    points = [0.375, 1.75, 3.25]
    with mp.workdps(30):
        values = [float(mp.re(RIGHT[text](mp.mpf(x)))) for x in points]
        slopes = [float(mp.re(mp.diff(RIGHT[text], mp.mpf(x)))) for x in points]
    formula = gateproof.formula(text)
    np.testing.assert_allclose(formula.numpy(np.array(points)), values, rtol=1e-12)
    np.testing.assert_allclose(formula.gradient().numpy(np.array(points)), slopes, rtol=1e-11)


def test_outside_the_domain():
    found = gateproof.formula("gamma(x)").numpy(np.array([-1.0, 0.0, 5.0]))
    assert np.isnan(found[:2]).all()
    assert found[2] == 24
    assert np.isnan(gateproof.formula("loggamma(x)").numpy(-0.5))
    assert gateproof.formula("elliptice(x)").domain == "x <= 1"


def test_torch_has_some_and_refuses_others():
    import torch

    x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    value = gateproof.formula("besselj(0, x)").torch(x)
    value.sum().backward()
    assert x.grad is not None
    right = [float(-mp.besselj(1, v)) for v in (0.5, 2)]
    np.testing.assert_allclose(x.grad.numpy(), right, rtol=1e-12)
    with pytest.raises(gateproof.FormulaError, match=r"zeta\(x\) has no form in PyTorch"):
        gateproof.formula("zeta(x)").torch(x)


def test_latex():
    assert gateproof.formula("besselj(2, x)").latex == r"J_{2}\left(x\right)"
    assert gateproof.formula("gamma(x)").latex == r"\Gamma\left(x\right)"
