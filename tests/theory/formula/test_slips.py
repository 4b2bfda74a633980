"""Slips of writers who come from papers and other languages: one line that says what to write."""

from __future__ import annotations

import pytest

from gateproof.theory.formula import FormulaError, parse_claim

SLIPS = {
    "for x, y in R: x == y": "column 5: 'x' has no set (write 'x in R')",
    "exists x: x > 0": "column 8: 'x' has no set (write 'x in R')",
    "sup(x**2, x) == 1": "column 11: 'x' has no set (write 'x in R')",
    "forall x in R: x == x": "write 'for x in R: ...'",
    "for all x in R: x == x": "write 'for x in R: ...'",
    "for every x in R: x == x": "write 'for x in R: ...'",
    "∀ x in R: x == x": "write 'for x in R: ...'",
    "E[relu(z)] == 1": "gauss(f, z, q=1)",
    "E(relu(z)) == 1": "gauss(f, z, q=1)",
    "for x in R: x =< 1": "write <=",
    "for x in R: x <> 1": "write !=",
    "for x in R: x = 1": "equality is written ==",
    "lim(x, x, 0) == 0": "write limit(f, x, a)",
    "for z in R**n: z[1] > 0": "write 'for n in N1: ...' in front",
    "for n in 1...5: n > 0": "a range is written a..b",
    "pi ≈ 3.14": "a printed number",
}


@pytest.mark.parametrize(("text", "says"), SLIPS.items())
def test_one_line_says_what_to_write(text: str, says: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse_claim(text)
    line = str(caught.value)
    assert says in line
    assert "\n" not in line


def test_half_a_number_after_a_range_is_still_read() -> None:
    parse_claim("for x in [.5, 1]: x > .25")
    parse_claim("for n in 1..5: n > .5")
