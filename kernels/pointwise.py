"""A pointwise operation made from a formula: value and all gradients, on every device, from one definition.

The operation ``gateproof::NAME`` and its gradient ``gateproof::NAME_backward`` are registered with the
dispatcher (CPU, CUDA, shapes only, vmap). Each computes in float32, or float64 where a tensor is float64, and
rounds once at the end. Second derivatives and forward mode go through the formula's own partial derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch

from gateproof.kernels import choice
from gateproof.kernels.arguments import check, number, one_shape
from gateproof.kernels.compensated import compensated
from gateproof.kernels.composite import Results, composite, laid_out, real_type, result_type, run
from gateproof.kernels.eager_pointwise import PointwiseForms
from gateproof.kernels.graph import Graph, unfold
from gateproof.kernels.launch import launch
from gateproof.kernels.one_exponential import shared
from gateproof.kernels.roots import rooted
from gateproof.kernels.traced import applied, exported, in_operations, keep, traced
from gateproof.numerics.backends import with_torch
from gateproof.numerics.backends.formula import formula
from gateproof.numerics.backends.op import Op
from gateproof.numerics.backends.tape import Tape

LIBRARY = torch.library.Library("gateproof", "FRAGMENT")


class Pointwise:
    """``f(x, u, ...; c, ...)``: tensors of one shape and plain numbers.

    ``tensors`` and ``numbers`` are names of the formula in the order of the arguments. Gradients are those in
    the tensors; a number that needs one is given as a tensor to an operation that has it among its tensors.
    """

    def __init__(self, name: str, text: str, tensors: Sequence[str], numbers: Sequence[str] = ()) -> None:
        self.name, self.text = name, text
        self.tensors, self.numbers = tuple(tensors), tuple(numbers)
        self.formula = formula(text)
        names = (*self.tensors, *self.numbers)
        if set(names) != set(self.formula.names):
            raise ValueError(f"{name}: the formula has {self.formula.names}, found {names}")
        self.op: Op = self.formula._op(names)
        with_torch.ready(self.op)
        self._graphs: dict[tuple[Any, ...], Graph] = {}
        # All that compiled code needs, so that torch.compile meets nothing but tensor operations.
        everything = (True,) * len(self.tensors)
        for small in (True, False):
            keep(self._key("value", small), self.value_graph(small=small))
            keep(self._key("gradients", small), self.gradient_graph(everything, small=small))
        self._register()

    # --- graphs ---------------------------------------------------------------

    def value_graph(self, *, small: bool) -> Graph:
        """The value of (tensors, numbers)."""
        return self._graph(("value",), lambda: [self.op.tape], small=small, times_first=False)

    def gradient_graph(self, wanted: tuple[bool, ...], *, small: bool) -> Graph:
        """The wanted gradients of (dy, tensors, numbers)."""

        def tapes() -> list[Tape]:
            names = [n for n, w in zip(self.tensors, wanted, strict=True) if w]
            return [self.op.partial(n).tape for n in names]

        return self._graph(("gradient", wanted), tapes, small=small, times_first=True)

    def _graph(
        self, key: tuple[Any, ...], tapes: Callable[[], list[Tape]], *, small: bool, times_first: bool
    ) -> Graph:
        found = self._graphs.get((key, small))
        if found is None:
            made = unfold(tapes(), small=small, times_first=times_first)
            if small:
                forms = PointwiseForms(tapes(), len(self.tensors), times_first=times_first)
                made = replace(compensated(shared(rooted(made))), forms=forms)
            found = self._graphs[key, small] = made
        return found

    def _key(self, what: str, small: bool) -> str:
        return f"{self.name} {what}{' in float32' if small else ''}"

    # --- running --------------------------------------------------------------

    def _run(
        self,
        graph: Graph,
        tensors: Sequence[torch.Tensor],
        numbers: Sequence[float],
        like: torch.Tensor,
        out: Sequence[torch.dtype],
    ) -> list[torch.Tensor]:
        real, device = real_type(tensors), tensors[0].device
        if choice.code_for(device.type) == "triton":
            # One layout for all: a kernel goes through them together.
            outputs = [torch.empty_like(like, dtype=dtype) for dtype in out]
            if like.numel():
                launch(graph, outputs, tensors, numbers, real)
            return outputs
        return [laid_out(like, r) for r in run(graph, tensors, [], numbers, real, Results(tuple(out)))]

    def _value(self, *args: Any) -> torch.Tensor:
        tensors, numbers = args[: len(self.tensors)], args[len(self.tensors) :]
        dtype = result_type(tensors)
        graph = self.value_graph(small=dtype != torch.float64)
        return self._run(graph, tensors, numbers, tensors[0], [dtype])[0]

    def _gradients(self, dy: torch.Tensor, *args: Any) -> list[torch.Tensor]:
        tensors, wanted = args[: len(self.tensors)], tuple(args[-1])
        numbers = args[len(self.tensors) : -1]
        graph = self.gradient_graph(wanted, small=real_type([dy, *tensors]) != torch.float64)
        out = [t.dtype for t, w in zip(tensors, wanted, strict=True) if w]
        return self._run(graph, [dy, *tensors], numbers, tensors[0], out)

    # --- the dispatcher -------------------------------------------------------

    def _register(self) -> None:
        tensors = ", ".join(f"Tensor {n}" for n in self.tensors)
        numbers = "".join(f", float {n}" for n in self.numbers)
        value, backward = f"gateproof::{self.name}", f"gateproof::{self.name}_backward"
        LIBRARY.define(f"{self.name}({tensors}{numbers}) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))
        LIBRARY.define(
            f"{self.name}_backward(Tensor dy, {tensors}{numbers}, bool[] wanted) -> Tensor[]",
            tags=(torch.Tag.pt2_compliant_tag,),
        )
        for key in ("CPU", "CUDA"):
            LIBRARY.impl(self.name, self._value, key)
            LIBRARY.impl(f"{self.name}_backward", self._gradients, key)
        n = len(self.tensors)

        def fake(*args: Any) -> torch.Tensor:
            return torch.empty_like(args[0], dtype=result_type(args[:n]))

        def fake_backward(_: torch.Tensor, *args: Any) -> list[torch.Tensor]:
            wanted = zip(args[:n], args[-1], strict=True)
            return [torch.empty_like(args[0], dtype=t.dtype) for t, w in wanted if w]

        torch.library.register_fake(value, fake, lib=LIBRARY)
        torch.library.register_fake(backward, fake_backward, lib=LIBRARY)
        torch.library.register_vmap(value, _vmapped(value, n), lib=LIBRARY)
        torch.library.register_vmap(backward, _vmapped(backward, n + 1), lib=LIBRARY)
        self.call_value = getattr(torch.ops.gateproof, self.name).default
        self.call_backward = getattr(torch.ops.gateproof, f"{self.name}_backward").default

    # --- calling --------------------------------------------------------------

    def __call__(self, *args: Any) -> torch.Tensor:
        """Tensors are broadcast to one shape; float16 and bfloat16 are computed in float32."""
        n = len(self.tensors)
        tensors: Sequence[torch.Tensor] = args[:n]
        numbers = [number(self.name, name, v) for name, v in zip(self.numbers, args[n:], strict=True)]
        for name, t in zip(self.tensors, tensors, strict=True):
            check(self.name, name, t, tensors[0])
        tensors = one_shape(self.name, tensors)
        if exported():
            return self.traced_value(tensors, numbers)
        if not torch.compiler.is_compiling():
            found: torch.Tensor = _Dispatched.apply(self, *tensors, *numbers)
            return found
        # torch.compile refuses one tensor in two places: the second becomes a view of it.
        apart = [t.view_as(t) if any(t is o for o in tensors[:k]) else t for k, t in enumerate(tensors)]
        made: torch.Tensor = applied(_Traced, self, *apart, *numbers)
        return made

    def traced_value(self, tensors: Sequence[torch.Tensor], numbers: Sequence[float]) -> torch.Tensor:
        """The value in PyTorch's own operations, for a compiler to fuse with what stands around it."""
        real = real_type(tensors)
        graph = traced(self._key("value", real != torch.float64))
        return composite(graph, tensors, [], numbers, real, Results((result_type(tensors),)))[0]

    def traced_gradients(
        self,
        dy: torch.Tensor,
        tensors: Sequence[torch.Tensor],
        numbers: Sequence[float],
    ) -> list[torch.Tensor]:
        """All gradients likewise: a compiler drops what is not used."""
        real = real_type([dy, *tensors])
        graph = traced(self._key("gradients", real != torch.float64))
        return composite(graph, [dy, *tensors], [], numbers, real, Results(tuple(t.dtype for t in tensors)))

    # --- further derivatives --------------------------------------------------

    def _arguments(self, tensors: Sequence[torch.Tensor], numbers: Sequence[float]) -> tuple[Any, ...]:
        real = real_type(tensors)
        plain = [torch.full_like(tensors[0], number, dtype=real) for number in numbers]
        return (*(t.to(real) for t in tensors), *plain)

    def partials(
        self,
        dy: torch.Tensor,
        tensors: Sequence[torch.Tensor],
        numbers: Sequence[float],
        wanted: Sequence[bool],
    ) -> list[torch.Tensor]:
        """The wanted gradients, which can be differentiated again."""
        args = self._arguments(tensors, numbers)
        return [
            (dy.to(args[0].dtype) * with_torch.apply(self.op.partial(name), args)).to(t.dtype)
            for name, t, w in zip(self.tensors, tensors, wanted, strict=True)
            if w
        ]

    def moved(
        self, tangents: Sequence[Any], tensors: Sequence[torch.Tensor], numbers: Sequence[float]
    ) -> torch.Tensor:
        """How the value moves with its tensors; a tangent of None is 0."""
        args = self._arguments(tensors, numbers)
        terms = [
            t * with_torch.apply(self.op.partial(name), args)
            for name, t in zip(self.tensors, tangents, strict=True)
            if t is not None
        ]
        total: Any = sum(terms[1:], terms[0])
        found: torch.Tensor = total.to(result_type(tensors))
        return found


def _vmapped(operation: str, count: int) -> Any:
    """The rule of a pointwise operation: the new dimension comes first in all its tensors."""

    def rule(info: Any, dims: Any, *args: Any) -> Any:
        spread = [
            a.unsqueeze(0).expand(info.batch_size, *a.shape) if d is None else a.movedim(d, 0)
            for a, d in zip(args[:count], dims[:count], strict=True)
        ]
        name = operation.removeprefix("gateproof::")
        found = getattr(torch.ops.gateproof, name).default(*spread, *args[count:])
        return found, ([0] * len(found) if isinstance(found, list) else 0)

    return rule


class _Dispatched(torch.autograd.Function):
    """Calls the dispatcher."""

    generate_vmap_rule = True

    @staticmethod
    def forward(p: Pointwise, *args: Any) -> Any:
        return p.call_value(*args)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:  # noqa: ARG004 - its signature
        p, n = inputs[0], len(inputs[0].tensors)
        ctx.p, ctx.numbers, ctx.code = p, inputs[1 + n :], choice.chosen()
        ctx.save_for_backward(*inputs[1 : 1 + n])
        ctx.save_for_forward(*inputs[1 : 1 + n])

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        p, (dy,) = ctx.p, grad_outputs
        wanted = ctx.needs_input_grad[1 : 1 + len(p.tensors)]
        if in_operations(dy):
            # The gradient may be differentiated again: the fused kernel would hide how it depends on x.
            found = iter(p.partials(dy, ctx.saved_tensors, ctx.numbers, wanted))
        else:
            # Backward runs outside of the block that chose the code, on cards in a thread of its own.
            with choice.use(ctx.code):
                found = iter(p.call_backward(dy, *ctx.saved_tensors, *ctx.numbers, list(wanted)))
        return (None, *(next(found) if w else None for w in wanted), *(None for _ in ctx.numbers))

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        return ctx.p.moved(grad_inputs[1 : 1 + len(ctx.p.tensors)], ctx.saved_tensors, ctx.numbers)


class _Traced(torch.autograd.Function):
    """In PyTorch's own operations, for a compiler to fuse with what stands around it."""

    @staticmethod
    def forward(p: Pointwise, *args: Any) -> Any:
        n = len(p.tensors)
        return p.traced_value(args[:n], args[n:])

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:  # noqa: ARG004 - its signature
        n = len(inputs[0].tensors)
        ctx.p, ctx.numbers = inputs[0], inputs[1 + n :]
        ctx.save_for_backward(*inputs[1 : 1 + n])

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        p = ctx.p
        wanted = ctx.needs_input_grad[1 : 1 + len(p.tensors)]
        found = p.traced_gradients(grad_outputs[0], ctx.saved_tensors, ctx.numbers)
        return (
            None,
            *(g if w else None for g, w in zip(found, wanted, strict=True)),
            *(None for _ in ctx.numbers),
        )
