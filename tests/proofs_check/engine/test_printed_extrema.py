"""Printed numbers beside extrema. sup |silu - relu| = W(1/e) = 0.278464542761...; sup sech = 1 at 0."""

from __future__ import annotations

import pytest

from gateproof.proofs_check.checker import verify
from gateproof.proofs_check.engine import decide, printed_extrema
from gateproof.proofs_check.records import Reading, Settings

GAP = "sup(abs(silu(x) - relu(x)), x in R)"
VERDICTS = {
    f"{GAP}*100 == 27.85~": "certified",
    f"{GAP}*100 == 27.84~": "refuted",
    f"2*0.2785~ == 2*{GAP}": "certified",
    f"2*0.2784~ == 2*{GAP}": "refuted",
    # 0.28~ may be as little as 0.275, 0.29~ is at least 0.285
    f"{GAP} - 0.28~ > 0": "certified",
    f"{GAP} - 0.29~ > 0": "refuted",
    "sup(sech(x), x in R)/0.50~ == 2.0~": "certified",
    "sup(sech(x), x in R)/0.50~ == 2.1~": "refuted",
    # takes 0, 1 and 2, but no value between
    "sup(sech(x), x in R)*(1 + sign(0.5~ - 0.5)) == 1/2": "inconclusive",
}


@pytest.mark.parametrize("text", VERDICTS)
def test_verdicts(text: str) -> None:
    found = decide(Reading("", text), Settings())
    wanted = VERDICTS[text]
    # What takes both signs without being continuous may be refuted, but never shown.
    assert found.verdict == wanted or (wanted == "inconclusive" and found.verdict == "refuted"), found.reason


@pytest.mark.parametrize(
    "text",
    [
        "sup(sech(x), x in R)/0.50~ == 2.0~",
        "sup(sech(x), x in R)/0.50~ == 2.1~",
        # The certificate of abs(g) is one of g.
        "sup(abs(x*sigmoid(1.702*x) - gelu(x)), x in R)/0.003~ == 6.8~",
        "inf(silu(x), x in R)*2.0~ > -0.5",
    ],
)
def test_they_leave_certificates(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = decide(Reading("", text), Settings())
    assert "mpfr" in found.trust
    assert found.certificate is not None
    assert verify(dict(found.certificate)).accepted
    monkeypatch.setattr(printed_extrema, "accept", lambda document: "no")
    again = decide(Reading("", text), Settings())
    assert (again.verdict, again.trust, again.certificate) == (found.verdict, ("arb",), None)
