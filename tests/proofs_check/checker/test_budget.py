"""Documents that would take hours or gigabytes are refused soon: their work is counted before it is done."""

from __future__ import annotations

from typing import Any

from naive_certificates import hash_of

from gateproof.proofs_check.checker import verify

ABOVE = {"lower": "0", "lower_strict": False, "upper": None, "upper_strict": False}


def document(kind: str, core: Any, domain: Any, **more: Any) -> dict[str, Any]:
    """A certificate that f >= 0, with the hash that it needs."""
    common = {"version": 1, "text": "", "core": core, "formula_hash": hash_of(core), "bits": 32}
    return {"kind": kind, **common, "domain": domain, "conclusion": ABOVE, **more}


def at_whole_numbers(core: Any, last: int) -> dict[str, Any]:
    return document("finite", core, {"n": {"lo": "0", "hi": str(last)}})


def power_of_one(digits: int) -> Any:
    base = ["app", "add", ["num", "1"], ["app", "mul", ["num", "0"], ["var", "n"]]]
    return ["app", "pow", base, ["num", "9" * digits]]


def test_an_exponent_of_5000_digits():
    assert verify(at_whole_numbers(power_of_one(3), 10)).accepted
    found = verify(at_whole_numbers(power_of_one(4998), 199_999))
    assert not found.accepted
    assert "exponent" in found.reason


def falling(step: int, count: int) -> Any:
    """A sum of exponentials that fall at different rates."""
    arguments = [["app", "mul", ["num", str(step * i)], ["var", "x"]] for i in range(1, count + 1)]
    return ["app", "add", *(["app", "exp", ["app", "neg", u]] for u in arguments)]


def test_sums_of_many_terms_in_a_tail():
    def tail(count: int) -> dict[str, Any]:
        product = ["app", "mul", falling(1, count), falling(1009, count)]
        core = ["app", "add", product, *[["const", "pi"]] * 200]
        cut, line = {"x": {"minus": None, "plus": "1"}}, {"x": {"lo": "1", "hi": "oo"}}
        return document("range", core, line, tails=cut, tree=["leaf", "natural"], witnesses=[])

    assert verify(tail(3)).accepted
    assert "grows too long" in verify(tail(300)).reason
