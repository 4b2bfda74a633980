"""``gateproof.compile_kernel``: an operation from a formula."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import mpmath as mp
import pytest

torch = pytest.importorskip("torch")
import gateproof  # noqa: E402 - after the library that it needs
from gateproof.theory.formula import FormulaError  # noqa: E402

POINTS = [-7.5, -1.25, 0.3, 2.0, 20.0]


def mish(x):
    return x * mp.tanh(mp.log1p(mp.exp(x)))


def test_value_and_gradient_are_those_of_mathematics():
    kernel = gateproof.compile_kernel("x*tanh(softplus(x))")
    x = torch.tensor(POINTS, requires_grad=True)
    y = kernel(x)
    (dx,) = torch.autograd.grad(y.sum(), x)
    with mp.workdps(40):
        for at, found, slope in zip(POINTS, y.tolist(), dx.tolist(), strict=True):
            assert abs(found - mish(mp.mpf(at))) <= 4e-7 * abs(mish(mp.mpf(at)))
            right = mp.diff(mish, mp.mpf(at))
            assert abs(slope - right) <= 8e-7 * (abs(right) + abs(mish(mp.mpf(at))))


def test_products_of_two_tensors():
    kernel = gateproof.compile_kernel("silu(g)*u")
    assert kernel.names == ("g", "u")
    g, u = (torch.randn(3, 5, dtype=torch.float64, requires_grad=True) for _ in range(2))
    torch.testing.assert_close(kernel(g, u), torch.nn.functional.silu(g) * u)
    assert torch.autograd.gradcheck(kernel, (g, u))
    assert torch.autograd.gradgradcheck(kernel, (g, u))
    narrow = kernel(g.detach().to(torch.bfloat16), u.detach().to(torch.bfloat16))
    assert narrow.dtype == torch.bfloat16


@pytest.mark.parametrize("name", ["log", "log1p", "atanh", "acosh", "sqrt", "asin"])
def test_outside_of_a_domain_values_are_no_numbers_and_gradients_are_torchs(name):
    x = torch.tensor([-3.0, -1.5, 0.5, 2.5], dtype=torch.float64, requires_grad=True)
    found, right = gateproof.compile_kernel(f"{name}(x)")(x), getattr(torch, name)(x)
    assert found.isnan().tolist() == right.isnan().tolist()
    assert found.isnan().any()
    slopes = [torch.autograd.grad(y.sum(), x)[0] for y in (found, right)]
    torch.testing.assert_close(slopes[0], slopes[1], equal_nan=True)


def test_numbers_by_keyword():
    kernel = gateproof.compile_kernel("x*sigmoid(b*x)", b="1.702")
    x = torch.tensor([1.0, -2.0], dtype=torch.float64)
    torch.testing.assert_close(kernel(x), x * torch.sigmoid(1.702 * x))
    other = gateproof.compile_kernel("x*sigmoid(b*x)", b=2)
    torch.testing.assert_close(other(x), x * torch.sigmoid(2 * x))


def test_the_same_text_is_the_same_kernel_and_another_text_is_not():
    one, two = (gateproof.compile_kernel("tanh(x)*x") for _ in range(2))
    assert one is two
    # Names of operations are made of letters: these two would be spelt alike.
    first, second = gateproof.compile_kernel("x*(x+1)"), gateproof.compile_kernel("x*x+1")
    assert first.operation.name != second.operation.name
    x = torch.tensor([3.0])
    assert (first(x).item(), second(x).item()) == (12.0, 10.0)


def test_copies_and_pickles_are_the_same_kernel():
    kernel = gateproof.compile_kernel("x*sigmoid(b*x)", b="1.702")
    kernel(torch.ones(2, requires_grad=True)).sum().backward()
    assert copy.deepcopy(kernel) is kernel
    assert pickle.loads(pickle.dumps(kernel)) is kernel  # noqa: S301 - our own


def test_what_is_no_tensor_is_refused_by_the_name_of_the_formula():
    with pytest.raises(TypeError, match=r"^compile_kernel\('2\*x'\): x is a tensor, found list$"):
        gateproof.compile_kernel("2*x")([1.0])


def test_its_source_is_fused_and_computes_the_exponential_once():
    source = gateproof.compile_kernel("x*sigmoid(x)").source
    value, gradients = source.split("# x*sigmoid(x): gradients")
    assert value.count("m.exp(") == 1
    # sigmoid(x) and sigmoid(-x) share theirs.
    assert gradients.count("m.exp(") == 1
    assert source.count("@triton.jit") == 4
    assert "sigmoid" not in source.replace("# x*sigmoid(x)", "")


def test_its_accuracy_is_measured():
    results = gateproof.compile_kernel("x*tanh(softplus(x))").check()
    assert {(r.direction, r.dtype) for r in results} == {
        (d, t) for d in ("forward", "backward") for t in ("float32", "bfloat16", "float16")
    }
    assert all(r.passed for r in results)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x*", "column"),
        ("__import__('os')", "column"),
        ("sup(x*y, y in R)", "no form for arrays"),
        ("floor(x)", "unknown function 'floor'"),
    ],
)
def test_what_is_no_formula_is_refused(text, said):
    with pytest.raises(FormulaError, match=said.replace("'", ".")):
        gateproof.compile_kernel(text)


def test_what_has_no_tensor_is_refused():
    with pytest.raises(ValueError, match="no name for a tensor"):
        gateproof.compile_kernel("1 + 1")
    with pytest.raises(ValueError, match="no name for a tensor"):
        gateproof.compile_kernel("a + 1", a=2)
    with pytest.raises(TypeError, match=r"takes 1 tensor\(s\) x, found 2"):
        gateproof.compile_kernel("silu(x)")(torch.ones(1), torch.ones(1))


def test_without_torch_it_says_what_to_install(monkeypatch):
    monkeypatch.delitem(vars(gateproof), "compile_kernel", raising=False)
    monkeypatch.setattr(gateproof, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'gateproof\[torch\]'"):
        _ = gateproof.compile_kernel


def test_the_package_loads_no_torch_before_it_is_asked():
    code = (
        "import sys, gateproof; dir(gateproof); assert 'torch' not in sys.modules; gateproof.compile_kernel"
    )
    assert subprocess.run([sys.executable, "-P", "-c", code], check=False).returncode == 0
