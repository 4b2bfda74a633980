"""torch.compile before any other call: nothing that it traces waits for a call that fills a cache."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import torch
import gateproof
from gateproof.kernels import functional as F

mish = gateproof.compile_kernel("x*tanh(softplus(x))")
calls = {
    "gate": lambda x, t: F.threshold_gate(x, 1.0 + t[:1] ** 2, [0.0], [0.0, 1.0], [0.0, 0.0]),
    "gate of a size": lambda x, t: t + F.threshold_gate(x, float(len(x)), [0.0], [0.0, 1.0], [0.0, 0.0]),
    "swiglu": lambda x, t: F.swiglu(x, x + t),
    "memglu": lambda x, t: F.memglu(x, x + t, 1.3),
    "formula": lambda x, t: mish(x + t),
    "softmax": lambda x, t: F.tg_softmax(x + t),
    "attention": lambda x, t: F.tg_attention(x, x + t, x, causal=True),
    "soft": lambda x, t: F.soft_threshold(x, t.abs(), 4.0),
    "soft exact": lambda x, t: F.soft_threshold(x, t.abs(), 4.0, "exact"),
    "soft debiased": lambda x, t: F.soft_threshold(x, 0.1, 4.0, "debiased") + t,
}
torch.manual_seed(0)
x, t = torch.randn(2, 3, 5, 8), torch.randn(8)
for name, call in calls.items():
    results = []
    for f in (torch.compile(call, fullgraph=True, backend="aot_eager", dynamic=True), call):
        a, b = x.clone().requires_grad_(), t.clone().requires_grad_()
        y = f(a, b)
        y.square().sum().backward()
        results.append((y, a.grad, b.grad))
    torch.testing.assert_close(*results, msg=lambda m: name + ": " + m)
print("agree")
"""


@pytest.mark.deep
def test_compiled_first() -> None:
    done = subprocess.run([sys.executable, "-P", "-c", SCRIPT], capture_output=True, text=True, timeout=300)
    assert done.stdout.endswith("agree\n"), done.stderr[-3000:]
