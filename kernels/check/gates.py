"""The threshold gate held against its definition: value, and the gradient in x and in every number.

One row of numbers an element makes the gradients in the numbers those of single elements, not sums; sums are
looked at with one row of numbers for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf, isinf, isnan
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from gateproof.kernels import choice, functional
from gateproof.kernels.check.formulas import SMALLEST, TORCH
from gateproof.kernels.check.gate_truth import Gate, double, exact
from gateproof.kernels.check.grids import beside, line
from gateproof.kernels.check.result import Result, Row, by_rounding, by_terms
from gateproof.kernels.check.rounding import FORMATS, every_input, near_tie, rounded

Array = NDArray[np.float64]
POINTS, BUDGET = 420, 4.0
#: Rounding of sums within a program: a tree of at most 2**13 elements.
SUMS = BUDGET + 13.0


_PRODUCT = ((1.3,), (-0.2,), (0.1037, 0.9177), (0.0, 0.1129))

GATES = (
    Gate("tg_k1", (1.0,), (), (0.7493,), (-0.3119,)),
    # Numbers of few digits: a 16-bit x often lies next to a tie that a sum in float32 cannot tell.
    Gate("tg_k1_simple", (1.0,), (), (0.9,), (0.1,)),
    Gate("tg_k2_simple", (1.3,), (-0.2,), (0.1, 0.9), (0.0, 0.1)),
    Gate("tg_k2_simple_hard", (inf,), (0.5,), (0.1, 0.9), (0.3, -0.1)),
    Gate("tg_k3_simple", (2.0,), (-1.0, 1.0), (0.1, 0.5, 0.9), (0.3, 0.1, 0.7)),
    Gate("tg_k2_silu", (1.0,), (0.0,), (0.0, 1.0), (0.0, 0.0)),
    Gate("tg_k2_1.702", (1.702,), (0.0,), (0.0, 1.0), (0.0, 0.0)),
    Gate("tg_k2_shifted", (2.7,), (0.3,), (-0.0977, 1.0731), (0.2113, -0.3719)),
    Gate("tg_k3", (3.1,), (-1.1, 0.7), (0.0, 0.4, 1.0), (-0.05, 0.1, 0.0)),
    Gate("tg_k4_free", (2.3, 0.9, 5.7), (-2.2, 0.1, 1.9), (0.0, 0.2113, 0.7937, 1.0), (0.0, 0.0, 0.113, 0.0)),
    # Thresholds out of order and lines that cancel: the derivative's zeros are no matter of 16-bit types.
    Gate(
        "tg_k4_crossed", (2.3, 0.9, 5.7), (0.4, -1.2, 1.9), (0.1037, -0.6171, 0.9377, 0.0),
        (0.3119, 0.2113, -0.0983, 2.0), single=True,
    ),
    Gate("tg_k3_hard", (inf,), (-3.0, 3.0), (0.0, 0.5, 1.0), (0.0, 1.5, 0.0)),
    Gate("tg_k3_part_hard", (1.3, inf), (-0.5, 2.0), (0.2, 1.0, 0.0), (0.1, 0.0, 2.0)),
    Gate("tg_glu", *_PRODUCT, product=True),
    Gate("tg_glu_simple", (1.3,), (-0.2,), (0.1, 0.9), (0.0, 0.1), product=True),
    Gate("tg_glu_packed", *_PRODUCT, product=True, packed=True),
)  # fmt: skip


def names_of(gate: Gate) -> list[str]:
    """The directions, in the order of the results."""
    k = len(gate.slope)
    taus = [] if k == 1 else ["tau"] if len(gate.tau) == 1 else [f"tau {j}" for j in range(1, k)]
    return [
        "forward",
        "backward x",
        *(f"backward {t}" for t in taus),
        *(f"backward theta {j}" for j in range(1, k)),
        *(f"backward slope {j}" for j in range(1, k + 1)),
        *(f"backward intercept {j}" for j in range(1, k + 1)),
    ]


def _floor(gate: Gate, x: Array) -> Array:
    """The least unit: half of the smallest number, which a vanishing gate errs by, magnified by its line."""
    with np.errstate(all="ignore"):
        lines = [np.abs(s * x) + abs(c) for s, c in zip(gate.slope, gate.intercept, strict=True)]
        most = np.max([*lines, np.ones(len(x))], axis=0) * np.maximum(1.0, np.abs(x))
        most = most * max(1.0, *(t for t in (1.0, *gate.tau) if not isinf(t)))
        return SMALLEST * np.where(np.abs(x) < 200, most, 1.0)


def _rounded(gate: Gate) -> Gate:
    """The gate with its numbers rounded to float32, which is what a table holds."""
    tau, theta, slope, intercept = (
        tuple(float(np.float32(v)) for v in p) for p in (gate.tau, gate.theta, gate.slope, gate.intercept)
    )
    return replace(gate, tau=tau, theta=theta, slope=slope, intercept=intercept)


def rows(gate: Gate, code: Any, dtypes: Sequence[str]) -> Iterator[Result]:
    """All directions in float32, and value and slope on all inputs of 16-bit types."""
    gate = _rounded(gate)
    for dtype in dtypes:
        if dtype == "float32":
            yield from _on_grid(gate, code)
            if len(gate.slope) > 1 and not gate.product and not isinf(max(gate.tau)):
                yield _summed(gate, code)
        elif not gate.single:
            yield from _on_all(gate, code, dtype)


def _on_grid(gate: Gate, code: Any) -> Iterator[Result]:
    x = line(POINTS, gate.theta)
    u = beside(len(x)) if gate.product else np.ones(len(x), dtype=np.float32)
    wide, times = x.astype(np.float64), u.astype(np.float64)
    pairs = [exact(gate, float(v)) for v in wide]
    truths, sizes = (np.array([p[k] for p in pairs]).T for k in (0, 1))
    found = _computed(gate, x, u, code)
    floor, names = _floor(gate, wide) * np.maximum(1.0, np.abs(times)), names_of(gate)
    inputs = [wide, times] if gate.product else [wide]
    for name, values, truth, terms in zip(names, found[: len(names)], truths, sizes, strict=True):
        with np.errstate(all="ignore"):
            yield by_terms(
                Row(gate.name, name, "float32", str(code)),
                inputs, values, truth * times, terms * np.abs(times), floor, BUDGET,
            )  # fmt: skip
    if gate.product:
        with np.errstate(all="ignore"):
            yield by_terms(
                Row(gate.name, "backward u", "float32", str(code)),
                inputs, found[-1], truths[0], sizes[0], floor, BUDGET,
            )  # fmt: skip


def _computed(gate: Gate, x: Any, u: Any, code: Any) -> list[Array]:
    """The value and gradients, in the order of the directions; last that in u."""
    t = torch.tensor(x).reshape(1, -1).requires_grad_()
    other = torch.tensor(u).reshape(1, -1).requires_grad_()
    given = [
        torch.tensor([list(p)] * len(x), dtype=torch.float32).requires_grad_()
        for p in (gate.tau, gate.theta, gate.slope, gate.intercept)
    ]
    given = [g.reshape(len(x), -1) for g in given]
    with choice.use(code):
        y = _called(gate, t, other, *given)
        wanted = [t, *given, *([other] if gate.product else [])]
        grads = torch.autograd.grad(y, wanted, torch.ones_like(y), allow_unused=True)
    in_x, tau, *rest = grads[: 1 + len(given)]
    columns = [y.reshape(-1), in_x.reshape(-1)]
    columns += [] if len(gate.slope) == 1 else list(tau.unbind(1))
    columns += [c for g in rest for c in g.unbind(1)]
    columns += [grads[-1].reshape(-1)] if gate.product else []
    return [c.detach().to(torch.float64).numpy() for c in columns]


def _called(gate: Gate, x: torch.Tensor, u: torch.Tensor, *numbers: Any) -> torch.Tensor:
    """The function that users call."""
    if gate.packed:
        return packed_gate(x, u, *numbers)
    return functional.tg_glu(x, u, *numbers) if gate.product else functional.threshold_gate(x, *numbers)


def packed_gate(g: torch.Tensor, u: torch.Tensor, *numbers: Any) -> torch.Tensor:
    """``tg_glu`` from one tensor that holds both."""
    return functional.tg_glu_packed(torch.cat([g, u], -1), *numbers)


def _summed(gate: Gate, code: Any) -> Result:
    """Gradients in the numbers of a whole tensor, whose length no block divides, with dy of both signs."""
    x = np.linspace(-4.0, 4.0, 1025).astype(np.float32)
    dy = beside(len(x), seed=3)
    given = [
        torch.tensor(list(p), dtype=torch.float32).requires_grad_()
        for p in (gate.tau, gate.theta, gate.slope, gate.intercept)
    ]
    with choice.use(code):
        y = functional.threshold_gate(torch.tensor(x), *given)
        grads = torch.autograd.grad(y, given, torch.tensor(dy))
    found = torch.cat([g.reshape(-1) for g in grads]).to(torch.float64).numpy()
    pairs = [exact(gate, float(v)) for v in x]
    truths, sizes = (np.array([p[k][2:] for p in pairs]) for k in (0, 1))
    right, terms = dy.astype(np.float64) @ truths, np.abs(dy.astype(np.float64)) @ sizes
    floor = np.full(len(right), SMALLEST)
    return by_terms(Row(gate.name, "sums", "float32", str(code)), [right], found, right, terms, floor, SUMS)


def _on_all(gate: Gate, code: Any, dtype: str) -> Iterator[Result]:
    form, x = FORMATS[dtype], every_input(FORMATS[dtype])
    t = torch.tensor(x).to(TORCH[dtype]).requires_grad_()
    with choice.use(code):
        y = _called(gate, t, torch.ones_like(t), gate.tau, gate.theta, gate.slope, gate.intercept)
        (dx,) = torch.autograd.grad(y, t, torch.ones_like(y))
    values = double(gate, x)
    for name, found, truth, k in zip(("forward", "backward x"), (y, dx), values, (0, 1), strict=True):
        nearest = rounded(truth, form)
        for i in np.flatnonzero(near_tie(truth, form, 2.0**-36)):
            right = exact(gate, float(x[i]))[0][k]
            nearest[i] = rounded(np.array([right]), form)[0]
        row = Row(gate.name, name, dtype, str(code))
        _compare(gate, x, truth, k)
        yield by_rounding(row, [x], found.detach().to(torch.float64).numpy(), truth, nearest, form)


def _compare(gate: Gate, x: Array, truth: Array, k: int) -> None:
    """Hold float64 values against balls at a sample of inputs."""
    for i in np.linspace(0, len(x) - 1, 150).astype(np.int64):
        values, sizes = exact(gate, float(x[i]))
        right, seen = values[k], truth[i]
        if right == seen or (isnan(right) and isnan(seen)):
            continue
        if not abs(right - seen) <= 2.0**-34 * max(sizes[k], abs(right)) + 1e-60:
            raise ArithmeticError(f"{gate} at {x[i]}: {seen} in float64, {right} in balls")
