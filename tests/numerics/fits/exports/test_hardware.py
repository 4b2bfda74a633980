"""The table of hardware constants: values, sensitivities against calculus, bias of a pair, three forms."""

from __future__ import annotations

import csv
import io
import json
import math
from fractions import Fraction

import pytest
from gates_to_export import gate, named, zoo

from gateproof.numerics.fits.exports import hardware
from gateproof.numerics.fits.exports.about import About
from gateproof.numerics.fits.exports.arrays import Evaluated
from gateproof.numerics.fits.exports.sensitivity import sensitivities
from gateproof.theory.differential_pair import Pair
from gateproof.theory.gate import Gate

ABOUT = About("gelu(x)", "0.0139", "0.0140", "certified")


def rows(document):
    return {row["parameter"]: row for row in document["parameters"]}


def test_sensitivities_of_silu_are_those_of_calculus():
    found = sensitivities(Evaluated.of(named()["silu"]))
    # dy/dtau = x^2 S C and dy/dtheta = -x S C at tau = 1: largest at x = 2.3993572805 and 1.5434046384.
    at = 2.39935728052058, 1.54340463840833
    slope = [x**p / (4 * math.cosh(x / 2) ** 2) for x, p in zip(at, (2, 1), strict=True)]
    assert found["tau"][0].derivative == pytest.approx(slope[0], rel=1e-3)
    assert found["theta"][0].derivative == pytest.approx(slope[1], rel=1e-3)
    assert found["tau"][0].percent == pytest.approx(0.01 * slope[0], rel=2e-2)
    assert found["theta"][0].percent == 0.0
    # dy/dslope_2 = x S without bound; dy/dintercept = the gate, at most 1.
    assert found["slope"][1].derivative == math.inf
    assert found["slope"][1].percent == math.inf
    assert [s.derivative for s in found["intercept"]] == pytest.approx([1.0, 1.0])
    assert [s.where for s in found["intercept"]] == [-math.inf, math.inf]


def test_on_an_interval_the_outer_lines_are_bounded():
    found = sensitivities(Evaluated.of(named()["silu"]), -8.0, 8.0)
    assert found["slope"][1].derivative == pytest.approx(8 / (1 + math.exp(-8)), rel=1e-6)
    assert found["slope"][1].percent == pytest.approx(0.08 / (1 + math.exp(-8)), rel=1e-6)
    assert found["slope"][1].where == 8.0
    assert found["slope"][0].derivative == pytest.approx(8 / (1 + math.exp(-8)), rel=1e-6)


def test_hard_thresholds():
    found = sensitivities(Evaluated.of(named()["hard_tanh"]))
    assert found["tau"][0].derivative is None
    # The lines meet at the threshold: moving it by d changes y by d at most.
    assert found["theta"][0].derivative == pytest.approx(1.0, rel=1e-4)
    assert found["theta"][0].percent == pytest.approx(0.01, rel=1e-9)
    step = sensitivities(Evaluated.of(named()["step"]))["theta"][0]
    assert step.derivative == math.inf
    assert step.percent == pytest.approx(1.0)
    beyond = sensitivities(Evaluated.of(named()["step"]), 1.0, 2.0)["theta"][0]
    assert beyond.derivative == 0.0
    assert beyond.percent == 0.0
    # Lines that meet at a threshold at 0 do not jump there; a step at 0 does.
    relu = sensitivities(Evaluated.of(named()["relu"]))["theta"][0]
    assert relu.derivative == pytest.approx(1.0, rel=1e-4)
    assert abs(relu.where) < 1e-4
    sign = sensitivities(Evaluated.of(gate(["oo"], [0], [0, 0], [-1, 1])))["theta"][0]
    assert (sign.derivative, sign.where) == (math.inf, 0.0)


def test_a_far_threshold_is_followed_where_it_goes():
    # 1 % of 10**6 moves the kink by 10**4, and y by 0.4 of that at its new place.
    found = sensitivities(Evaluated.of(named()["far_away"]))
    assert found["theta"][0].percent == pytest.approx(0.4e4, rel=1e-2)
    assert found["intercept"][0].percent == 0.0


def test_the_table_of_every_gate_is_made_and_its_forms_agree():
    for name, one in zoo(6).items():
        document = hardware.table(one, ABOUT)
        n = one.branches
        shared = n > 2 and len({*one.tau}) == 1 and not any(one.hard)
        counts = (("tau", n - 1), ("theta", n - 1), ("slope", n), ("intercept", n))
        names = [f"{key}_{k + 1}" for key, count in counts for k in range(count)]
        names[n - 1 : n - 1] = ["tau"] * shared
        assert [row["parameter"] for row in document["parameters"]] == names, name
        assert json.loads(hardware.as_json(document)) == document
        read = list(csv.reader(io.StringIO(hardware.as_csv(document))))
        assert tuple(read[0]) == hardware.COLUMNS
        assert [dict(zip(read[0], r, strict=True)) for r in read[1 : len(names) + 1]] == document[
            "parameters"
        ]
        text = hardware.as_markdown(document)
        assert text.count("\n|") == len(names) + 2
        for row in document["parameters"]:
            if row["value"] != "oo" and row["value"] != "0.0":
                assert Fraction(row["engineering"]) == pytest.approx(float(row["value"]), rel=1e-9)


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        ("0", 10, "0"), ("1.702", 10, "1.702"), ("0.0125", 10, "12.5e-3"), ("-47e-7", 10, "-4.7e-6"),
        ("999.9996", 4, "1e3"), ("123456", 4, "123.5e3"), ("1000", 3, "1e3"), ("12345678", 10, "12.345678e6"),
        ("0.9999999", 4, "1"), ("1/3", 5, "333.33e-3"), ("100", 2, "100"),
        ("150", 1, "200"), ("1e-300", 3, "1e-300"),
    ],
)  # fmt: skip
def test_engineering_form(value, digits, text):
    assert hardware.engineering(Fraction(value), digits) == text


def test_fixed_point_is_shown_where_it_is_exact():
    one = gate(["1.5"], ["-0.25"], [0, "0.75"], ["1/3", 0])
    found = rows(hardware.table(one, ABOUT))
    assert [found[k]["fixed_point"] for k in ("tau_1", "theta_1", "slope_1", "slope_2")] == [
        "3/2^1", "-1/2^2", "0/2^2", "3/2^2",
    ]  # fmt: skip
    assert [found[k]["word"] for k in ("tau_1", "theta_1", "slope_1", "slope_2")] == ["3", "-1", "0", "3"]
    assert found["intercept_2"]["fixed_point"] == found["intercept_2"]["word"] == ""


def test_fixed_point_has_the_format_that_the_fit_declares():
    one = gate(["1.5"], ["-8"], [0, "0.75"], ["1/3", 0])
    declared = {"tau": 6, "theta": -2, "slope": 1, "intercept": 6}
    found = rows(hardware.table(one, ABOUT, fraction=declared))
    assert [(found[k]["fixed_point"], found[k]["word"]) for k in ("tau_1", "theta_1", "slope_1")] == [
        ("96/2^6", "96"), ("-2*2^2", "-2"), ("0/2^2", "0"),
    ]  # fmt: skip
    # 0.75 is no n/2: the table says no wrong thing; 1/3 is no such number at all.
    assert found["slope_2"]["word"] == "3"
    assert found["intercept_1"]["word"] == ""


def test_numbers_are_numbers_in_csv():
    numeric = ("value", "engineering", "word", "dy_dp", "change_per_percent", "at_x")
    for name, one in zoo(6).items():
        document = hardware.table(one, ABOUT)
        said = list(csv.reader(io.StringIO(hardware.as_csv(document))))
        count = len(document["parameters"])
        cells = [c for row in said[1 : count + 1] for c in (row[hardware.COLUMNS.index(n)] for n in numeric)]
        cells += [v for n, v in said[count + 1 :] if n not in {"gateproof", "target", "domain", "pair"}]
        for cell in cells:
            if cell not in {"", "oo", "-oo", "comparator", "certified", "sup"}:
                assert math.isfinite(float(cell)), name
    volts = rows_said(gate([2], ["-0.5"], [0, 1], [0, 0]))
    assert volts["threshold_volts_1"] == "-38.778e-3"


def rows_said(one):
    document = hardware.table(one, ABOUT)
    said = list(csv.reader(io.StringIO(hardware.as_csv(document))))
    return dict(said[len(document["parameters"]) + 1 :])


def test_bias_of_a_differential_pair():
    one = gate([2, 2], ["-0.5", 1], [0, 1, 0], [0, 0, 0])
    pair = Pair(Fraction(300), Fraction(3, 2), Fraction(1, 10**6))
    found = hardware.bias(one, pair)
    # 2 n U_T = 2 * 1.5 * 25.85200 mV
    assert [row["volts_per_unit"] for row in found["thresholds"]] == ["77.556e-3"] * 2
    assert [row["threshold_volts"] for row in found["thresholds"]] == ["-38.778e-3", "77.556e-3"]
    assert found["thermal_volts"] == "25.852e-3"
    # I_b/(4 n U_T)
    assert float(found["transconductance_siemens"]) == pytest.approx(1e-6 / (4 * 1.5 * 0.025852), rel=1e-4)
    # A share of the pair's current is the sigmoid: at V = a x.
    a, x = float(found["thresholds"][0]["volts_per_unit"]), 0.3
    volts, threshold = a * x, float(found["thresholds"][0]["threshold_volts"])
    share = 1 / (1 + math.exp(-(volts - threshold) / (1.5 * 0.025852)))
    assert share == pytest.approx(1 / (1 + math.exp(-2 * (0.3 + 0.5))), rel=1e-4)


def test_softmax_gates_of_three_branches_are_no_pairs():
    document = hardware.table(named()["softmax"], ABOUT)
    assert document["pair"] is None
    assert "pair,softmax gates of three branches or more are not made of pairs" in hardware.as_csv(document)
    for name in ("stick", "free", "silu"):
        assert hardware.table(named()[name], ABOUT)["pair"]["thresholds"]
    one = named()["silu"]
    two = Gate(one.tau, one.theta, one.slope, one.intercept, "softmax")
    assert hardware.table(two, ABOUT)["pair"] == hardware.table(one, ABOUT)["pair"]
    assert hardware.table(one, ABOUT, pair=None)["pair"] is None
    assert "volts" not in hardware.as_csv(hardware.table(one, ABOUT, pair=None))


def test_the_worst_case_is_handed_on_or_asked_for():
    worst = {"value": {"lo": "0.021", "hi": "0.022"}, "tolerance": {"tau": "5%"}}
    for given in (worst, lambda: worst):
        document = hardware.table(named()["silu"], ABOUT, worst_case=given)
        assert document["worst_case"] == worst
        assert "0.022" in hardware.as_markdown(document)
        assert "0.022" in hardware.as_csv(document)
        assert "worst_case_tolerance_tau,5%" in hardware.as_csv(document)
    assert hardware.table(named()["silu"], ABOUT)["worst_case"] is None


def test_what_a_user_wrote_is_no_markup_and_no_formula():
    about = About(target='=HYPERLINK("x")|<script>\n| a | `b`', domain="@x", lo="1", hi="2")
    document = hardware.table(named()["silu"], about)
    text = hardware.as_markdown(document)
    assert "<script" not in text
    assert "\n| a" not in text
    cells = [cell for row in csv.reader(io.StringIO(hardware.as_csv(document))) for cell in row]
    assert not [c for c in cells if c[:1] in ("=", "@", "+")]
