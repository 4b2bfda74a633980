"""A table of a gate's constants for hardware: values, sensitivities, certified worst case, bias of a pair.

Formats: JSON, CSV and Markdown of the same table.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from gateproof.numerics.decimals import magnitude
from gateproof.numerics.fits.exports.about import About, one_line, own_version
from gateproof.numerics.fits.exports.arrays import Evaluated
from gateproof.numerics.fits.exports.formats import RefusedExport, bounds
from gateproof.numerics.fits.exports.pair import USUAL
from gateproof.numerics.fits.exports.sensitivity import KEYS, SHARED, sensitivities
from gateproof.theory.differential_pair import Pair
from gateproof.theory.formula.nodes import Expr
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text
from gateproof.theory.gate import Gate

#: Given, or asked for when the table is made: a mapping with at least lo and hi, as ``certify`` gives it.
WorstCase = Mapping[str, Any] | Callable[[], Mapping[str, Any]] | None
MOST_FRACTION_BITS = 64
COLUMNS = (
    "parameter", "exact", "value", "engineering", "fixed_point", "word",
    "dy_dp", "change_per_percent", "at_x",
)  # fmt: skip
SAID = (
    "dy_dp = sup |dy/dp| and change_per_percent = sup |y(p +- 1 %) - y(p)| over the domain are of samples,"
    " good to about three digits; oo: grows without bound, or y jumps."
)


def table(
    gate: Gate,
    about: About,
    *,
    worst_case: WorstCase = None,
    pair: Pair | None = USUAL,
    fraction: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """The table as a document; numbers are strings. docs/hardware.md says what each key is.

    Where all thresholds have one sharpness, a row ``tau`` behind those of the thresholds is for all of them
    changed together: a drift, where theirs are a mismatch.

    ``worst_case`` is handed on as it is. ``pair`` None leaves out the bias of a differential pair; softmax
    gates of three branches or more have none.
    ``fraction``: by kind of parameter, the bits after the binary point of its fixed-point format; where it
    says nothing, the fewest in which all numbers of the kind are exact. ``word`` is the integer to load.
    Raises RefusedExport for numbers outside the range of doubles.
    """
    evaluated = Evaluated.of(gate)
    lo, hi = (None if e is None else float(e) for e in about.ends)
    found = sensitivities(evaluated, lo, hi)
    rows = []
    for key in KEYS:
        values: tuple[Expr, ...] = getattr(gate, key)
        fixed = _fixed_point(values, (fraction or {}).get(key))
        own = [(f"{key}_{k + 1}", k, found[key][k]) for k in range(len(values))]
        if key == "tau":
            own += [(key, 0, one) for one in found[SHARED]]
        for name, k, one in own:
            node = values[k]
            rows.append({
                "parameter": name,
                "exact": to_text(node),
                "value": "oo" if _hard(node) else _digits(middle(node), 17),
                "engineering": "oo" if _hard(node) else engineering(middle(node)),
                "fixed_point": fixed[k][0] if fixed else "",
                "word": fixed[k][1] if fixed else "",
                "dy_dp": _short(one.derivative),
                "change_per_percent": _short(one.percent),
                "at_x": _short(one.where),
            })  # fmt: skip
    return {
        "kind": "hardware",
        "gateproof": own_version(),
        "k": gate.branches,
        "gates": gate.algebra,
        "target": one_line(about.target),
        "domain": one_line(about.domain),
        "error": {"lo": about.lo, "hi": about.hi, "evidence": about.evidence, "norm": about.norm},
        "parameters": rows,
        "sensitivities": SAID,
        "worst_case": worst_case() if callable(worst_case) else worst_case,
        "pair": None if pair is None or not paired(gate.algebra, gate.branches) else bias(gate, pair),
    }


def paired(algebra: str, branches: int) -> bool:
    """Whether gates are made of sigmoids one by one, as pairs make them."""
    return algebra != "softmax" or branches <= 2


def bias(gate: Gate, pair: Pair) -> dict[str, Any]:
    """Input scaling and threshold voltages of weak-inversion pairs whose current shares are the sigmoids.

    A pair's share is sigmoid((V - V_k)/(n U_T)), so sigmoid(tau_k (x - theta_k)) asks for V = a_k x with
    a_k = tau_k n U_T volts per unit of x, and V_k = a_k theta_k; thresholds of one sharpness share the input.
    A gate of difference algebra is the difference of two shares, of stick algebra a cascade. All a_k and V_k
    go with the absolute temperature: with inputs that do not, tau drifts by -1/T per kelvin. The pairs'
    transconductance is that at balance, I_tail/(4 n U_T).
    """
    unit = 1 / pair.sharpness
    thresholds = []
    for tau, theta in zip(gate.tau, gate.theta, strict=True):
        if _hard(tau):
            thresholds.append({"volts_per_unit": "comparator", "threshold_volts": ""})
            continue
        scale = middle(tau) * unit
        thresholds.append({
            "volts_per_unit": engineering(scale, 6),
            "threshold_volts": engineering(scale * middle(theta), 6),
        })  # fmt: skip
    return {
        "temperature_kelvin": engineering(pair.temperature, 6),
        "slope_factor": engineering(pair.slope_factor, 6),
        "tail_ampere": engineering(pair.tail, 6),
        "thermal_volts": engineering(pair.thermal_voltage, 6),
        "transconductance_siemens": engineering(pair.transconductance, 6),
        "tau_drift_per_kelvin": engineering(pair.sharpness_drift, 6),
        "thresholds": thresholds,
    }


def engineering(value: Fraction, digits: int = 10) -> str:
    """A decimal rounded to nearest, with an exponent that is a multiple of 3, as 12.5e-3."""
    if value == 0:
        return "0"
    top = magnitude(value)
    scaled = round(abs(value) / Fraction(10) ** (top - digits + 1))
    if scaled == 10**digits:
        scaled, top = scaled // 10, top + 1
    exponent = 3 * (top // 3)
    whole = top - exponent + 1
    text = str(scaled).ljust(whole, "0")
    text = f"{text[:whole]}.{text[whole:]}".rstrip("0").rstrip(".")
    return f"{'-' if value < 0 else ''}{text}{f'e{exponent}' if exponent else ''}"


def middle(node: Expr) -> Fraction:
    """A number of the gate to 256 bits."""
    lo, hi = bounds(node)
    return (lo + hi) / 2


def _hard(node: Expr) -> bool:
    return to_text(node) == "oo"


def _digits(value: Fraction, digits: int) -> str:
    """The shortest decimal of the nearest double where it is one, else so many digits."""
    try:
        return repr(float(value))
    except OverflowError:
        raise RefusedExport(f"{engineering(value, digits)} is too large for double") from None


def _fixed_point(values: tuple[Expr, ...], bits: int | None) -> list[tuple[str, str]]:
    """Texts n/2^f and their integers n, where all values are such numbers; else nothing."""
    numbers = [n for n in map(constant_value, values) if n is not None]
    if not numbers or len(numbers) < len(values):
        return []
    if bits is None or any((n * Fraction(2) ** bits).denominator != 1 for n in numbers):
        bits = max(n.denominator for n in numbers).bit_length() - 1
        if bits > MOST_FRACTION_BITS or any(2**bits % n.denominator for n in numbers):
            return []
    words = [str(int(n * Fraction(2) ** bits)) for n in numbers]
    scale = f"/2^{bits}" if bits >= 0 else f"*2^{-bits}"
    return [(word + scale, word) for word in words]


def _short(value: float | None) -> str:
    if value is None:
        return ""
    if math.isinf(value):
        return "oo" if value > 0 else "-oo"
    return f"{value:.4g}"


def as_json(document: Mapping[str, Any]) -> str:
    """The document's JSON."""
    return json.dumps(document, indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def as_csv(document: Mapping[str, Any]) -> str:
    """The parameters, then what is said of the whole as rows of two cells."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in document["parameters"]:
        writer.writerow([row[c] for c in COLUMNS])
    for name, text in _said(document):
        writer.writerow([name, _no_formula(text)])
    return out.getvalue()


def _no_formula(text: str) -> str:
    """A cell that no spreadsheet takes for a formula; numbers stay numbers."""
    if not text.startswith(("=", "+", "-", "@")):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def as_markdown(document: Mapping[str, Any]) -> str:
    """A table of parameters and a list."""

    def cell(text: str) -> str:
        return re.sub(r"([\\|`*_\[\]])", r"\\\1", text).replace("&", "&amp;").replace("<", "&lt;")

    lines = [
        f"# Threshold gate, K = {document['k']}, {document['gates']} gates",
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "|" + " --- |" * len(COLUMNS),
        *(
            "| " + " | ".join(row["parameter"] if c == "parameter" else cell(row[c]) for c in COLUMNS) + " |"
            for row in document["parameters"]
        ),
        "",
        *(f"- {name}: {cell(text)}" for name, text in _said(document)),
        "",
        document["sensitivities"],
    ]
    return "\n".join(lines) + "\n"


def _worst(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The tolerances, the ends of the worst case and where it is met, or why it has none."""
    sizes = found.get("tolerance") or {}
    rows = [(f"worst_case_tolerance_{key}", one_line(str(size))) for key, size in sizes.items()]
    ends = found.get("value") or found
    if "lo" in ends and "hi" in ends:
        rows += [(f"worst_case_{key}", one_line(str(ends[key]))) for key in ("lo", "hi")]
    else:
        kind, reason = (one_line(str(found.get(key) or ""), 300) for key in ("kind", "reason"))
        text = f"{kind}: {reason}" if kind and reason else kind or reason or "not known"
        rows.append(("worst_case", text))
    worst = found.get("worst") or {}
    rows += [(f"worst_case_at_{name}", _near(at)) for name, at in (worst.get("at") or {}).items()]
    for gate in worst.get("gates") or ():
        for key, values in gate.items():
            rows += [(f"worst_case_{key}_{k}", _near(value)) for k, value in enumerate(values, 1)]
    return rows


def _near(value: Any) -> str:
    """The lower end of an enclosed number, which the text of a fit prints too; texts as they are."""
    return one_line(str(value["lo"] if isinstance(value, Mapping) else value))


def _said(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """All that is not of one parameter, as names and texts."""
    error, pair = document["error"], document["pair"]
    rows = [
        ("gateproof", document["gateproof"]),
        ("target", document["target"]),
        ("domain", document["domain"]),
    ]
    keys = ("lo", "hi", "evidence", "norm")
    rows += [(f"error_{k}", "not known" if error[k] is None else one_line(str(error[k]))) for k in keys]
    if document["worst_case"] is not None:
        rows += _worst(document["worst_case"])
    if pair is not None:
        rows += [(key, value) for key, value in pair.items() if isinstance(value, str)]
        for k, row in enumerate(pair["thresholds"], 1):
            rows += [(f"{key}_{k}", value) for key, value in row.items() if value]
    elif not paired(document["gates"], document["k"]):
        rows.append(("pair", "softmax gates of three branches or more are not made of pairs"))
    return rows
