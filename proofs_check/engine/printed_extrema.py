"""Printed numbers in arithmetic with extrema: the extrema by their enclosures, the printed ones by choice.

An extremum is one number in its enclosure, whichever it is: a relation is shown for all of them.
A printed number is free within its rounding interval: one choice that serves is enough.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

from gateproof.numerics.bounds import Box, prove_bounds
from gateproof.numerics.certify import certify
from gateproof.numerics.errors import NumericsError
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.numbers import rational_text
from gateproof.proofs_check.engine.outcome import CERTIFIED, NotYetError, Outcome, undecided
from gateproof.proofs_check.engine.printed import may_jump
from gateproof.theory.formula.nodes import App, Expr, Extremum, Node, Printed, Rel, Var, rebuild
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

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
    for node in extrema:
        value = _enclosed(node, context)
        if value is None:
            return undecided(f"the value of {to_text(node)} was not enclosed")
        known[node] = value
    put: dict[Expr, str] = {node: f"extremum_{k}" for k, node in enumerate(extrema)}
    put |= {p: f"printed_{k}" for k, p in enumerate(literals)}
    gap = App("add", (_put(a, put), App("neg", (_put(b, put),))))
    values: Box = {put[node]: known[node] for node in extrema}
    whole: Box = {**values, **{put[p]: (p.lo, p.hi) for p in literals}}
    if prove_bounds(gap, whole, budget=context.budget()).status != "proved":
        return undecided("a side may be undefined for some choice of the printed numbers")
    always = _sign(gap, whole, context)
    if always is not None:
        holds = always in {"==": (), "<": (-1,), "<=": (-1,), ">": (1,), ">=": (1,)}[op]
        side = "above" if always > 0 else "below"
        step = f"for every choice of numbers that print so, the left side is {side} the right"
        witness = None if holds else {"every choice": f"left {side} right"}
        return Outcome(holds, CERTIFIED, _METHOD, ("arb",), (step,), witness=witness)
    found: dict[int, str] = {}
    for corner in itertools.product(*((p.lo, p.hi) for p in literals)):
        box: Box = {**values, **{put[p]: (v, v) for p, v in zip(literals, corner, strict=True)}}
        sign = _sign(gap, box, context)
        if sign is not None:
            text = ", ".join(f"{p.text}~ = {rational_text(v)}" for p, v in zip(literals, corner, strict=True))
            found.setdefault(sign, text)
    wanted = {"<": -1, "<=": -1, ">": 1, ">=": 1}.get(op)
    if wanted in found:
        step = f"with {found[wanted]} the relation holds"
        return Outcome(True, CERTIFIED, _METHOD, ("arb",), (step,))
    if op == "==" and {1, -1} <= set(found) and not may_jump(gap):
        step = "the difference is continuous in the printed numbers and takes both signs at their ends"
        return Outcome(True, CERTIFIED, _METHOD, ("arb",), (step,))
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


def _sign(gap: Expr, box: Box, context: Context) -> int | None:
    """1 or -1 where the difference has one sign on the whole box."""
    zero, budget = Fraction(0), context.first_budget()
    if prove_bounds(gap, box, lower=zero, lower_strict=True, budget=budget).status == "proved":
        return 1
    if prove_bounds(gap, box, upper=zero, upper_strict=True, budget=budget).status == "proved":
        return -1
    return None


def _put(node: Node, names: dict[Expr, str]) -> Expr:
    if isinstance(node, Expr) and node in names:
        return Var(names[node])
    done = rebuild(node, lambda c: _put(c, names) if isinstance(c, Expr) else c)
    assert isinstance(done, Expr)
    return done
