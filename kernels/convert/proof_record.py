"""What a proof says: records, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import exp, isfinite
from typing import Any

from gateproof.kernels.convert.differences import Difference


@dataclass(frozen=True)
class Compared:
    """One output, or the gradients of all parameters as one vector: the worst over all inputs.

    ``converted``: the converted network beside the original; ``reordered``: the original with its sums in
    other orders beside itself, the largest of several; ``rounding``: the original beside itself in float64,
    and ``converted_rounding`` the converted one beside that, where float64 was run. ``floor``: largest and
    rms difference, in ulps, of one rounding for each of ``gates`` gates. ``ratio`` is the larger of the
    quotients of largest and rms difference to those of ``reordered``, or to the floor where that is more;
    ``within`` whether it is at most 4 or, for outputs in float64, the difference 1e-12 relative.
    """

    name: str
    converted: Difference
    reordered: Difference
    rounding: Difference | None
    converted_rounding: Difference | None
    ratio: float
    within: bool
    floor: tuple[float, float]
    gates: int


@dataclass(frozen=True)
class Control:
    """A gate that was made wrong: by how much and how, and whether the comparison noticed."""

    place: str
    kind: str
    way: str
    size: float
    seen: bool


@dataclass(frozen=True)
class InType:
    """The comparison in one type of numbers. ``reason`` says why there is none, or no gradients."""

    dtype: str
    outputs: tuple[Compared, ...] = ()
    gradients: Compared | None = None
    loss: tuple[float, float] | None = None
    controls: tuple[Control, ...] = ()
    reason: str = ""

    @property
    def holds(self) -> bool:
        """Whether all is within what another order of sums does, and wrong gates (if any were tried) show.

        A gate that these inputs cannot show is in ``Proof.unseen``: of it nothing is said.
        """
        found = [*self.outputs, *([self.gradients] if self.gradients else [])]
        seen = not self.controls or any(c.seen for c in self.controls)
        return bool(self.outputs) and all(c.within for c in found) and seen


@dataclass(frozen=True)
class Proof:
    """What two networks give on the same inputs, type by type; ``how`` says which objects ran."""

    how: str
    inputs: int
    types: tuple[InType, ...]

    @property
    def holds(self) -> bool:
        """Whether it holds in every type that was asked for."""
        return bool(self.types) and all(t.holds for t in self.types)

    @property
    def unseen(self) -> tuple[Control, ...]:
        """The wrong gates that these inputs cannot tell from right ones."""
        return tuple(c for t in self.types for c in t.controls if not c.seen)

    def to_json(self) -> str:
        """The same as a JSON document; numbers that are none as text."""
        return json.dumps(_plain({"holds": self.holds, **asdict(self)}), indent=2)

    def __str__(self) -> str:
        lines = [f"{'holds' if self.holds else 'does not hold'} on {self.inputs} inputs; {self.how}"]
        for t in self.types:
            lines += [f"{t.dtype}: {'holds' if t.holds else 'does not hold'}", *_lines(t)]
        return "\n".join(lines)


def _lines(t: InType) -> Iterator[str]:
    if t.reason:
        yield f"  {t.reason}"
    for c in (*t.outputs, *([t.gradients] if t.gradients else [])):
        d, r = c.converted, c.reordered
        rows = "" if d.argmax is None else f", argmax equal {d.argmax:.6g}"
        yield (
            f"  {c.name}: max {d.max_ulp:.3g} ulp ({d.max_relative:.2e}), rms {d.rms_ulp:.3g} ulp "
            f"({d.rms_relative:.2e}){rows}"
        )
        yield f"    own sums reordered: max {r.max_ulp:.3g} ulp, rms {r.rms_ulp:.3g} ulp; ratio {c.ratio:.3g}"
        most, rms = c.floor
        more = [name for name, a, b in (("max", r.max_ulp, most), ("rms", r.rms_ulp, rms)) if a < b]
        of = f", more than that of the sums in {' and '.join(more)}" if more else ""
        yield f"    floor, a rounding for each of {c.gates} gates: max {most:.3g} ulp, rms {rms:.3g} ulp{of}"
        if c.rounding is not None and c.converted_rounding is not None:
            a, b = c.rounding.rms_ulp, c.converted_rounding.rms_ulp
            yield f"    beside float64: the original {a:.3g}, the converted one {b:.3g} ulp rms"
    if t.loss is not None:
        a, b = t.loss
        yield f"  loss {a:.9g}, converted {b:.9g}; exp(loss) {_exp(a):.9g}, converted {_exp(b):.9g}"
    seen = [w for w in t.controls if w.seen]
    if t.controls:
        yield f"  wrong gates noticed: {len(seen)} of {len(t.controls)}"
    for w in t.controls:
        if not w.seen:
            yield f"    not noticed: {w.kind} at {w.place}: it does not reach the outputs on these inputs"


def _exp(loss: float) -> float:
    return exp(loss) if loss < 700 else float("inf")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return str(value) if isinstance(value, float) and not isfinite(value) else value
