"""Registration with PyTorch: opcheck's tests of an operation, and its gradients in float64 by differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from gateproof.kernels import functional
from gateproof.kernels.check.gate_truth import Gate
from gateproof.kernels.check.gates import packed_gate
from gateproof.kernels.check.operations import side_by_side
from gateproof.kernels.check.result import Result, Row

#: Clear of kinks.
_INPUTS = (-2.3, -0.71, 0.37, 1.9)


def registered(
    name: str, call: Callable[..., Any], inputs: int, *, surrogate: bool = False, everywhere: bool = True
) -> Iterator[Result]:
    """Three rows: opcheck, gradcheck and gradgradcheck.

    A surrogate is no derivative of the value: gradcheck must say so. What has no value everywhere has one at
    positive numbers.
    """
    places = _INPUTS if everywhere else [abs(v) for v in _INPUTS]
    given = [
        torch.tensor([v + 0.25 * k for v in places], dtype=torch.float64, requires_grad=True)
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
    operation: Any = getattr(call, "operation", None)
    found = operation.call_value if operation is not None else getattr(torch.ops.gateproof, name, None)
    if found is not None:
        arguments: list[Any] = [g.detach().to(torch.float32) for g in given]
        if name.endswith("_packed"):
            arguments = [side_by_side(*arguments)]
        # Constants of products are those of an uncalibrated gate.
        arguments += [1.0] * (len(_overload(found)._schema.arguments) - len(arguments))
        yield _opcheck(name, _overload(found), arguments)


def registered_gate(gate: Gate) -> Iterator[Result]:
    """gradcheck in x, u and every number, with one row of numbers; opcheck of value and gradients."""
    k, given = len(gate.slope), [gate.tau, gate.theta, gate.slope, gate.intercept]
    x = torch.tensor(_INPUTS, dtype=torch.float64, requires_grad=True)
    u = (x.detach() + 0.25).requires_grad_()
    numbers = [torch.tensor(list(p), dtype=torch.float64) for p in given]
    # Nothing is differentiated at infinity.
    learned = [p.requires_grad_() if torch.isfinite(p).all() and p.numel() and k > 1 else p for p in numbers]
    call: Any = functional.tg_glu if gate.product else functional.threshold_gate
    tensors = [x, u] if gate.product else [x]
    if gate.packed:
        call = packed_gate
    yield _row(
        Row(gate.name, "gradcheck", "float64", "torch"),
        lambda: torch.autograd.gradcheck(call, (*tensors, *learned)),
    )
    # Finite differences of a gate's own gradient; a table's numbers take part.
    yield _row(
        Row(gate.name, "gradgradcheck", "float64", "torch"),
        lambda: torch.autograd.gradgradcheck(call, (*tensors, *learned)),
    )
    taus = [] if k == 1 else numbers[:1]
    table = torch.cat([*taus, *numbers[1:]]).detach().to(torch.float32).reshape(1, -1)
    name = "tg_glu_packed" if gate.packed else "tg_glu" if gate.product else "threshold_gate"
    single = [t.detach().to(torch.float32) for t in tensors]
    single = [side_by_side(*single)] if gate.packed else single
    arguments: Any = (*single, table, [], k, len(gate.tau) == 1, False, None)
    yield _opcheck(gate.name, _overload(getattr(torch.ops.gateproof, name)), arguments)


def _overload(found: Any) -> Any:
    return getattr(found, "default", found)


def _opcheck(name: str, operation: Any, arguments: Any) -> Result:
    return _row(
        Row(name, "opcheck", "float32", "torch"), lambda: torch.library.opcheck(operation, tuple(arguments))
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
