"""Means over a normal pair beside other ways to them: ``python -m bench.meanfield``.

1000 points (q, c), q log-uniform on [0.05, 20], c uniform on (-1, 1). Errors of E phi(u) phi(v) are scaled by
E phi^2 and measured on every tenth point against mpmath with 22 digits (``normal_pairs``). Times are CPU
seconds of a warm call on all points, the least of several. neural-tangents and dks run in interpreters of
their own, named by GATEPROOF_NEURAL_TANGENTS and GATEPROOF_DKS; without these they are left out, and said to
be.
Writes ``meanfield_scores.json`` and ``docs/benchmarks-meanfield.md``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
from bench import meanfield_trapezoid as trapezoid
from bench.common import machine
from bench.meanfield_other import timed
from bench.meanfield_page import page
from known_zoo import ZOO
from normal_pairs import pair
from smooth_zoo import DEEP, SMOOTH, scaled_error
from smooth_zoo import points as zoo_points

from gateproof.numerics.meanfield.fast import fast_engine

RECORD = Path(__file__).with_name("meanfield_scores.json")
OTHER = Path(__file__).with_name("meanfield_other.py")
POINTS, EACH, RUNS, DKS_POINTS, ZOO_POINTS = 1000, 10, 7, 4, 10

Function = Callable[[Any], Any]

#: Functions in NumPy, and the strip that the baseline is told.
CURVED: dict[str, tuple[Function, float]] = {
    "tanh": (np.tanh, np.pi / 2),
    "silu": (lambda x: x / (1 + np.exp(-x)), np.pi),
    "softplus": (lambda x: np.logaddexp(0, x), np.pi),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), np.pi),
    "arctan": (np.arctan, 1.0),
    "mish": (lambda x: x * np.tanh(np.logaddexp(0, x)), 2.0),
    "memglu": (lambda x: np.tanh(x) / np.cosh(x), np.pi / 2),
    "isru": (lambda x: x / np.sqrt(1 + x * x), 1.0),
}
CLOSED = ("gelu", "erf", "relu", "abs", "sin", "cos", "gaussian")


def points() -> tuple[Any, Any]:
    """The same for all sides."""
    rng = np.random.default_rng(1)
    return np.exp(rng.uniform(np.log(0.05), np.log(20), POINTS)), rng.uniform(-1, 1, POINTS)


def asked(library: str, variable: str, names: list[str], q: Any, c: Any, runs: int) -> dict[str, Any]:
    """What the other library says, or why not."""
    python = os.environ.get(variable)
    if not python:
        return {"note": f"not run: {variable} names no interpreter"}
    given = {"q": q.tolist(), "c": c.tolist(), "names": names, "runs": runs}
    done = subprocess.run(
        [python, str(OTHER), library], input=json.dumps(given), capture_output=True, text=True, check=False
    )
    if done.returncode:
        return {"note": f"failed: {done.stderr.strip().splitlines()[-1]}"}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    """Measure, and write the record and the page."""
    load = [os.getloadavg()[0]]
    q, c = points()
    some = np.arange(0, POINTS, EACH)
    names = [*CURVED, *CLOSED]
    tangents = asked("neural-tangents", "GATEPROOF_NEURAL_TANGENTS", [*names, "tanh@25"], q, c, RUNS)
    few = some[:DKS_POINTS]
    dks = asked("dks", "GATEPROOF_DKS", ["tanh", "silu"], q[few], c[few], 1)
    rows = []
    for name in names:
        known = ZOO.get(f"{name}(x)", ZOO["prelu(x, -1)"]).value
        engine = fast_engine("abs(x)" if name == "abs" else name)
        strip = CURVED[name][1] if name in CURVED else 2.0
        if name in ("relu", "abs"):
            right = {i: _lines(name, q[i], c[i]) for i in some}
        else:
            right = {i: pair(known, q[i], c[i], 0.95 * strip, 22) for i in some}
        scale = engine.variance(q)

        def error(values: Any, at: Any = some, right: Any = right, scale: Any = scale) -> float:
            return max(
                float(abs(mp.mpf(float(v)) - right[i]) / scale[i]) for i, v in zip(at, values, strict=True)
            )

        row: dict[str, Any] = {"name": name, "closed": engine.form is not None, "error": {}, "seconds": {}}
        values, row["seconds"]["ours"] = timed(partial(engine.correlation, q, c), RUNS)
        row["error"]["ours"] = error(values[some])
        if name == "tanh":
            work = partial(_two, engine, q, c)
            values, row["seconds"]["ours, both"] = timed(work, RUNS)
            row["error"]["ours, both"] = error(values[0][some])
            slope: Function = lambda x: 1 - np.tanh(x) ** 2  # noqa: E731
            values, row["seconds"]["one grid"] = timed(
                partial(trapezoid.both, np.tanh, slope, q, c, strip), 2
            )
            row["error"]["one grid"] = error(values[0][some])
        if name in CURVED:
            for rule in (trapezoid.doubled, trapezoid.plain, trapezoid.rotated):
                with np.errstate(over="ignore"):
                    values, spent = timed(
                        partial(trapezoid.correlation, rule, CURVED[name][0], q, c, strip), 2
                    )
                row["seconds"][rule.__name__], row["error"][rule.__name__] = spent, error(values[some])
        for key, label in ((name, "neural-tangents"), (f"{name}@25", "neural-tangents, degree 25")):
            if key in tangents:
                row["seconds"][label] = tangents[key]["seconds"]
                row["error"][label] = error(np.array(tangents[key]["values"])[some])
        if name in dks:
            row["seconds"]["dks"] = dks[name]["seconds"] * POINTS / DKS_POINTS
            row["error"]["dks"] = error(dks[name]["values"], few)
        rows.append(row)
        print(json.dumps(row), flush=True)
    notes = {k: v["note"] for k, v in (("neural-tangents", tangents), ("dks", dks)) if "note" in v}
    load.append(os.getloadavg()[0])
    record = {
        "zoo": zoo(),
        "machine": machine(),
        "load": [round(x, 1) for x in load],
        "runs": RUNS,
        "rows": rows,
        "notes": notes,
        "python": sys.version.split()[0],
    }
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    docs = Path(__file__).parents[2] / "docs" / "benchmarks-meanfield.md"
    docs.write_text(page(record), encoding="utf-8")


def _two(engine: Any, q: Any, c: Any) -> tuple[Any, Any]:
    """C and C'."""
    return engine.correlation(q, c), engine.correlation_slope(q, c)


def zoo() -> dict[str, Any]:
    """The greatest errors of all smooth activations at the points of their test."""
    found = {}
    for text in SMOOTH:
        found[text] = max(scaled_error(text, q, c) for q, c in zoo_points(text, ZOO_POINTS))
        print(text, found[text], flush=True)
    return {"each": ZOO_POINTS, "deep": DEEP, "errors": found}


def _lines(name: str, q: float, c: float) -> Any:
    """relu and abs by Cho and Saul's arc-cosine kernel, in mpmath."""
    with mp.workdps(30):
        q, c = mp.mpf(q), mp.mpf(c)
        root = mp.sqrt(1 - c * c)
        if name == "relu":
            return q / (2 * mp.pi) * (root + c * (mp.pi - mp.acos(c)))
        return 2 * q / mp.pi * (root + c * mp.asin(c))


if __name__ == "__main__":
    main()
