"""Arithmetic of printed numbers, worked out by hand from their rounding intervals."""

from __future__ import annotations

import pytest

from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading, Settings

VERDICTS = {
    # (80.46 - 80.86) - (80.01 - 81.10) = 0.69; each of the five numbers is within 0.005.
    "(80.46~ - 80.86~) - (80.01~ - 81.10~) == 0.69~": "proved",
    "(80.46~ - 80.86~) - (80.01~ - 81.10~) == 0.71~": "proved",
    # at most 0.69 + 4*0.005 against at least 0.72 - 0.005
    "(80.46~ - 80.86~) - (80.01~ - 81.10~) == 0.72~": "refuted",
    "(80.46~ - 80.86~) - (80.01~ - 81.10~) > 0.66": "proved",
    "(80.46~ - 80.86~) - (80.01~ - 81.10~) > 0.72": "refuted",
    # The least value is at a corner: 1.95*2.95 + 0.95*1.05 + 1.15 = 7.9.
    "2.0~*3.0~ + 1.0~*1.1~ + 1.2~ < 7.95": "proved",
    "2.0~*3.0~ + 1.0~*1.1~ + 1.2~ < 7.85": "refuted",
}


@pytest.mark.parametrize("text", VERDICTS)
def test_verdicts(text: str) -> None:
    found = decide(Reading("", text), Settings())
    assert found.verdict == VERDICTS[text], found.reason


def test_parts_whose_premises_hold_for_different_values() -> None:
    found = decide(Reading("", "for n in 1..9: (n == 3 => n < 5) and (7 <= n < 8 => n == 7)"), Settings())
    assert found.verdict == "proved"
    found = decide(Reading("", "for n in 1..9: (n == 3 => n < 5) and (7 <= n < 8 => n == 8)"), Settings())
    assert found.verdict == "refuted"
    found = decide(Reading("", "for n in 1..9: (n == 3 => n < 5) and (n > 10 => n == 7)"), Settings())
    assert (found.verdict, "vacuous" in found.reason) == ("ill-posed", True)
