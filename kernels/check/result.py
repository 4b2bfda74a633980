"""What a check found, one row an operation, direction and type."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gateproof.kernels.check.rounding import FORMATS, Format, unit

Array = NDArray[np.float64]
#: Of all results of a 16-bit type, how many may not be correctly rounded, and by how many units at most.
NOT_ROUNDED = {"bfloat16": 1e-4, "float16": 5e-4}
MOST_UNITS = 2.0


@dataclass(frozen=True)
class Result:
    """One row. ``passed`` is None for what did not run, and ``reason`` says why."""

    op: str
    direction: str
    dtype: str
    code: str
    passed: bool | None
    max_ulp: float | None = None
    not_correctly_rounded: int | None = None
    inputs: int = 0
    budget: float | None = None
    worst: tuple[float, ...] = ()
    reason: str = ""

    def document(self) -> dict[str, Any]:
        """As JSON has it: infinite and no numbers as text."""
        found = asdict(self)
        found["worst"] = [repr(v) for v in self.worst]
        if self.max_ulp is not None:
            found["max_ulp"] = _upwards(self.max_ulp) if np.isfinite(self.max_ulp) else "oo"
        return found


def _upwards(value: float) -> float:
    """Four digits, rounded up."""
    with localcontext(Context(prec=4, rounding=ROUND_CEILING)):
        return float(+Decimal(value))


@dataclass(frozen=True)
class Row:
    """What is checked, before it is."""

    op: str
    direction: str
    dtype: str
    code: str

    def failed(self, reason: str) -> Result:
        """A failure that has no figures."""
        return Result(self.op, self.direction, self.dtype, self.code, False, reason=reason)

    def not_run(self, reason: str) -> Result:
        """No result."""
        return Result(self.op, self.direction, self.dtype, self.code, None, reason=reason)


def by_terms(
    row: Row, inputs: list[Array], found: Array, truth: Array, sizes: Array, floor: Array, budget: float
) -> Result:
    """Errors in units in the last place of the sum of absolute terms; ``floor`` is the least unit.

    Where the truth is infinite or not a number the result must be too; one that overflows may stand for a
    truth within the budget of the largest number.
    """
    form = FORMATS["float32"]
    units = np.maximum(unit(np.maximum(np.abs(sizes), np.abs(truth)), form), floor)
    errors = _errors(found, truth, units, form)
    return _row(row, inputs, errors, budget=budget)


def by_rounding(
    row: Row, inputs: list[Array], found: Array, truth: Array, nearest: Array, form: Format
) -> Result:
    """Results of a 16-bit type against correctly rounded ones; those below the normal range absolutely."""
    units = unit(truth, form)
    errors = _errors(found, truth, units, form)
    same = (found == nearest) | (np.isnan(found) & np.isnan(nearest))
    normal = ~(np.abs(truth) < form.normal)
    wrong = int(np.sum(~same & normal))
    made = _row(row, inputs, errors, budget=MOST_UNITS)
    few = wrong <= NOT_ROUNDED[form.name] * len(found)
    reason = made.reason if few else f"{wrong} of {len(found)} results are not correctly rounded"
    return Result(
        **{
            **asdict(made),
            "not_correctly_rounded": wrong,
            "passed": bool(made.passed and few),
            "reason": reason,
        }
    )


def _errors(found: Array, truth: Array, units: Array, form: Format) -> Array:
    with np.errstate(all="ignore"):
        errors = np.abs(found - truth) / units
    errors = np.where(np.isnan(found) & np.isnan(truth), 0.0, errors)
    errors = np.where(found == truth, 0.0, errors)
    # An infinity stands for what lies beyond the largest number, by half a unit or more.
    beyond = np.isinf(found) & (np.sign(found) == np.sign(truth)) & (np.abs(truth) >= form.largest)
    errors = np.where(beyond, 0.0, errors)
    return np.where(np.isnan(errors), np.inf, errors)


def _row(row: Row, inputs: list[Array], errors: Array, budget: float) -> Result:
    at = int(np.argmax(errors)) if len(errors) else 0
    most = float(errors[at]) if len(errors) else 0.0
    good = most <= budget
    worst = tuple(float(x[at]) for x in inputs) if len(errors) else ()
    reason = "" if good else f"{most:.3g} units in the last place, {budget:g} allowed"
    return Result(
        row.op, row.direction, row.dtype, row.code, good, most, None, len(errors), budget, worst, reason
    )
