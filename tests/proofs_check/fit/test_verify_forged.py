"""``gateproof verify``: one value of a fit's document is forged, and the document is no longer accepted."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

import gateproof
from gateproof.proofs_check.cli import main
from gateproof.proofs_check.refused import RefusedError

FITS = {
    "soft": lambda: gateproof.fit("gelu", 2),
    "soft3": lambda: gateproof.fit("gelu", 3),
    "free": lambda: gateproof.fit("gelu(x) + sigmoid(2*x)", 3, sharpness="free"),
    "shared": lambda: gateproof.fit("gelu(x) + sigmoid(2*x)", 3),
    "hard": lambda: gateproof.fit("sin(x)", 3, domain="[-3, 3]", sharpness="hard"),
    "interval": lambda: gateproof.fit("sin(x)", 2, domain="[-1, 1]"),
    "half": lambda: gateproof.fit("exp(-x)", 2, domain="[0, oo)"),
    "relative": lambda: gateproof.fit("exp(x)", 2, domain="[0, 1]", norm="relative"),
    "weight": lambda: gateproof.fit("gelu", 2, weight="exp(-x**2/2)", domain="[-3, 3]"),
    "exact": lambda: gateproof.fit("silu", 2, tolerance={"tau": "1%"}),
    "tolerance": lambda: gateproof.fit("gelu", 2, tolerance={"tau": "1%", "theta": "0.01"}),
    "rms": lambda: gateproof.fit("gelu", 2, norm="rms"),
    "data": lambda: gateproof.fit(np.tanh, 2),
}
#: What has no certificate is not checked; of hard gates the lower bound is not.
UNCHECKED = {"rms", "data", "hard"}
NO_BOUND = {"lower_bound": None, "lower_certificate": None, "optimal_within": None}
SILENT = {**NO_BOUND, "argmax": []}


def word(found, what):
    return next((c["accepted"] for c in found["checks"] if c["what"] == what), "none")


@pytest.mark.parametrize("name", sorted(FITS))
def test_a_genuine_document_is_accepted_or_not_checked(documents, checked, name):
    assert checked(documents[name])["accepted"] is (None if name in UNCHECKED else True)


# The true suprema: 0.0139222 and 0.00384382 for gelu (K = 2, 3), 0.112941 for sin with three lines.
REJECTED = [
    # The lower end: above the upper one, and above any value that the error has.
    ("soft", {"error": {"lo": "5", "hi": "0.01392224597"}}, "error"),
    ("hard", {"error": {"lo": "9", "hi": "0.1129408273"}}, "error"),
    ("exact", {"error": {"lo": "5", "hi": "0"}}, "error"),
    ("exact", {"error": {"lo": "0", "hi": "0.1"}}, "error"),
    ("soft", {"error": {"lo": "0.0139", "hi": "0.01392"}}, "error"),
    ("soft", {"error": {"lo": "0.01395", "hi": "0.014"}, **SILENT}, "lower end"),
    ("soft", {"error": {"lo": "0.0139222461", "hi": "0.014"}, **SILENT}, "lower end"),
    ("hard", {"error": {"lo": "0.1129408275", "hi": "0.113"}, **SILENT}, "lower end"),
    ("weight", {"error": {"lo": "0.00097", "hi": "0.001"}, **SILENT}, "lower end"),
    ("relative", {"error": {"lo": "0.0000506", "hi": "0.0001"}, **SILENT}, "lower end"),
    ("half", {"error": {"lo": "0.00136", "hi": "0.002"}, **SILENT}, "lower end"),
    # A lower bound above the error, nearer to it than it is, or with nothing behind it.
    ("soft", {"lower_bound": "7", "lower_certificate": None, "optimal_within": "0"}, "lower bound"),
    ("hard", {"lower_bound": "9", "lower_certificate": None, "optimal_within": None}, "lower bound"),
    ("exact", {"lower_bound": "5"}, "lower bound"),
    ("soft", {"optimal_within": "0"}, "lower bound"),
    ("interval", {"optimal_within": "0"}, "lower bound"),
    # Another norm, or evidence that it cannot have.
    ("soft", {"norm": "rms"}, "evidence"),
    ("interval", {"norm": "rms"}, "error"),
    ("rms", {"evidence": "certified"}, "evidence"),
    ("soft", {"evidence": "enclosed"}, "evidence"),
    ("data", {"status": "exact"}, "status"),
    # What the gate and the error determine.
    ("soft", {"formula": "x + 1"}, "formula"),
    ("soft", {"formula": "sup(x, x in R)"}, "formula"),
    ("soft", {"error_sup": {"lo": "0", "hi": "0"}}, "error_sup"),
    ("soft", {"error_outside": {"lo": "0", "hi": "0"}}, "error_outside"),
    ("interval", {"error_outside": {"lo": "1", "hi": "0.5"}}, "error_outside"),
    ("relative", {"error_sup": {"lo": "0", "hi": "0"}}, "error_sup"),
    ("soft", {"gates_min": "7"}, "gates_min"),
    # Half a gate at the threshold, and 0.3 at the ends of [-1, 1].
    ("interval", {"gates_min": "0.5"}, "gates_min"),
    ("exact", {"attained": False}, "attained"),
    ("soft", {"finite": {"stick": {"exact": True, "k": 2, "least": True, "formula": "x"}}}, "finite"),
    ("exact", {"finite": {"difference": {"exact": False, "reason": "so it is"}}}, "finite"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change", "what"), REJECTED)
def test_a_contradiction_is_rejected(documents, checked, name, change, what):
    found = checked({**documents[name], **change})
    assert found["accepted"] is False
    assert word(found, what) is False


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("soft3", "k", 2), ("soft3", "gates", "stick"), ("soft", "norm", "rms"), ("soft", "weight", "1/2"),
        ("free", "sharpness", "shared"), ("soft", "sharpness", "hard"),
        ("shared", "family", "multiplicative"), ("soft", "family", "constant"),
        ("tolerance", "tolerance", {"tau": "2%", "theta": "0.01"}),
    ],
)  # fmt: skip
def test_options_that_are_not_those_of_the_gate_are_rejected(documents, checked, name, key, value):
    document = documents[name]
    assert checked({**document, "options": {**document["options"], key: value}})["accepted"] is False


@pytest.mark.parametrize(
    ("name", "change", "what"),
    [
        # No witness: in the document, in the domain.
        ("soft", {"domain": "[3, 5]", **SILENT}, "lower end"),
        ("interval", {"domain": "[-0.1, 0.1]", **SILENT}, "lower end"),
        # A bound that is said to be proved, and has no certificate.
        ("soft", {"lower_certificate": None}, "lower bound"),
        ("interval", {"lower_bound": "0.000001"}, "lower bound"),
    ],
)
def test_what_nothing_shows_is_not_checked(documents, tmp_path, capsys, name, change, what):
    (tmp_path / "fit.json").write_text(json.dumps({**documents[name], **change}))
    assert main(["verify", str(tmp_path / "fit.json")]) == 4
    assert f"not checked  {what}" in capsys.readouterr().out


def without_witnesses(document):
    changed = copy.deepcopy(document)
    parts = changed["certificate"].get("parts", [changed["certificate"]])
    for part in parts:
        part["witnesses"] = []
    return changed


@pytest.mark.parametrize("name", ["soft", "hard", "weight"])
def test_without_witnesses_a_place_of_argmax_has_the_lower_end_or_nothing_has(documents, checked, name):
    """The values at these places are known without a witness; places of no more digits have less."""
    bare = without_witnesses({**documents[name], **NO_BOUND})
    assert checked(bare)["accepted"] is True
    assert word(checked({**bare, "argmax": []}), "lower end") is None
    assert checked({**bare, "argmax": []})["accepted"] is None


def test_a_witness_of_another_error_counts_for_nothing(documents, checked):
    """That of two branches is 0.0139, of three 0.0038."""
    document, other = documents["soft3"], documents["soft"]
    parts = [document["certificate"], other["certificate"]]
    whole = {"kind": "composite", "version": 1, "conclusion": "largest", "parts": parts}
    changed = {**document, **SILENT, "certificate": whole}
    assert checked(changed)["accepted"] is True
    found = checked({**changed, "error": {"lo": "0.0139", "hi": "0.0140"}})
    assert word(found, "lower end") is False


def test_a_bound_of_one_sharpness_is_none_for_a_gate_of_several(documents, checked):
    keys = ("tau", "theta", "slope", "intercept", "formula", "error", "certificate", "argmax", "alternation")
    moved = {**documents["shared"], **{key: documents["free"][key] for key in keys}}
    assert word(checked({**moved, "lower_bound": "0.0039", "optimal_within": "1"}), "lower bound") is False
    assert word(checked(moved), "lower bound") is False


class TestWorstCase:
    def test_of_another_gate_it_is_not_checked(self, documents, checked):
        moved = copy.deepcopy(documents["tolerance"])
        moved["tolerance"] = documents["exact"]["tolerance"]
        moved["options"]["tolerance"] = {"tau": "1%"}
        found = checked(moved)
        assert (word(found, "worst case"), found["accepted"]) == (None, None)

    @pytest.mark.parametrize(
        ("value", "sizes"),
        [
            ({"lo": "0", "hi": "0"}, None),
            ({"lo": "1", "hi": "0.02"}, None),
            ({"lo": "0.019", "hi": "0.02"}, None),
            # Boxes of 1 % are no bound for 2 %.
            (None, {"tau": "2%", "theta": "0.01"}),
            (None, {"tau": "1%", "theta": "0.02"}),
        ],
    )
    def test_what_is_printed_has_to_follow(self, documents, checked, value, sizes):
        changed = copy.deepcopy(documents["tolerance"])
        case = changed["tolerance"]
        case["value"] = value or case["value"]
        case["tolerance"] = sizes or case["tolerance"]
        changed["options"]["tolerance"] = case["tolerance"]
        assert word(checked(changed), "worst case") is False

    def test_without_a_certificate_it_is_not_checked(self, documents, checked):
        changed = copy.deepcopy(documents["tolerance"])
        changed["tolerance"]["certificate"] = None
        assert checked(changed)["accepted"] is None


@pytest.mark.parametrize("domain", [None, "[0, pi]"])
def test_a_domain_that_is_not_known_is_refused(documents, checked, domain):
    with pytest.raises(RefusedError, match="domain"):
        checked({**documents["soft"], "domain": domain})
    missing = {key: value for key, value in documents["soft"].items() if key != "domain"}
    with pytest.raises(RefusedError, match="domain"):
        checked(missing)


def test_a_part_beside_a_singular_end_reaches_the_next_one(checked):
    """With 1/x for x the end of a part is rational; enclosed from below it would leave a gap."""
    document = gateproof.fit("x*sin(1/x)", 6, domain="(0, 1]", sharpness="hard", family="constant").to_json()
    found = checked(document)
    assert "for x: " in document["certificate"]["parts"][0]["text"]
    assert found["accepted"] is None
    assert [c["accepted"] for c in found["checks"][:2]] == [True, None]
