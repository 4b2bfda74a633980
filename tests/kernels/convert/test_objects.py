"""Modules of unusual make: converted all the same, copied, pickled, and given back bit for bit."""

from __future__ import annotations

import copy
import dataclasses
import functools
import pickle

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - as the code of networks has it
from torch.nn.modules.lazy import LazyModuleMixin
from torch.utils.checkpoint import checkpoint

from gateproof import convert
from gateproof.kernels.convert import swap

X = torch.linspace(-3, 3, 12).reshape(3, 4)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(4, 4)

    def forward(self, x):
        return F.relu(self.l(x))


class Closure(Block):
    def forward(self, x):
        y = self.l(x)
        return lambda: F.relu(y)


class CallsClosure(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Closure()

    def forward(self, x):
        return self.inner(x)()


class OwnCall(Block):
    def forward(self, x):
        return self.l(x)

    def __call__(self, x):
        return F.relu(super().__call__(x))


class CallAlone(Block):
    forward = nn.Module.forward

    def __call__(self, x):
        return F.relu(self.l(x))


class Slots(Block):
    __slots__ = ("extra",)


class Delegates(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Block()

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("inner"), name)

    def forward(self, x):
        return torch.sigmoid(self.inner(x))


class Guarded(Block):
    def __setattr__(self, name, value):
        if name.startswith("_gate"):
            raise AttributeError(name)
        super().__setattr__(name, value)


@dataclasses.dataclass(eq=False)
class Data(nn.Module):
    n: int = 4

    def __post_init__(self):
        super().__init__()
        self.l = nn.Linear(self.n, self.n)

    def forward(self, x):
        return torch.tanh(self.l(x))


class State(Block):
    """Pickles its parameters alone."""

    def __getstate__(self):
        return {"l": self.l}

    def __setstate__(self, state):
        nn.Module.__init__(self)
        self.l = state["l"]


class Held(nn.Module):
    """Functions in attributes and modules in plain lists."""

    def __init__(self):
        super().__init__()
        self.act = functools.partial(F.leaky_relu, negative_slope=0.2)
        self.others = [F.silu, nn.ReLU(), Block()]

    def forward(self, x):
        x = self.act(x)
        for f in self.others:
            x = f(x)
        return x


class Softplus(nn.Module):
    def forward(self, w):
        return F.softplus(w)


def assigned():
    model = Block()
    model.forward = functools.partial(Block.forward, model)
    return nn.Sequential(model)


def normed():
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    nn.utils.parametrizations.weight_norm(model[0])
    return model


def parametrized():
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    nn.utils.parametrize.register_parametrization(model[0], "weight", Softplus())
    return model


def hooked():
    model = nn.Sequential(Block())
    model[0].register_forward_hook(lambda m, args, y: F.hardtanh(y, -0.25, 0.5))
    return nn.ModuleDict({"m": model})["m"]


MAKES = [
    Block, CallsClosure, assigned, OwnCall, CallAlone, Slots, Delegates, Guarded, Data, State, Held, normed,
    parametrized,
    lambda: torch.fx.symbolic_trace(nn.Sequential(Block(), nn.GELU())),
    lambda: nn.DataParallel(nn.Sequential(Block())),
    lambda: torch.compile(nn.Sequential(Block()), backend="eager"),
]  # fmt: skip
NAMES = [
    "block", "closure", "assigned", "own call", "call alone", "slots", "delegates", "guarded", "data",
    "state", "held", "weight norm", "parametrized", "fx", "data parallel", "compiled",
]  # fmt: skip


@pytest.mark.parametrize("make", MAKES, ids=NAMES)
def test_unusual_modules(make):
    torch.manual_seed(0)
    model = make()
    right, classes = model(X), [type(m) for m in model.modules()]
    plain = "parametrized" in make.__name__ or make is normed
    before = None if plain else pickle.dumps(model)
    found = convert(model, inputs=X)
    assert found.census.missed == ()
    assert found.census.unlisted == ()
    assert found.report.converted
    torch.testing.assert_close(model(X), right, rtol=0, atol=3e-7)
    assert torch.equal(copy.deepcopy(model)(X), model(X))
    if before is not None:
        again = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own
        assert torch.equal(again(X), model(X))
    found.revert()
    assert [type(m) for m in model.modules()] == classes
    assert torch.equal(model(X), right)
    assert before is None or pickle.dumps(model) == before


def test_copies_are_converted():
    for model in (nn.Sequential(Block()), torch.fx.symbolic_trace(Block()), nn.Sequential(State())):
        convert(model)
        for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):  # noqa: S301 - our own
            assert any(swap.is_converted(m) for m in other.modules())
            assert not any(swap.is_converted(m) for m in swapped_back(other).modules())
            assert any(swap.is_converted(m) for m in model.modules())


def swapped_back(model):
    for m in list(model.modules()):
        if swap.is_converted(m):
            swap.returned(m)
    return model


def test_fx_recompiles():
    model = torch.fx.symbolic_trace(nn.Sequential(Block(), nn.Tanh()))
    right = model(X)
    found = convert(model, inputs=X)
    for node in model.graph.nodes:
        if node.target is F.relu:
            node.target, node.kwargs = F.gelu, {}
    model.recompile()
    assert swap.is_converted(model)
    model(X)
    assert {r.kind for r in found.report} >= {"gelu", "relu", "tanh"}
    found.revert()
    assert not torch.equal(model(X), right)


def test_hooks_of_children_belong_to_the_parent():
    model = Delegates()
    model.inner.register_forward_hook(lambda m, args, y: F.hardtanh(y, -0.25, 0.5))
    right = model(X)
    found = convert(model, inputs=X)
    assert found.census.agrees
    assert sorted(r.kind for r in found.report) == ["hardtanh", "relu", "sigmoid"]
    torch.testing.assert_close(model(X), right, rtol=0, atol=2e-7)


def test_lazy_modules():
    model = nn.Sequential(nn.LazyLinear(4), nn.ReLU())
    assert convert(model, inputs=X).census.agrees
    assert torch.equal(model(X), F.relu(model[0](X)))

    class Scaled(LazyModuleMixin, nn.Module):
        cls_to_become = None

        def __init__(self):
            super().__init__()
            self.w = nn.UninitializedParameter()

        def initialize_parameters(self, x):
            if self.has_uninitialized_params():
                self.w.materialize((x.shape[-1],))
                nn.init.ones_(self.w)

        def forward(self, x):
            return F.relu(x * self.w)

    assert torch.equal(convert(Scaled()).model(X), F.relu(X))


def test_twice_and_a_part_before_the_whole():
    torch.manual_seed(0)
    model = nn.Sequential(Block(), Block(), nn.SiLU())
    before, right = pickle.dumps(model), model(X)
    part = convert(model[0], inputs=X)
    assert len(part.report) == 1
    whole = convert(model, inputs=X)
    assert len(whole.report) == 3
    assert whole.census.agrees
    again = convert(model, inputs=X)
    assert len(again.report) == 3
    assert again.census.original == {"relu": 2, "silu": 1}
    for found in (again, part, whole):
        found.revert()
        assert pickle.dumps(model) == before
    assert torch.equal(model(X), right)
    convert(model, mode="trainable", inputs=X)
    with pytest.raises(ValueError, match="trainable gates of an earlier conversion"):
        convert(model)


@pytest.mark.parametrize("within", [torch.no_grad, torch.inference_mode])
def test_within(within):
    torch.manual_seed(0)
    model = nn.Sequential(Block(), nn.SiLU())
    right = model(X)
    with within():
        found = convert(model, inputs=X)
        assert found.census.agrees
    y = model(X)
    torch.testing.assert_close(y, right, rtol=0, atol=2e-7)
    y.sum().backward()
    assert model[0].l.weight.grad is not None


def test_transforms_and_checkpoints():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.SiLU(), nn.Linear(4, 4), nn.PReLU(), nn.Tanh(), nn.Softmax(-1))

    def seen(parameters):
        def loss(p, x):
            return torch.func.functional_call(model, p, (x,)).square().sum()

        rows = torch.func.vmap(torch.func.grad(loss), (None, 0))(parameters, X)
        x = X.clone().requires_grad_()
        y = checkpoint(model, x, use_reentrant=False)
        return [*rows.values(), *torch.autograd.grad(y[:, 0].sum(), [x, *model.parameters()])]

    right = seen(dict(model.named_parameters()))
    convert(model, inputs=X)
    for a, b in zip(seen(dict(model.named_parameters())), right, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=2e-7)


def test_compiled_after_and_before():
    torch.compiler.reset()
    torch.manual_seed(0)
    model = nn.Sequential(Block(), nn.SiLU())
    compiled = torch.compile(model, backend="eager", fullgraph=True)
    right = compiled(X)
    convert(model, inputs=X)
    torch.testing.assert_close(compiled(X), right, rtol=0, atol=2e-7)
    torch.testing.assert_close(
        torch.compile(model, backend="eager", fullgraph=True)(X), right, rtol=0, atol=2e-7
    )
