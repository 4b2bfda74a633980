"""From a function and a statement about it to a verdict.

The code is called on floating-point inputs; what it gives are exact numbers, which balls compare with the
formulas. So a failure is an exact witness: where MPFR sees it too the statement is refuted. Success on the
inputs tried is support, no more, even where they are all of a format: another machine may compute otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf, isfinite, isinf
from typing import Any

import flint
import numpy as np

from gateproof.numerics.errors import MaybeUndefined, Undefined
from gateproof.numerics.points import SIGN_TESTS, at_point, difference_sign, exact_arb
from gateproof.numerics.precision import precision
from gateproof.proofs_check.code import grid
from gateproof.proofs_check.code.calling import CodeError, called, library_of
from gateproof.proofs_check.code.declared import Declared
from gateproof.proofs_check.code.floats import FORMATS, Format, shown
from gateproof.proofs_check.code.statement import Call, Held, argument, read
from gateproof.proofs_check.engine.witness import failure_at
from gateproof.proofs_check.records import Controls, Decision
from gateproof.theory.formula import FormulaError
from gateproof.theory.formula.nodes import App, Expr, Num, Rel, Var
from gateproof.theory.formula.printer import to_text

#: Bits of a ball; more where it is not narrow enough to count units in the last place.
BITS = (128, 512, 2048)
#: Values are known to so much of a unit.
NARROW = Fraction(1, 1 << 16)
#: Past every format's exponents.
EXPONENT = 20_000
_BEYOND = flint.arb(2) ** EXPONENT
_METHOD = "code called on floating-point inputs, compared in balls"


@dataclass(frozen=True)
class Miss:
    """A point where a relation fails, what is wrong there, and the relation that exact numbers break."""

    point: Mapping[str, float]
    said: str
    broken: Rel | None = None
    exact: Mapping[str, Fraction] = field(default_factory=dict)


@dataclass
class Worst:
    """The greatest error over all points, in units in the last place."""

    units: float = 0.0
    point: Mapping[str, float] | None = None


def decide(function: Callable[..., Any], declared: Declared, seed: int = 0) -> Decision:
    """The verdict on one statement about a function; what the function raises is one line of it."""
    form, name = FORMATS[declared.dtype], getattr(function, "__name__", type(function).__name__)
    try:
        held = read(declared.statement, name)
        points, words = grid.points(held, form, declared.points, seed)
    except FormulaError as error:
        return Decision("ill-posed", reason=str(error))
    try:
        arguments = len(held.calls[0].arguments)
        library = declared.library or library_of(function, arguments, form)
        results = _results(function, library, held, points, form)
    except CodeError as error:
        return Decision("unsupported", method=_METHOD, trust=("sampling",), reason=f"the code {error}")
    try:
        miss, worst = _compare(held, points, results, form, declared)
    except Undefined as error:
        return Decision("ill-posed", method=_METHOD, reason=f"a formula without a value: {error}")
    except MaybeUndefined as error:
        return Decision("inconclusive", method=_METHOD, reason=str(error))
    where = f"{len(points)} points of {form.name} ({words}), {library}"
    steps = [where]
    if worst.point is not None:
        at = ", ".join(f"{n} = {shown(v)}" for n, v in worst.point.items())
        steps.append(f"greatest error {worst.units:.4g} units in the last place, at {at}")
    if miss is not None:
        return _failed(miss, steps)
    controls = _controls(held, points, results, form, declared)
    if controls.caught < controls.planted:
        return Decision(
            "inconclusive", method=_METHOD, controls=controls, steps=tuple(steps),
            reason="a planted error was not seen on these points; try more of them",
        )  # fmt: skip
    return Decision(
        "supported", method=_METHOD, trust=("arb", "sampling"), controls=controls, steps=tuple(steps)
    )


def _failed(miss: Miss, steps: list[str]) -> Decision:
    """Refuted where a second engine agrees, or where the code gave no number at all."""
    witness = {n: str(Fraction(v)) for n, v in miss.point.items()}
    common: dict[str, Any] = {"method": _METHOD, "witness": witness, "reason": miss.said}
    if miss.broken is None:
        return Decision("refuted", trust=("arb", "sampling"), steps=(*steps, miss.said), **common)
    found = failure_at(miss.broken, miss.exact)
    if found is None:
        said = "MPFR could not confirm it"
        return Decision("unsupported", trust=("arb", "sampling"), steps=(*steps, miss.said, said), **common)
    return Decision(
        "refuted", trust=("arb", "mpfr", "sampling"), certificate=found.certificate,
        steps=(*steps, miss.said, *found.steps), **common,
    )  # fmt: skip


def _results(
    function: Callable[..., Any], library: str, held: Held, points: Sequence[grid.Point], form: Format
) -> list[list[float]]:
    """What each call gives at all points; elements must not depend on each other."""
    found = []
    order = np.random.default_rng(1).permutation(len(points))
    for call in held.calls:
        inputs = _inputs(held, call, points, form)
        values = called(function, library, inputs, form, call.by)
        again = np.empty_like(values)
        # In another order and in other company: one by itself, a half, the rest.
        for part in np.split(order, [1, 1 + len(order) // 2]):
            if len(part):
                again[part] = called(function, library, [x[part] for x in inputs], form, call.by)
        # Vector units and their rests may round differently, so single units may differ.
        apart = ~((values == again) | (np.isnan(values) & np.isnan(again)))
        for k in np.flatnonzero(apart):
            a, b = float(values[k]), float(again[k])
            unit = max(_unit(a, form), _unit(b, form))
            if not abs(a - b) <= 4 * unit:
                raise CodeError(
                    f"gives {shown(a)} or {shown(b)} at {shown(float(inputs[0][k]))}: others decide which"
                )
        found.append([float(v) for v in values])
    return found


def _unit(value: float, form: Format) -> float:
    return float(form.unit(Fraction(value))) if np.isfinite(value) else inf


def _inputs(held: Held, call: Call, points: Sequence[grid.Point], form: Format) -> list[Any]:
    made = [np.empty(len(points)) for _ in call.arguments]
    for k, point in enumerate(points):
        exact = dict(zip(held.names, map(Fraction, point), strict=True))
        for own, node in zip(made, call.arguments, strict=True):
            value = argument(node, exact)
            if not form.holds(value):
                raise CodeError(f"is called with {value}, which {form.name} does not hold")
            own[k] = float(value)
            if value == 0 and isinstance(node, Var):
                own[k] = point[held.names.index(node.name)]
    return made


def _compare(
    held: Held, points: Sequence[grid.Point], results: list[list[float]], form: Format, declared: Declared
) -> tuple[Miss | None, Worst]:
    """The worst failure, and the greatest error."""
    worst, found, most = Worst(), None, -1.0
    for k, point in enumerate(points):
        named = dict(zip(held.names, point, strict=True))
        given = {call.name: own[k] for call, own in zip(held.calls, results, strict=True)}
        here = _Here(named, given, form, declared)
        for relation in held.relations:
            units, miss = here.look(relation)
            if units > worst.units:
                worst.units, worst.point = units, named
            if miss is not None and units > most:
                found, most = miss, units
    return found, worst


class _Here:
    """One point, and what the code gave there."""

    def __init__(
        self, named: Mapping[str, float], given: Mapping[str, float], form: Format, declared: Declared
    ) -> None:
        self.named, self.given, self.form, self.declared = named, given, form, declared
        self.wild = {n: v for n, v in given.items() if not isfinite(v)}
        self.exact = {n: Fraction(v) for n, v in (*named.items(), *given.items()) if n not in self.wild}

    def look(self, relation: Rel) -> tuple[float, Miss | None]:
        """The greatest error in units of an equation, and what fails if anything does."""
        units = 0.0
        for op, a, b in zip(relation.ops, relation.terms, relation.terms[1:], strict=False):
            found, miss = self._equation(a, b) if op == "==" else (0.0, self._order(op, a, b))
            units = max(units, found)
            if miss is not None:
                return units, miss
        return units, None

    def _miss(self, said: str, broken: Rel | None = None) -> Miss:
        at = ", ".join(f"{n} = {shown(v)}" for n, v in self.named.items())
        return Miss(self.named, f"at {at} {said}", broken, self.exact)

    def _wild_in(self, *terms: Expr) -> float | None:
        return next((v for n, v in self.wild.items() for t in terms if Var(n) in set(t.walk())), None)

    def _order(self, op: str, a: Expr, b: Expr) -> Miss | None:
        wild = self._wild_in(a, b)
        if wild is not None:
            return self._miss(f"the code gives {wild}")
        sign = difference_sign(a, b, self.exact)
        if sign is None:
            raise MaybeUndefined(f"balls cannot tell the two sides of {op} apart at {dict(self.named)}")
        if SIGN_TESTS[op](sign):
            return None
        values = ", ".join(map(shown, self.given.values()))
        return self._miss(f"the code gives {values}, for which {op} does not hold", Rel((op,), (a, b)))

    def _equation(self, a: Expr, b: Expr) -> tuple[float, Miss | None]:
        left, right = (b, a) if isinstance(b, Var) and b.name in self.given else (a, b)
        wild = self._wild_in(left, right)
        if wild is not None:
            return self._infinite(wild, left, right)
        truth, unit = _ball(right, self.exact, self.form)
        value, _ = _ball(left, self.exact, self.form)
        gap, floor = abs(value - truth), Fraction(self.declared.floor)
        units, allowed = float(gap / unit), max(Fraction(self.declared.ulps) * unit, floor)
        if gap <= allowed:
            return (units if gap > floor else 0.0), None
        said = f"{units:.4g} units in the last place apart, {self.declared.ulps:g} are allowed"
        who = "the code gives" if isinstance(left, Var) else "the left side is"
        what = shown(float(value)) if isinstance(left, Var) else _decimal(value)
        size = App("abs", (App("add", (left, App("neg", (right,)))),))
        broken = Rel(("<=",), (size, Num(allowed)))
        return units, self._miss(f"{who} {what}, exact is {_decimal(truth)}: {said}", broken)

    def _infinite(self, wild: float, left: Expr, right: Expr) -> tuple[float, Miss | None]:
        """An infinity is right where the exact value is rounded to it."""
        if isinstance(left, Var) and left.name in self.wild and self._wild_in(right) is None:
            truth, _ = _ball(right, self.exact, self.form)
            if isinf(wild) and self.form.overflows(truth) and (wild > 0) == (truth > 0):
                return 0.0, None
            return inf, self._miss(f"the code gives {wild}, exact is {_decimal(truth)}")
        return inf, self._miss(f"the code gives {wild}")


def _ball(expr: Expr, exact: Mapping[str, Fraction], form: Format) -> tuple[Fraction, Fraction]:
    """The middle of an enclosure, narrow against its unit in the last place, and that unit."""
    for bits in BITS:
        ball = at_point(expr, exact, bits)
        middle, radius = _parts(ball)
        unit = form.unit(middle)
        if radius <= NARROW * unit or (form.overflows(middle - radius) and form.overflows(middle + radius)):
            return middle, unit
    raise MaybeUndefined(f"an enclosure of {to_text(expr)} that stays wide")


def _parts(ball: flint.arb) -> tuple[Fraction, Fraction]:
    """Middle and radius; numbers beyond all formats are cut to one that is beyond them as well."""
    if abs(ball) > _BEYOND:
        return (Fraction(1) if ball > 0 else Fraction(-1)) * 2**EXPONENT, Fraction(0)
    if abs(ball) < 1 / _BEYOND:
        return Fraction(0), Fraction(1, 2**EXPONENT)
    if not ball.is_finite():
        raise MaybeUndefined("a value that is not finite")
    return _fraction(ball.mid()), _fraction(ball.rad())


def _fraction(point: flint.arb) -> Fraction:
    mantissa, exponent = point.man_exp()
    # A radius far below all formats.
    return Fraction(int(mantissa)) * Fraction(2) ** max(int(exponent), -4 * EXPONENT)


def _decimal(value: Fraction) -> str:
    with precision(128):
        text: str = exact_arb(value).str(17, radius=False)
    return text


#: So many points, evenly taken, are enough to see a planted error.
FEW = 500


def _controls(
    held: Held, points: Sequence[grid.Point], results: list[list[float]], form: Format, declared: Declared
) -> Controls:
    """Other results must fail: moved by more than is allowed, or, where nothing is equated, far off."""
    by = max(4 * declared.ulps, 4.0)
    step = max(1, len(points) // FEW)
    some, own = points[::step], [values[::step] for values in results]
    up = (lambda v: v + by * _unit(v, form) + 4 * declared.floor,)
    far = (lambda v: -v - 1, lambda v: 2 * v + 1, lambda v: 0.0, lambda v: -(2 * v) - 1)
    equated = any(op == "==" for r in held.relations for op in r.ops)
    for moved in up if equated else far:
        others = [[moved(v) if isfinite(v) else v for v in values] for values in own]
        if _compare(held, some, others, form, declared)[0] is not None:
            return Controls(1, 1)
    return Controls(1, 0, ("results that are moved",))
