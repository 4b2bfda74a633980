"""``gateproof::threshold_gate``, and its product with a second tensor, numbers learned or constant.

The numbers of a gate (sharpnesses, thresholds, slopes, intercepts) come as one table, a row for the whole
tensor or one a channel, or as plain numbers. Their gradients are summed from partial sums in float64, so that
they do not depend on the order in which programs run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from gateproof.kernels import choice
from gateproof.kernels.composite import Results, laid_out, real_type, result_type, run
from gateproof.kernels.gate_graph import Shape, gradient_graph, value_graph
from gateproof.kernels.launch import Table, launch
from gateproof.kernels.narrow_gate import plain_lines
from gateproof.kernels.packed import halves
from gateproof.kernels.pointwise import LIBRARY

_ARGUMENTS = "Tensor? table, float[] numbers, int branches, bool shared, bool hard, int? dim"
_TAGS = (torch.Tag.pt2_compliant_tag,)


def entries(x: torch.Tensor, table: torch.Tensor | None, dim: int | None) -> list[torch.Tensor]:
    """The columns of a table, shaped to be broadcast against x."""
    if table is None:
        return []
    if dim is None or table.shape[0] == 1:
        return [t.reshape(()) for t in table.unbind(1)]
    shape = [1] * x.dim()
    shape[dim] = table.shape[0]
    return [t.reshape(shape) for t in table.unbind(1)]


def kept(table: torch.Tensor | None, dim: int | None, dims: int) -> int | None:
    """The dimension of x that the table's rows run along."""
    return None if table is None or dim is None or table.shape[0] == 1 else dim % max(dims, 1)


def once(shape: Shape, real: torch.dtype, tensors: Sequence[torch.Tensor], numbers: Sequence[float]) -> bool:
    """Whether results need care to be rounded only once: all are of 16 bits, and computed in float32."""
    if real != torch.float32 or any(t.dtype.itemsize != 2 for t in tensors):
        return False
    return not plain_lines(shape, numbers)


class GateOp:
    """A gate of one tensor x, or times a second one; ``packed`` where both are halves of one tensor.

    Arguments: the tensors, the table or None, plain numbers, K, whether one tau is shared, whether all are
    infinite, and the dimension of channels or None.
    """

    def __init__(self, name: str, tensors: Sequence[str], *, packed: bool = False) -> None:
        self.name, self.tensors, self.packed = name, tuple(tensors), packed
        self.product = packed or len(tensors) == 2
        self._register()
        self.call_value = getattr(torch.ops.gateproof, name).default
        self.call_backward = getattr(torch.ops.gateproof, f"{name}_backward").default

    def parts(self, tensors: Sequence[Any]) -> tuple[Any, ...]:
        """x, or x and u."""
        return halves(tensors[0]) if self.packed else tuple(tensors)

    def shape(self, branches: int, shared: bool, hard: bool, numbers: Sequence[float] = ()) -> Shape:
        """The shape of its graphs; plain numbers may make them simpler."""
        plain = Shape(branches, shared, hard, self.product)
        if not numbers or hard or branches == 1:
            return plain
        taus, theta = numbers[: plain.taus], numbers[plain.taus : plain.taus + branches - 1]
        return replace(plain, unit=all(t == 1.0 for t in taus), centred=all(h == 0.0 for h in theta))

    def _value(self, *args: Any) -> torch.Tensor:
        n = len(self.tensors)
        parts, (table, numbers, branches, shared, hard, dim) = self.parts(args[:n]), args[n:]
        real = real_type(parts if table is None else [*parts, table])
        shape = self.shape(branches, shared, hard, numbers)
        graph = value_graph(shape, once(shape, real, parts, numbers))
        x, dtype = parts[0], result_type(parts)
        dim = kept(table, dim, x.dim())
        if choice.code_for(x.device.type) != "triton":
            return laid_out(x, run(graph, parts, entries(x, table, dim), numbers, real, Results((dtype,)))[0])
        out = torch.empty_like(x, dtype=dtype)
        if x.numel():
            launch(graph, [out], parts, numbers, real, _table(table, dim))
        return out

    def _gradients(self, dy: torch.Tensor, *args: Any) -> list[torch.Tensor]:
        n = len(self.tensors)
        tensors, (table, numbers, branches, shared, hard, dim, numbers_too) = args[:n], args[n:]
        parts = self.parts(tensors)
        x, numbers_too = parts[0], numbers_too and table is not None
        shape = self.shape(branches, shared, hard, numbers)
        real = real_type([dy, *parts] if table is None else [dy, *parts, table])
        graph = gradient_graph(shape, numbers_too, once(shape, real, [dy, *parts], numbers))
        dim = kept(table, dim, x.dim())
        if choice.code_for(x.device.type) != "triton":
            results = Results(tuple(t.dtype for t in parts), self.packed, numbers_too, dim)
            *found, last = run(graph, [dy, *parts], entries(x, table, dim), numbers, real, results)
            if numbers_too and table is not None:
                return [*(laid_out(tensors[0], t) for t in found), last.to(table.dtype)]
            return [laid_out(tensors[0], t) for t in (*found, last)]
        # One layout for all: a kernel goes through them together.
        made = [torch.empty_like(tensors[0], dtype=t.dtype) for t in tensors]
        outs = self.parts(made)
        if not x.numel():
            return (
                [*made, torch.zeros_like(table)] if numbers_too and isinstance(table, torch.Tensor) else made
            )
        # Channels along a dimension before the last cannot be written half by half.
        split = self.packed and dim is not None and dim != x.dim() - 1
        into = [torch.empty(t.shape, dtype=t.dtype, device=t.device) for t in outs] if split else outs
        sums = launch(
            graph, into, [dy, *parts], numbers, real, _table(table, dim), shape.width if numbers_too else 0
        )
        if split:
            for to, of in zip(outs, into, strict=True):
                to.copy_(of)
        return made if sums is None or table is None else [*made, sums.to(table.dtype)]

    # --- the dispatcher -------------------------------------------------------

    def _register(self) -> None:
        tensors, backward = ", ".join(f"Tensor {t}" for t in self.tensors), f"{self.name}_backward"
        LIBRARY.define(f"{self.name}({tensors}, {_ARGUMENTS}) -> Tensor", tags=_TAGS)
        LIBRARY.define(
            f"{backward}(Tensor dy, {tensors}, {_ARGUMENTS}, bool numbers_too) -> Tensor[]", tags=_TAGS
        )
        for key in ("CPU", "CUDA"):
            LIBRARY.impl(self.name, self._value, key)
            LIBRARY.impl(backward, self._gradients, key)
        n = len(self.tensors)

        def fake(*args: Any) -> torch.Tensor:
            parts = self.parts(args[:n])
            return torch.empty_like(parts[0], dtype=result_type(parts))

        def fake_backward(_: torch.Tensor, *args: Any) -> list[torch.Tensor]:
            table, numbers_too = args[n], args[-1]
            found = [torch.empty_like(args[0], dtype=t.dtype) for t in args[:n]]
            return [*found, torch.empty_like(table)] if numbers_too and table is not None else found

        torch.library.register_fake(f"gateproof::{self.name}", fake, lib=LIBRARY)
        torch.library.register_fake(f"gateproof::{backward}", fake_backward, lib=LIBRARY)
        for name, count in ((self.name, n), (backward, n + 1)):
            rule = _vmapped_packed(name, count) if self.packed else _vmapped(name, count)
            torch.library.register_vmap(f"gateproof::{name}", rule, lib=LIBRARY)


def _table(table: torch.Tensor | None, dim: int | None) -> Table | None:
    return None if table is None else Table(table.contiguous(), dim)


def _vmapped(name: str, count: int) -> Any:
    """The rule of a gate: batches of tables are channels of one tensor."""

    def rule(info: Any, dims: Any, *args: Any) -> Any:
        call, size = getattr(torch.ops.gateproof, name).default, info.batch_size

        def spread(t: torch.Tensor, d: int | None) -> torch.Tensor:
            return t.unsqueeze(0).expand(size, *t.shape) if d is None else t.movedim(d, 0)

        tensors = [spread(t, d) for t, d in zip(args[:count], dims[:count], strict=True)]
        table, middle, dim, rest = (
            args[count],
            args[count + 1 : count + 5],
            args[count + 5],
            args[count + 6 :],
        )
        one = tensors[0].dim() - 1
        with_sums = bool(rest and rest[0]) and table is not None
        if table is None or (dims[count] is None and not with_sums):
            found = call(*tensors, table, *middle, None if dim is None else dim % max(one, 1) + 1, *rest)
            return found, [0] * len(found) if isinstance(found, list) else 0
        table = spread(table, dims[count])
        rows = table.shape[1]
        place = kept(table[0], dim, one)
        if place is not None:
            tensors = [t.movedim(1 + place, 1).flatten(0, 1) for t in tensors]
        found = call(*tensors, table.flatten(0, 1), *middle, 0, *rest)

        def back(t: torch.Tensor) -> torch.Tensor:
            return t if place is None else t.unflatten(0, (size, rows)).movedim(1, 1 + place)

        if not isinstance(found, list):
            return back(found), 0
        last = [found[-1].unflatten(0, (size, rows))] if with_sums else []
        return [*(back(t) for t in (found[:-1] if with_sums else found)), *last], [0] * len(found)

    return rule


def _vmapped_packed(name: str, count: int) -> Any:
    """The rule of a packed gate: that of the two halves."""
    inner = _vmapped(name.replace("_packed", ""), count + 1)

    def rule(info: Any, dims: Any, *args: Any) -> Any:
        x, d = args[count - 1], dims[count - 1]
        parts = halves(x if d is None else x.movedim(d, 0))
        place = None if d is None else 0
        given = (*args[: count - 1], *parts, *args[count:])
        found, out = inner(info, (*dims[: count - 1], place, place, *dims[count:]), *given)
        if not isinstance(found, list):
            return found, out
        return [torch.cat(found[:2], -1), *found[2:]], out[1:]

    return rule


GATE = GateOp("threshold_gate", ("x",))
PRODUCT = GateOp("tg_glu", ("g", "u"))
PACKED = GateOp("tg_glu_packed", ("x",), packed=True)
