"""docs/benchmarks-fits.md from the record of a run."""

from __future__ import annotations

import statistics
from typing import Any

#: A bound that is further below bounds a larger family.
FAR = 0.25
NAMES = ("ours", "nelder-mead", "least_squares", "pwlf", "remez")
HEAD = """# Fits beside other ways to the same curve

`make bench-fits` measures this page (`tests/bench/fits.py`; the numbers: `tests/bench/fit_scores.json`).

Every row is one target with one number of free parameters, that of a threshold gate with K branches whose
outer lines are the target's asymptotes. All sides have that many parameters:

- *ours*: `gateproof fit`, with the certificate of its error over all of R (and the lower bound beside it).
- *Nelder-Mead*: SciPy's, on the root mean square under N(0, 1): the threshold-gating paper's way. From one
  start: thresholds spread evenly, lines between the outer ones (0 for a function that is 0 far out).
- *least_squares*: SciPy's trust region method on the root mean square over [-8, 8], the best of {starts}
  starts by its sup error.
- *pwlf*: continuous lines with at least as many parameters, by its global search.
- *remez*: Sollya's minimax polynomial on [-8, 8] with as many coefficients.

Errors are sup errors on [-8, 8], where all sides are defined, from 400,001 points. *On R* is our certified
bound, *within* how far it is from a proved lower bound for all gates of the family (where there is one).
Times are CPU seconds in a process that is already running, ours the median of {runs}.
"""


def page(record: dict[str, Any]) -> str:
    """The whole page."""
    machine = ", ".join(f"{name} {value}" for name, value in record["machine"].items())
    head = HEAD.format(starts=record["starts"], runs=record["runs"])
    rows = record["rows"]
    return "\n".join([head, f"Machine: {machine}.\n", _errors(rows), _ratios(rows), _times(rows)])


def _name(row: dict[str, Any]) -> str:
    return f"| `{row['target']}` | {row['branches']} {row['sharpness']} | {row['free']} "


def _cell(row: dict[str, Any], what: str, name: str, form: str) -> str:
    return row["notes"].get(name) or format(row[what][name], form)


def _table(head: str, columns: list[str], lines: list[str]) -> str:
    rule = "|---" * (len(columns) + 3) + "|"
    return "\n".join([f"## {head}\n", f"| target | K | free | {' | '.join(columns)} |", rule, *lines, ""])


def _errors(rows: list[dict[str, Any]]) -> str:
    lines = []
    for row in rows:
        cells = [_cell(row, "error", name, ".4g") for name in NAMES]
        far = row["within"] is None or float(row["within"]) > FAR
        within = "" if far else f"{float(row['within']):.2%}"
        lines.append(_name(row) + f"| {' | '.join(cells)} | {float(row['certified']):.6g} | {within} |")
    return _table("Errors", [*NAMES, "ours on R, certified", "within"], lines)


def _ratios(rows: list[dict[str, Any]]) -> str:
    lines = []
    for row in rows:
        ours = row["error"]["ours"]
        cells = [f"{row['error'][n] / ours:.3g}" if n in row["error"] else "" for n in NAMES[1:]]
        lines.append(_name(row) + f"| {' | '.join(cells)} |")
    known = [[r["error"][n] / r["error"]["ours"] for r in rows if n in r["error"]] for n in NAMES[1:]]
    lines.append(
        "| **median** | | | " + " | ".join(f"{statistics.median(k):.3g}" if k else "" for k in known) + " |"
    )
    return _table("How many times our error", list(NAMES[1:]), lines)


def _times(rows: list[dict[str, Any]]) -> str:
    lines = [_name(row) + f"| {' | '.join(_cell(row, 'seconds', n, '.3g') for n in NAMES)} |" for row in rows]
    return _table("CPU seconds", list(NAMES), lines)
