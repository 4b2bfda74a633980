"""The exported torch module: values at extremes, gradients, state, compilation."""

from __future__ import annotations

import ast

import mpmath as mp
import pytest
from gates_to_export import SPECIAL, Exact, drawn, gate, named, points, wrong, zoo

from gateproof.numerics.fits.exports.about import About
from gateproof.numerics.fits.exports.form import form_of
from gateproof.numerics.fits.exports.formats import DOUBLE, SINGLE
from gateproof.numerics.fits.exports.torch_code import torch_code

torch = pytest.importorskip("torch", reason="torch is not installed")


def module(one, about=None):
    """The class that the file defines."""
    space: dict = {"__name__": "exported"}
    about = about or About()
    exec(compile(torch_code(one, about), "exported.py", "exec"), space)  # noqa: S102 - our own text
    return space["ThresholdGate" if about.name == "gate" else about.name]


def faults(one, kind, made=None):
    made = made or module(one)()
    form, exact = form_of(one, DOUBLE if kind == torch.float64 else SINGLE), Exact(one)
    x = torch.tensor([*points(one), *SPECIAL[:4]], dtype=torch.float64).to(kind)
    y = made(x)
    assert y.dtype == kind
    said = [wrong(exact, form, a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    return [s for s in said if s]


@pytest.mark.parametrize("kind", [torch.float64, torch.float32])
def test_values_are_within_the_stated_rounding(kind):
    found = {name: faults(one, kind) for name, one in zoo().items()}
    assert {name: said for name, said in found.items() if said} == {}


@pytest.mark.deep
@pytest.mark.parametrize("kind", [torch.float64, torch.float32])
def test_many_random_gates(kind):
    found = {seed: faults(drawn(seed), kind) for seed in range(1000, 1400)}
    assert {seed: said for seed, said in found.items() if said} == {}


def test_the_check_sees_a_wrong_gate():
    made = module(named()["silu"])()
    assert len(faults(gate([1], [0], [0, 1], [0, "1e-13"]), torch.float64, made)) > 10


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_half_types_are_computed_in_float32_and_rounded_once(kind):
    for name in ("silu", "free", "softmax", "stick", "hard_tanh", "crossing", "symbolic"):
        made = module(named()[name])()
        x = torch.cat([torch.linspace(-30, 30, 4001), torch.tensor([1e4, -1e4, float("inf"), -float("inf")])])
        x = x.to(kind)
        assert torch.equal(made(x), made(x.float()).to(kind)), name
        # Also of a module that was cast: constants keep 24 bits.
        assert torch.equal(module(named()[name])().to(kind)(x), made(x)), name
        assert torch.equal(module(named()[name])().half().bfloat16()(x), made(x)), name


def test_bfloat16_of_silu_is_the_nearest_but_for_ties_of_the_float32():
    x = torch.arange(-32768, 32768, dtype=torch.int32).to(torch.int16).view(torch.bfloat16)
    x = x[torch.isfinite(x) & (x.abs() < 100) & (x.abs() > 1e-30)]
    y = module(named()["silu"])()(x)
    right = x.double() * torch.sigmoid(x.double())
    assert (y == right.to(torch.bfloat16)).double().mean() > 0.9999


@pytest.mark.parametrize("trainable", [False, True])
def test_state_and_casts(trainable):
    kind = module(named()["free"])
    made = kind(trainable=trainable)
    names = {"tau", "theta", "slope", "intercept"}
    assert set(made.state_dict()) == names
    assert {n for n, _ in made.named_parameters()} == (names if trainable else set())
    other = kind(trainable=not trainable)
    with torch.no_grad():
        other.slope.mul_(3)
    other.load_state_dict(made.state_dict())
    x = torch.linspace(-5, 5, 101)
    assert torch.allclose(made(x), other(x), rtol=0, atol=1e-6)
    assert made.bfloat16().tau.dtype == (torch.float32 if trainable else torch.float64)
    assert made.float().tau.dtype == torch.float32
    assert made(torch.arange(3)).dtype == torch.float32
    assert made(torch.zeros(0, 3)).shape == (0, 3)
    assert made(torch.tensor(1.5)).shape == ()
    assert "branches=3" in repr(made)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_parameters_are_no_half_numbers(kind):
    assert module(named()["free"])(dtype=kind).theta.dtype == torch.float32
    before = torch.get_default_dtype()
    torch.set_default_dtype(kind)
    try:
        made = module(named()["free"])(trainable=True)
    finally:
        torch.set_default_dtype(before)
    assert {p.dtype for p in made.parameters()} == {torch.float32}


def test_one_sharpness_is_one_parameter():
    assert module(named()["symbolic"])(trainable=True).tau.shape == (1,)
    assert module(named()["free"])(trainable=True).tau.shape == (2,)


@pytest.mark.parametrize(
    "name", ["silu", "free", "stick", "softmax", "symbolic", "crossing", "mixed", "line"]
)
def test_gradients_are_those_of_the_gate(name):
    one = named()[name]
    made = module(one)(trainable=True, dtype=torch.float64)
    x = torch.linspace(-3, 4, 23, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(made, (x,))
    assert torch.autograd.gradgradcheck(made, (x,))
    parameters = {k: v.detach().clone().requires_grad_(True) for k, v in made.named_parameters()}
    used = [k for k in parameters if torch.isfinite(parameters[k]).all() and parameters[k].numel()]
    if name != "mixed":

        def run(*values):
            return torch.func.functional_call(made, dict(zip(used, values, strict=True)), (x.detach(),))

        assert torch.autograd.gradcheck(run, tuple(parameters[k] for k in used))


@pytest.mark.parametrize("name", ["silu", "tanh", "free", "stick", "softmax", "symbolic", "crossing"])
def test_the_derivative_at_a_threshold_is_right(name):
    # exp(-|z|) has a kink there, the gate has none.
    one = named()[name]
    exact, made = Exact(one), module(one)()
    for at in [float(t) for t in exact.theta] + [0.0]:
        x = torch.tensor([at], dtype=torch.float64, requires_grad=True)
        made(x).backward()
        with mp.workdps(60):
            want = (exact(mp.mpf(at) + mp.mpf(10) ** -20) - exact(mp.mpf(at) - mp.mpf(10) ** -20)) / (
                2 * mp.mpf(10) ** -20
            )
        assert float(x.grad) == pytest.approx(float(want), rel=1e-12, abs=1e-13), (name, at)


def test_gradients_stay_finite_and_right_far_out():
    for name, one in zoo(15).items():
        if name.startswith("drawn") and max(abs(float(s)) for s in Exact(one).slope) > 1e5:
            continue
        made = module(one)(trainable=True, dtype=torch.float32)
        x = torch.tensor([1e38, -1e38, 3e37, -3e37, 1e20, -1e20], requires_grad=True)
        y = made(x)
        (y * 1e-3).sum().backward()
        slope = made.slope.detach()
        outer = torch.stack([slope[-1], slope[0]] * 3) * 1e-3
        assert torch.allclose(x.grad, outer, rtol=1e-6), name
        for key, p in made.named_parameters():
            # A hard threshold's sharpness takes no part.
            assert p.grad is None or torch.isfinite(p.grad).all(), (name, key)


def test_trainable_numbers_learn():
    made = module(named()["free"])(trainable=True)
    x = torch.linspace(-4, 4, 401)
    goal = torch.nn.functional.gelu(x)
    before = (made(x) - goal).square().mean().item()
    steps = torch.optim.Adam(made.parameters(), lr=0.01)
    for _ in range(60):
        steps.zero_grad()
        loss = (made(x) - goal).square().mean()
        loss.backward()
        steps.step()
    assert loss.item() < before / 3


@pytest.mark.parametrize("name", ["free", "softmax", "mixed"])
def test_it_is_traced_whole(name):
    made = module(named()[name])(trainable=True)
    traced = torch.compile(made, fullgraph=True, backend="aot_eager")
    for kind in (torch.float32, torch.bfloat16):
        x = torch.linspace(-5, 5, 64, dtype=kind, requires_grad=True)
        y = traced(x)
        assert torch.equal(y, made(x))
        (gradient,) = torch.autograd.grad(y.sum(), x)
        assert torch.isfinite(gradient).all()


@pytest.mark.parametrize("kind", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", ["line", "constant", "silu", "free", "mixed", "softmax", "hard_tanh"])
def test_special_values_and_shapes_in_every_type(name, kind):
    made, exact, info = module(named()[name])(), Exact(named()[name]), torch.finfo(kind)
    small = float(torch.tensor(info.tiny, dtype=kind) / 8)
    given = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, small, -small, info.max, -info.max]
    y = made(torch.tensor(given, dtype=torch.float64).to(kind))
    assert y.dtype == kind
    assert torch.isnan(y[0])
    assert [float(v) for v in y[1:3]] == pytest.approx([exact.at_infinity(s) for s in (1, -1)], rel=info.eps)
    assert all(float(v) == pytest.approx(float(exact(0)), rel=4 * info.eps, abs=8 * small) for v in y[3:7])
    for got, x in zip(y[7:], given[7:], strict=True):
        want = float(torch.tensor(float(exact(x)), dtype=torch.float64).to(kind))
        assert float(got) == pytest.approx(want, rel=4 * info.eps)
    for shape in ((), (0,), (2, 0, 3), (2, 1, 3)):
        assert made(torch.ones(shape, dtype=kind)).shape == shape
    x = torch.linspace(-4, 4, 48, dtype=torch.float64).to(kind).reshape(6, 8)
    for view in (x.t(), x[::2, 1::3], x[:, 0], x.expand(3, 6, 8)):
        assert torch.equal(made(view), made(view.contiguous()))


@pytest.mark.parametrize("kind", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("text", ["1/2", "-3", "0", "1/3", "1/10", "-1/10", "pi", "sqrt(2)", "10000"])
def test_a_hard_threshold_is_decided_in_every_type(text, kind):
    one = gate(["oo"], [text], [0, 0], [0, 1])
    made, threshold = module(one)(), Exact(one).theta[0]
    near = torch.tensor(float(threshold), dtype=torch.float64).to(kind)
    ends = torch.tensor([-float("inf"), float("inf")], dtype=kind)
    x = torch.stack([torch.nextafter(near, ends[0]), near, torch.nextafter(near, ends[1])])
    assert made(x).tolist() == [float(mp.mpf(float(v)) > threshold) for v in x]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_thresholds_that_training_moved_past_one_another(dtype):
    made = module(gate([10, 10], [-1, 1], [0, "0.5", 1], [0, "0.25", 0]))(trainable=True, dtype=dtype)
    exact = Exact(gate([10, 10], [90, -90], [0, "0.5", 1], [0, "0.25", 0]))
    with torch.no_grad():
        made.theta.copy_(torch.tensor([90.0, -90.0]))
    x = torch.linspace(-120, 120, 13, dtype=dtype)
    y = made(x)
    assert y.tolist() == pytest.approx([float(exact(float(v))) for v in x], rel=1e-5, abs=1e-12)
    y.sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in made.parameters())


def test_complex_numbers_are_refused():
    with pytest.raises(TypeError, match="ThresholdGate is a function of real numbers"):
        module(named()["silu"])()(torch.tensor([1 + 1j]))
    assert module(named()["silu"])()(torch.tensor([True, False])).tolist() == pytest.approx([0.7310586, 0.0])


def test_a_target_stays_in_its_comment():
    for target in ('"""\nraise SystemExit', "\u2028raise SystemExit", "é" * 999 + "\\"):
        text = torch_code(named()["silu"], About(target=target, domain=target))
        assert text.isascii()
        assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(torch_code(named()["silu"], About())))


def test_another_name():
    assert module(named()["silu"], About(name="Swish")).__name__ == "Swish"
    assert float(module(named()["silu"], About(name="Swish"))()(torch.tensor(2.0))) == pytest.approx(
        1.7615942
    )
