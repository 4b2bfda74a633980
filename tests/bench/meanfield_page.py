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
- *one grid*: the trapezoid rule on one grid for all points, told the strip and the slope, for E phi(u) phi(v)
  and E phi'(u) phi'(v) together. The times of *ours, both* are of the same two.
- *neural-tangents* 0.6.5: closed forms; else Gauss-Hermite of degree 200 (and of its documented degree 25).
- *dks* 0.1.2: its C map, measured on a few points and scaled to 1000.
"""


ZOO_HEAD = """
## Every smooth activation

All of the tests' zoo without kinks, {each} points each, of the same law with c = 0, 1, -1 among them,
against mpmath with 22 digits. The bar is 1e-14; `tests/numerics/meanfield/test_fast.py` holds it, at {deep}
points each with `-m deep`.
"""


def _load(record: dict[str, Any]) -> str:
    before, after = record["load"]
    return (
        f"Processes that ran or waited, at the start and the end of the measurements: {before} and {after}.\n"
        "Above the number of cores all times grow, most those of calls that hand work to a thread.\n"
    )


def page(record: dict[str, Any]) -> str:
    """The whole page."""
    machine = ", ".join(f"{name} {value}" for name, value in record["machine"].items())
    lines = [HEAD.format(runs=record["runs"]), f"Machine: {machine}.\n", _load(record)]
    for name, note in record["notes"].items():
        lines.append(f"{name}: {note}.\n")
    lines += ["| phi | way | error | CPU seconds | times ours |", "| --- | --- | ---: | ---: | ---: |"]
    for row in record["rows"]:
        for way, seconds in row["seconds"].items():
            name = row["name"] + (" (closed form)" if row["closed"] else "")
            ours = row["seconds"]["ours, both" if way == "one grid" else "ours"]
            ratio = "" if way.startswith("ours") else f"{seconds / ours:.2g}"
            lines.append(f"| {name} | {way} | {row['error'][way]:.1e} | {seconds:.2g} | {ratio} |")
    zoo = record["zoo"]
    lines += [
        ZOO_HEAD.format(each=zoo["each"], deep=zoo["deep"]),
        "| phi | greatest error |",
        "| --- | ---: |",
    ]
    lines += [f"| {text} | {error:.1e} |" for text, error in zoo["errors"].items()]
    return "\n".join(lines) + "\n"
