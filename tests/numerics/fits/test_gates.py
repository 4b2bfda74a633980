"""Gates of three algebras against their definitions, and their derivatives against differences."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from gateproof.numerics.fits.embedding import Contradiction, Embedding
from gateproof.numerics.fits.gates import Gates
from gateproof.theory.gate import ALGEBRAS

X = np.linspace(-6.0, 6.0, 41)


def drawn(gates: Gates, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=gates.size)


def by_definition(gates: Gates, full: np.ndarray, x: float) -> float:
    """The gate from the algebras' formulas, at 30 digits."""
    tau, theta, slope, intercept = ([mp.mpf(float(v)) for v in part] for part in gates.parts(full))
    z = [t * (x - h) for t, h in zip(tau, theta, strict=True)]
    up = [1 / (1 + mp.exp(-u)) for u in z]
    n = gates.branches
    if gates.algebra == "difference":
        above = [mp.mpf(1), *up, mp.mpf(0)]
        weights = [above[k] - above[k + 1] for k in range(n)]
    elif gates.algebra == "stick":
        weights = [mp.fprod(up[:k]) * (1 - up[k] if k < n - 1 else 1) for k in range(n)]
    else:
        powers = [mp.exp(mp.fsum(z[:k])) for k in range(n)]
        weights = [p / mp.fsum(powers) for p in powers]
    return float(mp.fsum(w * (s * x + c) for w, s, c in zip(weights, slope, intercept, strict=True)))


@pytest.mark.parametrize("algebra", ALGEBRAS)
@pytest.mark.parametrize("branches", [1, 2, 3, 6])
def test_values_are_those_of_the_definition(algebra, branches):
    gates = Gates(branches, algebra)
    full = drawn(gates, branches)
    with mp.workdps(30):
        right = [by_definition(gates, full, float(x)) for x in X]
    assert gates.values(full, X) == pytest.approx(right, rel=1e-12, abs=1e-12)
    assert gates.weights(full, X).sum(axis=0) == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize("algebra", ALGEBRAS)
@pytest.mark.parametrize("branches", [1, 2, 3, 6])
def test_derivatives_are_limits_of_differences(algebra, branches):
    gates = Gates(branches, algebra)
    full, h = drawn(gates, 7), 1e-6
    found = gates.jacobian(full, X)
    for k, step in enumerate(h * np.eye(gates.size)):
        difference = (gates.values(full + step, X) - gates.values(full - step, X)) / (2 * h)
        assert found[k] == pytest.approx(difference, abs=1e-7)


def test_nothing_overflows_far_out():
    gates, full = Gates(3), drawn(Gates(3), 1)
    far = np.array([-1e8, -1e3, 1e3, 1e8])
    assert np.isfinite(gates.values(full, far)).all()
    assert np.isfinite(gates.jacobian(full, far)).all()


def test_two_branches_are_one_gate_in_all_algebras():
    values = [Gates(2, a).values(drawn(Gates(2), 3), X) for a in ALGEBRAS]
    assert values[0] == pytest.approx(values[1], abs=1e-13)
    assert values[0] == pytest.approx(values[2], abs=1e-13)


def test_an_embedding_holds_its_conditions():
    gates = Gates(4)
    tied, at = Embedding(gates), gates.place
    tied.fix(at("slope", 0), 0.25)
    tied.tie(at("slope", 3), at("slope", 0), -1.0, 1.0)
    tied.tie(at("theta", 2), at("theta", 0), -1.0)
    tied.tie(at("theta", 1), at("theta", 1), -1.0)
    tied.tie(at("sharpness", 1), at("sharpness", 0))
    tied.tie(at("sharpness", 2), at("sharpness", 1))
    base, basis = tied.matrices()
    assert basis.shape == (14, 14 - 6)
    full = base + basis @ np.random.default_rng(0).normal(size=basis.shape[1])
    assert full[at("slope", 0)] == 0.25
    assert full[at("slope", 3)] == 0.75
    assert full[at("theta", 2)] == -full[at("theta", 0)]
    assert full[at("theta", 1)] == 0
    assert len({*full[:3]}) == 1


def test_conditions_that_contradict_each_other():
    tied = Embedding(Gates(2))
    tied.fix(2, 0.0)
    tied.tie(3, 2)
    with pytest.raises(Contradiction):
        tied.fix(3, 1.0)
