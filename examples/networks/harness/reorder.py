"""The same network with its sums taken in another order: the differences that mean nothing.

Permuting the inner dimension of a product, the channels of a convolution, the entries of a norm or of a
softmax leaves every exact value as it is and changes the roundings.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Reordered(TorchDispatchMode):
    """Permutes the terms of each sum that it knows, at random from a seed, while it is entered."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._random = torch.Generator().manual_seed(seed)
        self.changed = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func._schema.name.removeprefix("aten::")
        rewrite = getattr(self, f"_{name.strip('_')}", None) if func.namespace == "aten" else None
        new, finish = rewrite(*args) if rewrite else (None, None)
        if new is None:
            return func(*args, **(kwargs or {}))
        self.changed += 1
        out = func(*new, **(kwargs or {}))
        return finish(out) if finish else out

    def _order(self, size: int) -> torch.Tensor:
        return torch.randperm(size, generator=self._random)

    def _mm(self, a: torch.Tensor, b: torch.Tensor) -> Any:
        order = self._order(a.shape[-1])
        return (a[..., order], b[..., order, :]), None

    _bmm = _mm

    def _addmm(self, c: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> Any:
        return (c, *self._mm(a, b)[0]), None

    _baddbmm = _addmm

    def _convolution(self, x: torch.Tensor, weight: torch.Tensor, *rest: Any) -> Any:
        transposed, groups = rest[4], rest[6]
        if transposed or groups != 1:
            return None, None
        order = self._order(weight.shape[1])
        return (x.index_select(1, order), weight.index_select(1, order), *rest), None

    def _native_layer_norm(self, x: torch.Tensor, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
        if len(shape) != 1:
            return None, None
        order = self._order(shape[0])
        given = [None if p is None else p[order] for p in (weight, bias)]
        back = order.argsort()
        return (x[..., order], shape, *given, eps), lambda out: (out[0][..., back], *out[1:])

    def _softmax(self, x: torch.Tensor, dim: int, half: bool) -> Any:
        order = self._order(x.shape[dim])
        return (x.index_select(dim, order), dim, half), lambda out: out.index_select(dim, order.argsort())

    _log_softmax = _softmax

    def _scaled_dot_product_flash_attention_for_cpu(self, q: Any, k: Any, v: Any, *rest: Any) -> Any:
        order = self._order(q.shape[-1])
        return (q[..., order].contiguous(), k[..., order].contiguous(), v, *rest), None
