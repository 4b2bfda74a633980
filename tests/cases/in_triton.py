"""Cases T01 and T02 in Triton's interpreter: prints what was found as JSON.

Run as ``TRITON_INTERPRET=1 python in_triton.py``.
"""

from __future__ import annotations

import json
import sys
import warnings

import torch
import triton
import triton.language as tl

from gateproof.kernels import choice
from gateproof.kernels.check.interpreter import repair
from gateproof.kernels.formula_kernel import compile_kernel


@triton.jit
def store(out, given, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(given + i).to(tl.bfloat16))


@triton.jit
def doubled(out, given, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, (tl.load(given + i).to(tl.float32) * 2.0).to(tl.bfloat16))


@triton.jit
def chosen(out, given, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(given + i).to(tl.float32)
    tl.store(out + i, tl.where(x > 0, x, 0.0).to(tl.bfloat16))


@triton.jit
def product(out, a, b, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i[:, None] * BLOCK + i[None, :]
    x, y = tl.load(a + at).to(tl.float32), tl.load(b + at).to(tl.float32)
    tl.store(out + at, tl.dot(x, y, input_precision="ieee"))


def stored() -> float:
    out = torch.empty(1, dtype=torch.bfloat16)
    store[(1,)](out, torch.tensor([1.01171875]), BLOCK=1)
    return out.item()


def bfloat16(numbers: list[float]) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.bfloat16)


def main() -> None:
    warnings.simplefilter("ignore")
    found: dict[str, object] = {"store": {"as it is": stored()}}
    repair()
    found["store"]["repaired"] = stored()
    out = bfloat16([0.0])
    doubled[(1,)](out, bfloat16([-200.0]), BLOCK=1)
    found["twice"] = out.tolist()
    two = bfloat16([1.0, 1.0])
    chosen[(1,)](two, bfloat16([-200.0, 0.0]), BLOCK=2)
    found["relu"] = two.tolist()
    a, b = (torch.randint(-8, 8, (16, 16)).to(torch.bfloat16) for _ in range(2))
    made = torch.empty(16, 16)
    product[(1,)](made, a, b, BLOCK=16)
    found["product"] = torch.equal(made, a.float() @ b.float())

    relu, silu = compile_kernel("relu(x)"), compile_kernel("silu(x)")
    x = torch.linspace(-8, 8, 1000).to(torch.bfloat16)
    with choice.use("torch"):
        beside = silu(x)
    with choice.use("triton"):
        # One rounding of float32 on either side: the same but where those differ next to a tie.
        found["silu in bfloat16"] = bool(((silu(x) - beside).abs() <= 2.0**-7 * beside.abs()).all())
        special = torch.tensor([float("nan"), -200.0, -0.0, 89.0, float("inf")])
        found["special"] = [repr(abs(v)) for v in relu(special).tolist()]
        lengths = {n: torch.linspace(-3, 3, n) for n in (0, 1, 7, 8, 9, 1025)}
        found["lengths"] = {n: torch.equal(relu(t), torch.relu(t)) for n, t in lengths.items()}
        found["transposed"] = relu(torch.arange(-4.0, 4.0).reshape(2, 4).t()).tolist()
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
