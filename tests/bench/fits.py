"""Gates beside other ways to the same curve, with equal numbers of parameters: ``python -m bench.fits``.

Errors are sup errors on [-8, 8] from a grid of 400,001 points, ours too (its certified error on R stands
beside it). Times are CPU times inside of one process. Writes ``fit_scores.json`` and
``docs/benchmarks-fits.md``. pwlf and Sollya are left out, and said to be, where they are not installed.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from bench.common import Sollya, SollyaError, cpu_of, machine, median
from bench.fit_page import page
from bench.fit_peers import Array, nelder_mead, parameters, pieces, remez, squares, sup_error
from bench.others import to_sollya

import gateproof
from gateproof.theory.formula import expand, parse_expr

RECORD = Path(__file__).with_name("fit_scores.json")
RUNS, STARTS = 3, 8


@dataclass(frozen=True)
class Row:
    """A target with its outer lines (slope, intercept; left, then right) and the gate's kind."""

    text: str
    ends: tuple[float, float, float, float]
    branches: int
    sharpness: str = "shared"


GELU, ERF, FLAT = (0.0, 0.0, 1.0, 0.0), (0.0, -1.0, 0.0, 1.0), (0.0, 0.0, 0.0, 0.0)
ROWS = (
    Row("gelu(x)", GELU, 2),
    Row("gelu(x)", GELU, 3),
    Row("gelu(x)", GELU, 4, "free"),
    Row("gelu(x)", GELU, 5, "free"),
    Row("erf(x)", ERF, 3),
    Row("erf(x)", ERF, 4, "free"),
    Row("hardswish(x)", GELU, 3),
    Row("exp(-x**2)", FLAT, 3),
    Row("gelu_tanh(x)", GELU, 3),
    Row("softplus(x)", GELU, 3),
    Row("tanh(x)*sech(x)", FLAT, 4),
)


def row(given: Row, sollya: Sollya | None) -> dict[str, Any]:
    """Errors and CPU seconds of all sides for one target."""
    formula = gateproof.formula(given.text)

    def target(x: Array) -> Array:
        return np.asarray(formula.numpy(x), dtype=np.float64)

    shared = given.sharpness == "shared"
    free = parameters(given.branches, shared)
    seconds, fit = [], None
    for _ in range(RUNS):
        spent, fit = cpu_of(lambda: gateproof.fit(given.text, given.branches, sharpness=given.sharpness))
        seconds.append(spent)
    assert fit is not None
    found: dict[str, Any] = {
        "target": given.text,
        "branches": given.branches,
        "sharpness": given.sharpness,
        "free": free,
        "certified": fit.to_json()["error"]["hi"],
        "within": fit.to_json()["optimal_within"],
        "error": {"ours": sup_error(fit.numpy, target)},
        "seconds": {"ours": median(seconds)},
        "notes": {},
    }

    def note(name: str, work: Any) -> None:
        spent, curve = cpu_of(work, cold=False)
        if curve is None:
            found["notes"][name] = "not installed"
        else:
            found["error"][name], found["seconds"][name] = sup_error(curve, target), spent

    note("nelder-mead", lambda: nelder_mead(target, given.branches, shared, given.ends))
    note("least_squares", lambda: squares(target, given.branches, shared, given.ends, STARTS))
    note("pwlf", lambda: pieces(target, free))
    if sollya is None:
        found["notes"]["remez"] = "not installed"
    else:
        try:
            spent, error = remez(sollya, to_sollya(expand(parse_expr(given.text))), free)
            found["error"]["remez"], found["seconds"]["remez"] = error, spent
        except SollyaError as problem:
            found["notes"]["remez"] = str(problem)
    return found


def main() -> None:
    """Measure, and write the record and the page."""
    sollya = Sollya(120) if shutil.which("sollya") else None
    rows = []
    try:
        for given in ROWS:
            rows.append(row(given, sollya))
            print(json.dumps(rows[-1]), flush=True)
    finally:
        if sollya is not None:
            sollya.close()
    record = {"machine": machine(), "starts": STARTS, "runs": RUNS, "rows": rows}
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    docs = Path(__file__).parents[2] / "docs" / "benchmarks-fits.md"
    docs.write_text(page(record), encoding="utf-8")


if __name__ == "__main__":
    main()
