"""``gateproof certify --from fit.json``: the gate of a document, certified without fitting."""

from __future__ import annotations

import json
from decimal import Decimal

import mpmath as mp
import pytest

from gateproof.proofs_check.cli import main

SWISH = {"k": 2, "tau": [1.702], "theta": [0], "slope": [0, 1], "intercept": [0, 0]}
#: sup of |x sigmoid(1.702 x) - gelu(x)|, mpmath's findroot on the derivative.
RIGHT = Decimal("0.02033487220923923022412989")


def write(tmp_path, document, name="fit.json"):
    path = tmp_path / name
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return str(path)


def run(capsys, *words):
    code = main(["certify", *words, "--json", "-j", "1"])
    return code, json.loads(capsys.readouterr().out)


def encloses(found, right):
    return Decimal(found["value"]["lo"]) <= right <= Decimal(found["value"]["hi"])


@pytest.mark.parametrize("target", ["gelu", "x*erfc(-x/sqrt(2))/2"])
def test_the_error_against_a_name_or_a_formula(tmp_path, capsys, target):
    path = write(tmp_path, SWISH)
    code, found = run(capsys, "--from", path, target, "--digits", "20")
    assert (code, found["kind"], found["digits"]) == (0, "value", 20)
    assert encloses(found, RIGHT)
    assert found["gate"] == {"tau": ["1.702"], "theta": ["0"], "slope": ["0", "1"], "intercept": ["0", "0"]}


def test_the_document_names_target_and_domain(tmp_path, capsys):
    known = {
        **SWISH, "target": "gelu", "domain": "[-1, 1]", "norm": "sup", "status": "ok", "rms": "0.01",
        "error": {"lo": "0", "hi": "9"}, "certificate": None,
    }  # fmt: skip
    code, found = run(capsys, "--from", write(tmp_path, known))
    assert (code, found["domain"]) == (0, "x in [-1, 1]")
    assert encloses(found, Decimal(str(_largest_up_to_1())))
    # A target on the command line goes before that of the document: relu's is W(1/e)/1.702 on R.
    code, found = run(capsys, "--from", write(tmp_path, {**known, "domain": "R"}), "relu")
    assert encloses(found, Decimal("0.27846454276107379510935873902298") / Decimal("1.702"))


def _largest_up_to_1():
    """max over [0, 1] of |x sigmoid(1.702 x) - x Phi(x)|; the function is even."""
    with mp.workdps(30):

        def error(x):
            return abs(x / (1 + mp.exp(-mp.mpf("1.702") * x)) - x * mp.ncdf(x))

        start = max((mp.mpf(k) / 200 for k in range(1, 201)), key=error)
        assert start < 1
        return max(error(mp.findroot(lambda x: mp.diff(error, x), start)), error(mp.mpf(1)))


def test_numbers_are_the_decimals_written(tmp_path, capsys):
    text = (
        '{"tau": [1.7020000000000000000000000000001, "oo"], "theta": ["-1/2", 5e-1], "slope": [0, "0.5", 1], '
        '"intercept": [0, -0.0, 0]}'
    )
    _, found = run(capsys, "--from", write(tmp_path, text), "gelu")
    assert found["gate"]["tau"] == ["1.7020000000000000000000000000001", "oo"]
    assert found["gate"]["theta"] == ["-1/2", "5e-1"]
    assert "1.7020000000000000000000000000001" in found["formula"]


@pytest.mark.parametrize("change", [{"k": "2"}, {"k": 2.0}, {"k": "2.0"}, {"tau": 1.702, "theta": "0"}])
def test_whole_numbers_and_single_ones_in_either_form(tmp_path, capsys, change):
    code, found = run(capsys, "--from", write(tmp_path, {**SWISH, **change}), "gelu")
    assert code == 0
    assert encloses(found, RIGHT)


@pytest.mark.parametrize(
    "text",
    [
        '{"tau": [9], "tau": [1.702], "theta": [0], "slope": [0, 1], "intercept": [0, 0]}',
        '{"tau": [1.702], "theta": [0], "slope": [0, 1], "intercept": [0, 0], "tau": [1.702]}',
    ],
)
def test_a_key_given_twice_is_refused(tmp_path, capsys, text):
    assert main(["certify", "--from", write(tmp_path, text), "gelu", "-j", "1"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "key 'tau' is given twice" in err


def test_tolerance_and_noise_work_with_it(tmp_path, capsys):
    path = write(tmp_path, {**SWISH, "target": "gelu"})
    code, found = run(
        capsys, "--from", path, "--tolerance", "intercept=0.01", "--noise", "tau=1%", "--samples", "5"
    )
    assert code == 0
    assert encloses(found, RIGHT + Decimal("0.01"))
    assert found["noise"]["samples"] == 5


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({}, "names no target"),
        ({"target": "gelu", "bias": 1}, "unknown key 'bias'"),
        ({"target": "gelu", "theta": [0, 1]}, "2 branches have 1 thresholds, not 2"),
        ({"target": "gelu", "k": 3}, "k is 3 and there are 2 slopes"),
        ({"target": "gelu", "k": 2.5}, "k is 2.5"),
        ({"target": "gelu", "k": "two"}, "k is two"),
        ({"target": "gelu", "k": 10**1000}, "k is 10000"),
        ({"target": "gelu", "tau": ["inf"]}, "tau[1] is 'inf'; a hard gate has \"oo\""),
        ({"target": "gelu", "tau": float("inf")}, 'a hard gate has "oo"'),
        ({"target": "gelu", "theta": ["inf"]}, "give a finite number"),
        ({"target": "gelu", "theta": [10**1000]}, "it has 1001 characters, 400 are read"),
        ({"target": "gelu", "theta": ["1e99999"]}, "its exponent may have 4 digits"),
        ({"target": "sup(abs(gelu(x) - relu(x)), x in R)"}, "TARGET is a formula in x, without sup"),
        ({"target": "x + inf(t*x, t in [0, 1])"}, "TARGET is a formula in x, without sup"),
        ({"target": "gelu", "intercept": [0]}, "2 slopes and 1 intercepts"),
        ({"target": "gelu", "tau": [-1]}, "is not positive"),
        ({"target": "gelu", "tau": [0]}, "is not positive"),
        ({"target": "gelu", "tau": [1, 1]}, "2 sharpnesses"),
        ({"target": "gelu", "slope": [0, "oo"]}, "give a finite number"),
        ({"target": "gelu", "slope": [0, None]}, "give a finite number"),
        ({"target": "gelu", "slope": [0, True]}, "give a finite number"),
        ({"target": "gelu", "slope": "01"}, "slope must be a list"),
        ({"target": "gelu", "norm": "l2"}, "only 'sup' can be certified"),
        ({"target": "gelu", "domain": "y in R"}, "give a set"),
        ({"target": "gelu", "domain": [0, 1]}, "give a set"),
        ({"target": "t*x"}, "'t' is not x"),
        ({"target": "gellu(x)"}, "the target 'gellu(x)'"),
        ({"target": "curve.csv", "target_formula": None}, "its target, curve.csv, was data or a function"),
        ({"target": 3}, "target must be text"),
        (
            {
                "target": "gelu",
                "tau": [1],
                "theta": [1, 0],
                "slope": [0, 0, 1],
                "intercept": [0, 0, 0],
                "k": 3,
            },
            "threshold 2 is not above threshold 1",
        ),
    ],
)
def test_refusals_are_one_line_that_names_the_file(tmp_path, capsys, change, part):
    path = write(tmp_path, {**SWISH, **change})
    assert main(["certify", "--from", path, "-j", "1"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert part in err


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"tau": NaN}', '{"tau": [1e999]}', "\x00"])
def test_what_is_no_document_is_refused(tmp_path, capsys, text):
    assert main(["certify", "--from", write(tmp_path, text), "gelu"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_no_file_and_no_formula(tmp_path, capsys):
    assert main(["certify", "--from", str(tmp_path / "none.json"), "gelu"]) == 2
    assert "no such file" in capsys.readouterr().err
    assert main(["certify"]) == 2
    assert "give a formula, or --from FIT.json" in capsys.readouterr().err
