"""One conversion held against the original: outputs, decisions, faults planted, time, and the way back."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from harness.census import Disturbed, census, one_thread
from harness.compare import Distance, distance
from harness.network import Call, Network, gradients, outputs
from harness.reorder import Reordered
from harness.wide import Wide

import gateproof

RELATIVE = 1e-12  # of float64 outputs, in mode exact
REORDERED = 4.0  # times what another order of the original's own sums does, in float32
ORDERS = 3


@dataclass(frozen=True)
class Row:
    """Both networks in one dtype; `truth` is the rms error of each against the original in float64."""

    converted: Distance
    reordered: Distance
    truth: tuple[float, float] | None
    metric: dict[str, Any]


@dataclass
class Trial:
    """All that was measured; `faults` says what does not hold.

    `narrow`: where the network's own code rounds to float32, the relative differences in float64 with that
    left as it is: after conversion, and of reordered sums.
    """

    name: str
    mode: str
    branches: int
    before: Counter[tuple[str, str, str]]
    after: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    report: Any = None
    rows: dict[str, Row] = field(default_factory=dict)
    gradients: dict[str, tuple[float, float]] = field(default_factory=dict)
    controls: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, tuple[float, float]] = field(default_factory=dict)
    narrow: tuple[float, float] | None = None
    reference: dict[str, Any] | None = None
    reverted: bool = False
    faults: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        counts = {
            side: [[*key, n] for key, n in sorted(getattr(self, side).items())]
            for side in ("before", "after")
        }
        plain = {k: v for k, v in vars(self).items() if k not in counts}
        rows = {name: asdict(row) for name, row in self.rows.items()}
        return plain | counts | {"rows": rows, "report": str(self.report)}


def convert(
    network: Network, model: torch.nn.Module, calls: Sequence[Call], trial: Trial, calibrate: str | None
) -> Any:
    """The conversion of a model, given the first call for its report, all calls where it is to calibrate."""
    network.reset(model)
    given = [call.args or dict(call.kwargs) for call in calls[: None if calibrate else 1]]
    return gateproof.convert(
        model, mode=trial.mode, branches=trial.branches, inputs=given, calibrate=calibrate or False
    )


def _copy(network: Network, model: torch.nn.Module) -> torch.nn.Module:
    """Another of the same; a copied script's parameters are no leaves, so that it is loaded anew."""
    return network.build() if isinstance(model, torch.jit.ScriptModule) else deepcopy(model)


def measure(
    name: str, network: Network, *, mode: str, branches: int, calibrate: str | None, compiled: bool
) -> Trial:
    """Converts a copy of the network in each of its dtypes; ValueError where convert refuses."""
    calls, model = network.calls(), network.build()
    with one_thread():
        trial = Trial(name, mode, branches, census(network, model, calls[0]))
        truth = None
        if torch.float64 in network.dtypes:
            double = _copy(network, model).double()
            with Wide():
                truth = outputs(network, double, [call.to(torch.float64) for call in calls])
        for dtype in network.dtypes:
            given = [call.to(dtype) for call in calls]
            with Wide() if dtype == torch.float64 else nullcontext():
                _in_dtype(
                    network, dtype, _copy(network, model).to(dtype), given, truth, trial, calibrate, compiled
                )
        if truth is not None:
            _narrow(network, model, [call.to(torch.float64) for call in calls], truth, trial, calibrate)
    _judge(trial)
    return trial


def _narrow(
    network: Network,
    model: torch.nn.Module,
    calls: Sequence[Call],
    truth: Sequence[torch.Tensor],
    trial: Trial,
    calibrate: str | None,
) -> None:
    """The network in float64 by its own code, which may round to float32 in norms and rotations."""
    original, part = _copy(network, model).double(), calls[: network.part]
    before = outputs(network, original, part)
    if distance(truth[: len(before)], before).relative <= RELATIVE:
        return
    with Reordered(0):
        own = distance(before, outputs(network, original, part)).relative
    conversion = convert(network, _copy(network, original).double(), calls, trial, calibrate)
    trial.narrow = (distance(before, outputs(network, conversion.model, part)).relative, own)


def _in_dtype(
    network: Network,
    dtype: torch.dtype,
    original: torch.nn.Module,
    calls: Sequence[Call],
    truth: Sequence[torch.Tensor] | None,
    trial: Trial,
    calibrate: str | None,
    compiled: bool,
) -> None:
    before = outputs(network, original, calls)
    conversion = convert(network, _copy(network, original).to(dtype), calls, trial, calibrate)
    after = outputs(network, conversion.model, calls)
    part = calls[: network.part]
    orders = []
    for seed in range(ORDERS):
        with Reordered(seed):
            orders.append(distance(before[: len(part)], outputs(network, original, part)))
    label = str(dtype).removeprefix("torch.")
    errors = None if truth is None else (distance(truth, before).rms, distance(truth, after).rms)
    trial.rows[label] = Row(
        distance(before, after),
        max(orders, key=lambda d: d.largest),
        errors,
        network.metric(before, after, calls),
    )
    if dtype != torch.bfloat16 and any(p.requires_grad for p in original.parameters()):
        trial.gradients[label] = _slopes(network, original, conversion.model, calls[0])
    if dtype == torch.float32:
        trial.report = conversion.report
        trial.after = census(network, conversion.model, calls[0])
        if network.reference:
            trial.reference = network.metric(network.reference(calls), before, calls)
        _time(network, original, conversion.model, part, trial, compiled)
    if dtype == (torch.float64 if torch.float64 in network.dtypes else torch.float32):
        _plant(network, original, before[: len(part)], part, trial)
    back = conversion.revert()
    again = outputs(network, conversion.model if back is None else back, calls)
    trial.reverted = distance(before, again).same == 1


def _slopes(
    network: Network, original: torch.nn.Module, converted: torch.nn.Module, call: Call
) -> tuple[float, float]:
    """Relative differences of all gradients together: after conversion, and of reordered sums."""
    before = gradients(network, original, call)
    with Reordered(0):
        reordered = gradients(network, original, call)
    sides = gradients(network, converted, call), reordered
    moved, own = (distance(before, side).relative for side in sides)
    return moved, own


def _plant(
    network: Network,
    model: torch.nn.Module,
    before: Sequence[torch.Tensor],
    calls: Sequence[Call],
    trial: Trial,
) -> None:
    """What a fault of 0.1 % in half of the results of each operation does to the outputs."""
    for name in sorted({op for kind, op, _ in trial.before if kind in ("pointwise", "rows", "fused")}):
        with Disturbed(name):
            trial.controls[name] = distance(before, outputs(network, model, calls)).relative


def _time(
    network: Network,
    original: torch.nn.Module,
    converted: torch.nn.Module,
    calls: Sequence[Call],
    trial: Trial,
    compiled: bool,
) -> None:
    """The best of five passes over all calls, the two networks in turn."""
    pairs = {"eager": (original, converted)}
    if compiled:
        pairs["compiled"] = (torch.compile(original), torch.compile(converted))
    for what, pair in pairs.items():
        best = [float("inf")] * 2
        for model in pair:
            outputs(network, model, calls)
        for _ in range(5):
            for side, model in enumerate(pair):
                begin = time.perf_counter()
                outputs(network, model, calls)
                best[side] = min(best[side], time.perf_counter() - begin)
        trial.seconds[what] = (best[0], best[1])


def _is_listed(report: Any, operation: str, place: str) -> bool:
    """Whether a row of what was kept names the operation or the class of the module that runs it."""
    words = "scaled_dot_product" if "scaled_dot_product" in operation else operation.strip("_"), place
    rows = [f"{row.kind} {row.spelled} {row.place}".lower() for row in report.kept]
    return any(word.lower() in row for word in words for row in rows)


def _judge(trial: Trial) -> None:
    """What does not hold; fitted gates differ as they must, so that only the way back is asked of them."""
    if not trial.reverted:
        trial.faults.append("revert() does not give the original's outputs back bit for bit")
    if trial.mode != "exact":
        return
    for (what, name, place), count in sorted(trial.after.items()):
        if what in ("pointwise", "rows", "fused") and not _is_listed(trial.report, name, place):
            trial.faults.append(f"{name} in {place} ({count} a call) is neither converted nor in the report")
    double, single = trial.rows.get("float64"), trial.rows.get("float32")
    slope = trial.gradients.get("float64")
    if slope and not slope[0] <= max(RELATIVE, REORDERED * slope[1]):
        trial.faults.append(f"float64 gradients differ by {slope[0]:.3g} relative")
    if double and not double.converted.relative <= RELATIVE:
        trial.faults.append(
            f"float64 outputs differ by {double.converted.relative:.3g} relative, above {RELATIVE:g}"
        )
    if single and not single.converted.largest <= REORDERED * single.reordered.largest:
        trial.faults.append(
            f"float32 outputs differ by {single.converted.largest:.3g}, above {REORDERED:g} times "
            f"{single.reordered.largest:.3g}, what another order of the original's sums does"
        )
    limit = RELATIVE if double else 1e-6
    trial.faults += [
        f"{name} with half of its results 0.1 % too large is not seen"
        for name, seen in trial.controls.items()
        if not seen > limit
    ]
