"""docs/benchmarks-meanfield.md from the record of a run."""

from __future__ import annotations

from typing import Any

HEAD = """# Means over a normal pair beside other ways to them

`python -m bench.meanfield` measures this page (`tests/bench/meanfield.py`; the numbers:
`tests/bench/meanfield_scores.json`). 1000 points (q, c), q log-uniform on [0.05, 20], c uniform on (-1, 1).
Errors of E phi(u) phi(v) are scaled by E phi^2 and measured on every tenth point against mpmath with 22
digits. Times are CPU seconds of one warm call on all points, the least of {runs}.

- *ours*: the fast engine. It is told nothing; its quadrature is chosen by an error estimate.
- *doubled*: NumPy, the trapezoid rule in two variables, nodes doubled until two values agree to 1e-8 (the
  finer one then has twice the digits): what can be done where nothing is known of phi.
- *plain*: the same rule with the step that a given strip of analyticity needs: it is told the strip.
- *rotated*: the same in u + v and u - v, by symmetry with half of the nodes.
- *neural-tangents* 0.6.5: closed forms; else Gauss-Hermite of degree 200 (and of its documented degree 25).
- *dks* 0.1.2: its C map, measured on a few points and scaled to 1000.
"""


def page(record: dict[str, Any]) -> str:
    """The whole page."""
    machine = ", ".join(f"{name} {value}" for name, value in record["machine"].items())
    lines = [HEAD.format(runs=record["runs"]), f"Machine: {machine}.\n"]
    for name, note in record["notes"].items():
        lines.append(f"{name}: {note}.\n")
    lines += ["| phi | way | error | CPU seconds | times ours |", "| --- | --- | ---: | ---: | ---: |"]
    for row in record["rows"]:
        ours = row["seconds"]["ours"]
        for way, seconds in row["seconds"].items():
            name = row["name"] + (" (closed form)" if row["closed"] else "")
            ratio = "" if way == "ours" else f"{seconds / ours:.2g}"
            lines.append(f"| {name} | {way} | {row['error'][way]:.1e} | {seconds:.2g} | {ratio} |")
    return "\n".join(lines) + "\n"
