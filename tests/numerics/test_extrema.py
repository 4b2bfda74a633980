from __future__ import annotations

import operator as op
from fractions import Fraction
from itertools import pairwise

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_formulas import by_mpmath, core, formulas, mpf

from gateproof.numerics.bounds import Budget
from gateproof.numerics.certify import certify
from gateproof.numerics.decimals import decimal_enclosure
from gateproof.numerics.extrema import extremum
from gateproof.proofs_check.checker import verify
from gateproof.theory.formula import parse_expr
from gateproof.theory.formula.nodes import Num, Rel, Var, Where

F = Fraction


def holds(enclosure, text, digits):
    """The enclosure fixes ``digits`` digits, and they are those of a value from outside."""
    lo, hi = enclosure
    right = F(text)
    unit = F(1, 10 ** len(text.split(".")[-1])) if "." in text else F(0)
    assert lo - unit <= right <= hi + unit
    assert hi - lo <= max(abs(lo), abs(hi)) / F(10) ** (digits - 1)


# Values of ../shared cases: mpmath, independent searches.
EXTREMA = [
    ("gelu(x)", "inf", "-0.75179152469356445745790494678", "-0.169971207479903661693868470982", 28),
    ("silu(x)", "inf", "-1.27846454276107379510935873902", "-0.278464542761073795109358739023", 28),
    ("mish(x)", "inf", "-1.192431214515495212137588", "-0.3088434130172504066287602", 24),
    ("tanh(x)*sech(x)", "sup", "0.88137358701954302523260932498", "0.5", 28),
]


@pytest.mark.parametrize(("text", "which", "place", "value", "digits"), EXTREMA)
def test_known_extrema_to_many_digits(text, which, place, value, digits):
    found = extremum(core(text), "x", None, None, which, digits)
    assert found.status == "ok"
    assert found.attained is True
    holds(found.value, value, digits)
    (point,) = found.points
    holds(point, place, digits)
    assert verify(found.certificate).accepted


@pytest.mark.parametrize(
    ("text", "value", "place", "digits"),
    [
        ("abs(gelu_tanh(x) - gelu(x))", "0.00047323552068728487711", "2.6989413863772703", 20),
        ("abs(x*sigmoid(1.702*x) - gelu(x))", "0.020334872209239230", "2.27039773719661", 17),
    ],
)
def test_which_gelu(text, value, place, digits):
    found = extremum(core(text), "x", None, None, "sup", digits)
    holds(found.value, value, digits)
    left, right = found.points
    holds(right, place, 14)
    holds((-left[1], -left[0]), place, 14)
    assert verify(found.certificate).accepted


def _gelu(x):
    return x * mp.erfc(-x / mp.sqrt(2)) / 2


def _normal(x):
    """Slope of GELU: Phi(x) + x phi(x)."""
    return mp.erfc(-x / mp.sqrt(2)) / 2 + x * mp.exp(-(x**2) / 2) / mp.sqrt(2 * mp.pi)


def _sigmoid(x):
    return 1 / (1 + mp.exp(-x))


def _quick(x):
    """Slope of x*sigmoid(a x) with a = 1.702, less that of GELU."""
    a = mp.mpf(1702) / 1000
    s = _sigmoid(a * x)
    return s + a * x * s * (1 - s) - _normal(x)


def _mish(x):
    return x * mp.tanh(mp.log1p(mp.exp(x)))


def _mish_slope(x):
    t = mp.tanh(mp.log1p(mp.exp(x)))
    return t + x * (1 - t**2) * _sigmoid(x)


def _by_secants(slope, start):
    return mp.findroot(slope, start, tol=mp.mpf(10) ** (-2 * mp.mp.dps + 20), maxsteps=60)


# Each: formula, sup or inf, its places and value by mpmath. SiLU: s(x)(1 + x(1 - s(x))) = 0 is
# (-x-1) exp(-x-1) = 1/e, so that x = -1 - W(1/e) and x s(x) = 1 + x = -W(1/e).
OUTSIDE = {
    "silu(x)": ("inf", lambda: ([-1 - mp.lambertw(mp.exp(-1)).real], -mp.lambertw(mp.exp(-1)).real)),
    "gelu(x)": ("inf", lambda: (lambda x: ([x], _gelu(x)))(_by_secants(_normal, -0.75))),
    "mish(x)": ("inf", lambda: (lambda x: ([x], _mish(x)))(_by_secants(_mish_slope, -1.19))),
    "abs(x*sigmoid(1.702*x) - gelu(x))": (
        "sup",
        lambda: (lambda x: ([-x, x], abs(x * _sigmoid(x * 1702 / 1000) - _gelu(x))))(
            _by_secants(_quick, 2.27)
        ),
    ),
}


def _fixed(enclosure, right, digits):
    """The enclosure holds the value, and its outward decimals agree to the digits."""
    lo, hi = enclosure
    assert mpf(lo) <= right <= mpf(hi)
    assert hi - lo <= max(abs(lo), abs(hi)) / F(10) ** digits
    text = decimal_enclosure(lo, hi, digits)
    assert mpf(F(text["lo"])) <= right <= mpf(F(text["hi"]))


@pytest.mark.parametrize("text", OUTSIDE)
def test_25_100_and_1000_digits(text):
    which, solve = OUTSIDE[text]
    expr, leaves = core(text), []
    for digits in (10, 25, 100, *((1000,) if text == "silu(x)" else ())):
        found = extremum(expr, "x", None, None, which, digits)
        with mp.workdps(digits + 40):
            places, value = solve()
            _fixed(found.value, value, digits)
            assert len(found.points) == len(places)
            for point, place in zip(found.points, places, strict=True):
                _fixed(point, place, digits)
        verdict = verify(found.certificate)
        assert verdict.accepted, verdict.reason
        # It proves the last digit that is printed, and shows a value within a unit of it.
        printed = decimal_enclosure(*found.value, digits)
        claim = found.certificate["conclusion"]
        assert F(claim["upper"] if which == "sup" else claim["lower"]) == F(
            printed["hi" if which == "sup" else "lo"]
        )
        (witness,) = found.certificate["witnesses"]
        shown = [abs(F(witness[k])) for k in ("lower", "upper")]
        unit = F(printed["hi"]) - F(printed["lo"])
        assert max(abs(s - abs(F(printed["lo"]))) for s in shown) <= unit
        leaves.append(verdict.boxes)
    # A budget of boxes, not of seconds: no box is added for a digit.
    assert max(leaves) <= min(leaves) + 2


def test_a_thousand_digits_without_a_word_about_bits():
    for text in ("sup(abs(x*sigmoid(1.702*x) - gelu(x)), x in R)", "argmax(tanh(x)*sech(x), x in R)"):
        found = certify(parse_expr(text), 1000)
        assert found["digits"] == 1000
    short = certify(parse_expr("inf(silu(x), x in R)"), 1000, Budget(max_bits=512))
    assert (short["kind"], short["reason"]) == (None, "bits")


@settings(max_examples=40, deadline=None)
@given(formulas(depth=5), st.integers(-48, 48), st.integers(2, 64), st.sampled_from(["sup", "inf"]))
def test_enclosures_narrow_and_never_part(expr, lo, width, which):
    a, b = F(lo, 16), F(lo + width, 16)
    budget = Budget(1_000, 512)

    def value(hi, digits):
        return extremum(expr, "x", a, hi, which, digits, budget)

    found = [value(b, digits) for digits in (6, 15, 40)]
    known = [f.value for f in found if f.status == "ok"]
    for f in found:
        if f.certificate is not None:
            verdict = verify(f.certificate)
            assert verdict.accepted, verdict.reason
    for (p, q), (r, s) in pairwise(known):
        assert max(p, r) <= min(q, s)
        assert s - r <= q - p or s - r <= max(abs(r), abs(s)) * F(1, 10**15) + F(1, 10**15)
    part = value((a + b) / 2, 15)
    if part.status == "ok" and known:
        # The supremum of a part is at most that of the whole.
        assert part.value[0] <= known[-1][1] if which == "sup" else part.value[1] >= known[-1][0]


@pytest.mark.parametrize(
    ("text", "lo", "hi", "which", "value", "attained"),
    [
        ("tanh(x)", None, None, "sup", 1, False),
        ("sigmoid(x)", None, None, "inf", 0, False),
        ("x", F(0), F(1), "sup", 1, True),
        ("abs(x)", F(-1), F(2), "sup", 2, True),
        ("abs(x)", F(-1), F(2), "inf", 0, True),
        ("min(x, 1)", None, None, "sup", 1, True),
        ("-x**4", F(-1), F(1), "sup", 0, True),
        ("1/(1+x**2)", None, None, "sup", 1, True),
        ("1/x", F(1), None, "sup", 1, True),
        ("leaky_relu(x)", F(-1), F(1), "sup", 1, True),
        ("3", None, None, "sup", 3, True),
        ("sign(x)*exp(-abs(x))", F(-2), F(-1), "inf", None, True),
        # Taken inside, and approached far out as well.
        ("x**2*exp(-x**2)", None, None, "inf", 0, True),
        ("-max(x, 0)*exp(-x)", F(-1), None, "sup", 0, True),
        ("exp(-x**2)", None, None, "inf", 0, False),
    ],
)
def test_values_in_closed_form(text, lo, hi, which, value, attained):
    found = extremum(core(text), "x", lo, hi, which, 12)
    assert found.status == "ok", found.reason
    assert found.attained is attained
    if value is not None:
        assert found.value[0] <= value <= found.value[1]
        assert found.value[1] - found.value[0] <= F(1, 10**12)
    if found.certificate is not None:
        verdict = verify(found.certificate)
        assert verdict.accepted, verdict.reason


@pytest.mark.parametrize(
    ("text", "which", "sides"),
    [
        ("tanh(x)", "sup", ("+",)),
        ("tanh(x)", "inf", ("-",)),
        ("exp(-x**2)", "inf", ("-", "+")),
        ("x**2/(1 + x**2)", "sup", ("-", "+")),
        ("abs(sigmoid(x) - 1/2)", "sup", ("-", "+")),
        ("erf(x)", "sup", ("+",)),
    ],
)
def test_suprema_only_approached_name_their_sides(text, which, sides):
    found = extremum(core(text), "x", None, None, which, 12)
    assert found.status == "ok", found.reason
    assert (found.attained, found.points, found.at_infinity) == (False, (), sides)
    assert verify(found.certificate).accepted


def test_irrational_ends_are_points_and_not_boxes():
    found = extremum(core("x**2"), "x", F(-1), parse_expr("sqrt(2)"), "sup", 20)
    holds(found.value, "2", 18)
    assert found.attained is True
    opened = extremum(core("x**2"), "x", F(0), parse_expr("sqrt(2)"), "sup", 20, hi_closed=False)
    holds(opened.value, "2", 18)
    assert opened.attained is False
    assert opened.points == ()
    wave = extremum(core("sin(x)"), "x", F(0), parse_expr("pi/2"), "sup", 15)
    holds(wave.value, "1", 14)


@pytest.mark.parametrize(
    ("text", "which", "status"),
    [("silu(x)", "sup", "infinite"), ("x**3", "inf", "infinite"), ("log(x)", "sup", "undefined"),
     ("cosh(x)", "sup", "infinite"), ("x - x", "sup", "ok")],
)  # fmt: skip
def test_status(text, which, status):
    assert extremum(core(text), "x", None, None, which, 10).status == status


@pytest.mark.parametrize(
    ("text", "value", "attained", "points"),
    [
        # The limit from the right is not taken; with 1 at the jump it is; a kink without a jump is.
        ("where(x > 0, 1 - x, 0)", 1, False, []),
        ("where(x >= 0, 1 - x, 0)", 1, True, [0]),
        ("where(x < 0, 1 - x**2, 0)", 1, False, []),
        ("where(x <= 0, 1 - x**2, 0)", 1, True, [0]),
        ("-where(x >= 0, x, -2*x)", 0, True, [0]),
        ("sign(x)*exp(-abs(x))", 1, False, []),
        ("-abs(x - 1/3)", 0, True, [F(1, 3)]),
        ("min(max(x, -1/2), 1/4) - abs(x - 1/4)", F(1, 4), True, [F(1, 4)]),
        ("-(x - 1/3)**2", 0, True, [F(1, 3)]),
    ],
)
def test_jumps_and_kinks_are_reported_as_they_are(text, value, attained, points):
    found = extremum(core(text), "x", F(-1), F(1), "sup", 15)
    assert found.status == "ok", found.reason
    assert found.value[0] <= value <= found.value[1]
    assert found.value[1] - found.value[0] <= F(1, 10**15)
    assert found.attained is attained
    assert len(found.points) == len(points)
    assert all(lo <= x <= hi for (lo, hi), x in zip(found.points, points, strict=True))
    if found.certificate is not None:
        verdict = verify(found.certificate)
        assert verdict.accepted, verdict.reason


@pytest.mark.parametrize(
    ("text", "lo", "hi", "lo_closed", "value", "attained"),
    [
        # The jump is at an end of the domain, or at one point.
        ("where(x > 0, 1 - x, 0)", 0, 1, True, 1, False),
        ("where(x > 0, 1 - x, 0)", 0, 1, False, 1, False),
        ("where(x < 1, x, 0)", 0, 1, True, 1, False),
        ("sign(x)*(2 - x)", 0, None, True, 2, False),
        ("where(x == 0, 5, 1 - x)", -1, 1, True, 5, True),
        ("where(x != 0, 1 - x**2, 0)", -1, 1, True, 1, False),
        ("where(x == 1/2, 0, 1 - (x - 1/2)**2)", -1, 1, True, 1, False),
        # Kinks at points that are not rational.
        ("-abs(x**2 - 2)", -3, 3, True, 0, True),
        ("max(sin(x), cos(x))", -4, 4, True, 1, True),
    ],
)
def test_jumps_at_ends_and_kinks_at_irrational_points(text, lo, hi, lo_closed, value, attained):
    top = None if hi is None else F(hi)
    found = extremum(core(text), "x", F(lo), top, "sup", 20, lo_closed=lo_closed)
    assert found.status == "ok", found.reason
    assert found.value[0] <= value <= found.value[1]
    assert found.value[1] - found.value[0] <= F(1, 10**20)
    assert found.attained is attained
    if found.certificate is not None:
        assert verify(found.certificate).accepted


def test_a_singular_side_of_a_jump_is_no_value():
    found = extremum(core("where(x > 0, log(x), 0)"), "x", F(-1), F(1), "inf", 10)
    assert found.status in ("unknown", "infinite")
    assert found.value is None


def test_a_plateau_has_no_isolated_points():
    found = extremum(core("min(max(x, 0), 1)"), "x", F(-3), F(3), "sup", 10)
    assert found.value == (1, 1)
    assert found.attained is True
    assert found.points is None
    assert "not isolated" in found.reason


def test_the_budget_is_a_reason():
    found = extremum(core("sin(100*x)"), "x", F(-8), F(8), "sup", 10, Budget(boxes=5))
    assert (found.status, found.reason) == ("unknown", "boxes")


@settings(max_examples=60, deadline=None)
@given(formulas(depth=5), st.integers(-48, 48), st.integers(1, 64), st.sampled_from(["sup", "inf"]))
def test_no_sample_lies_beyond_a_random_extremum(expr, lo, width, which):
    a, b = F(lo, 16), F(lo + width, 16)
    found = extremum(expr, "x", a, b, which, 10, Budget(2_000, 512), with_certificate=False)
    if found.status != "ok":
        assert found.reason
        return
    low, high = found.value
    assert low <= high
    with mp.workdps(40):
        values = [by_mpmath(expr, mpf(a + (b - a) * F(i, 64))) for i in range(65)]
        room = mp.mpf(10) ** -30 * (1 + max(map(abs, values)))
        if which == "sup":
            assert max(values) <= mpf(high) + room
        else:
            assert min(values) >= mpf(low) - room
        if found.points:
            # The value is really taken somewhere in one of the places.
            near = [by_mpmath(expr, mpf((p + q) / 2)) for p, q in found.points]
            assert any(
                mpf(low) - 10**-6 * (1 + abs(v)) <= v <= mpf(high) + 10**-6 * (1 + abs(v)) for v in near
            )


OPERATORS = {"<": op.lt, "<=": op.le, ">": op.gt, ">=": op.ge, "==": op.eq, "!=": op.ne}


@settings(max_examples=50, deadline=None)
@given(
    formulas(depth=3), formulas(depth=3), st.sampled_from(sorted(OPERATORS)),
    st.sampled_from([F(-1), F(-1, 3), F(0), F(1, 2)]), st.integers(-4, 2), st.integers(1, 6),
    st.sampled_from(["sup", "inf"]), st.booleans(), st.booleans(),
)  # fmt: skip
def test_no_sample_lies_beyond_an_extremum_of_two_cases(
    f, g, link, at, lo, width, which, lo_closed, hi_closed
):
    body = Where(Rel((link,), (Var("x"), Num(at))), f, g)
    a, b = F(lo, 2), F(lo + width, 2)
    found = extremum(body, "x", a, b, which, 10, Budget(1_000, 512), lo_closed=lo_closed, hi_closed=hi_closed)
    if found.status != "ok":
        assert found.reason
        return
    low, high = found.value
    if found.certificate is not None:
        verdict = verify(found.certificate)
        assert verdict.accepted, verdict.reason
    near = [p + s * F(1, 10**k) for p in (a, b, at) for s in (1, -1) for k in (3, 9, 20)]
    points = [*near, *([a] if lo_closed else []), *([b] if hi_closed else []), at]
    points += [a + (b - a) * F(i, 41) for i in range(1, 41)]
    inside = [x for x in points if a < x < b or (x == a and lo_closed) or (x == b and hi_closed)]
    with mp.workdps(50):
        values = [by_mpmath(f if OPERATORS[link](x, at) else g, mpf(x)) for x in inside]
        room = mp.mpf(10) ** -40 * (1 + max(map(abs, values)))
        best = max(values) if which == "sup" else min(values)
        assert best <= mpf(high) + room if which == "sup" else best >= mpf(low) - room
        # Samples beside every end and kink come near to it, unless it is narrow in between.
        if found.points == () or any(x in (a, b, at) for p in found.points or () for x in p):
            assert mpf(low) - 10**-6 * (1 + abs(best)) <= best <= mpf(high) + 10**-6 * (1 + abs(best))


def test_decimals_of_a_hundred_digits_are_outward():
    text = decimal_enclosure(F(1, 3), F(1, 3), 100)
    assert F(text["lo"]) < F(1, 3) < F(text["hi"])
