"""Certificates of searches: what they prove, word for word, and that a wrong one never passes."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path

import pytest

from gateproof.numerics import lower_bound_pair_certificate as searched
from gateproof.proofs_check.cli import main
from gateproof.proofs_check.evidence import certificates
from gateproof.proofs_check.records import Reading, Settings

KEPT = Path(certificates.__file__).parent / "certificates" / "gelu_two_sharpnesses.json.gz"
LEFT = (
    "inf(sup(abs(tg(x, tau=[t, u], theta=[h, k], slope=[0, a, 1], intercept=[b, m, c]) - gelu(x)), x in R), "
    "t > 0, u > 0, h in R, k in R, a in R, b in R, m in R, c in R)"
)


@pytest.fixture(scope="module")
def document():
    return certificates.read(KEPT)


@pytest.fixture
def decided(tmp_path):
    """The decision on a statement with a certificate of its own."""

    def decide(data, formal=f"{LEFT} >= 1/2500"):
        path = tmp_path / "c.json.gz"
        path.write_bytes(data if isinstance(data, bytes) else gzip.compress(json.dumps(data).encode(), 1))
        proof = certificates.fingerprint(path)
        return certificates.decide(Reading("", formal, proof=proof), Settings())

    return decide


@pytest.mark.parametrize(
    ("formal", "follows"),
    [
        (f"{LEFT} >= 1/2500", True),
        (f"{LEFT} >= 0.0004", True),
        (f"{LEFT} >= 0.0003", True),
        (f"{LEFT} >= 0.00041", False),
        (f"{LEFT} > 0.0003", False),
        (f"{LEFT} <= 0.0004", False),
        (f"not {LEFT} >= 0.0004", False),
        (f"for y in R: {LEFT} >= 0.0004", False),
        (f"{LEFT} >= oo", False),
        (LEFT.replace("gelu(x)", "silu(x)") + " >= 0.0004", False),
        (LEFT.replace("slope=[0, a, 1]", "slope=[0, a, 2]") + " >= 0.0004", False),
        (LEFT.replace("x in R", "x in [-1, 1]") + " >= 0.0004", False),
        (LEFT.replace("h in R", "h in [0, 1]") + " >= 0.0004", False),
    ],
)
def test_a_certificate_proves_its_own_statement_only(document, formal, follows):
    assert certificates.follows(certificates.statement(document), formal) is follows


def test_the_control_certificates_are_wrong(document):
    # Near ones: the bound alone, one leaf alone.
    (_, doubled), (_, emptied) = certificates.damaged(document)
    assert doubled == {**document, "bound": "1/1250"}
    before, after = (
        [leaf.weights for p, t in zip(searched.PARTS, d["parts"]["forward"], strict=True)
         for _, leaf in searched.leaves(p, t)]
        for d in (document, emptied)
    )  # fmt: skip
    assert sum(a != b for a, b in zip(before, after, strict=True)) == 1


@pytest.mark.parametrize("accepts", ["none", "kept", "all"])
def test_it_decides_only_where_it_holds_and_the_wrong_ones_do_not(decided, document, monkeypatch, accepts):
    def check(given):
        return None if accepts == "all" or (accepts == "kept" and given == document) else "a leaf"

    monkeypatch.setattr(searched, "check", check)
    found = decided(document)
    assert found.verdict == ("certified" if accepts == "kept" else "inconclusive")
    assert (found.controls.planted, found.controls.caught) == (2, 0 if accepts == "all" else 2)
    if accepts == "all":
        assert "accepted all the same" in found.reason


def test_what_is_no_certificate_decides_nothing(decided, document, monkeypatch):
    monkeypatch.setattr(searched, "check", lambda _given: None)
    assert "the certificate is about" in decided(document, "1 == 1").reason
    captured = {**copy.deepcopy(document), "text": "t*erfc(-x/sqrt(2))/2"}
    wrong = [
        b"", b"no gzip", gzip.compress(b"[]"), gzip.compress(b"{"), {"kind": "range"},
        {**document, "variable": "h"}, captured, {**document, "bound": "1/0"}, {**document, "family": 3},
    ]  # fmt: skip
    for data in wrong:
        assert decided(data).verdict == "inconclusive"


def test_a_bomb_is_not_unpacked(decided, monkeypatch):
    monkeypatch.setattr(certificates, "MAX_BYTES", 1_000)
    assert "too large" in decided(gzip.compress(b" " * 10_000)).reason


def test_verify_takes_it(document, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(searched, "check", lambda given: None if given == document else "a leaf")
    assert main(["verify", str(KEPT)]) == 0
    assert "accepted" in capsys.readouterr().out
    wrong, none = tmp_path / "wrong.json.gz", tmp_path / "none.json.gz"
    wrong.write_bytes(gzip.compress(json.dumps({**document, "bound": "1/2000"}).encode(), 1))
    none.write_bytes(b"{}")
    assert main(["verify", str(wrong), str(none)]) == 1
    assert main(["verify", str(none)]) == 2


@pytest.mark.deep
def test_the_committed_certificate_holds(document):
    decided = certificates.decide(
        Reading("", f"{LEFT} >= 0.0004", proof=certificates.fingerprint(KEPT)), Settings()
    )
    assert (decided.verdict, decided.controls.caught) == ("certified", 2)
