"""Rows of attention: the usual gradient in float32 fails them, and their truths are those of mpmath."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

torch = pytest.importorskip("torch")
from gateproof.kernels import functional  # noqa: E402 - after the library that it needs
from gateproof.kernels.check import attention_rows  # noqa: E402


def usual(q, k, v, mask, causal):
    """The definition by PyTorch's operations and their autograd."""
    scores = q @ k.T / q.shape[1] ** 0.5
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores).triu(1) > 0, -torch.inf)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return torch.softmax(scores, -1) @ v


def by_direction():
    return {r.direction: r for r in attention_rows.rows("torch")}


def test_ours_passes():
    found = by_direction()
    assert [r.passed for r in found.values()] == [True] * 4, found


def test_the_usual_gradient_fails_and_its_value_does_not(monkeypatch):
    monkeypatch.setattr(functional, "tg_attention", usual)
    found = by_direction()
    assert found["forward"].passed
    assert not found["backward q"].passed
    assert found["backward q"].max_ulp > 100


def test_scores_rounded_to_bfloat16_fail(monkeypatch):
    monkeypatch.setattr(
        functional, "tg_attention", lambda q, k, v, *rest: usual(q.bfloat16().float(), k, v, *rest)
    )
    assert not any(r.passed for d, r in by_direction().items() if d != "backward v")


def test_truths_are_those_of_mpmath():
    draw = np.random.default_rng(0)
    q, k, v, dout = (draw.normal(0, 2, s).astype(np.float32) for s in ((2, 2), (3, 2), (3, 2), (2, 2)))
    seen = np.array([[True, False, True], [True, True, True]])

    def loss(parts):
        """The sum of out times dout, of all numbers of q, k and v."""
        q, k, v = (np.array(parts[a:b], dtype=object).reshape(-1, 2) for a, b in ((0, 4), (4, 10), (10, 16)))
        total = mp.mpf(0)
        for i in range(2):
            w = [mp.exp((q[i] @ k[j]) / mp.sqrt(2)) if seen[i, j] else mp.mpf(0) for j in range(3)]
            out = sum(x * v[j] for j, x in enumerate(w)) / sum(w)
            total += out[0] * mp.mpf(float(dout[i, 0])) + out[1] * mp.mpf(float(dout[i, 1]))
        return total

    with mp.workdps(40):
        at = [mp.mpf(float(x)) for t in (q, k, v) for x in t.ravel()]
        slopes = []
        for place in range(len(at)):
            moved = [[*at[:place], at[place] + s * mp.mpf("1e-12"), *at[place + 1 :]] for s in (1, -1)]
            slopes.append((loss(moved[0]) - loss(moved[1])) / mp.mpf("2e-12"))
    right = np.array([float(s) for s in slopes])
    found = np.concatenate(
        [attention_rows._floats(t) for t, _ in attention_rows._exact(q, k, v, dout, seen)[1:]]
    )
    # The scale is 1/sqrt(2) rounded to float64.
    np.testing.assert_allclose(found, right, rtol=1e-13, atol=1e-14)
