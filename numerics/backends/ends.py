"""What a tape needs at its end: limits where the input is infinite, and not-a-number passed on."""

from __future__ import annotations

from gateproof.numerics.backends.floats import Float, FloatOps
from gateproof.numerics.backends.nodes import Patch, unpatched
from gateproof.numerics.backends.numbers import to_float
from gateproof.numerics.backends.partial import Sides
from gateproof.numerics.backends.tape import Step, Tape
from gateproof.numerics.ball import names_in
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.limits import limit
from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.nodes import App, Const, Expr, Where

_INFINITY, _NAN = float("inf"), float("nan")


def finished(tape: Tape, sides: Sides, names: tuple[str, ...]) -> Tape:
    """The tape with its last steps."""
    steps, result = list(tape.steps), tape.result
    used = names_in(sides[0]) | names_in(sides[1])
    if len(names) == 1 and used:
        (name,) = names
        limits = [_limit(tape, side, name, sign) for side, sign in ((sides[0], "+"), (sides[1], "-"))]
        if any(v == v for v in limits):
            steps.append(Step("at_ends", (result, 0), tuple(limits)))
            result = len(names) + len(steps) - 1
    hides = any(_hides(s) for s in sides)
    for i, name in enumerate(names):
        if hides or name not in used:
            steps.append(Step("not_a_number", (result, i)))
            result = len(names) + len(steps) - 1
    return Tape(tape.inputs, tuple(steps), result)


def _hides(expr: Expr) -> bool:
    """Whether a condition could hide a not-a-number."""
    return any(isinstance(n, Where) and not isinstance(n, Patch) for n in expr.walk())


def _limit(tape: Tape, expr: Expr, name: str, sign: str) -> float:
    """The limit at an infinite end where the tape gives not-a-number there; nan for none needed or known."""
    end = _INFINITY if sign == "+" else -_INFINITY
    value = tape.run(FloatOps(), (Float(end),))
    if value == value:
        return _NAN
    point: Expr = Const("oo") if sign == "+" else App("neg", (Const("oo"),))
    found = limit(unpatched(expr), name, point, "", Assumptions({name: Domain()}))
    if not isinstance(found, tuple):
        return _NAN
    value_node = found[0]
    if value_node == Const("oo"):
        return _INFINITY
    if value_node == App("neg", (Const("oo"),)):
        return -_INFINITY
    try:
        return to_float(value_node)
    except FormulaError:
        return _NAN
