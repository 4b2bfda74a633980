"""Printed numbers in arithmetic with extrema: the extrema by their enclosures, the printed ones by choice.

An extremum is one number in its enclosure, whichever it is: a relation is shown for all of them.
A printed number is free within its rounding interval: one choice that serves is enough.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gateproof.numerics.bounds import Box, prove_bounds
from gateproof.numerics.certify import certify
from gateproof.numerics.errors import NumericsError
from gateproof.proofs_check.engine.boxes import accept
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.extremum import accepted_certificate
from gateproof.proofs_check.engine.numbers import rational_text
from gateproof.proofs_check.engine.outcome import CERTIFIED, NotYetError, Outcome, composite, undecided
from gateproof.proofs_check.engine.printed import defined_over, may_jump
from gateproof.theory.formula.nodes import App, Expr, Extremum, Node, Printed, Rel, Var, rebuild
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names
from gateproof.theory.formula.serial import to_json

MAX_LITERALS = 8
_DIGITS = 25
_METHOD = "enclosures of the extrema, interval arithmetic on the rounding intervals"


def decide_printed_extrema(relation: Rel, context: Context) -> Outcome:
    """Decide a closed relation with printed numbers and extrema in arithmetic."""
    (op,), (a, b) = relation.ops, relation.terms
    literals = list(dict.fromkeys(n for n in relation.walk() if isinstance(n, Printed)))
    extrema = list(dict.fromkeys(n for n in relation.walk() if isinstance(n, Extremum)))
    if free_names(relation) or op == "!=" or len(literals) > MAX_LITERALS:
        raise NotYetError("a printed number in arithmetic with an extremum")
    known: dict[Expr, tuple[Fraction, Fraction]] = {}
    documents: list[Mapping[str, Any] | None] = []
    for node in extrema:
        value = _enclosed(node, context)
        if value is None:
            return undecided(f"the value of {to_text(node)} was not enclosed")
        certified = _certified(node, context)
        documents.append(None if certified is None else certified[0])
        known[node] = value if certified is None else certified[1]
    put: dict[Expr, str] = {node: f"extremum_{k}" for k, node in enumerate(extrema)}
    put |= {p: f"printed_{k}" for k, p in enumerate(literals)}
    gap = App("add", (_put(a, put), App("neg", (_put(b, put),))))
    values: Box = {put[node]: known[node] for node in extrema}
    whole: Box = {**values, **{put[p]: (p.lo, p.hi) for p in literals}}
    if not defined_over(gap, whole, context):
        return undecided("a side may be undefined for some choice of the printed numbers")
    always = _sign(gap, whole, context)
    if always is not None:
        sign, shown = always
        holds = sign in {"==": (), "<": (-1,), "<=": (-1,), ">": (1,), ">=": (1,)}[op]
        side = "above" if sign > 0 else "below"
        step = f"for every choice of numbers that print so, the left side is {side} the right"
        witness = None if holds else {"every choice": f"left {side} right"}
        return _outcome(holds, step, [*documents, shown], witness)
    found: dict[int, tuple[str, Mapping[str, Any] | None]] = {}
    for corner in itertools.product(*((p.lo, p.hi) for p in literals)):
        box: Box = {**values, **{put[p]: (v, v) for p, v in zip(literals, corner, strict=True)}}
        seen = _sign(gap, box, context)
        if seen is not None:
            text = ", ".join(f"{p.text}~ = {rational_text(v)}" for p, v in zip(literals, corner, strict=True))
            found.setdefault(seen[0], (text, seen[1]))
    wanted = {"<": -1, "<=": -1, ">": 1, ">=": 1}.get(op)
    if wanted in found:
        text, shown = found[wanted]
        return _outcome(True, f"with {text} the relation holds", [*documents, shown])
    if op == "==" and {1, -1} <= set(found) and not may_jump(gap):
        step = "the difference is continuous in the printed numbers and takes both signs at their ends"
        return _outcome(True, step, [*documents, found[1][1], found[-1][1]])
    return undecided("the rounding intervals neither meet nor exclude the relation at their corners")


def _enclosed(node: Extremum, context: Context) -> tuple[Fraction, Fraction] | None:
    if node.op not in ("sup", "inf", "max", "min"):
        raise NotYetError("a printed number in arithmetic with a set")
    try:
        found = certify(node, _DIGITS, context.budget())
    except NumericsError:
        return None
    value = found.get("value")
    if found.get("kind") != "value" or value is None:
        return None
    return Fraction(value["lo"]), Fraction(value["hi"])


def _certified(
    node: Extremum, context: Context
) -> tuple[Mapping[str, Any], tuple[Fraction, Fraction]] | None:
    """An accepted certificate of the extremum, a range with a witness, and the bounds it gives; or None."""
    from gateproof.proofs_check.engine.closed import inner_body

    try:
        body = inner_body(node, context)
        found = accepted_certificate(node, body, _DIGITS, context)
    except (NotYetError, NumericsError):
        return None
    if found is None or found["kind"] != "range" or not found["witnesses"]:
        return None
    lower, upper = (found["conclusion"][k] for k in ("lower", "upper"))
    values = [(Fraction(w["lower"]), Fraction(w["upper"])) for w in found["witnesses"]]
    if found["core"] == to_json(body):
        if node.op in ("sup", "max"):
            return None if upper is None else (found, (max(v[0] for v in values), Fraction(upper)))
        return None if lower is None else (found, (Fraction(lower), min(v[1] for v in values)))
    # -b <= g <= b stands for abs(g) <= b.
    inner = isinstance(body, App) and body.head == "abs" and found["core"] == to_json(body.args[0])
    if not inner or node.op not in ("sup", "max") or lower is None or upper is None:
        return None
    return found, (max(max(lo, -hi) for lo, hi in values), max(-Fraction(lower), Fraction(upper)))


def _outcome(
    truth: bool,
    step: str,
    documents: list[Mapping[str, Any] | None],
    witness: Mapping[str, str] | None = None,
) -> Outcome:
    kept = [dict(d) for d in documents if d is not None]
    whole = composite(kept) if len(kept) == len(documents) else None
    trust = ("arb", "mpfr") if whole is not None else ("arb",)
    return Outcome(truth, CERTIFIED, _METHOD, trust, (step,), witness=witness, certificate=whole)


def _sign(gap: Expr, box: Box, context: Context) -> tuple[int, Mapping[str, Any] | None] | None:
    """1 or -1 where the difference has one sign on the whole box, with an accepted certificate or None."""
    zero, budget = Fraction(0), context.first_budget()
    above = prove_bounds(gap, box, lower=zero, lower_strict=True, budget=budget)
    below = above
    if above.status != "proved":
        below = prove_bounds(gap, box, upper=zero, upper_strict=True, budget=budget)
    if below.status != "proved":
        return None
    accepted = below.certificate is not None and accept(below.certificate) is None
    return 1 if above.status == "proved" else -1, below.certificate if accepted else None


def _put(node: Node, names: dict[Expr, str]) -> Expr:
    if isinstance(node, Expr) and node in names:
        return Var(names[node])
    done = rebuild(node, lambda c: _put(c, names) if isinstance(c, Expr) else c)
    assert isinstance(done, Expr)
    return done
