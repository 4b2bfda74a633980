"""The certified edge of chaos of every activation of the zoo: ``python -m bench.edge_zoo``.

To 30 digits at three variances of the biases, each from cold caches, nothing kept but the definitions of the
language. Writes ``edge_scores.json`` and ``docs/benchmarks-edge.md``; names after the command do these only,
and write nothing.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from bench.common import cpu_of, machine

import gateproof
from gateproof.numerics.meanfield.activation import RefusedActivation
from gateproof.theory.activations import zoo

RECORD = Path(__file__).with_name("edge_scores.json")
PAGE = Path(__file__).parents[2] / "docs" / "benchmarks-edge.md"
DIGITS, BIASES, GOAL = 30, ("0", "0.05", "0.7"), 10.0

HEAD = """# The certified edge of chaos of every activation

`python -m bench.edge_zoo` measures this page (`tests/bench/edge_zoo.py`; the numbers:
`tests/bench/edge_scores.json`). `gateproof meanfield NAME --sigma-b2 S --eoc --digits {digits}` for the whole
zoo: CPU seconds from cold caches, the reading of the formula included; the digits of sigma_w^2 that its
enclosure fixes; stability; the status; and up to which q the search reaches.

Machine: {machine}.

At most {most:.2g} s, for {slowest}; {over} of {count} take more than {goal:g} s. {short} lack digits,
{undecided} left something undecided, {ended} were searched to a finite q only. Activations that jump have no
edge of chaos (chi_1 is infinite) and are refused: {jumps}.

| phi | sigma_b^2 | CPU seconds | digits | points | stable | status | searched to q = |
| --- | ---: | ---: | ---: | ---: | --- | --- | ---: |
"""


def measured(name: str, bias: str) -> dict[str, Any]:
    """One row, or why there is none."""

    def search() -> Any:
        return gateproof.meanfield(name, digits=DIGITS).edge_of_chaos(bias)

    try:
        seconds, found = cpu_of(search)
    except RefusedActivation as error:
        return {"name": name, "refused": str(error)}
    enclosed = [p.sigma_w2 for p in found if p.sigma_w2 is not None]
    return {
        "name": name,
        "sigma_b2": bias,
        "seconds": round(seconds, 3),
        "digits": min((_digits(v) for v in enclosed), default=None),
        "points": len(found),
        "stable": [p.stable for p in found],
        "status": found.status.value,
        "certified": found.certified,
        "complete": found.complete,
        "to": str(found.searched[1]),
    }


def _digits(value: Any) -> int:
    """Decimal digits on which both ends agree, up to those asked for."""
    return next((d for d in range(DIGITS, 0, -1) if value.fixes(d)), 0)


def page(rows: list[dict[str, Any]], words: str) -> str:
    """The whole page."""
    done = [r for r in rows if "seconds" in r]
    slow = max(done, key=lambda r: r["seconds"])
    head = HEAD.format(
        digits=DIGITS,
        machine=words,
        most=slow["seconds"],
        slowest=slow["name"],
        over=sum(r["seconds"] > GOAL for r in done),
        count=len(done),
        goal=GOAL,
        short=sum(not r["complete"] for r in done),
        undecided=sum(not r["certified"] for r in done),
        ended=sum(r["to"] != "oo" for r in done),
        jumps=", ".join(sorted({r["name"] for r in rows if "refused" in r})) or "none",
    )
    said = {True: "yes", False: "no", None: "neither"}
    return head + "".join(
        f"| {r['name']} | {r['sigma_b2']} | {r['seconds']:.2f} | {r['digits'] or ''} | {r['points']} |"
        f" {', '.join(said[s] for s in r['stable'])} | {r['status']} | {r['to']} |\n"
        for r in done
    )


def main() -> None:
    """Measure, and write the record and the page."""
    names = sys.argv[1:] or list(zoo())
    rows = [measured(name, bias) for name in names for bias in BIASES]
    words = ", ".join(f"{k} {v}" for k, v in machine().items() if k not in ("sollya", "alkahest"))
    text = page(rows, words)
    if sys.argv[1:]:
        print(text)
        return
    RECORD.write_text(json.dumps({"machine": words, "rows": rows}, indent=1) + "\n")
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
