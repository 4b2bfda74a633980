"""Gates with tolerances: exact worst cases, sampled devices below them, and what is refused."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateproof.numerics.bounds import Budget
from gateproof.numerics.certify_tolerant import certify_tolerant
from gateproof.numerics.device_noise import noisy
from gateproof.numerics.tolerance import Tolerance, ToleranceError, decimal, gates_of, pieces
from gateproof.proofs_check.checker import verify
from gateproof.theory.formula import parse_expr
from gateproof.theory.formula.printer import to_text

F = Fraction
SWISH = "tg(x, tau={tau}, theta=[0], slope=[0, 1], intercept=[0, 0])"
#: sup of |x sigmoid(1.702 x) - gelu(x)|, mpmath's findroot on the derivative.
NOMINAL = mp.mpf("0.02033487220923923022412989")


def sizes(**given):
    return {
        key: Tolerance(F(size[:-1]) / 100, True) if size.endswith("%") else Tolerance(F(size), False)
        for key, size in given.items()
    }


def worst(text, digits=12, **given):
    return certify_tolerant(parse_expr(text), digits, sizes(**given), Budget())


def encloses(found, right, digits=12):
    lo, hi = (F(found["value"][k]) for k in ("lo", "hi"))
    # The right values come with 30 digits.
    slack = F(1, 10**28)
    return lo - slack <= F(str(right)) <= hi + slack and hi - lo <= abs(F(str(right))) * F(10) ** (2 - digits)


def lambert(a, d=0):
    """sup over x of |x sigmoid(a (x - d)) - relu(x)| for d >= 0.

    With u = a x, (u - 1) exp(u - 1) = exp(a d - 1) there, and a times the value is u - 1.
    """
    with mp.workdps(30):
        return mp.lambertw(mp.exp(mp.mpf(a) * d - 1)).real / a


@pytest.mark.parametrize(
    ("text", "given", "right"),
    [
        (f"sup(abs({SWISH.format(tau=2)} - relu(x)), x in R)", {"tau": "5%"}, lambert(mp.mpf("1.9"))),
        (f"sup(abs({SWISH.format(tau=2)} - relu(x)), x in R)", {"tau": "0.5"}, lambert(mp.mpf("1.5"))),
        (
            f"sup(abs({SWISH.format(tau=2)} - relu(x)), x in R)",
            {"tau": "5%", "theta": "0.01"},
            lambert(mp.mpf("1.9"), mp.mpf("0.01")),
        ),
        # The gates sum to 1: moving all branches by d moves the gate by d.
        (
            f"sup(abs({SWISH.format(tau=1.702)} - gelu(x)), x in R)",
            {"intercept": "0.01"},
            NOMINAL + mp.mpf("0.01"),
        ),
        (
            f"sup(abs({SWISH.format(tau=1.702)} - gelu(x)), x in R)",
            {"intercept": "0.5"},
            NOMINAL + mp.mpf("0.5"),
        ),
        # inf of x sigmoid(t x) is -W(1/e)/t.
        (f"inf({SWISH.format(tau=2)}, x in R)", {"tau": "5%"}, -lambert(mp.mpf("1.9"))),
        # Hard gates: x between the thresholds possible is on either side.
        (f"sup(abs({SWISH.format(tau='oo')} - relu(x)), x in R)", {"theta": "0.25"}, "1/4"),
        (
            f"sup(abs({SWISH.format(tau='oo')} - relu(x)), x in R)",
            {"theta": "0.25", "intercept": "0.125"},
            "3/8",
        ),
        (f"sup(abs({SWISH.format(tau='oo')} - relu(x)), x in [-8, 8])", {"slope": "1%"}, "0.08"),
        # One branch, no threshold.
        (
            "sup(abs(tg(x, tau=1, theta=[], slope=[2], intercept=[1]) - 2*x - 1), x in [-1, 3])",
            {"slope": "0.1", "intercept": "50%"},
            "0.8",
        ),
        # An irrational value: t (1 + r).
        (
            f"sup(abs({SWISH.format(tau='sqrt(2)')} - relu(x)), x in R)",
            {"tau": "10%"},
            lambert(0.9 * mp.sqrt(2)),
        ),
    ],
)
def test_worst_cases_that_calculus_gives(text, given, right):
    found = worst(text, **given)
    assert found["kind"] == "value"
    assert encloses(found, right), found["value"]
    verdict = verify(found["certificate"])
    assert verdict.accepted, verdict.reason


def test_tanh_gate_against_mpmath():
    found = worst(
        "sup(abs(tg(x, tau=2, theta=[0], slope=[0, 0], intercept=[-1, 1]) - tanh(x)), x in R)", tau="10%"
    )
    with mp.workdps(30):
        error = {t: lambda x, t=t: abs(mp.tanh(mp.mpf(t) * x) - mp.tanh(x)) for t in ("0.9", "1.1")}
        best = mp.mpf(0)
        for f in error.values():
            start = max((mp.mpf(k) / 100 for k in range(1, 400)), key=f)
            x = mp.findroot(lambda y, f=f: mp.diff(f, y), start)
            best = max(best, f(x))
    lo, hi = (F(found["value"][k]) for k in ("lo", "hi"))
    assert lo - F(1, 10**14) <= F(str(best)) <= hi + F(1, 10**14)


def test_the_worst_parameters_are_in_their_ranges_and_give_the_value():
    found = worst(
        "sup(abs(tg(x, tau=[2, 3], theta=[-1, 1], slope=[0, 1/2, 1], intercept=[0, 1/4, 0]) - gelu(x)), "
        "x in R)",
        tau="5%", theta="0.1", intercept="10%",
    )  # fmt: skip
    (gate,) = found["worst"]["gates"]
    x = float(F(found["worst"]["at"]["x"]["lo"]))
    tau, theta, slope, intercept = (
        [float(v["lo"]) for v in gate[k]] for k in ("tau", "theta", "slope", "intercept")
    )
    assert abs(tau[0] - 2) <= 0.1 + 1e-12
    assert abs(tau[1] - 3) <= 0.15 + 1e-12
    assert abs(theta[0] + 1) <= 0.1 + 1e-12
    assert abs(intercept[1] - 0.25) <= 0.025 + 1e-12
    assert intercept[0] == intercept[2] == 0
    value = abs(gate_at(x, tau, theta, slope, intercept) - gelu(x))
    assert abs(value - float(F(found["value"]["lo"]))) < 1e-9


def test_slopes_off_on_the_whole_line_are_infinite_and_say_where():
    found = worst(f"sup(abs({SWISH.format(tau=1)} - silu(x)), x in R)", slope="1%")
    assert (found["kind"], found["side"]) == ("infinite", "+")
    assert found["worst"]["gates"][0]["slope"][1] != {"lo": "1", "hi": "1"}


@pytest.mark.parametrize(
    ("text", "given", "part"),
    [
        ("sup(abs(silu(x) - gelu(x)), x in R)", {"tau": "5%"}, "there is none in the formula"),
        (f"sup({SWISH.format(tau=1)}, x in [0, 1])", {"tau": "100%"}, "stays positive"),
        (f"sup({SWISH.format(tau=1)}, x in [0, 1])", {"tau": "1"}, "stays positive"),
        (f"sup({SWISH.format(tau='sqrt(2)')}, x in [0, 1])", {"tau": "1.5"}, "stays positive"),
        (f"sup({SWISH.format(tau=1)}, x in [0, 1])", {"theta": "5%"}, "nothing varies"),
        (f"sup({SWISH.format(tau='oo')}, x in [0, 1])", {"tau": "5%"}, "nothing varies"),
    ],
)
def test_tolerances_that_mean_nothing(text, given, part):
    with pytest.raises(ToleranceError, match=part):
        worst(text, **given)


def test_a_tolerance_of_0_changes_nothing():
    found = worst(f"sup(abs({SWISH.format(tau=1.702)} - gelu(x)), x in R)", tau="0%")
    assert encloses(found, NOMINAL)


def test_sides_of_hard_thresholds_that_may_cross():
    node = parse_expr("tg(x, tau=oo, theta=[-1, 1], slope=[0, 1, 0], intercept=[0, 0, 0])")
    apart = pieces(node, "x", (None, None), sizes(theta="0.5"), frozenset())
    crossing = pieces(node, "x", (None, None), sizes(theta="1.5"), frozenset())
    # Left of -1 and right of 1 at once is possible only where the ranges overlap.
    assert (len(apart), len(crossing)) == (3, 4)


@pytest.mark.parametrize(
    ("theta", "right"),
    # With the threshold at 0 the gate is step(x) itself; within 1/4 of it they differ by 1 between.
    [("0", 0), ("1/4", 1)],
)
def test_a_hard_gate_against_a_jump(theta, right):
    gate = "tg(x, tau=oo, theta=[0], slope=[0, 0], intercept=[0, 1])"
    found = worst(f"sup(abs({gate} - step(x)), x in [-1, 1])", theta=theta, intercept="0.125")
    if found["value"] is not None:
        assert F(found["value"]["lo"]) <= right + F(1, 8) <= F(found["value"]["hi"])


def test_decimals():
    assert [decimal(F(v)) for v in ("1/20", "-3/2", "1/3", "7", "0")] == ["0.05", "-1.5", "1/3", "7", "0"]


def gelu(x):
    return x * math.erfc(-x / math.sqrt(2)) / 2


def sigmoid(z):
    return 1 / (1 + math.exp(-z)) if z >= 0 else math.exp(max(z, -700)) / (1 + math.exp(max(z, -700)))


def gate_at(x, tau, theta, slope, intercept):
    """The gate in floats, tau = inf the hard one."""
    on = [
        (1.0 if x > h else 0.0) if math.isinf(t) else sigmoid(t * (x - h))
        for t, h in zip(tau, theta, strict=True)
    ]
    y = slope[0] * x + intercept[0]
    for k, s in enumerate(on):
        y += s * ((slope[k + 1] - slope[k]) * x + intercept[k + 1] - intercept[k])
    return y


def hundredths(lo, hi):
    return st.integers(round(lo * 100), round(hi * 100)).map(lambda n: F(n, 100))


@st.composite
def gates(draw):
    k = draw(st.integers(1, 3))
    theta = sorted(draw(st.lists(hundredths(-2, 2), min_size=k - 1, max_size=k - 1)))
    tau = [draw(st.one_of(hundredths(0.5, 4), st.just("oo"))) for _ in theta]
    slope = [draw(hundredths(-1, 1)) for _ in range(k)]
    intercept = [draw(hundredths(-1, 1)) for _ in range(k)]
    return tau, theta, slope, intercept


SIZES = st.fixed_dictionaries(
    {key: st.sampled_from(["0.01", "0.1", "0.3"]) for key in ("theta", "intercept", "slope")}
)


@settings(max_examples=12, deadline=None, derandomize=True)
@given(gates(), SIZES, st.integers(0, 2**32))
def test_no_device_is_worse_than_the_worst_case(gate, given, seed):
    tau, theta, slope, intercept = gate
    if not theta:
        given = {k: v for k, v in given.items() if k != "theta"}
    if any(t != "oo" for t in tau):
        given = {**given, "tau": "20%"}
    tolerances = sizes(**given)
    text = ", ".join(
        f"{k}=[{', '.join(map(str, v))}]"
        for k, v in (("tau", tau), ("theta", theta), ("slope", slope), ("intercept", intercept))
    )
    found = worst(f"sup(abs(tg(x, {text}) - gelu(x)), x in [-4, 4])", 4, **given)
    assert found["kind"] == "value"
    assert verify(found["certificate"]).accepted
    top = float(F(found["value"]["hi"])) * (1 + 1e-12)
    rng = random.Random(seed)

    def off(key, values):
        tolerance = tolerances.get(key, Tolerance(F(0), False))
        steps = [rng.choice((-1, 1, rng.uniform(-1, 1))) for _ in values]
        return [
            math.inf if v == "oo" else float(v) + float(tolerance.off(v)) * step
            for v, step in zip(values, steps, strict=True)
        ]

    for _ in range(60):
        device = off("tau", tau), off("theta", theta), off("slope", slope), off("intercept", intercept)
        for _ in range(20):
            x = rng.uniform(-4, 4)
            assert abs(gate_at(x, *device) - gelu(x)) <= top


@pytest.mark.parametrize("taus", [("5", "2"), ("2", "5")])
def test_gates_are_numbered_as_they_are_written(taus):
    # Both within 1 %: the sharper one goes up and the other down, in the order of the text.
    found = worst(f"sup(abs({SWISH.format(tau=taus[0])} - {SWISH.format(tau=taus[1])}), x in R)", tau="1%")
    right = {"5": "5.05", "2": "1.98"}
    assert [g["tau"][0]["lo"] for g in found["worst"]["gates"]] == [right[t] for t in taus]
    ends = {n: (F(e["lo"]), F(e["hi"])) for n, e in found["certificate"]["domain"].items() if n != "x"}
    assert ends == {
        n: (F(t) * F("0.99"), F(t) * F("1.01")) for n, t in zip(("tau", "gate2_tau"), taus, strict=True)
    }


def test_a_gate_inside_of_another_begins_after_it():
    inner = SWISH.format(tau=3)
    outer = SWISH.format(tau=2).replace("tg(x", f"tg({inner}", 1)
    found = gates_of(parse_expr(f"1 + {outer}*{SWISH.format(tau=7)} - {inner}"))
    assert [to_text(g.tau[0]) for g in found] == ["2", "3", "7"]


@pytest.mark.parametrize(
    ("gate", "given", "told", "untold"),
    [
        ("tg(x, tau=oo, theta=[0], slope=[0, 1], intercept=[0, 0])", {"tau": "5%"}, "tau=oo", "%"),
        ("tg(x, tau=1, theta=[0], slope=[0, 1], intercept=[0, 0])", {"theta": "5%"}, "% of 0", "tau=oo"),
        ("tg(x, tau=[], theta=[], slope=[1], intercept=[0])", {"theta": "5%"}, "no gate has a theta", "%"),
    ],
)
def test_what_does_not_vary_is_told_why(gate, given, told, untold):
    for run in (worst, lambda text, **sizes_: noisy(parse_expr(text), sizes(**sizes_))):
        with pytest.raises(ToleranceError) as caught:
            run(f"sup(abs({gate} - relu(x)), x in R)", **given)
        assert told in str(caught.value)
        assert untold not in str(caught.value)
