"""Partial fractions in u = exp(rate x): the lines and sigmoids of a function, or its pole that no gate has.

sigmoid(m rate (x - theta)) is 1 - w/(u**m + w) with w = exp(m rate theta): simple poles where u**m = -w, at
x = theta + i pi (2 j + 1)/(m rate), each of residue 1/(m rate). They stay simple in sums.
"""

from __future__ import annotations

from gateproof.theory.exact import balls, polys
from gateproof.theory.exact.atoms import Frac
from gateproof.theory.exact.kernels import ZERO, over, plus, raised, times
from gateproof.theory.exact.polys import Poly
from gateproof.theory.exact.writeback import write, write_poly
from gateproof.theory.finite_gate_circles import double_text, rational_steps
from gateproof.theory.finite_gate_form import Coefficients, Form, Reason, nonzero
from gateproof.theory.finite_gate_sum import GateSum, Step, closed
from gateproof.theory.formula.nodes import App, Expr, Var, num
from gateproof.theory.formula.printer import to_text

#: Degrees in u that are worked with.
MAX_DEGREE = 120


def difference_sum(form: Form) -> GateSum | Reason | None:
    """The sum of lines and sigmoids, why there is none, or None where it is not decided."""
    if form.rate is None:
        return GateSum(_coefficient(form, 1, 0), _coefficient(form, 0, 0))
    grown = growth(form)
    if grown is not None:
        return grown
    if max(form.degree, *(max(c) for c in form.above.values())) > MAX_DEGREE:
        return None
    if form.degree == 0:
        return GateSum(_coefficient(form, 1, 0), _coefficient(form, 0, 0))
    if form.rational:
        return rational_steps(form)
    return _by_binomials(form)


def _coefficient(form: Form, power: int, k: int) -> Expr:
    """The value of one numerator's coefficient over that of the denominator."""
    c = form.above.get(power, {}).get(k)
    if c is None:
        return ZERO
    return closed(write(form.ws, form.ws.frac(c, form.below[k])))


def growth(form: Form) -> Reason | None:
    """Exponential growth at an end, which no gate has."""
    lowest, highest = min(form.below), form.degree
    assert form.rate is not None
    for end, turn in (("left", -1), ("right", 1)):
        edge = lowest if turn < 0 else highest
        for coefficients in form.above.values():
            far = min(coefficients) if turn < 0 else max(coefficients)
            gap = turn * (far - edge)
            if gap > 0 and nonzero(form.ws, coefficients[far]) and nonzero(form.ws, form.below[edge]):
                wave = to_text(App("exp", (times(num(turn * gap), form.rate, Var("x")),)))
                return Reason(f"its formula grows like {wave} at the {end} end of the line; a gate does not")
    return None


def _by_binomials(form: Form) -> GateSum | Reason | None:
    """Coefficients with constants such as e: each factor of the denominator has to be a u**m + b."""
    ws, whole = form.ws, _joined(form.below)
    steps: list[Step] = []
    for q, e in polys.factors(whole)[1]:
        parts = polys.coefficients_in(q, _U)
        if max(parts) == 0:
            continue
        if e > 1:
            return _double(form, q, parts, e)
        if len(parts) != 2 or 0 not in parts:
            return None
        m = max(parts)
        w = ws.frac(parts[0], parts[m])
        if balls.sign_of_constant(write(ws, w)) != 1:
            return None
        rest = polys.coefficients_in(polys.times(whole / q, parts[m]), _U)
        found = {}
        for power, above in form.above.items():
            c = _residue(form, above, rest, m, w)
            if c is None:
                return None
            found[power] = c
        steps.append(_step(form, m, w, found))
    if min(form.below) != 0:
        return None
    return GateSum(_coefficient(form, 1, 0), _coefficient(form, 0, 0), tuple(steps))


#: The generator that stands for u while denominators are factored: one that no workspace gets to.
_U = polys.GENERATORS - 1


def _joined(by_power: Coefficients) -> Poly:
    total = polys.ZERO
    for k, c in by_power.items():
        total = total + polys.times(c, polys.power(polys.GENS[_U], k))
    return total


def _double(form: Form, q: Poly, parts: Coefficients, e: int) -> Reason | None:
    """A factor twice in the denominator is a double pole unless the numerators vanish there too."""
    ws = form.ws
    if not nonzero(ws, parts[max(parts)]) or not nonzero(ws, parts.get(0, polys.ZERO)):
        return None
    for above in form.above.values():
        if nonzero(ws, q.resultant(_joined(above), f"g{_U}")):
            return Reason(double_text(e, _where(form, parts)), every=False)
    return None


def _where(form: Form, parts: Coefficients) -> str:
    u = Var("u")
    terms = [times(write_poly(form.ws, c), raised(u, k)) for k, c in sorted(parts.items(), reverse=True)]
    assert form.rate is not None
    return f"{to_text(plus(*terms))} = 0 for u = {to_text(App('exp', (times(form.rate, Var('x')),)))}"


def _residue(form: Form, above: Coefficients, rest: Coefficients, m: int, w: Frac) -> Frac | None:
    """c with above = -c w rest modulo u**m + w, the same for all powers of u; None where there is none."""
    ws = form.ws
    top, low = _reduced(form, above, m, w), _reduced(form, rest, m, w)
    place = next((k for k, c in low.items() if not c.is_zero), None)
    if place is None:
        return None
    c = ws.div(top.get(place, ws.number(0)), low[place])
    for k in {*top, *low}:
        gap = ws.sub(top.get(k, ws.number(0)), ws.mul(c, low.get(k, ws.number(0))))
        if not gap.is_zero:
            return None
    return ws.div(ws.sub(ws.number(0), c), w)


def _reduced(form: Form, by_power: Coefficients, m: int, w: Frac) -> dict[int, Frac]:
    ws, result = form.ws, dict[int, Frac]()
    minus_w = ws.sub(ws.number(0), w)
    for k, c in by_power.items():
        value = ws.mul(Frac(c, polys.ONE), ws.power(minus_w, k // m))
        result[k % m] = ws.add(result.get(k % m, ws.number(0)), value)
    return result


def _step(form: Form, m: int, w: Frac, found: dict[int, Frac]) -> Step:
    ws = form.ws
    assert form.rate is not None
    tau = closed(times(num(m), form.rate))
    theta = closed(over(App("log", (write(ws, w),)), tau))
    slope, intercept = (closed(write(ws, found[k])) if k in found else ZERO for k in (1, 0))
    return Step(tau, theta, slope, intercept)
