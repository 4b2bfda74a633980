"""A certificate whose tails begin farther out: there a checker, with wider terms, sees the bounds too."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gateproof.numerics.certificate import Bounds, ratio
from gateproof.numerics.line_cover import LineCover
from gateproof.numerics.precision import precision
from gateproof.theory.formula.nodes import Expr
from gateproof.theory.formula.serial import to_json

MAX_BOXES = 4_000


def later_tails(document: Mapping[str, Any], expr: Expr, times: int) -> dict[str, Any] | None:
    """The range certificate of ``expr`` with its tails cut ``times`` as far out; None if that fails."""
    if document.get("kind") != "range" or document["core"] != to_json(expr):
        return None
    (var, tails), *others = document["tails"].items()
    cuts = [tails["minus"], tails["plus"]]
    if others or cuts == [None, None]:
        return None
    domain, conclusion = document["domain"][var], document["conclusion"]
    ends = [
        times * Fraction(cut) if cut is not None else Fraction(domain[end])
        for cut, end in zip(cuts, ("lo", "hi"), strict=True)
    ]
    bounds = Bounds(
        None if conclusion["lower"] is None else Fraction(conclusion["lower"]),
        None if conclusion["upper"] is None else Fraction(conclusion["upper"]),
        conclusion["lower_strict"],
        conclusion["upper_strict"],
    )
    bits = max(96, int(document["bits"]) - 10)
    cover = LineCover(expr, var, (ends[0], ends[1]), bounds, bits, MAX_BOXES)
    with precision(bits):
        tree = cover.run(tuple(Fraction(w["at"][var]) for w in document["witnesses"]))
    if tree is None:
        return None
    moved = {
        k: None if c is None else ratio(e) for k, c, e in zip(("minus", "plus"), cuts, ends, strict=True)
    }
    return {**document, "tails": {var: moved}, "tree": tree}
