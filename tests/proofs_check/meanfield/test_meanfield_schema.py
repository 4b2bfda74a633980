"""Documents of all kinds keep to proofs_check/schema/meanfield.schema.json, and what does not is found."""

from __future__ import annotations

import copy
import json

import pytest

import gateproof
from gateproof.proofs_check import schema
from gateproof.proofs_check.cli import main

EDGE = ("--sigma-b2", "0.05", "--eoc")
KINDS = {
    "edge": ("tanh", *EDGE),
    "none": ("softplus", *EDGE),
    "scale-invariant": ("relu", "--sigma-b2", "0", "--eoc"),
    "degenerate": ("tanh", "--sigma-b2", "0", "--eoc"),
    "corner": ("hardtanh", *EDGE),
    "fixed": ("erf", "--sigma-b2", "1/3", "--sigma-w2", "3/2"),
    "estimated": ("silu", "--sigma-b2", "0.7", "--sigma-w2", "1.975", "--digits", "6"),
    "jump": ("where(x < 0, 0, 1)", "--sigma-b2", "0.05", "--sigma-w2", "2"),
    "curve": ("sin(x)", "--eoc", "--curve", "0:1:3"),
    "folds": ("x**2", "--sigma-b2", "0.05", "--folds", "--range", "0.01,1"),
    "tiny": ("tanh", "--sigma-b2", "1e-50", "--sigma-w2", "1/2"),
    "initialise": ("erf", "--initialise", "--depth", "10"),
    "initialise nothing": ("sign", "--initialise"),
    "scan": ("sin(x)", *EDGE, "--engine", "mp", "--range", "0,2"),
    "apart": ("gelu", "--sigma-b2", "0", "--sigma-w2", "2.1", "--apart", "1e-3"),
    "beside": ("tanh", *EDGE, "--beside", "erf"),
    "kappa": ("sin(x)", "--kappa", "--beside", "tanh"),
}


@pytest.fixture(scope="module")
def documents():
    return {}


@pytest.fixture
def document(documents, capsys):
    def made(name):
        if name not in documents:
            main(["meanfield", *KINDS[name], "--json"])
            documents[name] = json.loads(capsys.readouterr().out)
        return copy.deepcopy(documents[name])

    return made


def faults(found):
    return schema.faults(found, schema.MEANFIELD)


@pytest.mark.parametrize("name", KINDS)
def test_documents_of_all_kinds_keep_to_it(document, name):
    found = document(name)
    assert faults(found) == []
    assert found["gateproof"] == gateproof.__version__


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("kind", "best"),
        ("sigma_w", 1.5),
        ("sigma_w2", "nan"),
        ("power", 3),
        ("depth", 0),
        ("certified", "yes"),
    ],
)
def test_what_is_wrong_in_an_initialisation_is_found(document, key, value):
    found = document("initialise")
    assert faults({k: v for k, v in found.items() if k != key}) != []
    assert faults({**found, key: value}) != []
    assert faults({**found, "extra": 1}) != []


def test_each_key_is_needed_and_no_other_one_is_known(document):
    found = document("edge")
    for key in found:
        assert faults({k: v for k, v in found.items() if k != key}) != [], key
    assert faults({**found, "extra": 1}) != []
    [point] = found["points"]
    for key in point:
        assert faults({**found, "points": [{k: v for k, v in point.items() if k != key}]}) != [], key


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("status",), "fine"),
        (("searched",), "all"),
        (("searched", "hi"), 4),
        (("certified",), "yes"),
        (("engine",), "exact"),
        (("schema_version",), 2),
        (("digits",), 0),
        (("sigma_b2",), 0.05),
        (("points", 0, "sigma_w2"), 1.76),
        (("points", 0, "sigma_w2"), "nan"),
        (("points", 0, "stable"), "yes"),
        (("points", 0, "law"), "l^-3"),
        (("points", 0, "enclosures", "q_star"), {"lo": "0"}),
        (("points", 0, "estimated"), ["kappa"]),
        (("points", 0, "basin"), {"lo": "0"}),
        (("apart",), 0.01),
        (("curve",), [{}]),
        (("also",), [{}]),
    ],
)
def test_what_is_wrong_is_found(document, path, value):
    found = document("edge")
    inner = found
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    assert faults(found) != []


def test_numbers_lie_in_their_enclosures(document):
    from fractions import Fraction

    for name in KINDS:
        for point in document(name).get("points", ()):
            for key, ends in point["enclosures"].items():
                if point[key] in (None, "oo", "-oo") or "oo" in ends.values():
                    continue
                lo, hi = Fraction(ends["lo"]), Fraction(ends["hi"])
                assert lo <= hi
                # What is printed is the enclosure rounded to fewer digits.
                assert abs(Fraction(point[key]) - (lo + hi) / 2) <= abs(lo) / 10**5, (name, key)
