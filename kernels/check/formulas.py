"""Operations that are formulas, measured: float32 on a grid, and all inputs of 16-bit types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from gateproof.kernels import choice
from gateproof.kernels.check.grids import beside, line
from gateproof.kernels.check.result import Result, Row, by_rounding, by_terms
from gateproof.kernels.check.rounding import FORMATS, every_input
from gateproof.kernels.check.truths import FormError, Truth

Array = NDArray[np.float64]
Call = Callable[..., Any]
#: Inputs of a float32 row, and how many of them balls look at; the worst ones are looked at too.
POINTS, SAMPLE, WORST = 3000, 200, 8
SMALLEST, CANCELLED = 2.0**-149, 2.0**-16
TORCH = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def rows(
    name: str,
    text: str,
    names: Sequence[str],
    call: Call,
    budget: float,
    code: Any,
    dtypes: Sequence[str],
    kinks: Sequence[float] = (),
    slopes: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Result]:
    """Forward and backward in each input, for each type; ``slopes`` are gradients stated apart."""
    for dtype in dtypes:
        if dtype == "float32":
            inputs: list[Any] = [line(POINTS, kinks)]
            others = [beside(len(inputs[0]), seed=k) for k in range(1, len(names))]
            # A threshold is not negative.
            inputs += [np.abs(o) if n == "d" else o for n, o in zip(names[1:], others, strict=True)]
        else:
            first = every_input(FORMATS[dtype])
            inputs = [first, *(np.ones(len(first)) for _ in names[1:])]
        found = computed(call, inputs, TORCH[dtype], code)
        directions = ["forward", *(f"backward {n}" if len(names) > 1 else "backward" for n in names)]
        wide = [np.asarray(x, dtype=np.float64) for x in inputs]
        for direction, by, values in zip(directions, ["", *names], found, strict=True):
            row = Row(name, direction, dtype, str(code))
            stated = slopes.get(by)
            truth = Truth(stated, tuple(names)) if stated else Truth(text, tuple(names), by)
            judge = _by_terms if dtype == "float32" else _by_rounding
            try:
                yield judge(row, truth, wide, values, budget)
            except FormError as error:
                yield row.failed(f"the float64 form is no measure: {error}")


def computed(call: Call, inputs: Sequence[Any], dtype: torch.dtype, code: Any) -> list[Array]:
    """The value, and its gradients in each input for dy = 1, in float64."""
    tensors = [torch.tensor(x).to(dtype).requires_grad_() for x in inputs]
    with choice.use(code):
        y = call(*tensors)
        grads = torch.autograd.grad(y, tensors, torch.ones_like(y))
    return [t.detach().to(torch.float64).numpy() for t in (y, *grads)]


def _by_terms(row: Row, truth: Truth, inputs: list[Array], found: Array, budget: float) -> Result:
    values, (sizes, magnified) = truth.values(inputs), truth.sizes(inputs)
    floor = SMALLEST * np.where((sizes > 0) & np.isfinite(magnified), np.maximum(1.0, magnified), 1.0)
    result = by_terms(row, inputs, found, values, sizes, floor, budget)
    with np.errstate(all="ignore"):
        errors = np.abs(found - values) / np.maximum(sizes, SMALLEST)
    worst = np.argsort(-np.nan_to_num(errors, nan=0.0, posinf=0.0))[:WORST]
    truth.compare(inputs, values, sizes, np.concatenate([worst, _sample(len(values))]))
    return result


def _by_rounding(row: Row, truth: Truth, inputs: list[Array], found: Array, _: float) -> Result:
    form = FORMATS[row.dtype]
    values = truth.values(inputs)
    with np.errstate(all="ignore"):
        # Where terms cancel float64 has lost digits that a 16-bit result may still have.
        lost = np.abs(values) < CANCELLED * truth.sizes(inputs)[0]
    values = truth.in_balls(inputs, values, np.flatnonzero(lost))
    nearest = truth.rounded(inputs, values, form)
    truth.compare(inputs, values, np.abs(values), _sample(len(values)))
    return by_rounding(row, inputs, found, values, nearest, form)


def _sample(count: int) -> NDArray[np.int64]:
    return np.linspace(0, count - 1, min(count, SAMPLE)).astype(np.int64)
