"""Extrema of functions with a jump inside another, non-monotone one, and powers of 0.

silu falls to its minimum -0.278464542761073795109358739 at -1.27846454276107379510935873902 and rises from
there, so that values between the two limits at a jump lead to values of silu that are not taken.
"""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest

from gateproof import certify
from gateproof.numerics import extrema
from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading, Settings

F = Fraction
JUMP = "silu(where(x < 3/10, x - 1, -x))"
ARGMIN = "1.27846454276107379510935873902"
LEAST = "-0.278464542761073795109358739023"


def silu(x):
    return mp.mpf(x) / (1 + mp.exp(-mp.mpf(x)))


def encloses(pair, right):
    lo, hi = F(pair["lo"]), F(pair["hi"])
    slack = F(1, 10**14)
    return lo - slack <= F(str(right)) <= hi + slack and hi - lo <= F(1, 10**12)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        (f"argmin({JUMP}, x in [0, 5])", [ARGMIN]),
        (f"argmin({JUMP}, x in (0, oo))", [ARGMIN]),
        (f"argmin({JUMP.replace('<', '<=')}, x in [0, 5])", [ARGMIN]),
        (f"argmin({JUMP.replace('x < 3/10', 'x**2 < 1/9')}, x in [0, 5])", [ARGMIN]),
        (f"argmin(min({JUMP}, 1), x in (0, oo))", [ARGMIN]),
        # The jump at an end that belongs to the domain: the value there alone.
        (f"argmin({JUMP}, x in [3/10, 1])", ["1"]),
        (f"argmax({JUMP}, x in [3/10, 1])", ["0.3"]),
        (f"argmax({JUMP}, x in [0, 3/10])", ["0.3"]),
        ("argmax(cos(sign(x - 1/3)), x in [0, 1])", [str(F(1, 3))]),
        # Right of 1/3 it is sin(4), at it 0, left of it -sin(4) > 0, all less x.
        ("argmax(sin(sign(x - 1/3)*4) - x, x in [0, 1])", ["0"]),
    ],
)
def test_where_an_extremum_lies(text, right):
    points = certify(text)["points"]
    assert len(points) == len(right)
    assert all(encloses(p, r) for p, r in zip(points, right, strict=True))


@pytest.mark.parametrize(
    ("text", "right", "attained"),
    [
        (f"inf({JUMP}, x in [0, 5])", LEAST, True),
        (f"inf(min({JUMP}, 1), x in (0, oo))", LEAST, True),
        (f"inf({JUMP}, x in [3/10, 1])", silu(-1), True),
        (f"sup({JUMP}, x in [0, 3/10])", silu("-0.3"), True),
        # Without its end only the limit of the left branch is left.
        (f"sup({JUMP}, x in [0, 3/10))", silu("-0.7"), False),
        ("sup(cos(sign(x - 1/3)), x in [0, 1])", 1, True),
        ("inf(cos(3*step(x - 1/3) - 2) + x, x in [0, 1])", mp.cos(2), True),
        # A number: 3/10 < 3/10 is false.
        ("silu(where(3/10 < 3/10, -7/10, -3/10))", silu("-0.3"), None),
    ],
)
def test_values_at_jumps(text, right, attained):
    found = certify(text)
    assert encloses(found["value"], right)
    assert attained is None or found["attained"] is attained


@pytest.mark.parametrize(
    ("text", "right"),
    [
        # 0**y is 0 for y > 0.
        ("sup(0**x, x in [1, 2])", 0),
        ("inf(0**x, x in [1, 2])", 0),
        ("sup(relu(x)**(1 + x), x in [-1/2, 1])", 1),
        ("inf(relu(x)**(1 + x), x in [-1/2, 1])", 0),
        ("sup(relu(x)**pi, x in [-1/2, 1])", 1),
        ("sup(0**(x + y), x in [1, 2], y in [1, 2])", 0),
    ],
)
def test_powers_of_0(text, right):
    assert encloses(certify(text)["value"], right)


@pytest.mark.parametrize("text", ["sup(relu(x)**x, x in [-1/2, 1])", "sup((-1)**x, x in [1, 2])", "0**(-pi)"])
def test_powers_that_have_no_value(text):
    assert certify(text)["kind"] in ("undefined", None)


@pytest.mark.parametrize(
    ("truth", "statement"),
    [
        (True, "sup(0**x, x in [1, 2]) == 0"),
        (True, "for x in [1, 2]: 0**x <= 0"),
        (False, "sup(relu(x)**(1 + x), x in [-1/2, 1]) < 1"),
        (True, "inf(relu(x)**(1 + x), x in [-1/2, 1]) >= 0"),
        (False, f"3/10 in argmin({JUMP}, x in [0, 5])"),
        (False, f"sup({JUMP}, x in [0, 3/10]) < -1/5"),
    ],
)
def test_statements_get_no_wrong_verdict(truth, statement):
    verdict = decide(Reading("jump", statement), Settings()).verdict
    assert verdict in (("proved", "certified", "inconclusive") if truth else ("refuted", "inconclusive"))


@pytest.mark.parametrize(
    ("text", "right"),
    [(f"1e{n}", F(10) ** n) for n in (400, 100, 20, 0, -300)]
    + [("10**20", F(10) ** 20), ("-(10**400)", -(F(10) ** 400)), ("1e400 - pi", F(10) ** 400)],
)
def test_a_power_of_10_to_one_digit(text, right):
    found = certify(text, digits=1)
    lo, hi = (F(found["value"][k]) for k in ("lo", "hi"))
    assert found["digits"] == 1
    assert lo <= right <= hi
    assert lo * hi > 0
    assert hi - lo <= abs(right) / 5


NESTED = [
    # The case x**2 <= 1/4 stands at 1/2 alone, where another is taken first: it is the limit from no side.
    ("sup(where(x <= 1/2, -10, where(x**2 <= 1/4, 7, 0)), x in [0, 1])", 0, True),
    ("sup(where(x <= 1/2, -10, where(x**2 <= 1/4, 7, -x)), x in [0, 1])", "-0.5", False),
    ("sup(where(x <= 1/2, -10, -5*sign(x**2 - 1/4)) - abs(x - 1/2), x in [0, 1])", -5, False),
    ("sup(where(x <= 0, -10, where(exp(x) - x <= 1, 7, -x)), x in [-1, 1])", 0, False),
    ("inf(where(x <= 0, 10, where(x*x == 0, -7, x)), x in [-1, 1])", 0, False),
    ("sup(abs(where(x <= 0, 1, where(x*x == 0, -7, x/2))), x in [-1, 1])", 1, True),
    ("sup(where(x**2 <= 1/4, -7, -x) + (x - 1/2)**2, x in [0, 1])", "-1/2", False),
    # Here it is taken.
    ("sup(where(x < 1/2, -10, where(x**2 <= 1/4, 7, 0)), x in [0, 1])", 7, True),
]


@pytest.mark.parametrize(("text", "right", "attained"), NESTED)
def test_a_case_that_stands_at_the_jump_alone(text, right, attained):
    found = certify(text)
    assert encloses(found["value"], right)
    assert found["attained"] is attained


@pytest.mark.parametrize(("text", "right", "attained"), NESTED)
def test_a_case_that_stays_undecided_beside_the_jump(text, right, attained, monkeypatch):
    monkeypatch.setattr(extrema, "opened", lambda piece: piece)
    found = certify(text)
    if found["value"] is not None:
        assert F(found["value"]["lo"]) <= F(str(right)) <= F(found["value"]["hi"])
        assert found["attained"] in (attained, None)
