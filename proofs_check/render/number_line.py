"""A number line: where a value lies, enclosed, and where the statement has it.

Drawn only for a single relation with one unknown side, whose printed numbers are exact, and only
where the picture agrees with the verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gateproof.proofs_check.render.svg import Line, apart
from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.library import Definition
from gateproof.theory.formula.nodes import App, Expr, Num, Printed, Rel
from gateproof.theory.formula.read import parse_claim

WIDTH, HEIGHT, SIDE = 320, 46, 14
#: Numbers that agree to one part in so many are one place of a picture.
SAME = 10**6
#: A relation as read from the unknown side to the number.
TURNED = {"<=": ">=", "<": ">", ">=": "<=", ">": "<", "==": "==", "!=": "!="}
#: A relation to a bound, in words.
WORDS = {"<=": "at most", "<": "below", ">=": "at least", ">": "above", "==": "stated"}


def draw(reading: Mapping[str, Any], definitions: Mapping[str, Definition]) -> str:
    """The picture as SVG, empty where there is none to draw."""
    value = reading["value"]
    if value is None or reading["verdict"] not in ("certified", "proved", "refuted"):
        return ""
    try:
        lo, hi = Fraction(value["lo"]), Fraction(value["hi"])
        stated = _stated(parse_claim(reading["formal"], definitions).body)
    except (FormulaError, ValueError, ZeroDivisionError):
        return ""
    if not stated or not _agrees(reading["verdict"], stated, lo, hi):
        return ""
    return _svg(stated, lo, hi)


Stated = list[tuple[str, Fraction, Fraction]]


def _stated(body: object) -> Stated:
    """The numbers of a relation with one unknown side, each as relation to that side and ends."""
    if not isinstance(body, Rel):
        return []
    ends = [_number(term) for term in body.terms]
    unknown = [place for place, found in enumerate(ends) if found is None]
    if len(unknown) != 1:
        return []
    found: Stated = []
    for place in (unknown[0] - 1, unknown[0] + 1):
        if 0 <= place < len(ends):
            end = ends[place]
            op = body.ops[min(place, unknown[0])]
            op = TURNED.get(op, "") if place < unknown[0] else op
            if end is None or op not in WORDS:
                return []
            found.append((op, *end))
    return found


def _number(term: Expr) -> tuple[Fraction, Fraction] | None:
    """The ends of a printed number or of arithmetic on exact ones; None for anything else."""
    if isinstance(term, Printed):
        return term.lo, term.hi
    exact = _exact(term)
    return None if exact is None else (exact, exact)


def end_of(term: Expr) -> Fraction | None:
    """An exact number that is written out, or the middle of a printed one; None for anything else."""
    found = _number(term)
    return None if found is None else (found[0] + found[1]) / 2


def _exact(term: Expr) -> Fraction | None:
    if isinstance(term, Num):
        return term.value
    if not isinstance(term, App) or term.head not in ("add", "mul", "neg", "div"):
        return None
    parts = [_exact(part) for part in term.args]
    known = [part for part in parts if part is not None]
    if len(known) != len(parts):
        return None
    if term.head == "add":
        return sum(known, Fraction(0))
    if term.head == "neg":
        return -known[0]
    if term.head == "div":
        return None if known[1] == 0 else known[0] / known[1]
    product = Fraction(1)
    for part in known:
        product *= part
    return product


def _agrees(verdict: str, stated: Stated, lo: Fraction, hi: Fraction) -> bool:
    """Whether the value that the reading shows is the one that the relation is about."""
    holds = []
    for op, low, high in stated:
        if op in ("<=", "<"):
            holds.append(True if hi <= high else False if lo > high else None)
        elif op in (">=", ">"):
            holds.append(True if lo >= low else False if hi < low else None)
        else:
            holds.append(lo <= high and low <= hi)
    return all(h is True for h in holds) if verdict != "refuted" else any(h is False for h in holds)


def _svg(stated: Stated, lo: Fraction, hi: Fraction) -> str:
    marks = [lo, hi, *(end for _, low, high in stated for end in (low, high))]
    least, most = min(marks), max(marks)
    # Zero belongs to the picture of a magnitude unless it would crowd all else into one end.
    if 0 < least < 3 * (most - least):
        least = Fraction(0)
    room = (most - least) / 8 or abs(most) / 8 or Fraction(1)
    if (most - least) * SAME < abs(most) and all(lo <= end <= hi for end in marks):
        # The value is enclosed around the printed number: its last digits are no width to look at.
        room = abs(most) / 8
    # Rounded to what a screen shows, so that the file does not depend on the last digits.
    first, last = least - room, most + room
    scale = Fraction(WIDTH - 2 * SIDE) / (last - first)

    def at(x: Fraction) -> float:
        return float(round(SIDE + (x - first) * scale, 1))

    line = Line(WIDTH, HEIGHT)
    line.segment(SIDE, 24, WIDTH - SIDE, 24, "axis")
    for _, low, high in stated:
        if low == high:
            line.segment(at(low), 14, at(low), 34, "bound")
        else:
            line.bar(at(low), at(high), 14, 20, "printed")
    value, *bounds = apart([(lo + hi) / 2, *((low + high) / 2 for _, low, high in stated)])
    words = [f"{WORDS[op]} {bound}" for (op, _, _), bound in zip(stated, bounds, strict=True)]
    for (_, low, high), said in zip(stated, words, strict=True):
        line.text(at((low + high) / 2), 44, said, "label")
    line.bar(at(lo), at(hi), 20, 8, "value", least=5)
    line.text(at((lo + hi) / 2), 11, value, "label strong")
    return line.done(f"Number line: the value is near {value}, by the statement {' and '.join(words)}")
