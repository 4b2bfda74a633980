"""Sums up to oo without a closed form: a finite part in balls, and what is left between bounds.

With f positive and falling on [N, oo), the terms from N on add up to a number between I and I + f(N),
I the integral of f from N (integral test); where f is convex, between I + f(N)/2 and the integral
from N - 1/2. Where f' <= -c f they add up to at most f(N)/(1 - exp(-c)). Terms (-1)**k g(k), with g
falling to 0, add up to a number between 0 and the first of them (Leibniz). Other terms converge
absolutely where a bound of their size does. A sum is infinite where x f(x), x log(x) f(x) or
x log(x) log(log(x)) f(x) has a limit that is not 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from gateproof.numerics.errors import MaybeUndefined, NumericsError, Undefined
from gateproof.numerics.integral import Value
from gateproof.numerics.means import enclosed
from gateproof.numerics.points import at_point, exact_arb, rational_bounds
from gateproof.numerics.precision import precision
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.outcome import IllPosedError, NotYetError, UndecidedError
from gateproof.proofs_check.engine.space import Space, infinite_sign
from gateproof.theory.exact.alternation import split_signs
from gateproof.theory.exact.definite import NoIntegral
from gateproof.theory.exact.derivative import derivative, kinks
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.limits import limit
from gateproof.theory.exact.means import holds_mean, reduced
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.exact.series_problem import body_defined
from gateproof.theory.formula.nodes import (
    App,
    Const,
    Expr,
    Integral,
    Rel,
    Series,
    Var,
    Where,
    num,
)
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

#: How far behind the first term a function may start to fall, and how many terms are added.
STARTS = (1, 10, 100)
TERMS = (60, 400, 3000)
_BITS = 192
#: Terms looked at one by one for one without a value.
_SEEN = 60
_OO = Const("oo")
_ONE, _ZERO = num(1), num(0)
_AT_MOST_ONE = ("sin", "cos", "tanh", "erf", "sech", "sign", "sigmoid")


@dataclass(frozen=True)
class _Terms:
    """The terms of a sum as functions on the reals: ``plain(k)``, or ``(-1)**k plain(k)``."""

    plain: Expr
    alternating: bool


def summed(series: Series, wanted: Fraction, context: Context) -> Value:
    """The sum to within about ``wanted``, an infinite one by its sign.

    Raises IllPosedError where it has no value and UndecidedError where no method reaches.
    """
    first = constant_value(series.lo)
    if first is None or first.denominator != 1 or free_names(series.body) - {series.index}:
        raise UndecidedError(f"{to_text(series)} depends on other names")
    _must_have_terms(series, int(first))
    terms = split_terms(series)
    sign = 0 if terms is None or terms.alternating else _divergent(terms.plain, series.index, context)
    if sign:
        return Value("infinite", sign=sign)
    best: Value | None = None
    for method in (_falling, _leibniz, _absolutely):
        found = method(series, terms, int(first), wanted, context)
        if found is not None:
            best = found
            break
    if best is None:
        raise UndecidedError(f"{to_text(series)}: that its terms fall fast enough was not shown")
    return best


def _must_have_terms(series: Series, first: int) -> None:
    for k in range(first, first + _SEEN):
        try:
            at_point(series.body, {series.index: Fraction(k)}, _BITS)
        except Undefined as error:
            raise IllPosedError(f"the term of {to_text(series)} at {series.index} = {k}: {error}") from None
        except MaybeUndefined:
            break
    if not body_defined(series, first, Assumptions()):
        raise UndecidedError(f"it was not shown that every term of {to_text(series)} has a value")


def split_terms(series: Series) -> _Terms | None:
    """The terms without powers of negative numbers; None where these are in more than a common factor."""
    found = split_signs(series.body, series.index)
    return None if found is None else _Terms(*found)


def _divergent(plain: Expr, name: str, context: Context) -> int:
    """1 or -1 where the sum is oo or -oo, by comparison with 1/x, 1/(x log x), 1/(x log x log log x)."""
    x = Var(name)
    log = App("log", (x,))
    for factor in (x, App("mul", (x, log)), App("mul", (x, log, App("log", (log,))))):
        found = limit(App("mul", (factor, plain)), name, _OO, "", Assumptions())
        if not isinstance(found, tuple):
            continue
        value = found[0]
        if infinite_sign(value):
            return infinite_sign(value)
        for op, sign in ((">", 1), ("<", -1)):
            if _holds(Space(), Rel((op,), (value, _ZERO)), context):
                return sign
    return 0


def _holds(space: Space, relation: Rel, context: Context) -> bool:
    from gateproof.proofs_check.engine.closed import decide_constants
    from gateproof.proofs_check.engine.relation import decide_relation

    try:
        if not space.domains:
            return decide_constants(relation.ops[0], *relation.terms).truth is True
        return decide_relation(space, relation, context.deeper()).truth is True
    except (NumericsError, NotYetError, UndecidedError, IllPosedError):
        return False


def from_on(name: str, start: int) -> Space:
    """The reals from ``start`` on."""
    return Space({name: Domain(num(start), None, True, False)})


def _slope(plain: Expr, name: str, start: int, context: Context) -> Expr | None:
    """The derivative of a function of one formula that has no kink from ``start`` on."""
    if any(isinstance(n, Where) for n in plain.walk()):
        return None
    space = from_on(name, start)
    if any(not _holds(space, Rel(("!=",), (argument, _ZERO)), context) for argument in kinks(plain, name)):
        return None
    return derivative(plain, name)


def falls_from(plain: Expr, name: str, first: int, context: Context) -> tuple[int, int] | None:
    """N and a sign such that sign * f is positive and not increasing on [N, oo); None where not found."""
    return _goes(plain, name, first, "<=", context)


def rises_from(plain: Expr, name: str, first: int, context: Context) -> tuple[int, int] | None:
    """N and a sign such that sign * f is positive and not decreasing on [N, oo); None where not found."""
    return _goes(plain, name, first, ">=", context)


def _goes(plain: Expr, name: str, first: int, way: str, context: Context) -> tuple[int, int] | None:
    for start in (max(first, s) for s in STARTS):
        space = from_on(name, start)
        slope = _slope(plain, name, start, context)
        if slope is None:
            continue
        for sign, above in ((1, ">"), (-1, "<")):
            size = slope if sign > 0 else App("neg", (slope,))
            if _holds(space, Rel((above,), (plain, _ZERO)), context) and _holds(
                space, Rel((way,), (size, _ZERO)), context
            ):
                return start, sign
    return None


def _convex_from(plain: Expr, name: str, sign: int, start: int, context: Context) -> bool:
    slope = _slope(plain, name, start, context)
    second = None if slope is None else _slope(slope, name, start, context)
    op = ">=" if sign > 0 else "<="
    return second is not None and _holds(from_on(name, start), Rel((op,), (second, _ZERO)), context)


def _geometric(plain: Expr, name: str, start: int, cut: int, context: Context) -> Fraction | None:
    """A bound of the terms from ``cut`` on of a positive f that falls at least as exp(-c x)."""
    slope = _slope(plain, name, start, context)
    if slope is None:
        return None
    found = limit(App("div", (slope, plain)), name, _OO, "", Assumptions())
    if not isinstance(found, tuple) or free_names(found[0]):
        return None
    if infinite_sign(found[0]):
        rate = Fraction(1) if infinite_sign(found[0]) < 0 else Fraction(0)
    else:
        rate = (-rational_bounds(at_point(found[0], {}, _BITS))[1] / 2).limit_denominator(1000)
    if rate <= 0:
        return None
    relation = Rel(("<=",), (App("add", (slope, App("mul", (num(rate), plain)))), _ZERO))
    if not _holds(from_on(name, cut), relation, context):
        return None
    with precision(_BITS):
        share = 1 - (-exact_arb(rate)).exp()
    return _term(plain, name, cut)[1] / rational_bounds(share)[0]


def integral_from(plain: Expr, name: str, start: Expr, digits: int, context: Context) -> Value:
    """The integral from ``start`` to oo: by its closed form, else by quadrature."""
    node = Integral(plain, name, start, _OO)
    found = reduced(node, Assumptions())
    if isinstance(found, NoIntegral):
        return Value("unknown", reason=found.reason)
    value = found[0]
    if infinite_sign(value):
        return Value("infinite", sign=infinite_sign(value))
    if holds_mean(value):
        return enclosed(node, digits, context.budget())
    return Value("ok", rational_bounds(at_point(value, {}, _BITS)))


def _falling(
    series: Series, terms: _Terms | None, first: int, wanted: Fraction, context: Context
) -> Value | None:
    if terms is None or terms.alternating:
        return None
    plain, name = terms.plain, series.index
    found = falls_from(plain, name, first, context)
    if found is None:
        return None
    start, sign = found
    convex = _convex_from(plain, name, sign, start, context)

    def rest(cut: int) -> tuple[Fraction, Fraction] | Value:
        whole = _integral_value(plain, name, num(cut), context)
        if whole.enclosure is None and whole.status != "infinite":
            most = _geometric(
                larger := plain if sign > 0 else App("neg", (plain,)), name, start, cut, context
            )
            if most is None:
                return whole
            least = _term(larger, name, cut)[0]
            return (least, most) if sign > 0 else (-most, -least)
        if whole.enclosure is None:
            return whole
        at = _term(plain, name, cut)
        ends = [e * sign for e in whole.enclosure]
        size = [e * sign for e in at]
        low, high = min(ends), max(ends) + max(size)
        if convex:
            before = _integral_value(plain, name, num(Fraction(2 * cut - 1, 2)), context)
            low += min(size) / 2
            if before.enclosure is not None:
                high = min(high, max(e * sign for e in before.enclosure))
        return (low, high) if sign > 0 else (-high, -low)

    # Half a step before the cut the function must still fall.
    return _added(series, first, start + 1, wanted, rest)


def _integral_value(plain: Expr, name: str, start: Expr, context: Context) -> Value:
    try:
        return integral_from(plain, name, start, 30, context)
    except NumericsError as error:
        return Value("unknown", reason=str(error))


def _leibniz(
    series: Series, terms: _Terms | None, first: int, wanted: Fraction, context: Context
) -> Value | None:
    if terms is None or not terms.alternating:
        return None
    plain, name = terms.plain, series.index
    end = limit(plain, name, _OO, "", Assumptions())
    if not isinstance(end, tuple):
        return None
    if infinite_sign(end[0]) or constant_value(end[0]) != 0:
        if not infinite_sign(end[0]) and not _holds(Space(), Rel(("!=",), (end[0], _ZERO)), context):
            return None
        if _monotone_far_out(plain, name, first, context):
            reason = f"the size of its terms tends to {to_text(end[0])}, their signs alternate"
            raise IllPosedError(f"{to_text(series)} has no value: {reason}")
        return None
    found = falls_from(plain, name, first, context)
    if found is None:
        return None
    start, sign = found
    convex = _convex_from(plain, name, sign, start, context)

    def rest(cut: int) -> tuple[Fraction, Fraction] | Value:
        size, after = ([e * sign for e in _term(plain, name, k)] for k in (cut, cut + 1))
        low, high = Fraction(0), max(size)
        if convex:
            low, high = min(size) / 2, max(size) - min(after) / 2
        return (low, high) if sign * (-1) ** cut > 0 else (-high, -low)

    return _added(series, first, start, wanted, rest)


def _monotone_far_out(plain: Expr, name: str, first: int, context: Context) -> bool:
    for start in (max(first, s) for s in STARTS):
        slope = _slope(plain, name, start, context)
        if slope is None:
            continue
        if any(_holds(from_on(name, start), Rel((op,), (slope, _ZERO)), context) for op in ("<=", ">=")):
            return True
    return False


def _absolutely(
    series: Series, _: _Terms | None, first: int, wanted: Fraction, context: Context
) -> Value | None:
    """By a bound of the size of the terms that falls and has a finite integral."""
    name = series.index
    larger = larger_terms(series, max(first, 1))
    if larger is None:
        return None
    found = falls_from(larger, name, first, context)
    if found is None or found[1] < 0:
        return None

    def rest(cut: int) -> tuple[Fraction, Fraction] | Value:
        whole = _integral_value(larger, name, num(cut), context)
        if whole.enclosure is None:
            most = _geometric(larger, name, found[0], cut, context)
            return Value("unknown", reason=whole.reason) if most is None else (-most, most)
        size = whole.enclosure[1] + _term(larger, name, cut)[1]
        return -size, size

    return _added(series, first, found[0], wanted, rest)


def larger_terms(series: Series, start: int) -> Expr | None:
    """A function that is at least as large as the size of each term from ``start`` on."""
    terms = split_terms(series)
    return _larger(series.body if terms is None else terms.plain, series.index, start)


def _larger(node: Expr, name: str, start: int) -> Expr | None:
    """An expression that is at least the size of the node at every whole index from ``start`` on."""
    given = from_on(name, start).assumptions()
    value = constant_value(node)
    if value is not None:
        return num(abs(value))
    if not isinstance(node, App):
        return node if prove_relation(node, ">=", _ZERO, given) is not None else App("abs", (node,))
    if node.head in ("add", "mul"):
        parts = [_larger(a, name, start) for a in node.args]
        return None if None in parts else App(node.head, tuple(p for p in parts if p is not None))
    if node.head == "neg":
        return _larger(node.args[0], name, start)
    if node.head == "div":
        above = _larger(node.args[0], name, start)
        below = node.args[1]
        if above is None or prove_relation(below, ">", _ZERO, given) is None:
            return None
        return App("div", (above, below))
    if node.head in _AT_MOST_ONE:
        return _ONE
    if node.head == "pow" and name in free_names(node.args[1]):
        base = constant_value(node.args[0])
        if base is not None and base < 0:
            return App("pow", (num(-base), node.args[1]))
    if node.head == "pow" and constant_value(node.args[1]) is not None:
        power = constant_value(node.args[1])
        inner = _larger(node.args[0], name, start)
        if inner is not None and power is not None and power.denominator == 1 and power > 0:
            return App("pow", (inner, node.args[1]))
    return node if prove_relation(node, ">=", _ZERO, given) is not None else None


def _term(plain: Expr, name: str, k: int) -> tuple[Fraction, Fraction]:
    return rational_bounds(at_point(plain, {name: Fraction(k)}, _BITS))


def _added(
    series: Series,
    first: int,
    start: int,
    wanted: Fraction,
    rest: Callable[[int], tuple[Fraction, Fraction] | Value],
) -> Value | None:
    """The first terms in balls and bounds of the rest, with more terms until that is narrow enough."""
    with precision(_BITS):
        total, k = arb(0), first
    found: Value | None = None
    for count in TERMS:
        cut = max(start, first + count)
        while k < cut:
            term = at_point(series.body, {series.index: Fraction(k)}, _BITS)
            with precision(_BITS):
                total += term
            k += 1
        left = rest(cut)
        if isinstance(left, Value):
            return left if left.status == "infinite" else found
        low, high = rational_bounds(total)
        found = Value("ok", (low + left[0], high + left[1]))
        if high - low + left[1] - left[0] <= wanted:
            break
    return found
