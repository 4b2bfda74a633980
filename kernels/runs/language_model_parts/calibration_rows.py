"""The job that calibrates c0 for a shape: its scale in each random model, and the variance that it saw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateproof.kernels.runs.experiment import Row
from gateproof.kernels.runs.language_model_parts.calibrate import calibrated
from gateproof.kernels.runs.language_model_parts.gates import scale_of
from gateproof.kernels.runs.language_model_parts.settings import Calibration, Shape
from gateproof.kernels.runs.settings import read


def calibration_rows(name: str, settings: Mapping[str, Any]) -> list[Row]:
    """Rows of ``c0`` and ``variance``, one a model, with the name of the shape as their arm."""
    shape = read(Shape, settings["shape"])
    calibration = read(Calibration, settings["calibration"])
    found = calibrated(tuple(settings["corpora"]), shape, calibration, ("swiglu", "memglu"))
    return [
        {
            "arm": name,
            "seed": number,
            "steps": 0,
            "step": 0,
            "metric": metric,
            "value": value,
            "step_seconds": None,
        }
        for number, sums in enumerate(found.models)
        for metric, value in (("c0", scale_of("memglu", dict(sums))), ("variance", sums["g"] / sums["n"]))
    ]
