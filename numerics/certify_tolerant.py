"""The worst case of a supremum or infimum whose threshold gates have parameters with tolerances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gateproof.numerics.bounds import Budget
from gateproof.numerics.certificate import composite_document
from gateproof.numerics.certify_joint import answer, closed, empty, inner_ends, outer_ends, place, shown
from gateproof.numerics.certify_nested import ranges_of
from gateproof.numerics.decimals import agreed_digits, decimal_enclosure
from gateproof.numerics.errors import NotImplementedOperator
from gateproof.numerics.points import enclosure
from gateproof.numerics.tolerance import KEYS, Piece, Tolerance, gates_of, pieces, spread
from gateproof.numerics.worst_case import Limits, WorstCase, worst_case
from gateproof.theory.exact.piecewise import may_jump
from gateproof.theory.formula.expand import expand, expand_node
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import Expr, Extremum, Num, Var, num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text

#: The length up to which a parameter that is a decimal is written in full.
MOST_EXACT = 24


@dataclass(frozen=True)
class Scene:
    """A toleranced extremum taken apart: pieces, ranges of its own names, the name searched along."""

    node: Extremum
    line: str
    limits: Limits
    inner: Limits
    pieces: tuple[Piece, ...]
    closed: bool


def scene(node: Extremum, tolerances: Mapping[str, Tolerance]) -> Scene:
    """The parts of sup or inf (parsed, not expanded) with tolerances.

    Raises ToleranceError for tolerances that mean nothing, NotImplementedOperator for other extrema.
    """
    if node.op not in ("sup", "inf") or any(isinstance(n, Extremum) for n in node.body.walk()):
        raise NotImplementedOperator(f"{node.op} with tolerances")
    plain = expand_node(Extremum(node.op, num(0), node.scope))
    assert isinstance(plain, Extremum)
    ranges = ranges_of(plain)
    limits = {n: outer_ends(r) for n, r in ranges}
    inner = {n: inner_ends(r) for n, r in ranges}
    if any(empty(inner[n], (r.lo_closed, r.hi_closed)) for n, r in ranges):
        raise NotImplementedOperator("an empty range")
    line = next((n for n, e in limits.items() if None in e), next(iter(limits)))
    taken = frozenset(limits) | {n.name for n in node.body.walk() if isinstance(n, Var)}
    ends = next((r.lo_closed, r.hi_closed) for n, r in ranges if n == line)
    parts = pieces(node.body, line, limits[line], tolerances, taken, closed=ends)
    if any(p.sides and may_jump(expand(p.node)) for p in parts):
        # At the end of a side the gate is a limit, which says nothing of what jumps there as well.
        parts = pieces(node.body, line, limits[line], tolerances, taken, sides=False)
    return Scene(node, line, limits, inner, parts, all(closed(r) for _, r in ranges))


def certify_tolerant(
    node: Extremum, digits: int, tolerances: Mapping[str, Tolerance], budget: Budget
) -> dict[str, Any]:
    """The contract of ``certify`` for the worst case, with ``worst``: the place and the parameters there."""
    parts = scene(node, tolerances)
    domain = "; ".join(f"{b.name} in {to_text(b.within)}" for b in node.scope.binds)
    sign = 1 if node.op == "sup" else -1
    results: list[tuple[Piece, WorstCase]] = []
    for piece in parts.pieces:
        names = {c.name: c.ends for c in piece.components}
        limits = {**parts.limits, parts.line: piece.ends, **names}
        inner = {**parts.inner, parts.line: _both(piece.ends, parts.inner[parts.line]), **names}
        if empty(inner[parts.line]):
            # Between the bounds known of an irrational end of the domain.
            reason = (
                "whether x reaches the other side of a hard threshold at an end of the domain is not decided"
            )
            return {"kind": None, "value": None, "reason": reason, "domain": domain}
        body = expand(piece.node)
        if not parts.closed and may_jump(body):
            # The value at an end that is left out is not near those beside it.
            return {"kind": None, "value": None, "reason": "an open end of a formula that may jump"}
        text = f"{node.op} of {to_text(body)}"
        found = worst_case(body, limits, digits, budget, which=node.op, inner=inner, text=text)
        results.append((piece, found))
        if found.status == "infinite":
            end = "oo" if sign > 0 else "-oo"
            known = {"kind": "infinite", "value": {"lo": end, "hi": end}, "attained": False}
            far = {parts.line: Fraction(2**64 if found.side == "+" else -(2**64))}
            worst = {**_parameters(parts, piece, {**found.point, **far}, digits), "at": {}}
            return {**known, "domain": domain, "worst": worst, "side": found.side}
        if found.status != "ok":
            return {"kind": None, "value": None, "reason": found.reason, "domain": domain}
    return {**_joined(parts, results, digits, sign), "domain": domain}


def _joined(parts: Scene, results: list[tuple[Piece, WorstCase]], digits: int, sign: int) -> dict[str, Any]:
    """The largest of the pieces' values (least, for an infimum), and the certificates of all."""
    values = [f.value for _, f in results if f.value is not None]
    choose = max if sign > 0 else min
    both = choose(v[0] for v in values), choose(v[1] for v in values)
    piece, found = choose(results, key=lambda r: sign * (r[1].value or both)[sign < 0] * sign)
    reached = min(agreed_digits(*both), digits)
    known = {
        **answer(found, digits),
        "value": decimal_enclosure(*both, digits),
        "digits": reached,
        "attained": found.attained if len(results) == 1 and parts.closed else None,
        "worst": _parameters(parts, piece, found.point, digits),
        "certificate": _certificate(results),
        "ends": both,
    }
    del known["place"]
    if reached < digits:
        known["reason"] = f"{reached} digits within the budget"
    return known


def _certificate(results: list[tuple[Piece, WorstCase]]) -> dict[str, Any] | None:
    documents = [f.certificate for _, f in results if f.certificate is not None]
    if len(documents) < len(results):
        return None
    if len(documents) == 1:
        return documents[0]
    said = "each side of the hard thresholds on its own; the worst case is the largest of these"
    return composite_document(documents, said)


def _parameters(parts: Scene, piece: Piece, point: Mapping[str, Fraction], digits: int) -> dict[str, Any]:
    """The names' values and every gate's parameters at the worst place."""
    own = {n: v for n, v in point.items() if n in parts.limits}
    at = {c.name: c.value(point[c.name]) for c in piece.components}
    gates = []
    for number, tg in enumerate(gates_of(parts.node.body), 1):
        gate: dict[str, list[dict[str, str] | str]] = {}
        for key in KEYS:
            values = list(spread(tg.tau, tg.theta) if key == "tau" else getattr(tg, key))
            for c in piece.components:
                if (c.gate, c.key) == (number, key):
                    shared = key == "tau" and len(tg.tau) == 1
                    for k in range(len(values)) if shared else (c.place - 1,):
                        values[k] = at[c.name]
            for s in piece.sides:
                if s.gate == number and key == "theta":
                    values[s.place - 1] = Num(s.threshold(own[parts.line]))
            gate[key] = [_shown(v, own, digits) for v in values]
        gates.append(gate)
    return {"at": place(own, digits), "gates": gates}


def _shown(value: Expr, own: Mapping[str, Fraction], digits: int) -> dict[str, str] | str:
    """A parameter: in full if it is a short decimal, else as an enclosure; as text where it is infinite."""
    closed = expand(substitute(value, {n: Num(v) for n, v in own.items()}))
    if to_text(closed) == "oo":
        return "oo"
    known = constant_value(closed)
    if known is None:
        return decimal_enclosure(*enclosure(closed), digits)
    return shown(known, digits, MOST_EXACT)


def _both(
    a: tuple[Fraction | None, Fraction | None], b: tuple[Fraction | None, Fraction | None]
) -> tuple[Fraction | None, Fraction | None]:
    """The intersection of two intervals."""
    lows, highs = ([e for e in pair if e is not None] for pair in zip(a, b, strict=True))
    return max(lows, default=None), min(highs, default=None)
