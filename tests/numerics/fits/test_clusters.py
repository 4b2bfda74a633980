"""Directions of steps: derivatives tell as much for thresholds close together as for distant ones."""

from __future__ import annotations

import numpy as np
import pytest
from fits_planted import of_text

from gateproof.numerics.fits.clusters import directions
from gateproof.numerics.fits.gates import Gates
from gateproof.numerics.fits.normal import normal
from gateproof.numerics.fits.setting import Setting, problem

X = np.linspace(-6.0, 6.0, 201)


def two_close(apart, sharpness="free", algebra="difference", symmetric=False):
    """A problem, and a gate of it with a line 0.3/apart between two thresholds at that distance."""
    found = normal(of_text("gelu(x)"))
    branches = 5 if symmetric else 4
    sampled = problem(found, Setting(branches, sharpness, algebra=algebra, symmetric=symmetric), found.grid())
    gates, free = Gates(branches), 0.3 / apart
    theta = [-2.0, 0.5, 0.5 + apart] if not symmetric else [-0.5 - apart, -0.5, 0.5, 0.5 + apart]
    n = len(theta)
    full = np.zeros(gates.size)
    full[n : 2 * n] = theta
    if sharpness == "free":
        full[:n] = 0.2 if symmetric else [0.1, 0.2, 0.2 + apart / 2]
    full[3 * n + 1 :] = [0.0, 0.4, free, 0.0] if not symmetric else [0.0, free, 0.3, free, 0.0]
    return sampled, sampled.free(full)


def beyond_first_order(sampled, q, step):
    """How much of the gate's change at a step its derivatives do not tell."""
    gates = sampled.gates
    change = gates.values(sampled.full(q + step), X) - gates.values(sampled.full(q), X)
    return np.abs(change - (sampled.basis @ step) @ gates.jacobian(sampled.full(q), X)).max()


@pytest.mark.parametrize("sharpness", ["free", "shared"])
def test_steps_in_these_directions_are_of_one_size(sharpness):
    rng = np.random.default_rng(0)
    parts = [0.05 * rng.choice([-1.0, 1.0], 20) for _ in range(20)]
    worst = {}
    for apart in (0.3, 0.03, 0.003):
        sampled, q = two_close(apart, sharpness)
        turn, moved = directions(sampled, q), sampled.curved
        steps = [np.where(moved, part[: len(q)], 0.0) for part in parts]
        worst[apart] = (
            max(beyond_first_order(sampled, q, turn @ s) for s in steps),
            max(beyond_first_order(sampled, q, s) for s in steps),
        )
    assert max(turned for turned, _ in worst.values()) < 0.02
    # Each threshold alone, it grows like 1/distance.
    assert worst[0.003][1] > 30 * worst[0.3][1] > 0.01


def test_directions_span_all_steps():
    for apart in (0.2, 1e-9):
        sampled, q = two_close(apart)
        turn = directions(sampled, q)
        assert np.linalg.matrix_rank(turn, tol=1e-8) == len(q)
        assert not np.array_equal(turn, np.eye(len(q)))


def test_mirror_images_are_one_threshold():
    sampled, q = two_close(0.01, symmetric=True)
    turn = directions(sampled, q)
    # Two free thresholds: together, and apart by a share of their distance.
    assert np.abs(np.linalg.det(turn)) == pytest.approx((0.01 * np.exp(0.2)) ** 2)


@pytest.mark.parametrize("algebra", ["stick", "softmax"])
def test_other_algebras_and_distant_thresholds_step_alone(algebra):
    sampled, q = two_close(0.01, algebra=algebra)
    assert np.array_equal(directions(sampled, q), np.eye(len(q)))
    sampled, q = two_close(2.0)
    assert np.array_equal(directions(sampled, q), np.eye(len(q)))
