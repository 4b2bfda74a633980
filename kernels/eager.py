"""Graphs on a CPU without a compiler: in float64, piece by piece, rounded once.

A piece fits into a processor's cache, so that the passes over it cost no memory traffic. Pieces whose inputs
are finite run through the short programs of ``native``; others through the whole graph, which knows limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf, isfinite
from typing import Any

import torch

from gateproof.kernels.graph import Graph
from gateproof.kernels.layout import rows
from gateproof.kernels.program import Program
from gateproof.numerics.backends.with_torch import TorchOps

#: Elements of a piece for each thread: what one thread of PyTorch's takes at least.
PIECE = 65536
#: So many pieces are looked at for what is not finite in one go.
LOOK = 4
MOST_THREADS = 16
#: Of tensors, outputs and scratch in float32: fills the outputs.
Direct = Callable[[Sequence[torch.Tensor], Sequence[torch.Tensor], Sequence[torch.Tensor]], Any]

Always = Callable[[Sequence[torch.Tensor], Sequence[torch.Tensor]], Any]


@dataclass(frozen=True)
class Forms:
    """What can compute one graph.

    ``whole`` is the graph itself. ``finite`` is for finite inputs at the places ``checked``, ``near`` where
    these are of size at most ``most``; both have the numbers in them where ``written``. ``direct`` computes
    in float32 what is exact there for finite inputs, ``always`` for all.
    """

    whole: Graph
    finite: Program
    checked: tuple[int, ...]
    near: Program | None = None
    most: float = inf
    written: bool = False
    direct: Direct | None = None
    always: Always | None = None


def evaluate(
    forms: Forms,
    tensors: Sequence[torch.Tensor],
    entries: Sequence[torch.Tensor],
    numbers: Sequence[float],
    outs: Sequence[torch.Tensor],
    sums: int = 0,
    kept: int | None = None,
) -> list[torch.Tensor]:
    """Fill the outputs, of the tensors' shape; the last ``sums`` results are summed over all but ``kept``.

    Numbers are those of the graph, which float32 holds; entries are of float32 or narrower. Returns the sums
    in float64, of shape (1,) or (channels,).
    """
    if not outs[0].numel():
        channels = 1 if kept is None else outs[0].shape[kept]
        return [torch.zeros(channels, dtype=torch.float64) for _ in range(sums)]
    if forms.always is not None and all(t.dtype == torch.float32 for t in (*outs, *tensors)):
        forms.always(tensors, outs)
        return []
    whole = kept is None and all(e.numel() == 1 for e in entries)
    views = _flat(outs, tensors) if whole else _by_channels(outs, tensors, kept, entries)
    given: list[Any] = [e.reshape(()).item() for e in entries] if whole else [_entry(e) for e in entries]
    return _Run(forms, views, len(outs), [*given, *numbers], whole, sums).all()


def _entry(entry: torch.Tensor) -> torch.Tensor:
    """As (channels or 1, 1), in float64."""
    return entry.reshape(-1, 1).to(torch.float64)


def _flat(outs: Sequence[torch.Tensor], tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """All as views of (rows, columns)."""
    found = rows(outs, tensors)
    return [
        t.as_strided((found.rows, found.cols), (stride, unit), t.storage_offset())
        for t, stride, unit in zip(found.tensors, found.strides, found.units, strict=True)
    ]


def _by_channels(
    outs: Sequence[torch.Tensor],
    tensors: Sequence[torch.Tensor],
    kept: int | None,
    entries: Sequence[torch.Tensor],
) -> list[torch.Tensor]:
    """All as (before, channels, after), the outputs as views."""
    dim = kept
    if dim is None:
        dim = max(range(outs[0].dim()), key=lambda d: max(e.dim() > d and e.shape[d] for e in entries))
    shape = outs[0].shape
    wide = (shape[:dim].numel(), shape[dim], shape[dim + 1 :].numel())
    return [t.view(wide) for t in outs] + [t.reshape(wide) for t in tensors]


class _Run:
    """One evaluation: buffers, pieces and partial sums."""

    def __init__(
        self, forms: Forms, views: list[torch.Tensor], outs: int, given: list[Any], whole: bool, sums: int
    ) -> None:
        self.forms, self.views, self.outs, self.given, self.whole = forms, views, outs, given, whole
        programs = [p for p in (forms.near, forms.finite) if p is not None]
        self.once = {id(p): p.begin([] if forms.written else given) for p in programs}
        self.size = PIECE * min(torch.get_num_threads(), MOST_THREADS)
        length = min(self.size, views[0].numel())
        count, masks = max(2, *(p.buffers for p in programs)), max(p.masks for p in programs)
        self.numbers = [torch.empty(length, dtype=torch.float64) for _ in range(count)]
        self.masks = [torch.empty(length, dtype=torch.bool) for _ in range(masks)]
        self.bound: dict[Any, tuple[list[Any], list[torch.Tensor], list[Any]]] = {}
        self.rounded = torch.empty(length) if any(v.dtype.itemsize == 2 for v in views[:outs]) else None
        self.direct = forms.direct if all(v.dtype == torch.float32 for v in views) else None
        channels = 1 if whole else views[0].shape[1]
        self.totals = [torch.zeros(channels, dtype=torch.float64) for _ in range(sums)]

    def all(self) -> list[torch.Tensor]:
        """The sums, after all pieces."""
        if self.whole and all(v.is_contiguous() for v in self.views):
            self._in_line([v.view(-1) for v in self.views])
            return self.totals
        for place in self._places():
            pieces = [v[place] for v in self.views]
            self._piece(pieces, place, self._ranges(pieces))
        return self.totals

    def _in_line(self, views: Sequence[torch.Tensor]) -> None:
        """Several pieces are looked at together."""
        for several in zip(*(v.split(LOOK * self.size) for v in views), strict=True):
            ranges = self._ranges(several)
            for pieces in zip(*(v.split(self.size) for v in several), strict=True):
                self._piece(pieces, (), ranges if ranges[1] else self._ranges(pieces))

    def _ranges(self, pieces: Sequence[torch.Tensor]) -> tuple[bool, bool]:
        most = self.forms.most if self.forms.near is not None else 0.0
        return _ranges([pieces[self.outs + k] for k in self.forms.checked], most)

    def _places(self) -> Iterator[tuple[slice, ...]]:
        """Slices of every dimension; the last dimensions are whole where they fit."""
        shape, left, steps = self.views[0].shape, self.size, list[int]()
        for n in reversed(shape):
            steps.insert(0, max(1, min(n, left)))
            left //= steps[0]
        every = [
            [slice(b, min(b + step, n)) for b in range(0, n, step)]
            for n, step in zip(shape, steps, strict=True)
        ]
        return product(*every)

    def _piece(
        self, pieces: Sequence[torch.Tensor], place: tuple[slice, ...], ranges: tuple[bool, bool]
    ) -> None:
        forms, (near, finite) = self.forms, ranges
        outs, tensors = pieces[: self.outs], pieces[self.outs :]
        if finite and self.direct is not None:
            shape, n = tensors[0].shape, tensors[0].numel()
            self.direct(tensors, outs, [b.view(torch.float32)[:n].view(shape) for b in self.numbers[:2]])
            return
        program = forms.near if near and forms.near is not None else forms.finite if finite else None
        if program is None:
            results = self._carefully(tensors, place)
        else:
            calls, buffers, results = self._bound(program, tensors[0].shape, place)
            for t, buffer, used in zip(tensors, buffers, program.used, strict=False):
                if used:
                    buffer.copy_(t)
            for call in calls:
                call()
        for out, r in zip(outs, results, strict=False):
            self._round(r, out)
        for total, r in zip(self.totals, results[self.outs :], strict=True):
            full = (r if isinstance(r, torch.Tensor) else torch.tensor(r, dtype=torch.float64)).expand(
                tensors[0].shape
            )
            if self.whole:
                total += full.sum()
            else:
                total[place[1]] += full.sum((0, 2))

    def _bound(self, program: Program, shape: torch.Size, place: tuple[slice, ...]) -> Any:
        key = (id(program), shape, None if self.whole else (place[1].start, place[1].stop))
        found = self.bound.get(key)
        if found is None:
            n = shape.numel()
            numbers = [b[:n].view(shape) for b in self.numbers[: program.buffers]]
            masks = [b[:n].view(shape) for b in self.masks[: program.masks]]
            calls, results = program.bind(self._at(self.once[id(program)], place), numbers, masks)
            found = self.bound[key] = (calls, numbers, results)
        return found

    def _at(self, values: dict[int, Any], place: tuple[slice, ...]) -> dict[int, Any]:
        """Numbers of the channels of a piece."""
        if self.whole:
            return values
        return {
            k: v[place[1]] if isinstance(v, torch.Tensor) and v.dim() == 2 and v.shape[0] > 1 else v
            for k, v in values.items()
        }

    def _carefully(self, tensors: Sequence[torch.Tensor], place: tuple[slice, ...]) -> list[Any]:
        given = list(self._at(dict(enumerate(self.given)), place).values())
        plain = [v if isinstance(v, torch.Tensor) else torch.tensor(v, dtype=torch.float64) for v in given]
        ops = TorchOps(torch.float64, tensors[0].device)
        return self.forms.whole.run(ops, [*(t.to(torch.float64) for t in tensors), *plain])

    def _round(self, value: Any, out: torch.Tensor) -> None:
        if not isinstance(value, torch.Tensor):
            out.fill_(value)
        elif self.rounded is None or out.dtype.itemsize != 2:
            out.copy_(value)
        else:
            _round_once(value.expand(out.shape), self.rounded[: out.numel()].view(out.shape), out)


def _round_once(value: torch.Tensor, single: torch.Tensor, out: torch.Tensor) -> None:
    """Round float64 to a 16-bit type, with a buffer in float32.

    PyTorch goes through float32, where a value next to the middle of two 16-bit numbers may come to lie on it
    and then goes to the even one. Such a middle is as far from the rounded number as another one beyond it.
    """
    single.copy_(value)
    out.copy_(single)
    beyond = single + (single - out.to(torch.float32))
    middle = (beyond == beyond.to(out.dtype).to(torch.float32)) & (beyond != single)
    if not bool(middle.any()):
        return
    lost = value[middle] - single[middle].to(torch.float64)
    target = torch.where(lost > 0, inf, -inf).to(torch.float32)
    moved = torch.where(lost == 0, single[middle], torch.nextafter(single[middle], target))
    out[middle] = moved.to(out.dtype)


def _ranges(tensors: Sequence[torch.Tensor], most: float) -> tuple[bool, bool]:
    """Whether all are of size at most ``most``, and whether all are finite."""
    near = finite = True
    for t in tensors:
        if t.dtype == torch.float32 and t.is_contiguous():
            # A sum shows what is not finite, one of squares bounds the greatest size: both are cheaper than
            # to look for it.
            if not most and isfinite(t.sum().item()):
                near = False
                continue
            flat = t.view(-1)
            if most and torch.dot(flat, flat).item() <= min(most, 1e18) ** 2:
                continue
        low, high = (v.item() for v in torch.aminmax(t))
        near = near and -most <= low and high <= most
        finite = finite and -inf < low and high < inf
    return near and finite, finite
