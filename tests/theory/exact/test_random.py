"""Random expressions: rewritten they stay equal, changed they are never proved equal."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.nodes import App, Expr, Num, Rel, Var, Where, num, rebuild

QUIET = {"derandomize": True, "deadline": None, "suppress_health_check": list(HealthCheck)}
SMOOTH = ("exp", "sigmoid", "tanh", "sech", "softplus", "sinh", "cosh", "atan", "erf", "asinh")
PARTIAL = ("log", "sqrt", "asin", "atanh", "acosh", "tan", "abs", "sign", "cos", "erfc")
X, Y = Var("x"), Var("y")
LINE = Assumptions({"x": Domain(), "y": Domain()})

numbers = st.sampled_from([num(Fraction(v)) for v in ("1", "2", "3", "-1", "-2", "1/2", "1/3", "-3/2")])
linear = st.one_of(
    st.sampled_from([X, Y]),
    st.builds(lambda c, v: App("mul", (c, v)), numbers, st.sampled_from([X, Y])),
    st.builds(lambda c, v: App("add", (v, c)), numbers, st.sampled_from([X, Y])),
)


def _grow(heads):
    def extend(inner):
        return st.one_of(
            st.builds(lambda a, b: App("add", (a, b)), inner, inner),
            st.builds(lambda a, b: App("mul", (a, b)), inner, inner),
            st.builds(lambda a: App("neg", (a,)), inner),
            st.builds(lambda h, a: App(h, (a,)), st.sampled_from(heads), linear),
            st.builds(lambda a, b: App("max", (a, b)), linear, linear),
            st.builds(lambda a: App("pow", (a, num(2))), inner),
        )

    return extend


total = st.recursive(st.one_of(linear, numbers), _grow(SMOOTH), max_leaves=6)


def _half(u: Expr) -> Expr:
    return App("div", (u, num(2)))


def _sigmoid_of_double(u: Expr) -> Expr:
    return App("sigmoid", (App("mul", (num(2), u)),))


def _rewritten(node: Expr, choose) -> Expr:
    """The same function written otherwise."""
    new = rebuild(node, lambda c: _rewritten(c, choose) if isinstance(c, Expr) else c)
    if not isinstance(new, App) or not choose():
        return new
    u = new.args[0]
    rules = {
        "sigmoid": lambda: App("div", (num(1), App("add", (num(1), App("exp", (App("neg", (u,)),)))))),
        "tanh": lambda: App("add", (App("mul", (num(2), _sigmoid_of_double(u))), num(-1))),
        "sech": lambda: App("div", (num(1), App("cosh", (u,)))),
        "softplus": lambda: App("add", (App("softplus", (App("neg", (u,)),)), u)),
        "exp": lambda: App("pow", (App("exp", (_half(u),)), num(2))),
        "sinh": lambda: App("mul", (App("tanh", (u,)), App("cosh", (u,)))),
        "cosh": lambda: _half(App("add", (App("exp", (u,)), App("exp", (App("neg", (u,)),))))),
        "erf": lambda: App("add", (num(1), App("neg", (App("erfc", (u,)),)))),
        "asinh": lambda: App("neg", (App("asinh", (App("neg", (u,)),)),)),
        "atan": lambda: App("neg", (App("atan", (App("neg", (u,)),)),)),
        "max": lambda: Where(Rel((">=",), new.args), *new.args),
        "add": lambda: App("add", tuple(reversed(new.args))),
        "mul": lambda: App("mul", tuple(reversed(new.args))),
        "neg": lambda: App("mul", (num(-1), u)),
    }
    return rules[new.head]() if new.head in rules else new


@settings(max_examples=150, **QUIET)
@given(total, st.data())
def test_rewritten_expressions_are_proved_equal(node, data):
    other = _rewritten(node, lambda: data.draw(st.booleans()))
    assert prove_relation(node, "==", other, LINE) is not None


@settings(max_examples=150, **QUIET)
@given(total, st.data())
def test_a_changed_number_is_never_proved(mp_value, node, data):
    other = _rewritten(node, lambda: data.draw(st.booleans()))
    changed, count = _changed(other, data.draw(st.integers(0, 7)))
    assume(count > 0)
    assume(_differ(node, changed, mp_value))
    note(changed)
    assert prove_relation(node, "==", changed, LINE) is None


def _differ(a: Expr, b: Expr, mp_value) -> bool:
    at = {"x": mp.mpf("0.37"), "y": mp.mpf("-1.61")}
    try:
        return abs(mp_value(a, at) - mp_value(b, at)) > mp.mpf(10) ** -25
    except ArithmeticError:
        return True


def _changed(node: Expr, which: int) -> tuple[Expr, int]:
    """One number made a thousandth larger, or one minus dropped."""
    places: list[Expr] = [
        n for n in node.walk() if isinstance(n, Num) or (isinstance(n, App) and n.head == "neg")
    ]
    if not places:
        return node, 0
    chosen = places[which % len(places)]

    def visit(inner):
        if inner is chosen:
            if isinstance(inner, Num):
                return Num(inner.value + Fraction(1, 1000))
            return inner.args[0]
        return rebuild(inner, visit)

    return visit(node), len(places)


anything = st.recursive(
    st.one_of(linear, numbers, st.just(num(0))),
    lambda inner: st.one_of(
        _grow(SMOOTH + PARTIAL)(inner),
        st.builds(lambda h, a: App(h, (a,)), st.sampled_from(SMOOTH + PARTIAL), inner),
        st.builds(lambda a, b: App("div", (a, b)), inner, inner),
        st.builds(
            lambda op, a, b, c: Where(Rel((op,), (a, b)), c, a),
            st.sampled_from(["<", "<=", "==", "!="]),
            linear,
            linear,
            inner,
        ),
    ),
    max_leaves=4,
)
domains = st.sampled_from(
    [
        Domain(),
        Domain(lo=num(0)),
        Domain(lo=num(0), lo_closed=True),
        Domain(num(-1), num(1), True, True),
        Domain(lo=num(1)),
        Domain(without=(num(0),)),
        Domain(lo=App("log", (num(2),)), hi=num(3)),
    ]
)
POINTS = [mp.mpf(v) / 8 for v in (-80, -12, -8, -4, 0, 1, 4, 6, 8, 12, 23)]


@settings(max_examples=60, **QUIET)
@given(anything, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), anything, domains, domains)
def test_what_is_proved_holds_and_has_a_value(mp_value, left, op, right, first, second):
    assumptions = Assumptions({"x": first, "y": second})
    if prove_relation(left, op, right, assumptions) is None:
        return
    for x in _inside(first, mp_value):
        for y in _inside(second, mp_value):
            try:
                a, b = (mp_value(side, {"x": x, "y": y}) for side in (left, right))
            except OverflowError:
                continue
            except ArithmeticError:
                raise AssertionError(f"no value at {x}, {y}") from None
            gap, slack = a - b, mp.mpf(10) ** -40 * (1 + abs(a) + abs(b))
            if op in ("==", "<="):
                assert gap <= slack
            if op in ("==", ">="):
                assert gap >= -slack
            if op in ("<", ">"):
                assert gap <= slack if op == "<" else gap >= -slack


def _inside(domain, mp_value):
    lo = mp_value(domain.lo, {}) if domain.lo is not None else -mp.inf
    hi = mp_value(domain.hi, {}) if domain.hi is not None else mp.inf
    return [
        p
        for p in POINTS
        if (lo < p or (domain.lo_closed and lo == p))
        and (p < hi or (domain.hi_closed and hi == p))
        and all(p != mp_value(w, {}) for w in domain.without)
    ]
