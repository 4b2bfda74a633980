"""Intervals of a run on number lines, each beside the bound that its criterion sets for one of its ends.

Drawn for the parts ``X_lo OP number`` and ``X_hi OP number`` of a criterion that was held against a record;
an interval with an end far out (one that stands for infinity) has no picture.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from gateproof.proofs_check.evidence.criterion import ENDS, parse, stem
from gateproof.proofs_check.render.number_line import HEIGHT, SIDE, TURNED, WIDTH, WORDS, end_of
from gateproof.proofs_check.render.svg import Line, apart
from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.library import Definition
from gateproof.theory.formula.nodes import And, Rel, Var

#: Beyond it an end stands for infinity.
FARTHEST = Fraction(10**9)
#: Pictures of one reading.
MOST = 4


def draw(reading: Mapping[str, Any], definitions: Mapping[str, Definition]) -> str:
    """The pictures as SVG, empty where there are none to draw."""
    intervals = ((reading.get("evidence") or {}).get("record") or {}).get("intervals", {})
    if not intervals or reading["verdict"] not in ("supported", "unsupported"):
        return ""
    try:
        parts = list(_parts(parse(reading["formal"], definitions).body))
    except FormulaError:
        return ""
    drawn = []
    for name, op, bound in parts:
        found = intervals.get(stem(name))
        if found is None:
            continue
        lo, hi = Fraction(found["lo"]), Fraction(found["hi"])
        if max(abs(lo), abs(hi), abs(bound)) < FARTHEST:
            drawn.append(_svg(stem(name), name.endswith("_lo"), op, bound, lo, hi))
    return "".join(drawn[:MOST])


def _parts(body: object) -> Iterator[tuple[str, str, Fraction]]:
    """The end of an interval, the relation that it has to a number, and the number."""
    if isinstance(body, And):
        for part in body.parts:
            yield from _parts(part)
    elif isinstance(body, Rel) and len(body.terms) == 2:
        left, right = body.terms
        op = body.ops[0]
        if isinstance(right, Var):
            left, right, op = right, left, TURNED.get(op, "")
        number = end_of(right)
        if isinstance(left, Var) and left.name.endswith(ENDS) and number is not None and op in WORDS:
            yield left.name, op, number


def _svg(name: str, low: bool, op: str, bound: Fraction, lo: Fraction, hi: Fraction) -> str:
    least, most = min(lo, bound), max(hi, bound)
    room = (most - least) / 8 or abs(most) / 8 or Fraction(1)
    scale = Fraction(WIDTH - 2 * SIDE) / (most - least + 2 * room)

    def at(x: Fraction) -> float:
        return float(round(SIDE + (x - least + room) * scale, 1))

    start, end, limit = apart([lo, hi, bound])
    line = Line(WIDTH, HEIGHT)
    line.segment(SIDE, 24, WIDTH - SIDE, 24, "axis")
    line.segment(at(bound), 14, at(bound), 34, "bound")
    line.bar(at(lo), at(hi), 21, 6, "value", least=3)
    said = f"{name} {start} to {end}"
    line.text(at((lo + hi) / 2), 11, said, "label strong")
    wanted = f"{'lower' if low else 'upper'} end {WORDS[op]} {limit}"
    line.text(at(bound), 44, wanted, "label")
    return line.done(f"Number line: {said}; wanted: {wanted}")
