from __future__ import annotations

import mpmath as mp
import pytest

IDENTITIES = [
    "for x in R: atan(1/2) + atan(1/3) == pi/4",
    "for x in R: silu(x) == x*sigmoid(x)",
    "for x in R: tanh(x) == 2*sigmoid(2*x) - 1",
    "for x in R: tg(x, tau=1, theta=[0], slope=[0,1], intercept=[0,0]) == silu(x)",
    "for x in R: tg(x, tau=2, theta=[0], slope=[0,0], intercept=[-1,1]) == tanh(x)",
    "for x in R, t > 0, h in R, k in R: tg(x, tau=t, theta=[h,k], slope=[0,0,0], intercept=[1,1,1]) == 1",
    "for a in R, b in R: log(exp(a)+exp(b)) == max(a,b) + softplus(-abs(a-b))",
    "for x in R: softplus(x) - softplus(-x) == x",
    "for x in R: relu(x) == x*step(x)",
    "for x in R: tg(x, tau=oo, theta=[0], slope=[0,1], intercept=[0,0]) == relu(x)",
    "for x in R: tanh(x)*sech(x) == sinh(x)/cosh(x)**2",
    "for x in R: cosh(x)**2 - sinh(x)**2 == 1",
    "for x in R: asinh(x) == log(x+sqrt(x**2+1))",
    "for x in (-1, 1): atanh(x) == log((1+x)/(1-x))/2",
    "for x in R, y in R: tanh(x+y) == (tanh(x)+tanh(y))/(1+tanh(x)*tanh(y))",
    "for x in R: mish(x) == x*((1+exp(x))**2-1)/((1+exp(x))**2+1)",
    "for x in R: gelu(x) == x*(1+erf(x/sqrt(2)))/2",
    "for x in R: gelu(x) - gelu(-x) == x",
    "for x in R: abs(x) == max(x, -x)",
    "for x in R \\ {0}: x/abs(x) == sign(x)",
    "for x in R: sqrt(x**2) == abs(x)",
    "for x > 0, y > 0: log(x*y) == log(x) + log(y)",
    "for x in R, y in R: max(x,y) - min(x,y) == abs(x-y)",
    "for x in R: sinh(asinh(x)) == x",
    "for x in R: exp(3*softplus(x)) == (1+exp(x))**3",
    "for x in R, m > 0: sigmoid(x/m) == exp(x/(2*m))/(2*cosh(x/(2*m)))",
    "for x in R: cos(x)**2 + sin(x)**2 == 1",
    "for x in R, d >= 0: soft_threshold(x, d) == where(x>d, x-d, where(x < -d, x+d, 0))",
    "for x in (-1, 1): tanh(x/2) == tanh(x)/(1 + sech(x))",
    "for xi in (-1, 1): xi*(1 - xi)*sqrt((1+xi)/(1-xi)) == xi*sqrt(1-xi**2)",
    "for xi in (-1, 1): xi*(1 + xi)*sqrt((1-xi)/(1+xi)) == xi*sqrt(1-xi**2)",
]

# Attained bounds, strict bounds, and bounds with parameters.
INEQUALITIES = [
    "for x in (0, pi/2): sin(x) > 2*x/pi",
    "for x in R: cosh(x) <= exp(x**2/2)",
    "for x > 0: sin(x) < x",
    "for x in R: 1 - x**2/2 <= cos(x)",
    "for x in R: silu(x) >= -0.2784648",
    "for x > 0: log(1 + 1/x) < 1/x",
    "for x > 0: (x + 1/2)*log(1 + 1/x) > 1",
    "for x in R, 0 < a < 1: leaky_relu(x, a) == max(x, a*x)",
    "for x in R: abs(tanh(x)*sech(x)) <= 1/2",
    "for x in R, y in R: x**2+y**2 >= 2*x*y",
    "for x in R: exp(x) >= 1 + x",
    "for x > 0: log(x) <= x - 1",
    "for x in R: softplus(x) <= relu(x) + log(2)",
    "for x in R: softplus(x) > relu(x)",
    "for x in R: sigmoid(x) < 1",
    "for x in R: 0 < sigmoid(x)",
    "for x in R, tau > 0, h1 in R, h2 in R, h1 < h2: sigmoid(tau*(x-h1)) - sigmoid(tau*(x-h2)) >= 0",
    "for x in R, tau > 0, h1 in R, h2 in R, h1 < h2: sigmoid(tau*(x-h1)) - sigmoid(tau*(x-h2)) < 1",
    "for x in R: gelu(x) <= relu(x)",
    "for x in [-1,1]: sqrt(1-x**2)*x <= 1/2",
    "for x > 0: tanh(x) < x",
    "for x in R, d >= 0: abs(soft_threshold(x, d)) <= abs(x)",
    "for x in R, tau > 0: abs(sigmoid(tau*x) - step(x)) <= 1/2",
    "for x in R: cos(x)**2 <= 1",
    "for x in R: erf(x) < 1",
    "for x in R: sigmoid(x)*(1-sigmoid(x)) <= 1/4",
    "for x in R: x*sigmoid(x) >= -1/2",
    "for x in R: exp(x) > x",
    "for x in R: atan(x) < pi/2",
    "for x > 1: x**2 + x > 2",
    "for n in N1: n**2 >= n",
    "for x > 0: x*exp(-x) <= exp(-1)",
    "for x in R, y in R, x < y: erf(x) < erf(y)",
    "for x in R, y in R, x < y: softplus(x) < softplus(y)",
    "for x in R: x**2 + x + 1 > 0",
    "for x in R: x**4 - 2*x**2 + 1 >= 0",
]

# One digit, one sign, one end or one point off: true nowhere near all of the domain, or undefined.
NEAR_MISSES = [
    "for x in [0, pi/2]: sin(x) > 2*x/pi",
    "for x in (0, 1.6): sin(x) > 2*x/pi",
    "for x in R: cosh(x) <= exp(x**2/2.000002)",
    "for x in R: sin(x) < x",
    "for x > 0: (x + 0.49)*log(1 + 1/x) > 1",
    "for x > 0: log(1 + 1/x) < 1/x - 1/1000",
    "for x in R: silu(x) >= -0.2784642",
    "for x in R, a in R: leaky_relu(x, a) == max(x, a*x)",
    "for x in R: tanh(x) == 2*sigmoid(2*x) - 1.0001",
    "for x in R: tanh(x)*sech(x) < 1/2",
    "for x in R: abs(tanh(x)*sech(x)) <= 0.49999",
    "for x in R: x/x == 1",
    "for x in R: sqrt(x)**2 == x",
    "for x in R: log(x**2) == 2*log(x)",
    "for x in R: exp(x) > 1 + x",
    "for x in R: sqrt(x**2) == x",
    "for x in R: softplus(x) < relu(x) + log(2)",
    "for x in R: softplus(x) <= relu(x) + 0.6931",
    "for x in R, tau in R, h1 in R, h2 in R, h1 < h2: sigmoid(tau*(x-h1)) - sigmoid(tau*(x-h2)) >= 0",
    "for x in R, tau > 0, sig > 0, h1 in R, h2 in R, h1 < h2: sigmoid(tau*(x-h1)) - sigmoid(sig*(x-h2)) >= 0",
    "for x in R: gelu(x) == x*(1+erf(x))/2",
    "for x in R: gelu(x) < relu(x)",
    "for x in R: relu(x) == x",
    "for x in R: sign(x)*sign(x) == 1",
    "for x in R, y in R: x**2+y**2 > 2*x*y",
    "for x in R: sigmoid(x) <= 0.999999",
    "for x >= 0: tanh(x) < x",
    "for x in R: atanh(x) == log((1+x)/(1-x))/2",
    "for x in R, d in R: soft_threshold(x, d) == where(x>d, x-d, where(x < -d, x+d, 0))",
    "for x in R: abs(sigmoid(x) - step(x)) < 1/2",
    "for x in R: atan(x) < 1.57",
    "for x in R: x**0 == 1",
    "for x in R: 1/x == 1/x",
    "for x in R: tg(x, tau=oo, theta=[0], slope=[0,1], intercept=[0,1]) == relu(x) + where(x >= 0, 1, 0)",
    "for x > 0: x*exp(-x) < exp(-1)",
    "for x > 0: x*exp(-x) <= 0.3678",
    "for x > 0, y in R: log(x*y) == log(x) + log(y)",
    "for x in R, y in R, x <= y: erf(x) < erf(y)",
    "for x in R: x**2 + x + 1/4 > 0",
    "for n in N1: n**2 > n",
    "for x in R: exp(2*log(x)) == x**2",
    "for x in R: tanh(x) == tanh(x) + 0*log(x)",
    "for x in R: where(x >= 0, sqrt(x), 1/x) == where(x > 0, sqrt(x), 1/x)",
    "for a in R, b in R: log(exp(a)+exp(b)) == max(a,b) + softplus(abs(a-b))",
    "for xi in [-1, 1]: xi*sqrt((1-xi)/(1+xi)) == xi*sqrt(1-xi**2)/(1+xi)",
    "for x in R: x*sigmoid(x) >= -0.278",
]


@pytest.mark.parametrize("text", [*IDENTITIES, *INEQUALITIES])
def test_true_relations_are_proved(prove, text):
    found = prove(text)
    assert found is not None
    assert found.steps
    assert found.trust


@pytest.mark.parametrize("text", NEAR_MISSES)
def test_near_misses_are_not_proved(prove, text):
    assert prove(text) is None


@pytest.mark.parametrize("text", [*IDENTITIES, *INEQUALITIES])
def test_what_is_proved_holds_at_samples(claim, mp_value, text):
    body, assumptions = claim(text)
    grid = [mp.mpf(n) / 4 for n in (-31, -9, -4, -3, -1, 0, 1, 2, 3, 4, 5, 13, 40)]
    names = list(assumptions.domains)
    checked = 0
    for k in range(60):
        at = {n: grid[(k * (2 * i + 1) + i * 5) % len(grid)] for i, n in enumerate(names)}
        if not _inside(at, assumptions, mp_value):
            continue
        left, right = (mp_value(t, at) for t in body.terms)
        slack = mp.mpf(10) ** -45 * (1 + abs(left) + abs(right))
        gap = left - right
        allowed = {
            "==": abs(gap) <= slack,
            "<=": gap <= slack,
            "<": gap <= slack,
            ">=": gap >= -slack,
            ">": gap >= -slack,
        }
        assert allowed[body.ops[0]], at
        checked += 1
    assert checked


def _inside(at, assumptions, mp_value):
    for name, domain in assumptions.domains.items():
        x = at[name]
        lo = mp_value(domain.lo, {}) if domain.lo is not None else None
        hi = mp_value(domain.hi, {}) if domain.hi is not None else None
        if lo is not None and (x < lo or (x == lo and not domain.lo_closed)):
            return False
        if hi is not None and (x > hi or (x == hi and not domain.hi_closed)):
            return False
        if domain.integer and x != int(x):
            return False
        if any(x == mp_value(p, {}) for p in domain.without):
            return False
    return all(mp_value(f.terms[0], at) < mp_value(f.terms[1], at) for f in assumptions.facts)


def test_steps_name_the_substitution_and_every_case(prove):
    text = "\n".join(prove("for x in R: softplus(x) <= relu(x) + log(2)").steps)
    assert "case x > 0" in text
    assert "case x < 0" in text
    assert "put t = exp(x)" in "\n".join(prove("for x in R: sigmoid(x) < 1").steps)


def test_attained_bound_is_shown_by_a_square(prove):
    text = "\n".join(prove("for x in R: tanh(x)*sech(x) <= 1/2").steps)
    assert "**2" in text


def test_defined_is_the_callers_word(claim):
    from gateproof.theory.exact.prove import prove_relation

    body, assumptions = claim("for x in R: x/x == 1")
    assert prove_relation(*body.terms[:1], "==", body.terms[1], assumptions) is None
    assert prove_relation(body.terms[0], "==", body.terms[1], assumptions, defined=True) is not None


# Remainders of alternating series have the sign of the first term left out (Leibniz).
BY_TAYLOR = [
    "for x in [0, 1]: sin(x) <= x - x**3/6 + x**5/120 - x**7/5040 + x**9/362880",
    "for x in (0, 1]: sin(x) < x - x**3/6 + x**5/120 - x**7/5040 + x**9/362880",
    "for x in [-1, 0]: sin(x) >= x - x**3/6 + x**5/120 - x**7/5040 + x**9/362880",
    "for x in [0, 1]: cos(x) >= 1 - x**2/2 + x**4/24 - x**6/720",
    "for x in [0, 1]: sin(x) - (x - x**3/6 + x**5/120 - x**7/5040) <= x**9/362880",
]
NOT_BY_TAYLOR = [
    "for x in [0, 1]: sin(x) < x - x**3/6 + x**5/120 - x**7/5040 + x**9/362880",
    "for x in [-1, 1]: sin(x) <= x - x**3/6 + x**5/120 - x**7/5040 + x**9/362880",
    "for x in [0, 1]: sin(x) >= x - x**3/6 + x**5/120 - x**7/5040 + x**9/362880",
    "for x in [0, 1]: sin(x) - (x - x**3/6 + x**5/120 - x**7/5040) <= x**9/362881",
    "for x in [0, 7]: cos(x) >= 1 - x**2/2 + x**4/24",
]


@pytest.mark.parametrize("text", BY_TAYLOR)
def test_contacts_of_high_order(prove, text):
    assert prove(text) is not None


@pytest.mark.parametrize("text", NOT_BY_TAYLOR)
def test_near_misses_of_high_order(prove, text):
    assert prove(text) is None
