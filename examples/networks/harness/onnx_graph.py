"""An ONNX graph as a torch module, node by node, with the operations named in `OPERATIONS` and no others.

Semantics: https://onnx.ai/onnx/operators (opset 13 to 17). Constants are buffers, so that the module
changes its dtype as any other does.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from harness.network import library
from torch import nn
from torch.nn import functional

Operation = Callable[..., torch.Tensor]


def _numbers(value: torch.Tensor | None) -> list[int]:
    return [] if value is None else value.tolist()


def _reshape(x: torch.Tensor, shape: torch.Tensor, allowzero: int = 0) -> torch.Tensor:
    sizes = _numbers(shape)
    return x.reshape([x.shape[i] if s == 0 and not allowzero else s for i, s in enumerate(sizes)])


def _unsqueeze(x: torch.Tensor, axes: torch.Tensor) -> torch.Tensor:
    rank = x.ndim + axes.numel()
    for axis in sorted(a % rank for a in _numbers(axes)):
        x = x.unsqueeze(axis)
    return x


def _conv(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
    *,
    kernel_shape: Sequence[int] | None = None,  # noqa: ARG001 - the weight has it
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    group: int = 1,
    auto_pad: bytes = b"NOTSET",
) -> torch.Tensor:
    rank = weight.ndim - 2
    if auto_pad not in (b"NOTSET", b"VALID") or rank not in (1, 2, 3):
        raise ValueError(f"Conv of {rank} dimensions with auto_pad={auto_pad.decode()} is not read")
    begin, end = list(pads or [0] * 2 * rank)[:rank], list(pads or [0] * 2 * rank)[rank:]
    if begin != end:
        x = functional.pad(x, [p for pair in zip(reversed(begin), reversed(end), strict=True) for p in pair])
        begin = [0] * rank
    conv = (functional.conv1d, functional.conv2d, functional.conv3d)[rank - 1]
    return conv(x, weight, bias, list(strides or [1] * rank), begin, list(dilations or [1] * rank), group)


def _pad(
    x: torch.Tensor, pads: torch.Tensor, value: torch.Tensor | None = None, *, mode: bytes = b"constant"
) -> torch.Tensor:
    numbers = _numbers(pads)
    pairs = list(zip(numbers[: x.ndim], numbers[x.ndim :], strict=True))
    while pairs and pairs[0] == (0, 0):  # torch counts dimensions from the last
        del pairs[0]
    flat = [p for pair in reversed(pairs) for p in pair]
    kind = {b"constant": "constant", b"reflect": "reflect", b"edge": "replicate"}[mode]
    if kind == "constant":
        return functional.pad(x, flat, kind, 0.0 if value is None else float(value))
    return functional.pad(x, flat, kind)


def _slice(
    x: torch.Tensor,
    starts: torch.Tensor,
    ends: torch.Tensor,
    axes: torch.Tensor | None = None,
    steps: torch.Tensor | None = None,
) -> torch.Tensor:
    begin, end = _numbers(starts), _numbers(ends)
    where = _numbers(axes) or list(range(len(begin)))
    step = _numbers(steps) or [1] * len(begin)
    if min(step) < 1:
        raise ValueError("Slice with a negative step is not read")
    index = [slice(None)] * x.ndim
    for a, b, axis, s in zip(begin, end, where, step, strict=True):
        index[axis] = slice(a, b, s)
    return x[tuple(index)]


def _reduce(how: Callable[..., torch.Tensor]) -> Operation:
    def reduced(
        x: torch.Tensor,
        given: torch.Tensor | None = None,
        *,
        axes: Sequence[int] | None = None,
        keepdims: int = 1,
        noop_with_empty_axes: int = 0,
    ) -> torch.Tensor:
        along = _numbers(given) or list(axes or ())
        if not along and noop_with_empty_axes:
            return x
        along = along or list(range(x.ndim))
        return how(x, dim=tuple(along), keepdim=bool(keepdims))

    return reduced


def _cast(x: torch.Tensor, *, to: int) -> torch.Tensor:
    return x.to(torch.from_numpy(np.zeros(0, library("onnx").helper.tensor_dtype_to_np_dtype(to))).dtype)


def _softmax(x: torch.Tensor, *, axis: int = -1) -> torch.Tensor:
    return x.softmax(axis)


OPERATIONS: Mapping[str, Operation] = {
    "Add": operator.add,
    "Cast": _cast,
    "Concat": lambda *xs, axis: torch.cat(xs, axis),
    "Conv": _conv,
    "Div": operator.truediv,
    "Equal": torch.eq,
    "Erf": torch.erf,
    "Exp": torch.exp,
    "Identity": lambda x: x,
    "Log": torch.log,
    "MatMul": torch.matmul,
    "Mul": operator.mul,
    "Neg": torch.neg,
    "Pad": _pad,
    "ReduceMax": _reduce(torch.amax),
    "ReduceMin": _reduce(torch.amin),
    "ReduceSum": _reduce(torch.sum),
    "Relu": functional.relu,
    "Reshape": _reshape,
    "Shape": lambda x: torch.tensor(x.shape),
    "Sigmoid": torch.sigmoid,
    "Slice": _slice,
    "Softmax": _softmax,
    "Sqrt": torch.sqrt,
    "Sub": operator.sub,
    "Tanh": torch.tanh,
    "Transpose": lambda x, perm: x.permute(*perm),
    "Unsqueeze": _unsqueeze,
    "Where": torch.where,
}


class OnnxGraph(nn.Module):
    """The graph of a file; `forward` takes its inputs in order and returns its outputs in order.

    ValueError names the operations that are not read.
    """

    def __init__(self, file: Path) -> None:
        super().__init__()
        onnx = library("onnx")
        graph = onnx.load(str(file)).graph
        unknown = sorted({node.op_type for node in graph.node} - set(OPERATIONS))
        if unknown:
            raise ValueError(f"{file.name}: operations that are not read: {', '.join(unknown)}")
        self._constants: dict[str, str] = {}  # of the graph's names, which torch cannot use
        for number, tensor in enumerate(graph.initializer):
            self._constants[tensor.name] = f"constant_{number}"
            self.register_buffer(
                f"constant_{number}", torch.from_numpy(onnx.numpy_helper.to_array(tensor).copy())
            )
        self._inputs = [i.name for i in graph.input if i.name not in self._constants]
        self._outputs = [o.name for o in graph.output]
        self._nodes = [
            (
                node.op_type,
                list(node.input),
                node.output[0],
                {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute},
            )
            for node in graph.node
        ]

    def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Outputs in the order of the graph."""
        values: dict[str, torch.Tensor] = dict(zip(self._inputs, inputs, strict=True))
        for kind, names, result, attributes in self._nodes:
            arguments = [self._value(values, name) for name in names]
            values[result] = OPERATIONS[kind](*arguments, **attributes)
        return tuple(values[name] for name in self._outputs)

    def _value(self, values: Mapping[str, torch.Tensor], name: str) -> torch.Tensor | None:
        if not name:  # an optional input left out
            return None
        return getattr(self, self._constants[name]) if name in self._constants else values[name]


def run_onnx(file: Path, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The graph's outputs in onnxruntime, on one set of inputs."""
    runtime = library("onnxruntime")
    session = runtime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    feed = {i.name: x.numpy() for i, x in zip(session.get_inputs(), inputs, strict=True)}
    return [torch.from_numpy(y) for y in session.run(None, feed)]
