"""The same network with its own sums taken in another order: differences that mean nothing.

Permuting the inner dimension of a product, the channels of a convolution, the entries of a norm or a softmax
changes no exact value and all roundings. It is done below autograd, so that it holds for gradients too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_aten = torch.ops.aten
Rewritten = tuple[tuple[Any, ...], Callable[[Any], Any] | None]


class Reordered(TorchDispatchMode):
    """While active, permutes the terms of each sum that it knows, at random from ``seed``.

    ``changed`` counts them.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.random = torch.Generator().manual_seed(seed)
        self.changed = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        rule = _RULES.get(func)
        with torch._C.DisableTorchFunction():
            found = None if rule is None else rule(self, *args)
            if found is None:
                return func(*args, **(kwargs or {}))
            self.changed += 1
            given, finish = found
            result = func(*given, **(kwargs or {}))
            return result if finish is None else finish(result)

    def order(self, size: int, like: torch.Tensor) -> torch.Tensor:
        """A permutation."""
        return torch.randperm(size, generator=self.random).to(like.device)


def _product(mode: Reordered, a: torch.Tensor, b: torch.Tensor) -> Rewritten:
    p = mode.order(a.shape[-1], a)
    return (a.index_select(-1, p), b.index_select(0 if b.dim() == 1 else -2, p)), None


def _added(mode: Reordered, c: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> Rewritten:
    return (c, *_product(mode, a, b)[0]), None


def _convolution(mode: Reordered, x: torch.Tensor, weight: torch.Tensor, *rest: Any) -> Rewritten | None:
    transposed, groups = rest[4], rest[6]
    if groups != 1:
        return None
    p = mode.order(x.shape[-len(rest[1]) - 1], x)
    into = 0 if transposed else 1
    return (x.index_select(-len(rest[1]) - 1, p), weight.index_select(into, p), *rest), None


def _convolution_gradient(mode: Reordered, dy: torch.Tensor, x: torch.Tensor, *rest: Any) -> Rewritten:
    p = mode.order(x.shape[0], x)
    back = p.argsort()

    def finish(found: Any) -> Any:
        dx, *others = found
        return (None if dx is None else dx.index_select(0, back), *others)

    return (dy.index_select(0, p), x.index_select(0, p), *rest), finish


def _linear(mode: Reordered, x: torch.Tensor, weight: torch.Tensor, *rest: Any) -> Rewritten:
    p = mode.order(x.shape[-1], x)
    return (x.index_select(-1, p), weight.index_select(-1, p), *rest), None


def _normed(mode: Reordered, x: torch.Tensor, shape: Any, *rest: Any) -> Rewritten | None:
    if len(shape) != 1:
        return None
    p = mode.order(shape[0], x)
    given = [t.index_select(0, p) if isinstance(t, torch.Tensor) else t for t in rest]
    back = p.argsort()

    def finish(found: Any) -> Any:
        return (found[0].index_select(-1, back), *found[1:])

    return (x.index_select(-1, p), shape, *given), finish


def _softmax(mode: Reordered, x: torch.Tensor, dim: int, *rest: Any) -> Rewritten | None:
    if not x.dim():
        return None
    p = mode.order(x.shape[dim], x)
    back = p.argsort()
    return (x.index_select(dim, p), dim, *rest), lambda found: found.index_select(dim, back)


def _summed(mode: Reordered, x: torch.Tensor, dim: Any = None, *rest: Any) -> Rewritten | None:
    dims = [dim] if isinstance(dim, int) else dim
    for d in dims or range(x.dim()):
        x = x.index_select(d, mode.order(x.shape[d], x))
    return (x, *(() if dim is None else (dim, *rest))), None


def _attention(mode: Reordered, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *rest: Any) -> Rewritten:
    p = mode.order(q.shape[-1], q)
    # The kernels want rows that lie together.
    return (q.index_select(-1, p).contiguous(), k.index_select(-1, p).contiguous(), v, *rest), None


_RULES: dict[Any, Callable[..., Rewritten | None]] = {
    _aten.mm.default: _product,
    _aten.bmm.default: _product,
    _aten.mv.default: _product,
    _aten.dot.default: _product,
    _aten.addmm.default: _added,
    _aten.baddbmm.default: _added,
    _aten.addmv.default: _added,
    _aten.convolution.default: _convolution,
    _aten.native_layer_norm.default: _normed,
    _aten._softmax.default: _softmax,
    _aten._safe_softmax.default: _softmax,
    _aten._log_softmax.default: _softmax,
    _aten.sum.default: _summed,
    _aten.sum.dim_IntList: _summed,
    _aten.mean.default: _summed,
    _aten.mean.dim: _summed,
    _aten._scaled_dot_product_flash_attention_for_cpu.default: _attention,
    _aten._scaled_dot_product_flash_attention.default: _attention,
    _aten.linear.default: _linear,
    _aten.mkldnn_rnn_layer.default: _linear,
    _aten.convolution_backward.default: _convolution_gradient,
}
