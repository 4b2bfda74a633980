"""The report on 1/kappa^2 for JSON: numbers are floats, printed in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gateproof.numerics.meanfield.kappa_words import CLAIMED
from gateproof.numerics.meanfield.value import float_text

if TYPE_CHECKING:
    from gateproof.numerics.meanfield.kappa_law import EdgePoint
    from gateproof.numerics.meanfield.kappa_report import FittedLaw, KappaReport


def kappa_json(report: KappaReport) -> dict[str, Any]:
    """The document of ``gateproof meanfield --kappa --json`` without its versions."""
    predicted = {p.reading: p for p in report.predictions}
    readings = []
    for reading in report.readings:
        found = predicted.get(reading)
        kappa = reading.kappa
        readings.append(
            {
                "reading": reading.reading,
                "theta": float_text(reading.theta),
                "theta_text": reading.theta_text,
                "kappa": float_text(kappa),
                "inverse_square": None if kappa is None else float_text(kappa**-2),
                "reason": reading.reason,
                "curvature_ratio": found and float_text(found.curvature_ratio),
                "beta_q": found and float_text(found.beta_q),
                "invariant": found and float_text(found.invariant),
            }
        )
    return {
        "kind": "kappa law",
        "target": report.text,
        "q": float_text(report.q),
        "sigma_b2": float_text(report.sigma_b2),
        "claimed": float_text(CLAIMED),
        "certified": False,
        "point": None if report.point is None else _point(report.point),
        "readings": readings,
        "laws": [_law(law) for law in report.laws],
        "over": [_law(law) for law in report.over],
        "rescaling": {
            "a": float_text(report.a),
            "b": float_text(report.b),
            "quantities": [
                {"quantity": r.quantity, "before": float_text(r.before), "after": float_text(r.after)}
                for r in report.rescalings
            ],
        },
    }


def _point(point: EdgePoint) -> dict[str, Any]:
    return {
        "q_star": float_text(point.q),
        "sigma_w2": float_text(point.sigma_w2),
        "sigma_b2": float_text(point.sigma_b2),
        "chi_parallel": float_text(point.chi_parallel),
        "beta_q": float_text(point.beta_q),
    }


def _law(law: FittedLaw) -> dict[str, Any]:
    fit = law.fit
    return {
        "family": law.family,
        "condition": law.condition,
        "exponent": fit and {
            "value": float_text(fit.value),
            "lo": float_text(fit.lo),
            "hi": float_text(fit.hi),
            "level": float_text(fit.level),
            "spread": float_text(fit.spread),
            "admits_claimed": fit.admits(CLAIMED),
        },
        "members": [
            {"name": m.name, "kappa": float_text(m.kappa), **_point(m.point)} for m in law.members
        ],
    }  # fmt: skip
