"""Dense samples of random formulas held against every evaluator: on thin, wide, huge and infinite boxes.

Values come from mpmath, to 50 digits on which two precisions agree. Slopes are held against divided
differences: f[x_0..x_k] is f^(k)/k! at a point between.
"""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from functools import partial

import mpmath as mp
from flint import arb, fmpq
from hypothesis import strategies as st
from random_formulas import KINKED, by_mpmath, mpf

import gateproof
from gateproof.numerics import interval as iv
from gateproof.numerics.ball import evaluate, evaluate_interval
from gateproof.numerics.errors import MaybeUndefined, NotSmooth
from gateproof.numerics.extrema import extremum
from gateproof.numerics.forms import Line, outer
from gateproof.numerics.jets import jet, value_near
from gateproof.numerics.precision import precision
from gateproof.numerics.series import taylor
from gateproof.numerics.special import special_points
from gateproof.theory.formula import FormulaError, to_text
from gateproof.theory.formula.nodes import App, Num, Rel, Var, Where

ONE, TWO = Num(Fraction(1)), Num(Fraction(2))
ORDERS = (1, 2, 3, 5, 8, 13)


def _square(a):
    return App("pow", (a, TWO))


def _power(n, a):
    return App("pow", (App("add", (ONE, _square(a))), Num(Fraction(n))))


#: Functions that are partial, or grow, with arguments for which they are defined and of moderate size.
SAFE = {
    "gauss": lambda a: App("exp", (App("neg", (_square(a),)),)),
    "exp": lambda a: App("exp", (App("atan", (a,)),)),
    "sinh": lambda a: App("sinh", (App("tanh", (a,)),)),
    "log": lambda a: App("log", (App("add", (ONE, _square(a))),)),
    "sqrt": lambda a: App("sqrt", (App("add", (ONE, _square(a))),)),
    "root": lambda a: App("sqrt", (App("abs", (a,)),)),
    "third": partial(_power, Fraction(1, 3)),
    "minus": partial(_power, Fraction(-3, 2)),
    "over": partial(_power, -1),
    "cube": lambda a: App("pow", (a, Num(Fraction(3)))),
    "asin": lambda a: App("asin", (App("sin", (a,)),)),
    "acos": lambda a: App("acos", (App("mul", (Num(Fraction(1, 2)), App("sin", (a,)))),)),
    "acosh": lambda a: App("acosh", (App("add", (TWO, App("cos", (a,)))),)),
    "atanh": lambda a: App("atanh", (App("mul", (Num(Fraction(7, 8)), App("tanh", (a,)))),)),
    "tan": lambda a: App("tan", (App("mul", (Num(Fraction(3, 4)), App("atan", (a,)))),)),
    "logistic": lambda a: App("div", (ONE, App("add", (ONE, App("exp", (App("asinh", (a,)),)))))),
}


PAIRS = {
    **{head: partial(lambda head, a, b: App(head, (a, b)), head) for head in ("add", "mul", "max", "min")},
    "div": lambda a, b: App("div", (a, App("cosh", (App("tanh", (b,)),)))),
    "where": lambda a, b: Where(Rel(("<",), (Var("x"), ONE)), a, b),
}


def _tree(rng, names, depth):
    if depth == 0:
        return (
            Num(Fraction(rng.randint(-48, 48), rng.randint(1, 12)))
            if rng.random() < 0.2
            else Var(rng.choice(names))
        )
    kind, inner = rng.randrange(3), _tree(rng, names, depth - 1)
    if kind == 0:
        return PAIRS[rng.choice(sorted(PAIRS))](inner, _tree(rng, names, rng.randrange(depth)))
    if kind == 1:
        return App(rng.choice(KINKED), (inner,))
    return SAFE[rng.choice(sorted(SAFE))](inner)


def formulas(*names):
    """Trees of up to 4 levels, all heads alike (strategies of hypothesis repeat few heads and leaves)."""
    seeds = st.integers(0, 2**64 - 1)
    return st.builds(lambda seed, depth: _tree(random.Random(seed), names, depth), seeds, st.integers(1, 4))


FINE = st.integers(-4096, 4096).map(lambda n: Fraction(n, 512))
THIRDS = st.fractions(min_value=-9, max_value=9, max_denominator=30)  # ends that no binary number is
WIDTHS = st.sampled_from(
    [Fraction(0), Fraction(1, 2**40), *(Fraction(1, 2**k) for k in (12, 6, 3, 1)), Fraction(3)]
)
HUGE = st.sampled_from([Fraction(10) ** k for k in (2, 4, 9, 30)])
BITS = st.sampled_from([24, 53, 64, 113, 200])


@st.composite
def boxes(draw):
    lo = draw(st.one_of(FINE, THIRDS))
    return lo, lo + draw(WIDTHS)


@st.composite
def wide_boxes(draw):
    """Ends far out, or infinite (None)."""
    near, far = draw(THIRDS), draw(HUGE)
    return draw(
        st.sampled_from([(-far, far), (near, far), (-far, near), (near, None), (None, near), (None, None)])
    )


def samples(expr, lo, hi, count):
    """Rational points of the box: its ends, kinks, and points between (far out by powers of 3)."""
    low = Fraction(-(10**40)) if lo is None else lo
    high = Fraction(10**40) if hi is None else hi
    inside = {low, high, *(k for k in special_points(expr, "x") if low <= k <= high)}
    # Not at equal distances, which would meet the zeros of waves and the same binary digits again and again.
    inside |= {low + (high - low) * Fraction((7919 * i) % 104_729, 104_729) for i in range(1, count)}
    if high - low > 50:
        inside |= {s for k in range(count) if low <= (s := Fraction((-1) ** k * 3**k, 7)) <= high}
    return sorted(inside)


def reference(expr, at):
    """The value to 50 digits, from two precisions that agree; None where they do not."""
    before = None
    for digits in (60, 120, 240, 480):
        with mp.workdps(digits):
            value = by_mpmath(expr, {name: mpf(x) for name, x in at.items()})
            if before is not None and abs(value - before) <= mp.mpf(10) ** -50 * (1 + abs(value)):
                return value
        before = value
    return None


def holds(found, value, *where, room="1e-45"):
    """An interval without nan has the value in it."""
    lo, hi = found
    assert not lo.is_nan(), where
    assert not hi.is_nan(), where
    if value is None:
        return
    Tally.checks += 1
    with mp.workdps(130):
        slack = mp.mpf(room) * (1 + abs(value))
        assert not lo.is_finite() or exactly(lo) <= value + slack, where
        assert not hi.is_finite() or exactly(hi) >= value - slack, where


class Tally:
    """How often a value was looked for in an enclosure."""

    checks = 0


def exactly(end):
    """An end of an interval, exactly."""
    if not end.is_finite():
        return mp.inf if end > 0 else -mp.inf
    mantissa, exponent = end.man_exp()
    return mp.ldexp(mp.mpf(int(mantissa)), int(exponent))


def ball_of(lo, hi):
    low, high = (arb(fmpq(e.numerator, e.denominator)) for e in (lo, hi))
    return low if lo == hi else low.union(high)


def on_a_box(expr, lo, hi, bits, count=12):
    """Every evaluator in one name against the samples."""
    where = to_text(expr), lo, hi, bits
    with precision(bits):
        inside, ball, line = outer(lo, hi), ball_of(lo, hi), Line(expr, "x")
        found = {
            "interval": evaluate_interval(expr, {"x": inside}, bits),
            "ball": iv.of_ball(evaluate(expr, {"x": ball}, bits)),
            "natural": line.natural(lo, hi),
            "near": value_near(line, ball),
        }
        whole = jet(line, lo, hi)
        for order in ORDERS:
            form = Line(expr, "x", order).taylor(lo, hi)
            if form is not None:
                found[f"taylor {order}"], found[f"middle {order}"] = form[0], None
    if whole is not None:
        found["jet"] = whole.value
    points = samples(expr, lo, hi, 1 if lo == hi else count)
    values = [reference(expr, {"x": x}) for x in points]
    for name, range_ in found.items():
        if range_ is not None:
            for x, value in zip(points, values, strict=True):
                holds(range_, value, name, x, *where)
    expansions(expr, lo, hi, points, values, bits)
    slopes(expr, lo, hi, points, values, bits, whole)
    through_the_api(expr, lo, hi, points, values, bits, whole)


def expansions(expr, lo, hi, points, values, bits):
    """f(m + h) in sum c_j(m) h**j + c_n(box) h**n, at the samples."""
    middle = (lo + hi) / 2
    for n in ORDERS:
        with precision(bits):
            inside, thin = ball_of(lo, hi), ball_of(middle, middle)
        try:
            here, over = taylor(expr, "x", {"x": thin}, n, bits), taylor(expr, "x", {"x": inside}, n, bits)
        except (NotSmooth, MaybeUndefined):
            return
        assert len(here) == len(over) == n + 1
        for x, value in zip(points, values, strict=True):
            with precision(bits + 400):
                h = ball_of(x - middle, x - middle)
                total = sum((c * h**j for j, c in enumerate([*here[:n], over[n]])), arb(0))
                inside = iv.of_ball(total)
            holds(inside, value, f"expansion {n}", x, to_text(expr), lo, hi, bits)


def slopes(expr, lo, hi, points, values, bits, whole):
    """Divided differences are derivatives at a point between: f[x_0..x_k] = f^(k)(xi)/k!."""
    if whole is None or lo == hi or None in values:
        return
    with precision(bits):
        coefficients = Line(expr, "x").series({"x": outer(lo, hi)}, 4)
    with mp.workdps(130):
        level, xs = values, [mpf(x) for x in points]
        for k in range(1, min(5, len(xs))):
            level = [(b - a) / (xs[i + k] - xs[i]) for i, (a, b) in enumerate(itertools.pairwise(level))]
            # 50 digits of the values, divided by distances.
            room = mp.mpf(10) ** -45 / min(xs[i + 1] - xs[i] for i in range(len(xs) - 1)) ** k
            if room > mp.mpf(10) ** -8:
                return
            ranges = {f"c_{k}": iv.of_ball(coefficients[k])}
            if k == 1:
                ranges["slope"] = whole.slope
            if k == 2:
                with precision(1000):
                    ranges["curve"] = tuple(e / 2 for e in whole.curve)
            for name, range_ in ranges.items():
                for value in level:
                    holds(range_, value, name, to_text(expr), lo, hi, bits, room=room)


def through_the_api(expr, lo, hi, points, values, bits, whole):
    """`gateproof.formula(text).ball` and `.gradient().ball`, at points and on balls."""
    formula = gateproof.formula(to_text(expr))
    if not formula.names:
        return
    where = to_text(expr), lo, hi, bits
    with precision(bits):
        ball = ball_of(lo, hi)
        range_ = iv.of_ball(formula.ball(ball))
        at = [iv.of_ball(formula.ball(x)) if abs(x) < 2**20 else None for x in points[:3]]
    for x, value, thin in zip(points, values, [*at, *[None] * len(points)], strict=False):
        holds(range_, value, "api", x, *where)
        if thin is not None:
            holds(thin, value, "api at a point", x, *where)
    if whole is None or lo == hi or None in values or hi - lo < Fraction(1, 2**20):
        return
    try:
        slope = formula.gradient().ball
    except FormulaError:  # too many parts at its kinks
        return
    with precision(bits):
        try:
            over = iv.of_ball(slope(ball))
        except MaybeUndefined:
            over = None
        x = (lo + hi) / 2
        thin = iv.of_ball(slope(x))
    step = Fraction(1, 10**25)
    left, right = (reference(expr, {"x": x + s}) for s in (-step, step))
    with mp.workdps(130):
        value = None if None in (left, right) else (right - left) / (2 * mpf(step))
        holds(thin, value, "gradient at a point", x, *where, room="1e-15")
        if over is not None:
            holds(over, value, "gradient", x, *where, room="1e-15")


def precisions(expr, box):
    """Enclosures at all precisions meet; more bits do not widen them beyond the rounding of the fewer.

    They can widen within it: cos of a ball near 0 is cut off at 1, which hides its radius at few bits.
    """

    def form(order, env, bits):
        with precision(bits):
            found = Line(expr, "x", order).taylor(*map(iv.to_fraction, env["x"]))
        return None if found is None else found[0]

    for run in (partial(evaluate_interval, expr), partial(form, 2), partial(form, 5)):
        kept = None
        for bits in (24, 53, 113, 300):
            found = run({"x": box}, bits)
            if found is None or not (found[0].is_finite() and found[1].is_finite()):
                continue
            with precision(1000):
                width = found[1] - found[0]
                if kept is not None:
                    (low, high), before, fewer = kept
                    assert max(low, found[0]) <= min(high, found[1]), (to_text(expr), box, bits)
                    size = 1 + max(abs(e) for e in found)
                    assert width <= before * (1 + arb(2) ** -8) + size * arb(2) ** -(fewer - 8), (
                        to_text(expr), box, bits,
                    )  # fmt: skip
                kept = found, width, bits


def far_out(expr, lo, hi, bits):
    """Huge and infinite boxes: never nan, and every sample inside."""
    ends = (iv.NEG_INF if lo is None else outer(lo, lo)[0], iv.INF if hi is None else outer(hi, hi)[1])
    try:
        found = [evaluate_interval(expr, {"x": ends}, bits)]
        with precision(bits):
            ball = ends[0].union(ends[1]) if lo is not None and hi is not None else arb(0, arb.pos_inf())
        found.append(iv.of_ball(evaluate(expr, {"x": ball}, bits)))
    except MaybeUndefined:
        return
    for x in samples(expr, lo, hi, 8):
        value = reference(expr, {"x": x})
        for range_ in found:
            holds(range_, value, to_text(expr), x, lo, hi, bits)


def on_two_names(expr, x, y, bits):
    """One name is expanded, the other an interval."""
    box = {"x": x, "y": y}
    with precision(bits):
        env = {name: outer(*ends) for name, ends in box.items()}
        balls = {name: ball_of(*ends) for name, ends in box.items()}
        middle = sum(x) / 2
        thin = {**balls, "x": ball_of(middle, middle)}
    found = evaluate_interval(expr, env, bits)
    try:
        expanded = taylor(expr, "x", thin, 3, bits)[:3] + taylor(expr, "x", balls, 3, bits)[3:]
    except (NotSmooth, MaybeUndefined):
        expanded = None
    for a, b in itertools.product(samples(expr, *x, 3), samples(expr, *y, 3)):
        value = reference(expr, {"x": a, "y": b})
        holds(found, value, to_text(expr), a, b, bits)
        if expanded is not None:
            with precision(bits + 200):
                h = ball_of(a - middle, a - middle)
                total = iv.of_ball(sum((c * h**j for j, c in enumerate(expanded)), arb(0)))
            holds(total, value, "expansion", to_text(expr), a, b, box, bits)


def look(data, count=12):
    """All of it, once, at random."""
    bits = data.draw(BITS)
    expr = data.draw(formulas("x"))
    lo, hi = data.draw(boxes())
    on_a_box(expr, lo, hi, bits, count)
    with precision(300):
        precisions(expr, outer(lo, hi))
    far_out(data.draw(formulas("x")), *data.draw(wide_boxes()), bits)
    on_two_names(data.draw(formulas("x", "y")), data.draw(boxes()), data.draw(boxes()), bits)


def suprema(expr, lo, hi, budget):
    """No sample is above the supremum or below the infimum, also where these are infinite sides."""
    for which, sign in (("sup", 1), ("inf", -1)):
        found = extremum(expr, "x", lo, hi, which, 8, budget, with_certificate=False)
        if found.status != "ok":
            continue
        assert found.value[0] <= found.value[1]
        bound = found.value[1] if sign > 0 else -found.value[0]
        for x in samples(expr, lo, hi, 24):
            value = reference(expr, {"x": x})
            with mp.workdps(130):
                assert value is None or sign * value <= mpf(bound) + mp.mpf(10) ** -45 * (1 + abs(value)), (
                    which, to_text(expr), x, lo, hi, found.value,
                )  # fmt: skip
        Tally.checks += 1
