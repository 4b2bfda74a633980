"""How far a fit moves critical points, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gateproof.proofs_check import clean
from gateproof.proofs_check.render.fields import number

if TYPE_CHECKING:
    from flint import arb

    from gateproof.numerics.meanfield.shift import CriticalShift, Moved

STABLE = {True: "yes", False: "no", None: "not told"}


def summary(found: CriticalShift) -> str:
    """Both points and their difference, a table for each pair."""
    from gateproof.numerics.meanfield.result import exact_text

    target, fit = found.names
    lines = [f"critical points: {fit} beside {target}, sigma_b^2 = {exact_text(found.sigma_b2)}", ""]
    for moved in found.moved:
        lines += [*_table(moved, found.digits), ""]
    sure = "certified" if found.certified else "not certified"
    lines.append(f"  {sure}: {found.reason}")
    return clean.lines(lines)


def _table(moved: Moved, digits: int) -> Iterator[str]:
    a, b = moved.target, moved.fit
    rows = [
        ["", "target", "beside", "beside - target"],
        ["sigma_w^2", *(_cell(x, digits) for x in (a.sigma_w2, b.sigma_w2, moved.sigma_w2))],
        ["q*", *(_cell(x, digits) for x in (a.q, b.q, moved.q))],
        ["chi_par", _cell(a.chi_parallel, digits), _cell(b.chi_parallel, digits), ""],
        ["stable", STABLE[a.stable], STABLE[b.stable], ""],
    ]
    widths = [max(len(row[j]) for row in rows) for j in range(4)]
    for row in rows:
        yield ("  " + "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True))).rstrip()


def _cell(ball: arb, digits: int) -> str:
    from gateproof.numerics.meanfield.value import Value

    value = Value.of(ball)
    return "" if value is None else number(value, digits)
