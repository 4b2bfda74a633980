"""Converted recurrent networks beside PyTorch's own: values, gradients, forms of calling, the report."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pack_sequence
from torch.utils._python_dispatch import TorchDispatchMode

from gateproof import convert

RELU = {"nonlinearity": "relu"}
NETS = {
    "lstm": (nn.LSTM, {}),
    "lstm both ways, projected": (nn.LSTM, {"bidirectional": True, "num_layers": 2, "proj_size": 3}),
    "lstm of 3, dropout": (nn.LSTM, {"num_layers": 3, "dropout": 0.5, "bias": False}),
    "gru": (nn.GRU, {"batch_first": True}),
    "gru both ways, dropout": (nn.GRU, {"bidirectional": True, "num_layers": 2, "dropout": 0.3}),
    "gru without biases": (nn.GRU, {"bias": False}),
    "rnn both ways": (nn.RNN, {"bidirectional": True, "num_layers": 2, "batch_first": True}),
    "rnn of relu": (nn.RNN, {"num_layers": 2, **RELU}),
}
CELLS = {
    "lstm": (nn.LSTMCell, {}, {"sigmoid": 3, "tanh": 2}),
    "gru": (nn.GRUCell, {}, {"sigmoid": 2, "tanh": 1}),
    "rnn": (nn.RNNCell, {"bias": False}, {"tanh": 1}),
    "relu": (nn.RNNCell, RELU, {"relu": 1}),
}
ALL = [(name, form) for name in NETS for form in ("given states", "packed, given states")]
SOME = [
    (name, form)
    for name in ("lstm of 3, dropout", "gru", "rnn both ways")
    for form in ("zero states", "packed", "unbatched", "empty batch")
]
#: Differences of outputs, and of gradients relative to the largest: sums in another order.
BARS = {torch.float32: (5e-7, 2e-6), torch.float64: (1.2e-15, 1e-14)}


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def tensors(found):
    """All tensors of a result."""
    if isinstance(found, torch.Tensor):
        return [found]
    if isinstance(found, PackedSequence):
        return [found.data]
    return [t for part in found for t in tensors(part)]


def arguments(net, form, dtype):
    torch.manual_seed(5)
    x = torch.randn(6, 4, 5, dtype=dtype)
    batch = 6 if net.batch_first else 4
    ways = net.num_layers * (2 if net.bidirectional else 1)
    if form == "unbatched":
        return x[0], None
    if form == "empty batch":
        return (x[:0] if net.batch_first else x[:, :0]), None
    states = torch.randn(ways, batch, net.proj_size or net.hidden_size, dtype=dtype)
    if isinstance(net, nn.LSTM):
        states = (states, torch.randn(ways, batch, net.hidden_size, dtype=dtype))
    if form.startswith("packed"):
        lengths = torch.tensor([2, 4, 1, 3, 4, 2] if net.batch_first else [3, 6, 1, 4])
        x = pack_padded_sequence(x, lengths, net.batch_first, enforce_sorted=False)
    return x, states if "given" in form else None


def outcome(net, x, states):
    """Outputs, and gradients in all that has one, of a weighted sum of them."""
    torch.manual_seed(11)
    leaves = [t.detach().clone().requires_grad_() for t in ([] if states is None else tensors(states))]
    data = tensors(x)[0].detach().clone().requires_grad_()
    given = x._replace(data=data) if isinstance(x, PackedSequence) else data
    held = None if states is None else tuple(leaves) if isinstance(states, tuple) else leaves[0]
    outputs = tensors(net(given, held))
    weigh = [torch.linspace(-1, 1, t.numel(), dtype=t.dtype).reshape(t.shape) for t in outputs]
    total = sum((t * w).sum() for t, w in zip(outputs, weigh, strict=True))
    return outputs, torch.autograd.grad(total, [data, *leaves, *net.parameters()])


CASES = [*((*c, torch.float32) for c in ALL), *((*c, torch.float64) for c in [*ALL, *SOME])]


@pytest.mark.parametrize(("name", "form", "dtype"), CASES, ids=str)
def test_is_what_it_replaced(name, form, dtype):
    made, options = NETS[name]
    torch.manual_seed(1)
    net = made(5, 7, **options).to(dtype)
    x, states = arguments(net, form, dtype)
    values, slopes = outcome(net, x, states)
    found, gradients = outcome(convert(deepcopy(net)).model, x, states)
    bar, relative = BARS[dtype]
    for a, b in zip(values, found, strict=True):
        assert (a.shape, a.stride(), a.dtype) == (b.shape, b.stride(), b.dtype)
        assert a.numel() == 0 or (a - b).abs().max() <= bar
    for a, b in zip(slopes, gradients, strict=True):
        assert a.numel() == 0 or (a - b).abs().max() <= relative * (1 + a.abs().max())


@pytest.mark.parametrize("name", CELLS)
def test_cells(name):
    made, options, uses = CELLS[name]
    torch.manual_seed(2)
    cell = made(5, 7, **options).double()
    found = convert(deepcopy(cell))
    for x in (torch.randn(3, 5).double(), torch.randn(5).double(), torch.randn(0, 5).double()):
        a, b = tensors(cell(x)), tensors(found.model(x))
        assert all(torch.equal(u, v) for u, v in zip(a, b, strict=True))
    a, b = (torch.autograd.grad(tensors(c(x + 1))[0].sum(), c.parameters()) for c in (cell, found.model))
    assert all(torch.allclose(u, v, rtol=1e-13) for u, v in zip(a, b, strict=True))
    assert {r.kind: r.calls / 4 for r in found.report} == uses


def test_the_speech_network():
    # LSTM(40, 256, 3) on 160 frames: as many sigmoids and tanhs as PyTorch's unfused code calls.
    torch.manual_seed(3)

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm, self.linear, self.relu = (
                nn.LSTM(40, 256, 3, batch_first=True),
                nn.Linear(256, 256),
                nn.ReLU(),
            )

        def forward(self, mel):
            _, (h, _) = self.lstm(mel)
            e = self.relu(self.linear(h[-1]))
            return e / e.norm(dim=1, keepdim=True)

    net, mel = Encoder().eval(), torch.randn(7, 160, 40)
    found = convert(deepcopy(net))
    with torch.no_grad():
        assert (net(mel) - found.model(mel)).abs().max() <= 5e-7
        counts = Counter()
        for r in found.report:
            counts[r.kind] += r.calls
        assert counts == {"sigmoid": 1440, "tanh": 960, "relu": 1}
        assert (net.double()(mel.double()) - found.model.double()(mel.double())).abs().max() <= 1.2e-15


def test_a_row_for_each_kind_of_gate_layer_and_direction():
    found = convert(nn.GRU(3, 4, 2, bidirectional=True), inputs=torch.randn(5, 2, 3))
    rows = [(r.kind, r.spelled, r.treatment, r.calls) for r in found.report]
    assert len(rows) == 8
    assert rows[:4] == [
        ("sigmoid", "torch.gru layer 0: reset, update gate", "exact", 10),
        ("tanh", "torch.gru layer 0: candidate", "exact", 5),
        ("sigmoid", "torch.gru layer 0 in reverse: reset, update gate", "exact", 10),
        ("tanh", "torch.gru layer 0 in reverse: candidate", "exact", 5),
    ]
    x = pack_sequence([torch.randn(n, 3) for n in (6, 2, 1)])
    net = convert(nn.LSTM(3, 4))
    net.model(x)
    assert [(r.kind, r.calls) for r in net.report] == [("sigmoid", 18), ("tanh", 12)]


@pytest.mark.parametrize("name", ["lstm both ways, projected", "gru", "rnn of relu"])
def test_a_wrong_gate_shows(name):
    made, options = NETS[name]
    net = made(5, 7, **options).double()
    x, _ = arguments(net, "zero states", torch.float64)
    found = convert(net, inputs=x)
    right = net(x)[0]
    for site in list(found.report._plan.sites.values()):
        treatment = site.treatment
        name, *numbers = treatment.form
        # A threshold: second of the soft gate's numbers, first of the hard one's.
        numbers[1 if name == "two_branches" else 0] = 1e-6 if name == "two_branches" else (0.25,)
        site.treatment = replace(treatment, form=(name, *numbers))
        assert (net(x)[0] - right).abs().max() > 1e-9
        site.treatment = treatment
    assert torch.equal(net(x)[0], right)


class Seen(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.names = Counter()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        del types
        self.names[str(function).split(".")[1]] += 1
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("name", ["lstm", "gru", "rnn of relu"])
def test_the_dispatcher_sees_no_nonlinearity(name):
    made, options = NETS[name]
    net, cell = convert(made(5, 7, **options)).model, convert(nn.LSTMCell(5, 7)).model
    with Seen() as seen:
        net(torch.randn(6, 4, 5))[0].sum().backward()
        cell(torch.randn(4, 5))[0].sum().backward()
    assert seen.names["recurrent_layer"] == net.num_layers + 1
    words = ("sigmoid", "tanh", "relu", "lstm", "gru", "rnn", "threshold")
    assert not [n for n in seen.names if any(w in n for w in words)]


@pytest.mark.parametrize("name", ["lstm both ways, projected", "gru both ways, dropout", "rnn both ways"])
def test_second_derivatives(name):
    made, options = NETS[name]
    net = made(5, 4, **options).double().eval()
    x, _ = arguments(net, "packed", torch.float64)

    def second(net):
        data = x.data.clone().requires_grad_()
        first = torch.autograd.grad(
            tensors(net(x._replace(data=data)))[0].square().sum(),
            [data, *net.parameters()],
            create_graph=True,
        )
        return torch.autograd.grad(sum(g.square().sum() for g in first), [data, *net.parameters()])

    for a, b in zip(second(net), second(convert(deepcopy(net)).model), strict=True):
        assert torch.allclose(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["lstm", "lstm both ways, projected", "gru", "rnn of relu"])
def test_types_of_autocast_and_narrow_types(name):
    made, options = NETS[name]
    net = made(5, 7, **options)
    found = convert(deepcopy(net)).model
    for form in ("zero states", "packed"):
        x, _ = arguments(net, form, torch.float32)
        exact = tensors(net(x))
        with torch.autocast("cpu", torch.bfloat16):
            a, b = tensors(net(x)), tensors(found(x))
        assert [t.dtype for t in a] == [t.dtype for t in b]
        assert all((u - v).abs().max() < 0.01 * (1 + u.abs().max()) for u, v in zip(exact, b, strict=True))
    for dtype in (torch.bfloat16, torch.float16):
        small, narrow = deepcopy(net).to(dtype), convert(deepcopy(net).to(dtype)).model
        x, _ = arguments(net, "zero states", dtype)
        # Computed in float32 and rounded once.
        best = tensors(small.float()(x.float()))
        for t, u in zip(tensors(narrow(x)), best, strict=True):
            assert t.dtype == dtype
            assert (t.float() - u).abs().max() <= torch.finfo(dtype).eps * (1e-3 + u.abs().max())


def test_transforms_and_traces():
    net = nn.GRU(3, 4, bidirectional=True)
    found, x, longer = convert(deepcopy(net)).model, torch.randn(6, 2, 3), torch.randn(9, 5, 3)
    moved = torch.func.jvp(lambda t: net(t)[0], (x,), (x,))[1]
    assert (torch.func.jvp(lambda t: found(t)[0], (x,), (x,))[1] - moved).abs().max() < 1e-6
    each = torch.vmap(lambda t: found(t)[0])(torch.stack([x, -x]))
    assert (each[1] - net(-x)[0]).abs().max() < 1e-6
    free = ({0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO},)
    exported = torch.export.export(found, (x,), dynamic_shapes=free).module()
    for left in (torch.jit.trace(found, (x,)), exported):
        assert (left(longer)[0] - net(longer)[0]).abs().max() < 1e-6


def test_compiled():
    # torch.compile leaves recurrent modules to be run, and compiles around them.
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn, self.cell = nn.LSTM(3, 4), nn.GRUCell(4, 4)

        def forward(self, x):
            return self.cell(torch.tanh(self.rnn(torch.relu(x))[0][-1]))

    net = Net()
    found, x = convert(deepcopy(net)), torch.randn(6, 2, 3)
    made = torch.compile(found.model, backend="eager")
    for inputs in (x, x[:4]):
        assert (made(inputs) - net(inputs)).abs().max() < 5e-7
    cell = convert(nn.LSTMCell(3, 4)).model
    whole = torch.compile(cell, backend="aot_eager", fullgraph=True)
    assert (whole(x[0])[0] - cell(x[0])[0]).abs().max() < 5e-7


def test_what_does_not_fit_is_left_to_pytorch():
    found = convert(nn.GRU(3, 4))
    with pytest.raises(RuntimeError, match="sequence length"):
        found.model(torch.randn(0, 2, 3))
    assert [(r.kind, r.converted) for r in found.report] == [("gru", False)]
    with pytest.raises(ValueError, match="does not match weight dtype"):
        found.model(torch.randn(5, 2, 3).double())
