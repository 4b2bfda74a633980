"""Both networks on the same inputs: what the conversion changes, beside what means nothing and what is wrong.

What means nothing is another order of the original's own sums; what is wrong are gates made so on purpose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import torch
from torch import nn

from gateproof.kernels.convert import products, swap
from gateproof.kernels.convert.differences import SAME, Difference, worst
from gateproof.kernels.convert.inputs import Batch
from gateproof.kernels.convert.plan import Plan
from gateproof.kernels.convert.planted import SIZES, Wrong, planted, ways
from gateproof.kernels.convert.proof_record import Compared, Control, InType, Proof
from gateproof.kernels.convert.reordered import Reordered
from gateproof.kernels.convert.runs import Run, beside, cast, run

#: Orders of the original's own sums that are tried.
ORDERS = 3
#: An exact conversion stays within this many times of what another order does,
WITHIN = 4.0
#: or of one rounding for each gate, half an ulp at the largest number and its rms, where those, independent
#: of each other, add up to more (in networks of few numbers);
ROUNDING = (0.5, 0.5 / sqrt(3))
#: and in float64 within this, relative to the largest output.
RELATIVE = 1e-12


def prove(
    model: nn.Module, batches: Sequence[Batch], dtypes: Sequence[Any] = (), *,
    loss: Callable[[Any], torch.Tensor] | None = None, gradients: bool = True, controls: Any = None,
    progress: Callable[[str], None] | None = None,
) -> Proof:  # fmt: skip
    """Compare a converted network with its original; see ``Conversion.proof``."""
    own = next((p.dtype for p in model.parameters() if p.is_floating_point()), torch.float32)
    one: Any = dtypes
    wanted = [_dtype(d) for d in ([one] if isinstance(one, (str, torch.dtype)) else one)]
    if not wanted:
        raise ValueError("proof: dtypes is empty; give types such as 'float32', or leave it out")
    if controls is not None and (isinstance(controls, bool) or not isinstance(controls, int) or controls < 0):
        raise ValueError(f"proof: controls: a number of gates from 0 on, or None for all, found {controls!r}")
    say = progress or _silent
    _tried(model, batches, loss)
    first = own if own in wanted else wanted[0]
    truth: list[Run] = []
    rows: dict[torch.dtype, InType] = {}
    # float64 first: the others are held against it.
    for dtype in sorted(wanted, key=lambda d: d != torch.float64):
        try:
            at = model if dtype == own else deepcopy(model).to(dtype)
        except Exception as error:
            rows[dtype] = InType(
                _name(dtype), reason=f"not run: the network cannot be copied: {_line(error)}"
            )
            continue
        given = batches if dtype == own else [cast(b, dtype) for b in batches]
        known = truth if dtype == own else []
        try:
            asked = _Asked(loss, gradients, controls, say, all_gates=dtype == first)
            rows[dtype], originals = _in_type(at, given, asked, dtype, known)
        except Exception as error:
            rows[dtype] = InType(_name(dtype), reason=f"not run: {type(error).__name__}: {_line(error)}")
            continue
        if dtype == torch.float64:
            truth = originals
    how = (
        f"in {_name(own)} the same object, reverted for the original and converted again; in other types a "
        "copy of it, in the same way"
    )
    return Proof(how, len(batches), tuple(rows[d] for d in wanted))


def _tried(model: nn.Module, batches: Sequence[Batch], loss: Any) -> None:
    """Raises ValueError for inputs or a loss with which the original itself does not run."""
    failed: list[str] = []

    def watched(output: Any) -> Any:
        try:
            return None if loss is None else loss(output)
        except Exception as error:
            failed.append(f"proof: loss does not run on the network's output: {_said(error)}")
            raise

    with reverted(model):
        for i, b in enumerate(batches):
            try:
                run(model, b, None if loss is None else watched, gradients=False)
            except Exception as error:
                if isinstance(error, ValueError) and str(error).startswith("proof: "):
                    raise
                what = f"proof: the original network does not run on inputs {i}: {_said(error)}"
                raise ValueError(failed[0] if failed else what) from error


@dataclass(frozen=True)
class _Asked:
    loss: Callable[[Any], torch.Tensor] | None
    gradients: bool
    controls: int | None
    say: Callable[[str], None]
    all_gates: bool


def _silent(line: str) -> None:
    del line


def _in_type(
    model: nn.Module, batches: Sequence[Batch], asked: _Asked, dtype: torch.dtype, truth: list[Run]
) -> tuple[InType, list[Run]]:
    found = _Found()
    originals, losses, why = [], [], ""
    plan = _plan_of(model)
    if plan is not None:
        plan.restart()
    for i, b in enumerate(batches):
        asked.say(f"{_name(dtype)}: input {i + 1} of {len(batches)}")
        with reverted(model):
            original = run(model, b, asked.loss, gradients=asked.gradients)
            # Of further inputs one order each: what is held against is the worst of all.
            for seed in range(ORDERS if i == 0 else 1):
                with _slow(), Reordered(seed):
                    other = run(model, b, asked.loss, gradients=asked.gradients)
                found.add("reordered", beside(original, other))
        converted = run(model, b, asked.loss, gradients=asked.gradients)
        found.add("converted", beside(original, converted))
        if truth:
            exact = truth[i].narrowed(original)
            found.add("rounding", beside(exact, replace(original, gradients={})))
            found.add("converted_rounding", beside(exact, replace(converted, gradients={})))
        if original.loss is not None and converted.loss is not None:
            losses.append((original.loss, converted.loss))
        why = why or original.why or converted.why
        originals.append(replace(original, gradients={}))
    gates = 0 if plan is None else len([s for s in plan.sites.values() if s.calls and ways(s)])
    rows = {name: _compared(name, found, dtype, gates) for name in found.names()}
    outputs = tuple(c for name, c in rows.items() if name != "gradients")
    n = len(losses)
    loss = (sum(a for a, _ in losses) / n, sum(b for _, b in losses) / n) if n else None
    marks = () if plan is None else tuple(_controls(model, plan, batches, originals, rows, asked, dtype))
    return InType(_name(dtype), outputs, rows.get("gradients"), loss, marks, why), originals


class _Found:
    """Differences over all inputs, by what is compared and by output."""

    def __init__(self) -> None:
        self.all: dict[str, dict[str, list[Difference]]] = {}

    def add(self, what: str, found: Mapping[str, Difference]) -> None:
        for name, d in found.items():
            self.all.setdefault(what, {}).setdefault(name, []).append(d)

    def names(self) -> list[str]:
        return list(self.all.get("converted", {}))

    def worst(self, what: str, name: str) -> Difference | None:
        found = self.all.get(what, {}).get(name)
        return None if found is None else worst(found)


def _compared(name: str, found: _Found, dtype: torch.dtype, gates: int) -> Compared:
    d, yard = found.worst("converted", name) or SAME, found.worst("reordered", name) or SAME
    ratio = _ratio(d, yard, gates)
    within = ratio <= WITHIN
    floor = _floor(gates)
    if dtype == torch.float64 and name != "gradients":
        within = d.max_relative <= RELATIVE
    rounding, other = found.worst("rounding", name), found.worst("converted_rounding", name)
    return Compared(name, d, yard, rounding, other, ratio, within, floor, gates)


def _ratio(d: Difference, yard: Difference, gates: int) -> float:
    """The difference over what another order does, or over a rounding for each gate where that is more."""
    most, rms = _floor(gates)
    return max(d.max_ulp / max(yard.max_ulp, most), d.rms_ulp / max(yard.rms_ulp, rms))


def _floor(gates: int) -> tuple[float, float]:
    """Largest and rms difference, in ulps, of one rounding for each gate."""
    most, rms = (r * sqrt(max(gates, 1)) for r in ROUNDING)
    return most, rms


def _plan_of(model: nn.Module) -> Plan | None:
    return next((swap.plan_of(m) for m in model.modules() if swap.is_converted(m)), None)


def _controls(
    model: nn.Module,
    plan: Plan,
    batches: Sequence[Batch],
    originals: list[Run],
    rows: dict[str, Compared],
    asked: _Asked,
    dtype: torch.dtype,
) -> Iterator[Control]:
    products.settle(plan)
    sites = [s for s in plan.sites.values() if s.calls and ways(s)]
    gates, most = len(sites), asked.controls
    if most is not None and most < gates:
        sites = [sites[i * gates // most] for i in range(most)]
    # A smaller wrong than the type's own roundings cannot show.
    sizes = [size for size in SIZES if size >= torch.finfo(dtype).eps]
    done = set[str]()

    def seen(wrong: Wrong) -> bool:
        with planted(plan, wrong):
            for b, original in zip(batches, originals, strict=True):
                found = beside(original, run(model, b, gradients=False))
                if any(
                    _ratio(d, rows[n].reordered, gates) > max(WITHIN, rows[n].ratio) for n, d in found.items()
                ):
                    return True
        return False

    for n, s in enumerate(sites):
        if s.kind in done and not asked.all_gates:
            # Other types round differently, no more: one gate of each kind that shows is enough.
            continue
        asked.say(f"{_name(dtype)}: wrong gate {n + 1} of {len(sites)}, {s.kind}")
        tries = [Wrong(s, way, size) for size in sizes for way in ways(s)]
        caught = next((w for w in tries if seen(w)), None)
        last = caught or tries[-1]
        done |= {s.kind} if caught else set()
        place = f"{s.owner or 'the network itself'}{f' ({s.line})' if s.line else ''}"
        yield Control(place, s.kind, last.way, last.size, caught is not None)


@contextmanager
def reverted(model: nn.Module) -> Iterator[None]:
    """Within it the network is its original: the same object, its former classes."""
    found = [(m, swap.plan_of(m), swap.owner_of(m)) for m in model.modules() if swap.is_converted(m)]
    for module, _, _ in found:
        swap.returned(module)
    try:
        yield
    finally:
        for module, plan, owner in found:
            swap.swapped(module, plan, owner)


@contextmanager
def _slow() -> Iterator[None]:
    """Without the fused path of encoders, whose sums nothing can reorder."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


def _dtype(d: Any) -> torch.dtype:
    found = getattr(torch, d, None) if isinstance(d, str) else d
    if not (isinstance(found, torch.dtype) and found.is_floating_point):
        raise ValueError(f"proof: dtypes are floating types such as 'float32', found {d!r}")
    return found


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {_line(error)}"


def _line(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0][:200]
