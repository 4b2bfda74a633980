"""A fit as JSON, as a line and as HTML. All numbers are decimal strings; bounds are rounded outward."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from html import escape
from typing import Any

from gateproof.numerics.decimals import (
    agreed_digits,
    ceil_decimal,
    decimal_enclosure,
    floor_decimal,
    magnitude,
)
from gateproof.numerics.fits.exact import Exact, Known, word
from gateproof.numerics.fits.exports.about import own_version
from gateproof.numerics.fits.request import Request
from gateproof.numerics.fits.result import Error, Fit
from gateproof.theory.formula.nodes import Expr
from gateproof.theory.formula.printer import to_text

#: Grows when a key goes, is renamed or changes its meaning.
SCHEMA_VERSION = 1
#: Significant digits of enclosures in JSON, and of what is a float.
DIGITS, FLOAT_DIGITS = 10, 6
#: Bounds nearer to the error than that are printed in the digits of the error.
CLOSE = Fraction(1, 10**5)
#: Bounds below this power of ten are written as 1.5e-9.
SMALL = -6


def document(fit: Fit) -> dict[str, Any]:
    """The contract of ``gateproof fit --json``."""
    gate, error = fit.gate, fit.error
    sup, below = enclosure(error), None if fit.lower_bound is None else down(fit.lower_bound, DIGITS)
    found: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "gateproof": own_version(),
        "k": fit.k,
        "tau": texts(gate.tau),
        "theta": texts(gate.theta),
        "slope": texts(gate.slope),
        "intercept": texts(gate.intercept),
        "gates": gate.algebra,
        "formula": gate.text,
        "target": fit.target.name,
        "target_formula": None if fit.target.expr is None else to_text(fit.target.expr),
        "domain": fit.target.domain,
        "norm": fit.request.norm,
        "weight": fit.request.weight,
        "options": options(fit.request),
        "error": sup,
        "evidence": error.evidence,
        "argmax": [number(x, DIGITS) for x in fit.argmax],
        "alternation": [{"x": number(x), "error": number(e)} for x, e in fit.peaks],
        "rms": number(fit.rms),
        "measure": fit.measure,
        "lower_bound": below,
        "optimal_within": None if fit.optimal_within is None else _within(sup["hi"], below or "0"),
        "attained": fit.attained,
        "infimum": number(fit.infimum),
        "infimum_is_bound": None if fit.infimum is None else fit.infimum_is_bound,
        "finite": finite(fit),
        "gates_min": None if fit.gates_min is None else down(fit.gates_min, FLOAT_DIGITS),
        "condition": number(fit.condition),
        "status": fit.status.value,
        "message": fit.message,
        "error_sup": None if fit.plain is None else enclosure(fit.plain),
        "error_outside": _known(fit.outside),
        "steps": list(fit.steps),
        "certificate": fit.certificate,
        "lower_certificate": fit.lower_certificate,
    }
    if fit.tolerant is not None:
        found["tolerance"] = dict(fit.tolerant)
    return found


def _within(error: str, bound: str) -> str:
    """(error - bound)/bound of the numbers that are printed, rounded up."""
    hi, lo = Fraction(error), Fraction(bound)
    return up((hi - lo) / lo, 3) if hi else "0"


def options(request: Request) -> dict[str, Any]:
    """What was asked for, as ``gateproof.fit`` takes it, exact numbers as texts."""
    return {
        "k": request.branches,
        "tol": _exact_text(request.tol),
        "sharpness": request.sharpness,
        "gates": request.gates,
        "ends": request.ends,
        "norm": request.norm,
        "mu": _exact_text(request.mu),
        "sigma": _exact_text(request.sigma),
        "histogram": request.histogram,
        "weight": request.weight,
        "family": request.family,
        "monotone": request.monotone,
        "max_coefficient": _exact_text(request.max_coefficient),
        "quantise": request.quantise,
        "tolerance": dict(request.tolerance),
        "continuous": request.continuous,
        "seed": request.seed,
    }


def finite(fit: Fit) -> dict[str, dict[str, Any] | None] | None:
    """Whether the target is a gate, for each algebra; None where it is not decided."""
    known = fit.finite
    return None if known is None else {algebra: _decided(one) for algebra, one in known.items()}


def _decided(known: Known) -> dict[str, Any] | None:
    if known is None:
        return None
    if isinstance(known, Exact):
        gate = known.gate
        return {"exact": True, "k": gate.branches, "least": known.least, "formula": gate.text}
    return {"exact": False, "reason": known.reason}


def _exact_text(value: Fraction | None) -> str | None:
    return None if value is None else exact(value)


def texts(values: tuple[Expr, ...]) -> list[str]:
    """Numbers of a gate as text of the language."""
    return [to_text(v) for v in values]


def exact(value: Fraction) -> str:
    """A decimal where it ends, else p/q."""
    from gateproof.numerics.tolerance import decimal

    return decimal(value)


def enclosure(error: Error) -> dict[str, str]:
    """``lo`` and ``hi``; 'oo' where it is infinite."""
    if error.hi is None:
        return {"lo": "oo", "hi": "oo"}
    if error.lo == error.hi == 0:
        return {"lo": "0", "hi": "0"}
    return decimal_enclosure(error.lo, error.hi, DIGITS)


def _known(error: Error | None) -> dict[str, str] | None:
    """The enclosure; None for what is not certified."""
    return None if error is None or error.evidence == "sampled" else enclosure(error)


def number(value: float | None, digits: int = FLOAT_DIGITS) -> str | None:
    """A float in a few digits; None stays None."""
    if value is None:
        return None
    if value != value or value in (float("inf"), float("-inf")):
        return "oo" if value > 0 else "-oo" if value < 0 else None
    return f"{value:.{digits}g}"


def down(value: Fraction, digits: int) -> str:
    """So many significant digits, rounded down; in scientific form where it is small."""
    return _rounded(value, digits, floor_decimal)


def up(value: Fraction, digits: int) -> str:
    """So many significant digits, rounded up; in scientific form where it is small."""
    return _rounded(value, digits, ceil_decimal)


def _rounded(value: Fraction, digits: int, round_to: Callable[[Fraction, int], str]) -> str:
    if not value:
        return "0"
    size = magnitude(value)
    if size >= SMALL:
        return round_to(value, digits - 1 - size)
    return f"{round_to(value / Fraction(10) ** size, digits - 1)}e{size}"


def short(error: Error, digits: int = 6) -> str:
    """The error in a few digits; '~' before what is sampled."""
    if error.hi is None:
        return "infinite"
    digits = max(1, min(digits, agreed_digits(error.lo, error.hi)))
    shown = f"{float(error.hi):.{digits}g}"
    return f"~{shown}" if error.evidence == "sampled" else shown


def best(fit: Fit) -> str:
    """Which gates the lower bound is about, and the bound."""
    assert fit.lower_bound is not None
    whose, said = "of this family", [_pinned(fit)] if _pinned(fit) else []
    if fit.constrained:
        whose, said = f"of {fit.k} branches", [*said, "without the constraint"]
    if said:
        whose = f"{whose} ({', '.join(said)})"
    return f"no gate {whose} comes below {down(fit.lower_bound, _best_digits(fit))} (proved)"


def _best_digits(fit: Fit) -> int:
    """As many as the distance to the error needs."""
    within = fit.optimal_within
    return FLOAT_DIGITS if within is None or within > CLOSE else DIGITS


def finite_line(fit: Fit) -> str:
    """Whether the target is a finite gate, in a line; '' where it is this one, or nothing is decided."""
    known = fit.finite
    return "" if known is None or fit.error.hi == 0 else word(known, fit.request)


def _pinned(fit: Fit) -> str:
    """The outer lines that are bound to the asymptotes, where the bound may be above that of other ends."""
    lo, hi = fit.target.lo, fit.target.hi
    if fit.request.ends not in (None, "pinned") or (lo is not None and hi is not None):
        return ""
    if lo is None and hi is None:
        return "outer lines on the asymptotes"
    return f"{'first' if lo is None else 'last'} line on the asymptote"


def html(fit: Fit) -> str:
    """A table for notebooks."""
    rows = [
        ("target", fit.target.name),
        ("gate", fit.text),
        ("error", f"{short(fit.error)} ({fit.error.evidence})"),
        ("lower bound", "not known" if fit.lower_bound is None else best(fit)),
        ("root mean square", f"{number(fit.rms)} {fit.measure}" if fit.rms is not None else "not known"),
        *([("finite gate", finite_line(fit))] if finite_line(fit) else []),
        ("status", fit.message),
    ]
    left = "style='text-align:left'"
    cells = "".join(
        f"<tr><th {left}>{escape(name)}</th><td {left}>{escape(value)}</td></tr>" for name, value in rows
    )
    return f"<table>{cells}</table>{_drawn(fit)}"


def _drawn(fit: Fit) -> str:
    """The picture, where matplotlib is there."""
    from gateproof.numerics.fits.exports import RefusedExport
    from gateproof.numerics.fits.picture import scene_of, svg_inline

    try:
        return svg_inline(scene_of(fit))
    except RefusedExport:
        return ""
