"""Lower bounds over gates against optima found in other ways, and certificates with damage."""

from __future__ import annotations

import copy
import random
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive_lower_bounds import problems

from gateproof.numerics.bounds import Budget
from gateproof.numerics.lower_bound import family_of, lower_bound, prove
from gateproof.numerics.lower_bound_optimum import closest
from gateproof.numerics.lower_bound_points import Target
from gateproof.numerics.minimax import from_above
from gateproof.numerics.precision import precision
from gateproof.numerics.ranges import Range
from gateproof.proofs_check.checker import verify
from gateproof.theory.formula import expand, parse_expr

ZERO = Fraction(0)
#: Two branches with slopes (0, 1) and intercepts 0; with free intercepts; three branches.
PINNED = {"branches": 2, "left": ZERO, "right": ZERO}
PLAIN = {**PINNED, "theta": ZERO}
FREE, THREE = {"branches": 2}, {"branches": 3}


def core(text):
    return expand(parse_expr(text))


GELU = core("gelu(x)")


def gelu(x):
    return x * mp.ncdf(x)


def mish(x):
    return x * mp.tanh(mp.log1p(mp.exp(x)))


@pytest.fixture(scope="module")
def balanced():
    """The least error of x sigmoid(t x): where its two peaks on x > 0 are equally high (by mpmath)."""
    with mp.workdps(30):

        def gap(t, x):
            return x / (1 + mp.exp(-t * x)) - gelu(x)

        def peak(t, near):
            return abs(gap(t, mp.findroot(lambda x: mp.diff(lambda y: gap(t, y), x), near)))

        t = mp.findroot(lambda t: peak(t, 0.7) - peak(t, 2.4), (1.77, 1.775), solver="secant", tol=1e-20)
        return peak(t, 0.7)


def fitted(f, start):
    """The error of the best gate near ``start`` (sharpness, thresholds, lines) by linearised programmes."""
    from scipy.optimize import linprog
    from scipy.special import expit

    x = np.linspace(-12, 12, 1201)
    y = np.array([float(f(v)) for v in x])

    def gate(p):
        if len(p) == 4:
            t, h, b, d = p
            s = expit(t * (x - h))
            return b * (1 - s) + (x + d) * s
        t, h, k, b, a, c, d = p
        s, r = expit(t * (x - h)), expit(t * (x - k))
        return b * (1 - s) + (a * x + c) * (s - r) + (x + d) * r

    p, radius = np.array(start, float), 0.1
    error = abs(y - gate(p)).max()
    while radius > 1e-8:
        columns = [(gate(p + 1e-6 * u) - gate(p - 1e-6 * u)) / 2e-6 for u in np.eye(len(p))]
        jacobian, rest = np.stack(columns, 1), y - gate(p)
        ones = np.ones((len(x), 1))
        step = linprog(
            [0] * len(p) + [1],
            A_ub=np.block([[-jacobian, -ones], [jacobian, -ones]]),
            b_ub=np.concatenate([-rest, rest]),
            bounds=[(-radius, radius)] * len(p) + [(0, None)],
        ).x[:-1]
        new = abs(y - gate(p + step)).max()
        if new < error * (1 - 1e-9):
            p, error = p + step, new
        else:
            radius /= 4
    return error


@pytest.mark.parametrize("family", [PLAIN, PINNED], ids=["no threshold", "threshold"])
def test_six_digits_of_one_sharpness(balanced, family):
    # gelu(x) - x/2 is even, so a threshold does not help.
    found = lower_bound(GELU, "x", digits=6, **family)
    assert found.status == "ok"
    assert 0 < balanced - mp.mpf(found.value.numerator) / found.value.denominator < 1.01e-6 * balanced
    assert found.leaves < 200


STARTS = [
    (FREE, (1.7, 0.0, 0.0, 0.0), gelu, "gelu(x)"),
    (THREE, (2.2, -0.6, 0.6, 0, 0.5, 0.1, 0), gelu, "gelu(x)"),
    (FREE, (1.1, 0.0, 0.0, 0.0), mish, "mish(x)"),
]


@pytest.mark.parametrize(("family", "start", "f", "text"), STARTS, ids=["two", "three", "mish"])
def test_fit_and_bound_meet(family, start, f, text):
    with mp.workdps(15):
        fit = fitted(f, start)
    found = lower_bound(core(text), "x", digits=3, **family)
    assert found.status == "ok"
    # The fit's error is that on a grid, so up to a few 1e-4 of it too small.
    assert 0.9985 * fit < found.value < fit * 1.0001
    assert problems(found.certificate, f) == []
    above = prove(core(text), "x", family_of(core(text), "x", **family), Fraction(fit * 1.002))
    assert above.status == "unknown"
    assert above.tree is None
    assert "seems to be as close" in above.reason


def test_symmetric_gates_of_three_branches_attain_the_bound():
    # t and h by descent; both outer intercepts b and the middle one c by a linear programme on a grid.
    from scipy.optimize import linprog, minimize
    from scipy.special import expit

    x = np.linspace(-8, 8, 641)
    y = np.array(_gelu_on(tuple(x)), float)

    def error(p):
        s, r = expit(p[0] * (x + p[1])), expit(p[0] * (x - p[1]))
        shape, rest = np.stack([1 - s + r, s - r], 1), y - x * r - x / 2 * (s - r)
        ones = np.ones((len(x), 1))
        return linprog(
            [0, 0, 1],
            A_ub=np.block([[shape, -ones], [-shape, -ones]]),
            b_ub=np.concatenate([rest, -rest]),
            bounds=[(None, None)] * 2 + [(0, None)],
        ).fun

    best = minimize(error, [2.1, 0.55], method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-9})
    assert abs(float(lower_bound(GELU, "x", 3, digits=4).value) / best.fun - 1) < 4e-4


def test_what_a_print_could_hold():
    family = family_of(GELU, "x", 3)
    assert prove(GELU, "x", family, Fraction(4, 10**4)).status == "ok"
    assert prove(GELU, "x", family, Fraction(28, 10**4)).status == "ok"
    assert prove(GELU, "x", family, Fraction(29, 10**4)).status == "unknown"


def test_more_boxes_never_less():
    values = [lower_bound(GELU, "x", digits=5, boxes=n, **PINNED) for n in (0, 5, 15, 25, 40, 60, 400)]
    assert values[0].value is None
    assert values[0].reason == "boxes"
    assert values[-1].status == "ok"
    known = [v.value or 0 for v in values]
    assert known == sorted(known)
    assert len(set(known)) > 2


def test_more_freedom_comes_closer():
    bounds = [lower_bound(GELU, "x", **f).value for f in (PLAIN, FREE, THREE)]
    assert bounds[0] > bounds[1] > bounds[2] > 0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("silu(x)", "do not tell from 0"),
        ("tanh(x)", "do not tell from 0"),
        ("x**2", "no asymptote"),
        ("sin(x)", "no asymptote"),
        ("pi*x", "irrational"),
    ],
)
def test_nothing_to_prove(text, reason):
    found = lower_bound(core(text), "x", 2)
    assert (found.status, found.value) == ("unknown", None)
    assert reason in found.reason


AGREEING = [("gelu(x)", 2), ("gelu(x)", 3), ("mish(x)", 2)]


def _gate(text, branches):
    """The gate that the search found closest, and the certified supremum of its error."""
    family = family_of(core(text), "x", branches)
    with precision(128):
        gate = closest(Target(core(text), "x"), family)
    lists = ("theta", "slope", "intercept")
    named = ", ".join(f"{n}=[{', '.join(map(str, getattr(gate, n)))}]" for n in lists)
    error = core(f"abs(tg(x, tau={gate.sharpness}, {named}) - {text})")
    return gate, from_above(error, (("x", Range()),), {}, Budget()).upper


@pytest.mark.parametrize(("text", "branches"), AGREEING)
def test_fitted_gate_and_lower_bound_agree(text, branches):
    # Proved on both sides: nothing but the optimum lies between.
    _, above = _gate(text, branches)
    below = lower_bound(core(text), "x", branches, digits=4)
    assert below.status == "ok"
    assert below.value < above < below.value * (1 + Fraction(11, 10**5))
    high = above * (1 + Fraction(2, 1000))
    refused = prove(core(text), "x", family_of(core(text), "x", branches), high, boxes=300)
    assert refused.status == "unknown"
    assert refused.tree is None
    assert "seems to be as close" in refused.reason


@pytest.mark.parametrize(("text", "sharpness"), [("silu(x)", 1), ("tanh(x)", 2)])
def test_a_gate_that_is_the_function(text, sharpness):
    # x sigmoid(x), and 2 sigmoid(2 x) - 1.
    gate, above = _gate(text, 2)
    assert abs(gate.sharpness - sharpness) < Fraction(1, 10**8)
    assert above < Fraction(1, 10**9)
    assert lower_bound(core(text), "x", 2).value is None


def test_witnesses_gather_where_the_error_equioscillates():
    gate, above = _gate("gelu(x)", 3)
    x = np.linspace(-4, 4, 8001)
    t = float(gate.sharpness)
    s, r = (1 / (1 + np.exp(-t * (x - float(h)))) for h in gate.theta)
    lines = [float(m) * x + float(n) for m, n in zip(gate.slope, gate.intercept, strict=True)]
    error = abs(lines[0] * (1 - s) + lines[1] * (s - r) + lines[2] * r - np.array(_gelu_on(tuple(x)), float))
    inner = (error[1:-1] >= error[:-2]) & (error[1:-1] >= error[2:]) & (error[1:-1] > 0.999 * float(above))
    peaks = x[1:-1][inner]
    assert len(peaks) == 7
    found = lower_bound(GELU, "x", 3, digits=6)
    low, _, points = next(p for p in intervals(found.tree) if p[1] is None or found.sharpness < p[1])
    assert low <= found.sharpness
    assert all(min(abs(float(p) - peaks)) < 0.01 for p, _ in points)
    assert all(min(abs(peak - float(p)) for p, _ in points) < 0.01 for peak in peaks)


def test_the_bound_follows_the_function():
    # f(2 x)/2 has half the error at twice the sharpness; a hundredth more of f a hundredth more error.
    one, half, more = (
        lower_bound(core(t), "x", 2, digits=5, theta=ZERO, left=ZERO, right=ZERO)
        for t in ("gelu(x)", "gelu(2*x)/2", "1.01*gelu(x)")
    )
    assert abs(half.value * 2 / one.value - 1) < Fraction(1, 50000)
    assert abs(half.sharpness / one.sharpness - 2) < 1e-3
    assert abs(more.value / one.value - Fraction(101, 100)) < Fraction(1, 50000)


def test_refused_families():
    with pytest.raises(ValueError, match="2 or 3 branches"):
        lower_bound(GELU, "x", 4)
    with pytest.raises(ValueError, match="given threshold"):
        lower_bound(GELU, "x", 3, theta=ZERO)


def test_shifted_threshold():
    # The same question, moved: f(x + 1) with the threshold at -1.
    here = lower_bound(GELU, "x", digits=4, **PLAIN)
    moved = lower_bound(
        core("gelu(x + 1)"), "x", 2, digits=4, theta=Fraction(-1), left=ZERO, right=Fraction(1)
    )
    assert abs(here.value - moved.value) < here.value / 5000
    assert problems(moved.certificate, lambda x: gelu(x + 1)) == []


@given(
    st.floats(-3, 4),
    st.floats(-2, 2),
    st.floats(0, 2),
    st.floats(-0.2, 0.2),
    st.tuples(st.floats(-2, 3), st.floats(-2, 2)),
    st.floats(-0.2, 0.2),
)
@settings(max_examples=60, deadline=None)
def test_no_gate_is_closer(power, h, gap, b, line, d):
    t, k = 2.0**power, h + gap
    x = np.concatenate([np.linspace(-8, 8, 801), np.array([-60.0, -20, 20, 60])])
    y = np.array([float(v) for v in _gelu_on(tuple(x))])
    with np.errstate(over="ignore"):
        s, r = 1 / (1 + np.exp(-t * (x - h))), 1 / (1 + np.exp(-t * (x - k)))
    three = b * (1 - s) + (line[0] * x + line[1]) * (s - r) + (x + d) * r
    two = b * (1 - s) + (x + d) * s
    # The grid misses a little of the supremum.
    assert abs(three - y).max() > 0.99 * lower_bound(GELU, "x", **THREE).value
    assert abs(two - y).max() > 0.99 * lower_bound(GELU, "x", **FREE).value


def _gelu_on(x, known={}):  # noqa: B006
    if x not in known:
        known[x] = [gelu(v) for v in x]
    return known[x]


def leaves(tree):
    return [tree] if tree[0] == "leaf" else [*leaves(tree[2]), *leaves(tree[3])]


def scaled_bound(document, rng):
    document["bound"] = str(Fraction(document["bound"]) * Fraction(101, 100))


def lost_witness(document, rng):
    leaf = rng.choice(leaves(document["tree"]))
    leaf[1].pop(len(leaf[1]) // 2)


def turned_weight(document, rng):
    pair = max(rng.choice(leaves(document["tree"]))[1], key=lambda p: abs(Fraction(p[1])))
    pair[1] = str(-Fraction(pair[1]))


def no_weights(document, rng):
    rng.choice(leaves(document["tree"]))[1] = []


def one_leaf_for_all(document, rng):
    document["tree"] = rng.choice(leaves(document["tree"]))


def cut_outside(document, rng):
    document["tree"][1] = "-1/1"


def other_function(document, rng):
    document["core"] = ["var", "x"]


DAMAGE = [
    scaled_bound,
    lost_witness,
    turned_weight,
    no_weights,
    one_leaf_for_all,
    cut_outside,
    other_function,
]


@pytest.mark.parametrize("family", [PLAIN, FREE, THREE], ids=["plain", "two", "three"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_seen(family, damage):
    sound = lower_bound(GELU, "x", **family).certificate
    assert problems(sound, gelu) == []
    for seed in range(3):
        document = copy.deepcopy(sound)
        damage(document, random.Random(seed))
        assert problems(document, gelu) != []


def intervals(tree, low=Fraction(0), high=None):
    if tree[0] == "leaf":
        yield low, high, [(Fraction(x), Fraction(v)) for x, v in tree[1]]
    else:
        at = Fraction(tree[1])
        yield from intervals(tree[2], low, at)
        yield from intervals(tree[3], at, high)


@pytest.mark.parametrize("branches", [2, 3])
def test_every_leaf_at_its_own_witnesses(branches):
    # The best gate of each leaf's sharpness, fitted to that leaf's witnesses and to the two ends alone.
    from scipy.optimize import linprog
    from scipy.special import expit

    rng = np.random.default_rng(branches)
    found = lower_bound(GELU, "x", branches)
    for low, high, points in intervals(found.tree):
        x = np.array([float(p) for p, _ in points])
        y = np.array([float(gelu(mp.mpf(v))) for v in x])
        for _ in range(8):
            a = float(low)
            t = rng.uniform(a, float(high)) if high is not None else a * (1 + rng.exponential())
            h, k = np.sort(rng.normal(0, 1.5, 2)) / min(1, max(t, 0.1))
            s, r = expit(t * (x - h)), expit(t * (x - k))
            if branches == 2:
                shape, rest = np.stack([1 - s, s], 1), y - x * s
                ends = np.eye(2)
            else:
                shape, rest = np.stack([1 - s, r, s - r, (s - r) * x], 1), y - x * r
                ends = np.eye(2, 4)
            # Least e with |rest - shape c| <= e at the witnesses and |c| <= e at both ends.
            rows, right = np.concatenate([shape, ends]), np.concatenate([rest, np.zeros(2)])
            ones = np.ones((len(rows), 1))
            n = rows.shape[1]
            best = linprog(
                [0] * n + [1],
                A_ub=np.block([[rows, -ones], [-rows, -ones]]),
                b_ub=np.concatenate([right, -right]),
                bounds=[(None, None)] * n + [(0, None)],
            )
            assert best.status == 0
            assert best.fun > float(found.value) * (1 - 1e-6)


@pytest.mark.parametrize("text", ["elu(x)", "selu(x)"])
def test_where_the_lines_cross_all_gates_are_equal(text):
    # Both asymptotes of selu are -lam alpha at x = -alpha, where selu is lam alpha (exp(-alpha) - 1).
    lam, alpha = Fraction("1.0507009873554804934193349852946"), Fraction("1.6732632423543772848170429916717")
    if text == "elu(x)":
        lam = alpha = Fraction(1)
    right = float(lam * alpha) * np.exp(-float(alpha))
    near = Fraction(f"{right * (1 - 1e-4):.12g}")
    family = family_of(core(text), "x", 2, left=-lam * alpha, right=ZERO)
    found = prove(core(text), "x", family, near)
    assert found.value == near
    assert found.leaves <= 2
    assert prove(core(text), "x", family, Fraction(f"{right * (1 + 1e-4):.12g}"), boxes=300).value is None


@pytest.mark.parametrize(
    ("text", "left", "right", "optimum"), [("erf(x)", -1, 1, 1.15064e-3), ("exp(-x**2)", 0, 0, 7.43843e-3)]
)
def test_few_boxes_where_sharpness_is_large(text, left, right, optimum):
    # Optima of the fits of three branches, by a search that knows nothing of these bounds.
    near = Fraction(f"{optimum * (1 - 1e-3):.12g}")
    found = prove(
        core(text), "x", family_of(core(text), "x", 3, left=Fraction(left), right=Fraction(right)), near
    )
    assert found.value == near
    assert found.leaves < 40
    assert verify(found.certificate).accepted
