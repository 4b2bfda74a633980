"""The stated rounding where it is hardest to keep: near thresholds, thresholds that nearly meet, far tails.

NumPy's arrays do the same steps as every export.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from gates_to_export import Exact, decimal, gate, wrong

from gateproof.numerics.fits.exports.arrays import Evaluated
from gateproof.numerics.fits.exports.form import form_of
from gateproof.numerics.fits.exports.formats import DOUBLE, RefusedExport
from gateproof.theory.gate import Gate


def hard_to_compute(r: random.Random) -> Gate:
    """K = 1 to 16; gaps of 1e-9 to 10 widths, also none or crossed; slopes to 1e6; lines that meet or not."""
    n, algebra = r.choice([1, 2, 2, 3, 4, 5, 16]), r.choice(["difference", "difference", "stick", "softmax"])
    scale, big = 10.0 ** r.choice([0, 0, 0, -3, 3]), 10.0 ** r.choice([0, 0, 2, 6])
    gap, at = 10.0 ** r.uniform(-9, 1) * scale, (r.choice([0, 0, 0, 5, 100, -1e4]) + r.gauss(0, 1)) * scale
    theta = []
    for _ in range(n - 1):
        theta.append(at)
        at += gap * r.choice([1, 1, r.random(), 0, -0.3 if algebra == "difference" else 1])
    spread = r.choice([0, 1, 1, 4])
    one = 10 ** r.uniform(-1, 1) / scale
    tau = [one * 10 ** r.uniform(-spread, spread) for _ in theta]
    slope = [r.gauss(0, 1) * big if 0 < k < n - 1 or r.random() < 0.5 else r.choice([0, 1]) for k in range(n)]
    intercept = [r.gauss(0, 1) * big * scale if r.random() < 0.8 else 0.0 for _ in range(n)]
    if r.random() < 0.3:
        for k, t in enumerate(theta):
            intercept[k + 1] = intercept[k] + (slope[k] - slope[k + 1]) * t
    return gate(*([decimal(v) for v in part] for part in (tau, theta, slope, intercept)), algebra)


def places(exact: Exact, r: random.Random, count: int) -> list[float]:
    """Beside thresholds on all scales of z, in the tails to z = 800, and far out."""
    thresholds = [(float(h), float(t)) for h, t in zip(exact.theta, exact.tau, strict=True)] or [(0.0, 1.0)]
    found = [0.0]
    for _ in range(count):
        theta, tau = r.choice(thresholds)
        size = r.choice(
            [10 ** r.uniform(-17, 0), r.uniform(0, 40), r.uniform(30, 800), 10 ** r.uniform(0, 9)]
        )
        x = theta + r.choice([1, -1]) * size / tau
        for _ in range(r.choice([0, 0, 1, 2])):
            x = float(np.nextafter(x, r.choice([1, -1]) * np.inf))
        found.append(x)
    return found


def faults(seeds: range, count: int, off: float = 0.0) -> list[str]:
    said = []
    for seed in seeds:
        r = random.Random(seed)
        one = hard_to_compute(r)
        try:
            form = form_of(one, DOUBLE)
        except RefusedExport:
            continue
        exact, run = Exact(one), Evaluated(form)
        x = np.array(places(exact, r, count))
        y = run(x)
        shift = off * form.rounding * float(form.floating.unit)
        for a, b in zip(x, y, strict=True):
            text = wrong(exact, form, float(a), float(b) + shift * float(exact.size(a, form.centre)))
            said += [f"{seed}: {text}"] * bool(text)
    return said


def test_the_stated_rounding_is_kept():
    assert faults(range(40), 25) == []


def test_what_is_off_by_more_is_seen():
    assert len(faults(range(4), 25, off=1.2)) > 60


@pytest.mark.deep
def test_the_stated_rounding_is_kept_by_many():
    assert faults(range(1000, 1600), 100) == []
