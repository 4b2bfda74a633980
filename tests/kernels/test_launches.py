"""Launches on a card, seen without one: in the context of the tensors' device, on one axis of the grid."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")
from gateproof.kernels import choice, functional, start  # noqa: E402 - after the library that it needs
from gateproof.kernels.ahead.cases import cases, launches  # noqa: E402


def test_a_kernel_runs_within_its_tensors_device(monkeypatch):
    events = []

    @contextmanager
    def device(which):
        events.append(("in", which))
        yield
        events.append(("out", which))

    class Kernel:
        def __getitem__(self, grid):
            return lambda *args, **options: events.append((grid, args, options))

    monkeypatch.setattr(torch.cuda, "device", device)
    second = torch.device("cuda", 1)
    start.start(second, Kernel(), (3,), "x", BLOCK=8)
    fused = {"enable_fp_fusion": start.FUSED, "BLOCK": 8}
    assert events == [("in", second), ((3,), ("x",), fused), ("out", second)]


def test_lanes_are_those_of_the_tensors_card(monkeypatch):
    start._lanes.cache_clear()
    cards = {0: 32, 1: 64}
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda i: type("Card", (), {"warp_size": cards[i]})
    )
    assert [start.lanes_of(torch.device("cuda", i)) for i in cards] == [32, 64]
    start._lanes.cache_clear()


def test_every_grid_has_one_axis():
    """The second and third axes end at 65535."""
    for case in cases():
        for _, launch in launches(case, "bf16"):
            assert len(launch.grid) == 1


def test_nothing_is_launched_for_empty_tensors():
    with start.noted() as found, choice.use("triton"):
        x = torch.empty(0, 4, requires_grad=True)
        y = functional.swiglu(x, x)
        torch.autograd.grad(y, x, torch.empty_like(y))
        functional.threshold_gate(x, 1.0, [0.0], [0.0, 1.0], [0.0, 0.0])
        functional.soft_threshold(x, 0.5, 1.0)
        functional.tg_softmax(x)
        functional.tg_attention(x, x, x)
    assert found == []
