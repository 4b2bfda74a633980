"""How long certified suprema and infima take: medians of CPU milliseconds in one process.

    PYTHONPATH=tests python -m bench.extrema [runs]

For each formula and 15, 100 and 1000 digits: the value and its places, without caches and with them, the same
with the certificate, and the checker's time for that certificate, with the number of its boxes. Then each
supremum and infimum over one name that the claims of the papers ask for of a threshold gate with numbers in
it, readings and controls, at 15 digits: their number and the sums of the times.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

from bench.common import cpu_of, median

from gateproof.numerics.extrema import extremum
from gateproof.proofs_check.checker import verify
from gateproof.proofs_check.claims_file import load_packaged
from gateproof.theory.formula import FormulaError, define, expand, parse_claim, parse_expr
from gateproof.theory.formula.library import Definition
from gateproof.theory.formula.nodes import Extremum, IntervalSet, NamedSet, Node, Tg
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

TEXTS = (
    "sup(abs(x*sigmoid(1.702*x) - gelu(x)), x in R)",
    "sup(abs(tg(x, tau=1.45, theta=[-1.2, 1.2], slope=[0, 0.5, 1], intercept=[0, 0, 0]) - gelu(x)), x in R)",
    "sup(abs(gelu_tanh(x) - gelu(x)), x in R)",
    "inf(silu(x), x in R)",
    "inf(gelu(x), x in R)",
    "inf(mish(x), x in R)",
    "sup(abs(silu(x) - relu(x)), x in R)",
    "sup(tanh(x)*sech(x), x in R)",
    "sup(sin(x)*exp(-x**2/10), x in [-8, 8])",
)
DIGITS = (15, 100, 1000)
SUPREMA = ("sup", "max", "argmax")


def solve(
    node: Extremum, digits: int, *, certificate: bool, extra: dict[str, Definition] | None = None
) -> Any:
    """The extremum over one name."""
    (bind,) = node.scope.binds
    within = bind.within
    ends = (within.lo, within.hi) if isinstance(within, IntervalSet) else (None, None)
    closed = (within.lo_closed, within.hi_closed) if isinstance(within, IntervalSet) else (False, False)
    return extremum(
        expand(node.body, extra),
        bind.name,
        *ends,
        "sup" if node.op in SUPREMA else "inf",
        digits,
        lo_closed=closed[0],
        hi_closed=closed[1],
        with_certificate=certificate,
    )


def _row(node: Extremum, digits: int, runs: int) -> str:
    value = partial(solve, node, digits, certificate=False)
    bare = [cpu_of(value)[0] for _ in range(runs)]
    again = [cpu_of(value, cold=False)[0] for _ in range(runs)]
    full = [cpu_of(partial(solve, node, digits, certificate=True)) for _ in range(runs)]
    checked = [cpu_of(partial(verify, full[0][1].certificate)) for _ in range(min(runs, 3))]
    verdict = checked[0][1]
    times = (bare, again, [t for t, _ in full], [t for t, _ in checked])
    cells = "".join(f"{1000 * (median(t) or 0):10.1f}" for t in times)
    return f"{digits:6}{cells}{verdict.boxes:7}  {'accepted' if verdict.accepted else verdict.reason}"


def gates() -> Iterator[tuple[str, Extremum, dict[str, Definition]]]:
    """The claims' extrema over one name of formulas with a threshold gate and no other name."""
    seen: set[str] = set()
    for claim in load_packaged():
        for reading in claim.readings:
            extra: dict[str, Definition] = {}
            for name, text in reading.define.items():
                extra[name] = define(name, text, extra)
            for text in (reading.formal, *reading.controls):
                try:
                    nodes = list(parse_claim(text, extra).body.walk())
                except FormulaError:
                    continue
                for node in nodes:
                    if _is_wanted(node) and to_text(node) not in seen:
                        seen.add(to_text(node))
                        yield claim.id, node, extra


def _is_wanted(node: Node) -> bool:
    if not isinstance(node, Extremum) or node.op not in (*SUPREMA, "inf", "min", "argmin"):
        return False
    scope = node.scope
    if len(scope.binds) != 1 or scope.conditions or free_names(node):
        return False
    within = scope.binds[0].within
    line = isinstance(within, IntervalSet) or (isinstance(within, NamedSet) and within.name == "R")
    plain = not any(isinstance(n, Extremum) for n in node.body.walk())
    return line and plain and any(isinstance(n, Tg) for n in node.body.walk())


def main(runs: int) -> None:
    """Print both tables."""
    print("  digits     value     again  +certif.   checker  boxes")
    for text in TEXTS:
        print(text)
        node = parse_expr(text)
        assert isinstance(node, Extremum)
        for digits in DIGITS:
            print(_row(node, digits, runs), flush=True)
    total = {"value": 0.0, "+certif.": 0.0, "checker": 0.0}
    count = certified = 0
    for name, node, extra in gates():
        try:
            bare, _ = cpu_of(partial(solve, node, 15, certificate=False, extra=extra))
            full, found = cpu_of(partial(solve, node, 15, certificate=True, extra=extra))
        except (ArithmeticError, FormulaError) as error:
            print(f"{name}: {to_text(node)}: {type(error).__name__} {error}")
            continue
        count += 1
        total["value"] += bare
        total["+certif."] += full
        if found.certificate is not None:
            spent, verdict = cpu_of(partial(verify, found.certificate), cold=False)
            total["checker"] += spent
            certified += verdict.accepted
        else:
            print(f"{name}: {to_text(node)}: no certificate ({found.status} {found.reason})")
        if full > 0.25:
            print(f"{name}: {to_text(node)}: {full:.2f} s")
    sums = ", ".join(f"{key} {seconds:.2f} s" for key, seconds in total.items())
    print(f"threshold gates of the papers: {count} extrema, {certified} with an accepted certificate; {sums}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
