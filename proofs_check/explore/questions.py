"""What the page can ask: each question is answered in a worker process with limits of its own.

Plain JSON in, plain JSON out. Numbers that a reader may cite are outward rounded texts; arrays for
drawing are floats with null where they are not finite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from gateproof.proofs_check.explore import asked
from gateproof.proofs_check.explore.asked import LISTS, Asked
from gateproof.proofs_check.records import Settings
from gateproof.proofs_check.refused import RefusedError
from gateproof.proofs_check.render.words import enclosure
from gateproof.theory.formula.printer import to_text
from gateproof.theory.gate import Gate

POINTS = 301
DIGITS = 6
#: A bound's search ends here at the latest, long before the clock; the command has more.
BOXES = 4_000
#: Points of which kappa is shown.
SHOWN = 6


def answer(task: Mapping[str, Any]) -> dict[str, Any]:
    """The answer, or ``refused`` with one line."""
    try:
        question = QUESTIONS.get(str(task.get("ask")))
        if question is None:
            raise RefusedError("no such question")
        return question(task)
    except RefusedError as error:
        return {"refused": "; ".join(error.lines)}
    except ValueError as error:
        return {"refused": str(error).splitlines()[0][:300] if str(error) else "no value"}


def fit(task: Mapping[str, Any]) -> dict[str, Any]:
    """The best gate of K branches, its certified error, the bound below, and what the page says of it."""
    from gateproof.numerics.fits.request import SHARPNESS
    from gateproof.proofs_check.fitting import read_target, request_of, solved

    given = asked.read(task, gate=False)
    k = asked.whole("K", task.get("k"), 1, asked.MOST)
    sharpness = task.get("sharpness", "shared")
    if sharpness not in SHARPNESS:
        raise RefusedError(f"sharpness is one of {', '.join(SHARPNESS)}")
    try:
        found = solved(read_target(given.target), request_of({"branches": k, "sharpness": sharpness}))
    except (RefusedError, ValueError) as error:
        lines = error.lines if isinstance(error, RefusedError) else str(error).splitlines()[:1]
        if not any("give an interval" in line or "--domain" in line for line in lines):
            raise
        raise RefusedError([*lines, "a gate here is for all of R; gateproof fit takes an interval"]) from None
    document = found.to_json()
    kept = ("k", *LISTS, "error", "evidence", "argmax", "rms", "lower_bound", "attained", "status", "message")
    return {key: document[key] for key in kept}


def draw(task: Mapping[str, Any]) -> dict[str, Any]:
    """Target, gate, its gates and lines, and the error, at POINTS places of the window."""
    import numpy as np

    from gateproof.numerics.backends.formula import formula
    from gateproof.numerics.fits.exports.arrays import Evaluated

    given = asked.read(task, gate=True)
    gate = _gate(given)
    x = np.linspace(float(given.window[0]), float(given.window[1]), POINTS)
    evaluated = Evaluated.of(gate)
    made = formula(given.target)
    with np.errstate(all="ignore"):
        # A constant has no x to be given.
        drawn = made.numpy(x) if made.names else made.numpy()
        target = np.broadcast_to(np.asarray(drawn, dtype=float), x.shape)
        value = evaluated(x)
    lines = [[float(s) * e + float(c) for e in x] for s, c in zip(*_lines(gate), strict=True)]
    off = value - target
    sound = np.isfinite(off)
    place = int(np.argmax(np.where(sound, np.abs(off), -1.0)))
    return {
        "x": _floats(x),
        "target": _floats(target),
        "gate": _floats(value),
        "gates": [_floats(g) for g in evaluated.gates(x)],
        "lines": [_floats(line) for line in lines],
        "error": _floats(off),
        "worst": {"x": float(x[place]), "error": float(off[place])} if sound.any() else None,
        "formula": gate.text,
    }


def certify(task: Mapping[str, Any]) -> dict[str, Any]:
    """The certified supremum of the error on all of R, or on the window where ``local`` is true."""
    from gateproof.proofs_check.certify_text import certify_text

    given = asked.read(task, gate=True)
    lo, hi = given.window
    where = f"x in [{_text(lo)}, {_text(hi)}]" if task.get("local") is True else "x in R"
    text = f"sup(abs({_gate(given).text} - ({given.target})), {where})"
    found = certify_text(text, DIGITS, Settings(digits=DIGITS, boxes=BOXES))
    kept = {key: found.get(key) for key in ("kind", "value", "digits", "attained", "reason")}
    return {**kept, "formula": text, "command": f'gateproof certify "{text}"'}


def kappa(task: Mapping[str, Any]) -> dict[str, Any]:
    """kappa_f of the target and of the gate at their inflections, extrema and at 0."""
    from gateproof.numerics.kappa import kappas

    given = asked.read(task, gate=True)
    named = (("target", _expression(given.target)), ("gate", _gate(given).expression()))
    found: dict[str, Any] = {}
    for name, expression in named:
        try:
            readings = kappas(expression, digits=DIGITS)
        except ValueError as error:
            found[name] = {"rows": [], "reason": str(error).splitlines()[0][:200]}
            continue
        rows = [
            {
                "reading": one.reading,
                "theta": _ends(*one.theta),
                "kappa": None if one.lo is None or one.hi is None else _ends(one.lo, one.hi),
                "reason": one.refused or "",
            }
            for one in readings.values[:SHOWN]
        ]
        found[name] = {"rows": rows, "reason": readings.reason}
    return found


def field(task: Mapping[str, Any]) -> dict[str, Any]:
    """The edge of chaos of networks with the target and with the gate, at a variance of the biases."""
    from gateproof.proofs_check.mean_field import meanfield

    given = asked.read(task, gate=True)
    bias = _text(asked.number("sigma_b^2", task.get("sigma_b2", "0.05")))
    found: dict[str, Any] = {}
    for name, phi in (("target", given.target), ("gate", _gate(given).text)):
        try:
            points = meanfield(phi, digits=DIGITS).edge_of_chaos(bias)
        except ValueError as error:
            found[name] = {"rows": [], "status": "refused", "reason": str(error).splitlines()[0][:200]}
            continue
        document = points.to_json()
        names = ("sigma_w2", "q_star", "chi_1", "chi_parallel", "stable", "beta_q", "xi_q")
        rows = [{key: _shown(point.get(key)) for key in names} for point in document["points"][:3]]
        found[name] = {"rows": rows, "status": document["status"], "reason": document["reason"]}
    return found


def export(task: Mapping[str, Any]) -> dict[str, Any]:
    """The gate as text to copy: a torch module, a Triton kernel, C, JSON."""
    given, form = asked.read(task, gate=True), str(task.get("form"))
    gate = _gate(given)
    if form == "json":
        import json

        lists = {key: [to_text(v) for v in getattr(gate, key)] for key in LISTS}
        document = {"k": gate.branches, **lists, "target": given.target, "domain": "R"}
        return {"text": json.dumps(document, indent=1) + "\n"}
    if form == "triton":
        from gateproof.kernels.formula_kernel import compile_kernel

        return {"text": compile_kernel(gate.text).source}
    from gateproof.numerics.fits.exports.about import About
    from gateproof.numerics.fits.exports.c_code import c_source
    from gateproof.numerics.fits.exports.torch_code import torch_code

    made: Mapping[str, Callable[[Gate, About], str]] = {"torch": torch_code, "c": c_source}
    if form not in made:
        raise RefusedError("the forms are torch, triton, c and json")
    return {"text": made[form](gate, About(target=given.target))}


def _gate(given: Asked) -> Gate:
    assert given.gate is not None
    return given.gate


def _lines(gate: Gate) -> tuple[list[Fraction], list[Fraction]]:
    def exact(parts: Any) -> list[Fraction]:
        return [part.value for part in parts]

    return exact(gate.slope), exact(gate.intercept)


def _expression(text: str) -> Any:
    from gateproof.theory.formula import expand, parse_expr

    return expand(parse_expr(text))


def _text(value: Fraction) -> str:
    from gateproof.theory.formula.nodes import num

    return to_text(num(value))


def _ends(lo: Fraction, hi: Fraction) -> str:
    """The digits that both ends share, or both ends."""
    from gateproof.numerics.decimals import decimal_enclosure

    return enclosure(decimal_enclosure(Fraction(lo), Fraction(hi), DIGITS))


def _shown(value: Any) -> Any:
    """An enclosure as one text."""
    if isinstance(value, dict) and {"lo", "hi"} <= set(value):
        return enclosure(value)
    return value if value is None or isinstance(value, bool) else str(value)


def _floats(values: Any) -> list[float | None]:
    """Six significant digits, which is finer than a screen; null for what is not finite."""
    import math

    return [float(f"{v:.6g}") if math.isfinite(v) else None for v in map(float, values)]


QUESTIONS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "fit": fit,
    "draw": draw,
    "certify": certify,
    "kappa": kappa,
    "field": field,
    "export": export,
}
