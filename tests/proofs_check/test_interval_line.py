"""Intervals of runs on number lines: at their places, beside the bound of the criterion, or not at all."""

from __future__ import annotations

import re

import pytest

from gateproof.proofs_check.render import interval_line


def reading(formal, verdict="supported", **intervals):
    found = {name: {"lo": lo, "hi": hi, "level": "0.95", "n": 6} for name, (lo, hi) in intervals.items()}
    return {"formal": formal, "verdict": verdict, "evidence": {"name": "a", "record": {"intervals": found}}}


def test_the_interval_and_the_bound_are_at_their_places():
    text = interval_line.draw(reading("gain_lo >= 2", gain=("3", "6")), {})
    # From 2 to 6 with an eighth of 4 on either side, on 320 units less 14 at each end.
    scale = (320 - 28) / 5
    (left, width) = map(
        float, re.search(r'<rect class="value" x="([\d.]+)" y="21" width="([\d.]+)"', text).groups()
    )
    assert left == pytest.approx(14 + scale * 1.5, abs=0.1)
    assert width == pytest.approx(scale * 3, abs=0.1)
    bound = float(re.search(r'<line class="bound" x1="([\d.]+)"', text)[1])
    assert bound == pytest.approx(14 + scale * 0.5, abs=0.1)
    assert "gain 3 to 6" in text
    assert "lower end at least 2" in text


def test_each_part_has_a_line_and_a_relation_may_stand_either_way_round():
    given = reading("1/2 > loss_hi and gain_lo > 0", "unsupported", gain=("-1", "2"), loss=("0", "1"))
    text = interval_line.draw(given, {})
    assert text.count("<svg") == 2
    assert "upper end below 0.5" in text
    assert "lower end above 0" in text


@pytest.mark.parametrize(
    ("formal", "verdict", "ends"),
    [
        ("gain_lo >= 2", "not-run", ("3", "6")),
        ("gain_lo >= 2", "proved", ("3", "6")),
        ("gain_lo >= gain_hi - 9", "supported", ("3", "6")),  # no number on one side
        ("gain_lo >= 2 or 1 == 1", "supported", ("3", "6")),  # neither part has to hold
        ("gain_lo >= 2", "supported", ("3", "1e99")),  # stands for an infinite end
        ("other_lo >= 2", "supported", ("3", "6")),
        ("gain_lo >=", "supported", ("3", "6")),
    ],
)
def test_no_picture_where_it_would_not_show_what_was_asked(formal, verdict, ends):
    assert interval_line.draw(reading(formal, verdict, gain=ends), {}) == ""


def test_no_record_no_picture():
    assert interval_line.draw({"formal": "gain_lo > 2", "verdict": "supported"}, {}) == ""
    assert (
        interval_line.draw({"formal": "g_lo > 2", "verdict": "supported", "evidence": {"name": "a"}}, {})
        == ""
    )
