"""A true bound near a refuted one: the same relation with a larger constant, decided before it is shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.outcome import NotYetError, UndecidedError, VacuousError
from gateproof.proofs_check.floating.controls import quotient
from gateproof.proofs_check.floating.search import search
from gateproof.proofs_check.floating.space import build
from gateproof.proofs_check.floating.written import written
from gateproof.proofs_check.records import Reading, Settings
from gateproof.theory.formula import Claim, Definition, to_text
from gateproof.theory.formula.nodes import App, Expr, Implies, Num, Rel, Stmt

#: How far above the largest quotient that was met a constant is looked for.
_STEPS = (Fraction(1), Fraction(21, 20), Fraction(3, 2), Fraction(2))
#: Points and boxes for each.
_BOXES = 8_000
#: A bound that is missed by more than this is not nearly true.
_MOST = 1 << 24


def nearest(
    reading: Reading, claim: Claim, extra: Mapping[str, Definition], settings: Settings
) -> Mapping[str, str] | None:
    """``{"formal", "verdict", "kind"}`` of a bound with a larger constant that is certified, or None."""
    from gateproof.proofs_check.engine.judge import decide_reading

    settings = replace(settings, boxes=min(settings.boxes, _BOXES))
    for changed in _changes(claim, extra, settings):
        text = to_text(changed)
        decision = decide_reading(Reading("", text, define=reading.define), settings)
        if decision.verdict == "certified":
            return {"formal": text, "verdict": decision.verdict, "kind": "constant"}
        if decision.verdict == "ill-posed":
            return None
    return None


def _changes(claim: Claim, extra: Mapping[str, Definition], settings: Settings) -> Iterator[Claim]:
    body = claim.body.right if isinstance(claim.body, Implies) else claim.body
    if not isinstance(body, Rel) or len(body.ops) != 1 or body.ops[0] not in ("<", "<=", ">", ">="):
        return
    side = 1 if body.ops[0] in ("<", "<=") else 0
    given, base = _parted(body.terms[side])
    factor = _largest(claim, extra, Context(settings))
    if factor is None or factor > _MOST or given <= 0:
        return
    for step in _STEPS:
        bound = _times(_rounded_up(given * factor * step), base)
        terms = (body.terms[0], bound) if side else (bound, body.terms[1])
        changed: Stmt = Rel(body.ops, terms)
        if isinstance(claim.body, Implies):
            changed = Implies(claim.body.left, changed)
        yield replace(claim, body=changed)


def _largest(claim: Claim, extra: Mapping[str, Definition], context: Context) -> Fraction | None:
    """The largest quotient of the sides that is met, where none stops the search."""
    made = written(claim, extra)
    assert isinstance(made.body, Rel)
    a, b = made.body.terms
    far = Num(Fraction(2) ** 60)
    wide = (a, App("mul", (far, b))) if made.body.ops[0] in ("<", "<=") else (App("mul", (far, a)), b)
    try:
        space = build(made)
        at = search(space, Rel(made.body.ops, wide), context.settings).worst
    except (NotYetError, UndecidedError, VacuousError):
        return None
    return None if at is None else quotient(made.body, space, at, Fraction(1))


def _times(factor: Fraction, base: Expr | None) -> Expr:
    if base is None or factor == 1:
        return Num(factor) if base is None else base
    return App("mul", (Num(factor), base))


def _parted(bound: Expr) -> tuple[Fraction, Expr | None]:
    """The number in front of a bound, and the rest, None where that is all."""
    match bound:
        case Num(value=value):
            return value, None
        case App(head="mul", args=(Num(value=value), *rest)):
            return value, rest[0] if len(rest) == 1 else App("mul", tuple(rest))
        case App(head="div", args=(inner, Num(value=value))) if value > 0:
            factor, base = _parted(inner)
            return factor / value, base
    return Fraction(1), bound


def _rounded_up(value: Fraction) -> Fraction:
    """The next number of three digits."""
    digits = len(str(value.numerator // value.denominator)) if value >= 1 else -_zeros(value)
    unit = Fraction(10) ** (digits - 3)
    return -(-value // unit) * unit


def _zeros(value: Fraction) -> int:
    """How many zeros follow the point of a number below 1."""
    found = 0
    while value * 10 < 1:
        value, found = value * 10, found + 1
    return found
