"""Infima over gates of the error against a function: inf(sup(abs(gate - f), x in R), parameters).

Where the body is a gate of two or three branches with one sharpness, minus a function of x alone,
a lower bound over the whole family (:mod:`gateproof.numerics.lower_bound`) holds for every set of
its parameters, however they are named, given or shared.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from gateproof.numerics.errors import NumericsError
from gateproof.numerics.lower_bound import BITS, family_of, prove
from gateproof.numerics.lower_bound_family import Family
from gateproof.numerics.lower_bound_optimum import closest
from gateproof.numerics.lower_bound_points import Target
from gateproof.numerics.precision import precision
from gateproof.numerics.ranges import Range, holds_point, hull
from gateproof.proofs_check.engine.boxes import accept
from gateproof.proofs_check.engine.numbers import rational_text
from gateproof.proofs_check.engine.outcome import CERTIFIED, Outcome
from gateproof.theory.formula.nodes import App, Expr, Num, Var
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

#: Boxes of sharpness; what is proved of a strict relation lies so much above its bound.
BOXES, ABOVE = 600, Fraction(1, 10**9)

Ranges = tuple[tuple[str, Range], ...]


@dataclass(frozen=True)
class GateError:
    """The error |gate - target|, and the family that holds the gate for all values of its names."""

    target: Expr
    family: Family
    sharpness: str
    theta: tuple[Expr, ...]
    lines: tuple[tuple[Expr, Expr], ...]


def decide_gate_bound(
    body: Expr, inner: Ranges, outer: Ranges, op: str, bound: tuple[Fraction, Fraction]
) -> Outcome | None:
    """``inf over outer of sup over inner of body`` against a bound by the family's least error, else None."""
    truth = {">=": True, ">": True, "<": False, "<=": False, "==": False}.get(op)
    if truth is None or bound[1] <= 0:
        return None
    found = gate_error(body, inner, outer)
    if found is None:
        return None
    least = bound[1] if op in (">=", "<") else bound[1] * (1 + ABOVE)
    proof = prove(found.target, inner[0][0], found.family, least, BOXES)
    if proof.status != "ok" or proof.certificate is None:
        return None
    checked = accept(proof.certificate) is None
    step = (
        f"no threshold gate of {found.family.branches} branches with one sharpness has a sup error of "
        f"{rational_text(least)} or less against {to_text(found.target)}: {proof.leaves} intervals of "
        f"{found.sharpness} in [0, oo), on each of which weighted residuals exclude it for all thresholds, "
        "slopes and intercepts at once"
    )
    written = str(proof.certificate["text"])
    if written.startswith("with "):
        step += f"; in other units, which give the same gates: the certificate is {written}"
    return Outcome(
        truth,
        CERTIFIED,
        "branch and bound over the sharpness",
        ("arb", "mpfr") if checked else ("arb",),
        (step,),
        certificate=proof.certificate if checked else None,
    )


def closest_point(body: Expr, inner: Ranges, outer: Ranges) -> dict[str, Fraction] | None:
    """Values of the outer names, in their ranges, that make the gate one near the family's best; else None.

    It promises nothing about the error there, which has to be bounded by other means.
    """
    found = gate_error(body, inner, outer)
    if found is None:
        return None
    with precision(BITS):
        try:
            gate = closest(Target(found.target, inner[0][0]), found.family)
        except NumericsError:
            return None
    if gate is None:
        return None
    pairs: list[tuple[Expr, Fraction]] = [(Var(found.sharpness), gate.sharpness)]
    pairs += zip(found.theta, gate.theta, strict=True)
    for line, values in zip(found.lines, zip(gate.slope, gate.intercept, strict=True), strict=True):
        pairs += zip(line, values, strict=True)
    point = dict.fromkeys((n for n, _ in outer), Fraction(0))
    point.update({e.name: v for e, v in pairs if isinstance(e, Var)})
    return point if all(holds_point(within, point[n]) for n, within in outer) else None


def gate_error(body: Expr, inner: Ranges, outer: Ranges) -> GateError | None:
    """The body as the error of such a gate over the whole line, else None."""
    if len(inner) != 1 or hull(inner[0][1]) != (None, None):
        return None
    var, names = inner[0][0], {n for n, _ in outer}
    if not (isinstance(body, App) and body.head == "abs"):
        return None
    terms = _terms(body.args[0], 1)
    gate = [t for t in terms if free_names(t[1]) & names]
    rest = [t for t in terms if not free_names(t[1]) & names]
    if not gate or not rest or len({sign for sign, _ in gate}) != 1 or free_names(body) - names - {var}:
        return None
    sign = gate[0][0]
    parts = [_part(t, var) for _, t in gate]
    known = [p for p in parts if p is not None]
    if len(known) < len(parts):
        return None
    target = _sum([t if s != sign else App("neg", (t,)) for s, t in rest])
    return _assembled(known, target, var, dict(outer))


#: A gate's kind, its sigmoid arguments (sharpness, threshold), and its line: slope and intercept.
_Part = tuple[str, tuple[tuple[str, Expr], ...], tuple[Expr, Expr]]
_ZERO, _ONE = Num(Fraction(0)), Num(Fraction(1))
_FLAT = (_ZERO, _ZERO)


def _assembled(parts: list[_Part], target: Expr, var: str, outer: dict[str, Range]) -> GateError | None:
    """The family of the parts: left, right and at most one middle, of one positive sharpness."""
    by_kind = {kind: (arguments, line) for kind, arguments, line in parts}
    sharpness = {t for _, arguments, _ in parts for t, _ in arguments}
    if len(by_kind) < len(parts) or len(sharpness) != 1:
        return None
    (name,) = sharpness
    if name not in outer or not _positive(outer[name]):
        return None
    if "middle" in by_kind:
        ends = by_kind["middle"][0]
        sides = {"left": ends[0][1], "right": ends[1][1]}
        branches = 3
    else:
        sides = dict.fromkeys(("left", "right"), parts[0][1][0][1])
        branches = 2
    if any(by_kind[k][0][0][1] != h for k, h in sides.items() if k in by_kind):
        return None
    lines = {k: by_kind[k][1] if k in by_kind else _FLAT for k in ("left", "middle", "right")}
    given = {k: _given(lines[k][1]) for k in sides}
    h = sides["left"]
    at = h.value if branches == 2 and isinstance(h, Num) else None
    family = family_of(target, var, branches, left=given["left"], right=given["right"], theta=at)
    if isinstance(family, str):
        return None
    order = ("left", "middle", "right") if branches == 3 else ("left", "right")
    theta = tuple(sides.values()) if branches == 3 else (h,)
    return GateError(target, family, name, theta, tuple(lines[k] for k in order))


def _given(intercept: Expr) -> Fraction | None:
    return intercept.value if isinstance(intercept, Num) else None


def _positive(within: Range) -> bool:
    lo, _ = hull(within)
    return lo is not None and (lo > 0 or (lo == 0 and not within.lo_closed))


def _part(term: Expr, var: str) -> _Part | None:
    """A gate times a line in ``var``."""
    if not (isinstance(term, App) and term.head == "mul" and len(term.args) == 2):
        return None
    for gate, line in (term.args, term.args[::-1]):
        kind, shape = _gate(gate, var), _line(line, var)
        if kind is not None and shape is not None:
            return *kind, shape
    return None


def _gate(node: Expr, var: str) -> tuple[str, tuple[tuple[str, Expr], ...]] | None:
    if not isinstance(node, App):
        return None
    if node.head == "sigmoid":
        (inside,) = node.args
        left = isinstance(inside, App) and inside.head == "neg"
        argument = _argument(inside.args[0] if left and isinstance(inside, App) else inside, var)
        return None if argument is None else ("left" if left else "right", (argument,))
    if node.head == "add" and len(node.args) == 2:
        first = _gate(node.args[0], var)
        minus = node.args[1]
        second = _gate(minus.args[0], var) if isinstance(minus, App) and minus.head == "neg" else None
        if first and second and first[0] == second[0] == "right":
            return "middle", (*first[1], *second[1])
    return None


def _argument(node: Expr, var: str) -> tuple[str, Expr] | None:
    """``t*(x - h)`` as the name of t, and h."""
    if not (isinstance(node, App) and node.head == "mul" and len(node.args) == 2):
        return None
    sharpness, shift = node.args
    if not isinstance(sharpness, Var) or sharpness.name == var:
        return None
    if shift == Var(var):
        return sharpness.name, Num(Fraction(0))
    if isinstance(shift, App) and shift.head == "add" and len(shift.args) == 2 and shift.args[0] == Var(var):
        minus = shift.args[1]
        if isinstance(minus, App) and minus.head == "neg" and var not in free_names(minus):
            return sharpness.name, minus.args[0]
        if isinstance(minus, Num):
            return sharpness.name, Num(-minus.value)
    return None


def _line(line: Expr, var: str) -> tuple[Expr, Expr] | None:
    """Slope and intercept of slope*x + intercept, both any expressions without x."""
    if var not in free_names(line):
        return _ZERO, line
    slope = _multiple(line, var)
    if slope is not None:
        return slope, _ZERO
    if isinstance(line, App) and line.head == "add" and len(line.args) == 2:
        first, second = line.args
        slope = _multiple(first, var)
        if slope is not None and var not in free_names(second):
            return slope, second
    return None


def _multiple(node: Expr, var: str) -> Expr | None:
    if node == Var(var):
        return _ONE
    if isinstance(node, App) and node.head == "mul" and len(node.args) == 2:
        slope, x = node.args
        if x == Var(var) and var not in free_names(slope):
            return slope
    return None


def _terms(node: Expr, sign: int) -> list[tuple[int, Expr]]:
    if isinstance(node, App) and node.head == "add":
        return [t for a in node.args for t in _terms(a, sign)]
    if isinstance(node, App) and node.head == "neg":
        return _terms(node.args[0], -sign)
    return [(sign, node)]


def _sum(terms: list[Expr]) -> Expr:
    return terms[0] if len(terms) == 1 else App("add", tuple(terms))
