"""The scale c0 as 32 random models estimate it, drawn many times: how far the estimates spread.

A model has LAYERS gates of shape WIDTH to ROWS with independent normal weights of standard
deviation 0.02, and each gate sees tokens with mean square 1. An estimate is the root of
sum SiLU(g)^2 over sum (tanh g sech g)^2, the sums over models, layers, rows and tokens. The
interval of its standard deviation is that of a normal sample, by chi squared; its mean's by t.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from gateproof.numerics.decimals import decimal_enclosure
from gateproof.proofs_check.evidence.produce import Findings, Kept, Say

if TYPE_CHECKING:
    from collections.abc import Sequence

INPUTS = ("proofs_check/evidence/producers/mem_c0_drawn.py",)
#: The 9M shape of the paper.
LAYERS, WIDTH, ROWS, MODELS = 6, 192, 512, 32
DEVIATION, LEVEL = 0.02, Fraction(95, 100)
#: Tokens that a gate sees, and how often 32 models are drawn.
CASES = {"alike": (1, 300), "apart": (16, 150)}
SEED = 20262


def produce(kept: Kept, say: Say) -> Findings:
    """Draw the estimates, a step each, so that a stop loses one of them."""
    intervals: dict[str, Any] = {}
    for place, (name, (tokens, repeats)) in enumerate(CASES.items()):
        found = []
        for number in range(repeats):
            if number % 50 == 0:
                say(f"{name}: {number} of {repeats} estimates")
            draw = partial(estimate, (SEED, place, number), tokens)
            found.append(float(kept.step(f"{name} {number}", draw)))
        intervals.update(spread(name, found))
    ranges = {
        "models": f"{MODELS} an estimate, {LAYERS} layers, {WIDTH} to {ROWS}, weights N(0, {DEVIATION}^2)",
        "alike": f"one token a gate, {CASES['alike'][1]} estimates",
        "apart": f"{CASES['apart'][0]} independent tokens a gate, {CASES['apart'][1]} estimates",
        "tokens": "uniform on the sphere of mean square 1",
    }
    about = "Estimates of c0 from 32 random models of the 9M shape: their spread in percent, and their mean."
    return Findings(about, [SEED], ranges, intervals)


def estimate(seed: Sequence[int], tokens: int) -> float:
    """One estimate of c0 from MODELS models whose gates see so many tokens each."""
    import numpy as np

    random = np.random.default_rng(list(seed))
    silu = memglu = 0.0
    for _ in range(MODELS * LAYERS):
        weights = random.standard_normal((ROWS, WIDTH), dtype=np.float32) * np.float32(DEVIATION)
        inputs = random.standard_normal((WIDTH, tokens), dtype=np.float32)
        inputs *= np.sqrt(WIDTH / (inputs**2).sum(axis=0))
        # Single precision: 1e-7 of a value, against spreads of 1e-4 of c0. Sums are double.
        g = weights @ inputs
        squares = np.tanh(g) ** 2
        gated = g * (1 + np.tanh(g / 2)) / 2
        silu += float((gated**2).sum(dtype=np.float64))
        memglu += float((squares * (1 - squares)).sum(dtype=np.float64))
    return float(np.sqrt(silu / memglu))


def spread(name: str, found: Sequence[float]) -> dict[str, Any]:
    """The intervals of the relative standard deviation in percent, and of the mean."""
    import statistics

    from scipy import stats

    n, mean, deviation = len(found), statistics.mean(found), statistics.stdev(found)
    tail = float(1 - LEVEL) / 2
    percent = 100 * deviation / mean
    low, high = (percent * ((n - 1) / stats.chi2.ppf(p, n - 1)) ** 0.5 for p in (1 - tail, tail))
    half = stats.t.ppf(1 - tail, n - 1) * deviation / n**0.5

    def interval(lo: float, hi: float, method: str) -> dict[str, Any]:
        ends = decimal_enclosure(Fraction(lo), Fraction(hi), 6)
        return {**ends, "level": "0.95", "method": method, "n": n}

    return {
        f"{name}_spread": interval(low, high, "chi squared, normal estimates"),
        f"{name}_mean": interval(mean - half, mean + half, "Student's t"),
    }
