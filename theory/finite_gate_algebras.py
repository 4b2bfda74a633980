"""Finite gates of the other two algebras: softmax gates by positive denominators, stick gates by products.

Softmax gates are quotients with one positive denominator: f = N(u)/D(u) is one where all powers of u in N
are in D, and all coefficients of D are positive. For D > 0 on u >= 0 a factor (1 + u)**n brings that about
(Polya). Products s_1 .. s_j of sigmoids of one sharpness span what the sigmoids do, so stick gates of one
sharpness and distinct thresholds are the difference gates of as many branches; equal thresholds give powers
of one sigmoid.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import comb, gcd

from gateproof.theory.exact import balls, polys
from gateproof.theory.exact.atoms import Frac
from gateproof.theory.exact.kernels import ONE, ZERO, minus, over, plus, times
from gateproof.theory.exact.polys import Poly
from gateproof.theory.exact.writeback import write
from gateproof.theory.finite_gate_circles import polynomial
from gateproof.theory.finite_gate_form import Coefficients, Form, Reason
from gateproof.theory.finite_gate_poles import growth
from gateproof.theory.finite_gate_sum import GateSum, closed
from gateproof.theory.formula.nodes import App, Expr, num
from gateproof.theory.gate import Gate

#: Branches that a gate is sought with.
MAX_BRANCHES = 16


def softmax_gate(form: Form, *, shared: bool = False) -> tuple[Gate, int] | Reason | None:
    """Softmax gates with the function's value, as few as a factor (1 + u)**n gives, and a lower bound.

    With one sharpness if ``shared``. The bound is one of their number, for any sharpness.
    """
    if form.rate is None:
        return None
    grown = growth(form)
    if grown is not None:
        return grown
    if min(form.below) != 0:
        return None
    step = gcd(*form.below, *(k for c in form.above.values() for k in c))
    below = {k // step: c for k, c in form.below.items()}
    above = {p: {k // step: c for k, c in n.items()} for p, n in form.above.items()}
    for n in range(MAX_BRANCHES - max(below)):
        weights = _raised(below, n)
        signs = {k: balls.sign_of_constant(_value(form, c)) for k, c in weights.items()}
        if any(s != 1 for s in signs.values()) or (shared and len(weights) <= max(weights)):
            continue
        lines = {p: _raised(c, n) for p, c in above.items()}
        if len(weights) <= MAX_BRANCHES and all(set(c) <= set(weights) for c in lines.values()):
            return _softmax(form, step, weights, lines), _fewest(form)
    return None


def _fewest(form: Form) -> int:
    """How many softmax gates the function takes at least, whatever their sharpness.

    With N and D in lowest terms and D in powers of u**g, exponents of the weights fall into classes modulo g.
    The weights of each class are a multiple of D: with a root of order e, it has e + 1 terms or more. With
    a class there are those that N's exponents lead to from it, so that the order of the subgroup that these
    generate is a lower bound of their number.
    """
    g = gcd(*form.below)
    if not form.rational or not g:
        return 1
    order = max(e for _, e in polynomial(form.below).factor()[1])
    return int(g // gcd(g, *(k for c in form.above.values() for k in c))) * (order + 1)


def _raised(p: Coefficients, n: int) -> Coefficients:
    """P (1 + u)**n without coefficients that are 0."""
    total: Coefficients = {}
    for k, c in p.items():
        for j in range(n + 1):
            total[k + j] = total.get(k + j, polys.ZERO) + c * comb(n, j)
    return {k: c for k, c in total.items() if not c.is_zero()}


def _value(form: Form, c: Poly) -> Expr:
    return write(form.ws, Frac(c, polys.ONE))


def _softmax(form: Form, step: int, weights: Coefficients, lines: dict[int, Coefficients]) -> Gate:
    assert form.rate is not None
    places = sorted(weights)
    tau, theta = [], []
    for k, j in pairwise(places):
        tau.append(closed(times(num((j - k) * step), form.rate)))
        ratio = form.ws.frac(weights[k], weights[j])
        theta.append(closed(over(App("log", (write(form.ws, ratio),)), tau[-1])))

    def values(power: int) -> tuple[Expr, ...]:
        above = lines.get(power, {})
        return tuple(
            closed(write(form.ws, form.ws.frac(above[k], weights[k]))) if k in above else ZERO for k in places
        )

    return Gate(tuple(tau), tuple(theta), values(1), values(0), "softmax")


def stick_gate(total: GateSum) -> Gate | None:
    """The stick gate of a merged sum with one finite sharpness."""
    if any(s.hard or s.tau != total.steps[0].tau for s in total.steps):
        return None
    n = len(total.steps)
    left = [(s.slope, s.intercept) for s in total.steps]
    jumps: list[tuple[Expr, Expr]] = []
    for j in range(n - 1, -1, -1):
        factors = [_factor(total, j, i) for i in range(j + 1)]
        a, b = (over(c, factors[j]) for c in left[j])
        for i in range(j):
            s, c = left[i]
            left[i] = (plus(s, minus(times(a, factors[i]))), plus(c, minus(times(b, factors[i]))))
        jumps.append((a, b))
    slope, intercept = [total.slope], [total.intercept]
    for a, b in reversed(jumps):
        slope.append(closed(plus(slope[-1], a)))
        intercept.append(closed(plus(intercept[-1], b)))
    steps = total.steps
    return Gate(
        tuple(s.tau for s in steps), tuple(s.theta for s in steps), tuple(slope), tuple(intercept), "stick"
    )


def _factor(total: GateSum, j: int, i: int) -> Expr:
    """The coefficient of s_i in s_0 .. s_j: the product of 1/(1 - exp(tau (theta_l - theta_i))), l != i."""
    steps = total.steps
    product: Expr = ONE
    for other in range(j + 1):
        if other != i:
            gap = closed(times(steps[0].tau, plus(steps[other].theta, minus(steps[i].theta))))
            product = times(product, plus(ONE, minus(App("exp", (gap,)))))
    return over(ONE, product)


def stick_power(form: Form) -> tuple[Gate, int] | None:
    """A polynomial in one sigmoid s = v/(v + w), v = u**m: thresholds that are all equal.

    A pole of order n takes n sigmoids in a product, so n + 1 branches are the fewest.
    """
    if form.rate is None or growth(form) is not None:
        return None
    found = _power_of_binomial(form)
    if found is None:
        return None
    m, n, w = found
    if n + 1 > MAX_BRANCHES or any(k % m for c in form.above.values() for k in c):
        return None
    ws = form.ws
    lines: dict[int, list[Expr]] = {}
    for power, above in form.above.items():
        # v**j/(v + w)**n = w**(j - n) s**j (1 - s)**(n - j).
        total = [ws.number(0)] * (n + 1)
        for k, c in above.items():
            j = k // m
            value = ws.mul(ws.frac(c, form.below[m * n]), ws.power(w, j - n))
            for i in range(n - j + 1):
                total[j + i] = ws.add(total[j + i], ws.mul(value, ws.number((-1) ** i * comb(n - j, i))))
        # The branch after j sigmoids holds what the first j powers sum to.
        sums = [total[0]]
        for t in total[1:]:
            sums.append(ws.add(sums[-1], t))
        lines[power] = [closed(write(ws, t)) for t in sums]
    tau = closed(times(num(m), form.rate))
    theta = closed(over(App("log", (write(ws, w),)), tau))
    none = [ZERO] * (n + 1)
    gate = Gate((tau,) * n, (theta,) * n, tuple(lines.get(1, none)), tuple(lines.get(0, none)), "stick")
    return gate, n + 1


def _power_of_binomial(form: Form) -> tuple[int, int, Frac] | None:
    """(m, n, w) with the denominator a constant times (u**m + w)**n."""
    ws, d = form.ws, form.degree
    if 0 not in form.below or not d:
        return None
    places = sorted(form.below)
    m = places[1]
    if d % m or len(places) != d // m + 1:
        return None
    n = d // m
    # The two highest coefficients give n w.
    w = ws.mul(ws.frac(form.below[m * (n - 1)], form.below[d]), ws.number(Fraction(1, n)))
    for k in range(n + 1):
        expected = ws.mul(ws.number(comb(n, k)), ws.power(w, n - k))
        found = form.below.get(m * k)
        if found is None or not ws.sub(ws.frac(found, form.below[d]), expected).is_zero:
            return None
    return (m, n, w) if balls.sign_of_constant(write(ws, w)) == 1 else None
