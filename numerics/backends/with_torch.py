"""PyTorch: computed in float32 or float64, differentiable to any order, traceable without graph breaks."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from gateproof.numerics.backends.op import Op
from gateproof.numerics.backends.special_heads import inside, refusal
from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.special import find


class TorchOps:
    """Elementary functions on tensors of one type."""

    def __init__(self, dtype: Any, device: Any) -> None:
        import torch

        self.dtype, self.device, self.small = dtype, device, dtype == torch.float32
        self.exp, self.expm1, self.log, self.log1p, self.sqrt = (
            torch.exp, torch.expm1, torch.log, torch.log1p, torch.sqrt
        )  # fmt: skip
        self.sin, self.cos, self.tan = torch.sin, torch.cos, torch.tan
        self.asin, self.acos, self.atan = torch.asin, torch.acos, torch.atan
        self.sinh, self.cosh, self.tanh = torch.sinh, torch.cosh, torch.tanh
        self.asinh, self.acosh, self.atanh = torch.asinh, torch.acosh, torch.atanh
        self.floor, self.power, self.logical_not = torch.floor, torch.pow, torch.logical_not

    def high(self, a: Any) -> Any:
        """The upper half of a number's bits: at most 12 of 24 significant ones, or 26 of 53."""
        import torch

        whole, mask = (torch.int32, -(2**12)) if self.small else (torch.int64, -(2**27))
        return (a.view(whole) & mask).view(self.dtype)

    def odd(self, total: Any, low: Any) -> Any:
        """total + low in float32, rounded to odd.

        That is the neighbour of the exact sum whose last bit is 1, or the sum itself where float32 holds it.
        """
        import torch

        near = total + low
        rest = low - (near - total)
        bits = near.view(torch.int32)
        # One up in size where both have one sign, else one down.
        moved = bits + (((bits ^ rest.view(torch.int32)) >> 31) | 1)
        between = (rest != 0) & (torch.abs(rest) < torch.abs(near)) & ((bits & 1) == 0)
        found = torch.where(between, moved, bits).view(torch.float32)
        # Beside infinity low is no number.
        return torch.where(torch.abs(low) < torch.inf, found, total)

    def special(self, head: str, u: Any) -> Any:
        """A special function that torch.special has; nan outside of its domain."""
        import torch

        found = find(head)
        assert found is not None
        known = found.family.torch(found.params)
        if known is None:
            raise refusal(head, "PyTorch")
        name, numbers = known
        value = getattr(torch.special, name)(*(int(n) for n in numbers), u)
        return torch.where(inside(found, u, torch), value, torch.nan)

    def where(self, condition: Any, a: Any, b: Any) -> Any:
        """A choice; two numbers become tensors of the type, not of the default one."""
        import torch

        if isinstance(a, float) and isinstance(b, float):
            a = torch.full((), a, dtype=self.dtype, device=self.device)
        return torch.where(condition, a, b)


def value(op: Op, args: tuple[Any, ...]) -> Any:
    """The op on tensors of one type and shape, without derivatives."""
    import torch

    x = args[0]
    found = op.tape.run(TorchOps(x.dtype, x.device), args)
    if not isinstance(found, torch.Tensor):
        found = torch.full_like(x, found)
    # A view of an input is no output of its own.
    return found.clone() if any(found is a for a in args) else found


#: The autograd functions, made when torch is first asked for.
_made: dict[str, Any] = {}


def ready(op: Op) -> None:
    """Make what running the op needs, so that torch.compile meets nothing but tensor operations."""
    if not _made:
        _make()
    _ = op.tape
    for name in op.names:
        # A derivative that grows too large is refused when it is asked for.
        with suppress(FormulaError):
            _ = op.partial(name).tape


def _make() -> None:
    import torch

    class Traced(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(op: Op, *args: Any) -> Any:
            return value(op, args)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:  # noqa: ARG004 - its signature
            ctx.op = inputs[0]
            ctx.save_for_backward(*inputs[1:])

        @staticmethod
        def backward(ctx: Any, *grad_outputs: Any) -> Any:
            (dy,) = grad_outputs
            args = ctx.saved_tensors
            wanted = zip(ctx.op.names, ctx.needs_input_grad[1:], strict=True)
            return None, *(dy * value(ctx.op.partial(n), args) if need else None for n, need in wanted)

    class Full(Traced):
        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:  # noqa: ARG004 - its signature
            ctx.op = inputs[0]
            ctx.save_for_backward(*inputs[1:])
            ctx.save_for_forward(*inputs[1:])

        @staticmethod
        def backward(ctx: Any, *grad_outputs: Any) -> Any:
            (dy,) = grad_outputs
            args = ctx.saved_tensors
            wanted = zip(ctx.op.names, ctx.needs_input_grad[1:], strict=True)
            return None, *(dy * apply(ctx.op.partial(n), args) if need else None for n, need in wanted)

        @staticmethod
        def jvp(ctx: Any, *grad_inputs: Any) -> Any:
            tangents = grad_inputs[1:]
            args = ctx.saved_tensors
            moving = [(n, t) for n, t in zip(ctx.op.names, tangents, strict=True) if t is not None]
            terms = [t * apply(ctx.op.partial(n), args) for n, t in moving]
            total = terms[0]
            for term in terms[1:]:
                total = total + term
            return total

    _made["full"], _made["traced"] = Full, Traced


def apply(op: Op, args: tuple[Any, ...]) -> Any:
    """The op on tensors of one type and shape."""
    import torch

    kind = "traced" if torch.compiler.is_compiling() else "full"
    return _made[kind].apply(op, *args)


def run(op: Op, args: tuple[Any, ...]) -> Any:
    """The values, in the shape that the arguments broadcast to and in their type.

    float16 and bfloat16 are computed in float32 and rounded once; integers count as the default type;
    Python numbers take the type of the tensors. Raises TypeError for complex tensors.
    """
    import torch

    tensors = [a for a in args if isinstance(a, torch.Tensor)]
    for t in tensors:
        if t.is_complex():
            raise TypeError(f"real numbers are expected, found {t.dtype}")
    default = torch.get_default_dtype()
    dtype = default
    for k, t in enumerate(tensors):
        own = t.dtype if t.is_floating_point() else default
        dtype = own if k == 0 else torch.promote_types(dtype, own)
    device = next((t.device for t in tensors if t.dim()), tensors[0].device if tensors else None)
    inner = torch.float64 if dtype == torch.float64 else torch.float32
    inputs = [
        a.to(inner) if isinstance(a, torch.Tensor) else torch.full((), float(a), dtype=inner, device=device)
        for a in args
    ]
    if not inputs:
        return torch.tensor(op.tape.result, dtype=dtype)
    shape: Any = torch.broadcast_shapes(*(t.shape for t in inputs))  # type: ignore[no-untyped-call]
    spread = [t.expand(shape) for t in inputs]
    return apply(op, tuple(spread)).to(dtype)
