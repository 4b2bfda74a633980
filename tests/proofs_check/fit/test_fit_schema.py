"""Fits of all kinds keep to proofs_check/schema/fit.schema.json, and what does not is found."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

import gateproof
from gateproof.proofs_check import schema
from gateproof.proofs_check.cli import main

FITS = {
    "soft": lambda: gateproof.fit("gelu", 2),
    "slopes": lambda: gateproof.fit("gelu", 2, ends="slopes"),
    "one branch": lambda: gateproof.fit("sin(x)", 1, domain="[-1, 1]"),
    "exact": lambda: gateproof.fit("relu", 3),
    "exact, softmax": lambda: gateproof.fit("mish", 3, gates="softmax"),
    "symbolic ends": lambda: gateproof.fit("x*atan(x)", 2),
    "not attained": lambda: gateproof.fit("mish", 3),
    "hard": lambda: gateproof.fit("sin(x)", 3, domain="[-3, 3]", sharpness="hard"),
    "continuous": lambda: gateproof.fit("x*x", 4, domain="[0, 1]", sharpness="hard", continuous=True),
    "half a line": lambda: gateproof.fit("gelu", 2, domain="[0, oo)"),
    "rms": lambda: gateproof.fit("gelu", 2, norm="rms", mu=0.5, sigma="2"),
    "relative": lambda: gateproof.fit("exp(x)", 2, domain="[0, 1]", norm="relative"),
    "weight": lambda: gateproof.fit("gelu", 2, weight="exp(-x**2/2)", domain="[-3, 3]"),
    "family": lambda: gateproof.fit("gelu", 2, family="multiplicative", max_coefficient=3, seed=5),
    "monotone": lambda: gateproof.fit("tanh(x) + erf(x)", 2, monotone=True),
    "quantised": lambda: gateproof.fit("gelu", 2, quantise=6),
    "tolerance": lambda: gateproof.fit("gelu", 2, domain="[-6, 6]", ends="free", tolerance={"tau": "5%"}),
    "tol": lambda: gateproof.fit("gelu", tol="0.02"),
    "callable": lambda: gateproof.fit(np.tanh, 2),
    "data": lambda: gateproof.fit((np.linspace(-2, 2, 41), np.linspace(-2, 2, 41) ** 3), 3),
}


@pytest.fixture(scope="module")
def documents():
    return {name: json.loads(json.dumps(make().to_json(), allow_nan=False)) for name, make in FITS.items()}


def faults(document):
    return schema.faults(document, schema.FIT)


def test_fits_of_all_kinds_keep_to_it(documents):
    assert {name: found for name, d in documents.items() if (found := faults(d))} == {}
    statuses = {d["status"] for d in documents.values()}
    assert statuses >= {"ok", "exact", "not attained", "sampled"}
    assert {d["evidence"] for d in documents.values()} == {"certified", "proved", "enclosed", "sampled"}
    assert {type(d["finite"]).__name__ for d in documents.values()} == {"dict", "NoneType"}


def test_a_curve_keeps_to_it(capsys):
    assert main(["fit", "relu", "--curve", "-k", "3", "--sharpness", "hard", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["curve"]) >= 1
    assert faults(document) == []
    assert faults({"curve": [{}]}) != []


def test_each_key_is_needed_and_no_other_one_is_known(documents):
    for key in documents["soft"]:
        less = {k: v for k, v in documents["soft"].items() if k != key}
        assert faults(less) != [], key
    assert faults({**documents["soft"], "extra": 1}) != []


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("soft", ("error", "lo"), 0.0139),
        ("soft", ("error", "hi"), "nan"),
        ("soft", ("tau",), "1.7"),
        ("soft", ("k",), "2"),
        ("soft", ("status",), "fine"),
        ("soft", ("schema_version",), 2),
        ("soft", ("lower_bound",), 0.01),
        ("soft", ("attained",), "yes"),
        ("soft", ("options", "seed"), "0"),
        ("soft", ("options", "sharpness"), "soft"),
        ("soft", ("finite", "softmax"), True),
        ("soft", ("certificate",), "gate.json"),
        ("soft", ("infimum_is_bound",), False),
        ("not attained", ("infimum_is_bound",), None),
        ("exact", ("error", "hi"), "0.001"),
        ("data", ("certificate",), {"kind": "range", "version": 1}),
    ],
)
def test_what_is_wrong_is_found(documents, name, path, value):
    document = copy.deepcopy(documents[name])
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    assert faults(document) != []


def test_what_was_asked_for_stands_in_it(documents):
    assert documents["soft"]["gateproof"] == gateproof.__version__
    assert documents["family"]["options"]["seed"] == 5
    assert documents["family"]["options"]["max_coefficient"] == "3"
    assert documents["rms"]["options"]["mu"] == "0.5"
    assert documents["tol"]["options"] | {"k": None, "tol": "0.02"} == documents["tol"]["options"]
    assert documents["exact"]["options"]["k"] == 3
    assert (documents["weight"]["weight"], documents["soft"]["weight"]) == ("exp(-x**2/2)", None)


def test_the_infimum_says_whether_it_is_a_bound(documents):
    assert documents["not attained"]["infimum_is_bound"] is False
    assert documents["soft"]["infimum_is_bound"] is None
