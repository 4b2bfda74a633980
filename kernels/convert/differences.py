"""How far apart the outputs of two networks are, whatever their outputs are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

import torch


@dataclass(frozen=True)
class Difference:
    """One tensor beside another, or several of them together.

    ``largest`` and ``rms`` of the differences; the same in ulps, the spacing of the type's numbers at the
    largest finite magnitude (``max_ulp``, ``rms_ulp``), and relative, to the largest magnitude and to the rms
    (``max_relative``, ``rms_relative``). ``argmax`` is the share of rows (last dimension) with the same
    largest entry, None where there are no rows. NaN equals NaN and an infinity itself; elsewhere they differ
    by oo.
    """

    largest: float
    rms: float
    max_ulp: float
    rms_ulp: float
    max_relative: float
    rms_relative: float
    argmax: float | None = None

    @property
    def equal(self) -> bool:
        """Whether all numbers are the same."""
        return self.largest == 0


SAME = Difference(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def leaves(value: Any, name: str = "", seen: frozenset[int] = frozenset()) -> Iterator[tuple[str, Any]]:
    """What is within an output, each with its path: in tuples, mappings, and attributes of objects."""
    if value is None or isinstance(value, (torch.Tensor, int, float, complex, str)):
        yield name or "output", value
        return
    if id(value) in seen:
        return
    seen |= {id(value)}
    if isinstance(value, Mapping):
        parts: Iterable[tuple[Any, Any]] = value.items()
    elif isinstance(value, (list, tuple)):
        parts = enumerate(value)
    elif hasattr(value, "__dict__") and not isinstance(value, type) and not callable(value):
        parts = ((k, v) for k, v in vars(value).items() if not k.startswith("__"))
    else:
        yield name or "output", value
        return
    for key, part in parts:
        yield from leaves(part, f"{name}.{key}" if name else str(key), seen)


def difference(a: torch.Tensor, b: torch.Tensor) -> Difference:
    """b beside a. Raises ValueError where shapes or types differ."""
    return together([(a, b)])


def together(pairs: Iterable[tuple[torch.Tensor, torch.Tensor]]) -> Difference:
    """All the second tensors beside all the first ones, as if they were one."""
    largest, top, squares, sizes, count, spacing = 0.0, 0.0, 0.0, 0.0, 0, 0.0
    equal, rows = 0.0, 0
    for first, second in pairs:
        if first.shape != second.shape or first.dtype != second.dtype:
            raise ValueError(f"outputs differ in kind: {_kind(first)} and {_kind(second)}")
        a, b = _plain(first), _plain(second)
        if not a.numel():
            continue
        same = (a == b) | (a.isnan() & b.isnan()) if a.is_floating_point() else a == b
        gap = (b.double() - a.double()).abs_().masked_fill_(same, 0.0).nan_to_num_(nan=inf, posinf=inf)
        size = a.double().abs().nan_to_num_(0.0, 0.0, 0.0)
        largest, top = max(largest, float(gap.max())), max(top, float(size.max()))
        squares, sizes = squares + float(gap.square().sum()), sizes + float(size.square().sum())
        count += a.numel()
        spacing = max(spacing, _spacing(a))
        if a.is_floating_point() and a.dim() >= 1 and a.shape[-1] > 1:
            alike = a.argmax(-1) == b.argmax(-1)
            equal, rows = equal + float(alike.double().sum()), rows + alike.numel()
    if not count:
        return SAME
    rms, middle = sqrt(squares / count), sqrt(sizes / count)
    return Difference(
        largest, rms, _over(largest, spacing), _over(rms, spacing), _over(largest, top), _over(rms, middle),
        equal / rows if rows else None,
    )  # fmt: skip


def worst(found: Iterable[Difference]) -> Difference:
    """The largest of each number, and the smallest share of equal rows."""
    found = list(found)
    if not found:
        return SAME
    names = ("largest", "rms", "max_ulp", "rms_ulp", "max_relative", "rms_relative")
    rows = [d.argmax for d in found if d.argmax is not None]
    largest = {n: max(getattr(d, n) for d in found) for n in names}
    return Difference(**largest, argmax=min(rows) if rows else None)


def _plain(t: torch.Tensor) -> torch.Tensor:
    t = t.detach()
    if t.is_quantized:
        t = t.dequantize()
    if t.layout != torch.strided:
        t = t.to_dense()
    t = torch.view_as_real(t) if t.is_complex() else t
    return t.to(torch.uint8) if t.dtype == torch.bool else t


def _spacing(a: torch.Tensor) -> float:
    """The distance of neighbouring numbers at the largest finite magnitude; 1 for integers."""
    if not a.is_floating_point():
        return 1.0
    top = float(a.double().abs().nan_to_num(0.0, 0.0, 0.0).max())
    info = torch.finfo(a.dtype)
    exponent = torch.frexp(torch.tensor(max(top, float(info.tiny)), dtype=torch.float64)).exponent
    return float(info.eps) * 2.0 ** (int(exponent) - 1)


def _over(a: float, b: float) -> float:
    return 0.0 if a == 0 else a / b if b else inf


def _kind(t: torch.Tensor) -> str:
    return f"{str(t.dtype).removeprefix('torch.')}{list(t.shape)}"
