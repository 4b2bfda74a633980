"""How near gates of K branches come to six activations, and what no gate can reach."""

from __future__ import annotations

from typing import Any

import gateproof
from gateproof.proofs_check.figures.style import COLOURS, DASHES, at_least, at_most

SIZE = (7.0, 3.8)
NAMES = ("gelu", "mish", "erf", "softplus", "elu", "memglu")
MARKS = ("o", "s", "^", "D", "v", "P")
BRANCHES = (2, 3, 4)
#: A search ends in other last digits on another CPU; the picture does not show these.
DIGITS = 4


def numbers() -> dict[str, Any]:
    rows = []
    for name in NAMES:
        for k in BRANCHES:
            fit = gateproof.fit(name, k)
            lower = None if fit.lower_bound is None else float(at_least(float(fit.lower_bound), DIGITS))
            rows.append(
                {
                    "name": name,
                    "k": k,
                    "error": float(at_most(float(fit.error.hi), DIGITS)),
                    "lower": lower,
                    "evidence": fit.error.evidence,
                    "status": fit.status,
                }
            )
    return {"rows": rows}


def draw(figure: Any, found: dict[str, Any]) -> None:
    axes = figure.add_subplot()
    for i, (name, mark, colour, dashes) in enumerate(zip(NAMES, MARKS, COLOURS, DASHES, strict=False)):
        rows = [r for r in found["rows"] if r["name"] == name]
        # Names stand side by side at each K, so that bounds do not hide each other.
        at = [r["k"] + 0.05 * (i - 2.5) for r in rows]
        axes.plot(at, [r["error"] for r in rows], mark, color=colour, ls=dashes, lw=1, ms=5, label=name)
        for x, r in zip(at, rows, strict=True):
            if r["lower"]:
                axes.plot([x, x], [r["lower"], r["error"]], color=colour, lw=1)
                axes.plot([x], [r["lower"]], "_", color=colour, ms=9, mew=2)
    axes.plot([], [], "_", color="0.3", ms=9, mew=2, label="lower bound")
    axes.set(yscale="log", xlim=(1.7, 4.3), xlabel="branches K", ylabel="sup |gate − activation| over R")
    axes.set_xticks(BRANCHES)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


def caption(found: dict[str, Any]) -> str:
    wide = [
        f"{r['name']} at K = {r['k']}" for r in found["rows"] if r["lower"] and r["error"] > 1.01 * r["lower"]
    ]
    count = sum(r["lower"] is not None for r in found["rows"])
    return f"""
    The error of the best gate that `gateproof fit NAME -k K` finds, with one sharpness and outer lines on
    the asymptotes: the supremum over R, certified, without unit. Bars: what no gate of the same family
    comes below, proved ({count} of {len(found["rows"])} cases have such a bound here). Gate and bound
    agree to 1 % but for {", ".join(wide) or "none"}.

    docs/fit.md, docs/lower-bounds.md.
    """
