"""Registration with PyTorch: opcheck's tests of an operation, and its gradients in float64 by differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from gateproof.kernels.check.result import Result, Row

#: Clear of kinks.
_INPUTS = (-2.3, -0.71, 0.37, 1.9)


def registered(
    name: str, call: Callable[..., Any], inputs: int, *, surrogate: bool = False
) -> Iterator[Result]:
    """Three rows: opcheck, gradcheck and gradgradcheck.

    A surrogate is no derivative of the value: gradcheck must say so.
    """
    given = [
        torch.tensor([v + 0.25 * k for v in _INPUTS], dtype=torch.float64, requires_grad=True)
        for k in range(inputs)
    ]
    if surrogate:
        yield _row(Row(name, "gradcheck fails", "float64", "torch"), lambda: _must_fail(call, given))
        return
    for what, run in (
        ("gradcheck", lambda: torch.autograd.gradcheck(call, given)),
        ("gradgradcheck", lambda: torch.autograd.gradgradcheck(call, given)),
    ):
        yield _row(Row(name, what, "float64", "torch"), run)
    operation = getattr(call, "operation", None)
    if operation is not None:
        numbers = call._numbers  # type: ignore[attr-defined]
        single = [g.detach().to(torch.float32).requires_grad_() for g in given]
        yield _row(
            Row(name, "opcheck", "float32", "torch"),
            lambda: torch.library.opcheck(operation.call_value, (*(s.detach() for s in single), *numbers)),
        )


def _must_fail(call: Callable[..., Any], given: list[torch.Tensor]) -> None:
    if torch.autograd.gradcheck(call, given, raise_exception=False):
        raise AssertionError("gradcheck takes the surrogate for the derivative")


def _row(row: Row, run: Callable[[], Any]) -> Result:
    try:
        run()
    except Exception as error:
        return row.failed(f"{type(error).__name__}: {error}".splitlines()[0][:200])
    return Result(row.op, row.direction, row.dtype, row.code, True, inputs=len(_INPUTS))
