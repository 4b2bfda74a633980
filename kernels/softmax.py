"""Softmax as a threshold gate: p_i = sigmoid(z_i - LSE of the other logits), in PyTorch's own operations.

(Threshold gating, "Softmax".) The largest logit is split off: with m = max z at place a, e_j = exp(z_j - m) and
S = sum of e_j over j != a,

    p_a = 1/(1 + S),  p_j = e_j/(1 + S),   log-odds of j != a:  z_j - m - log1p(S - e_j)

where S - e_j loses nothing that 1 + S - e_j shows. The log-odds of a itself are m minus the log-sum-exp of the
others about their own maximum, so that they do not end where exp(z_j - m) underflows.

The gradient of softmax, p_i (dy_i - sum p_j dy_j), cancels completely once one logit dominates. Centred at a,
with d_j = dy_j - dy_a and c = sum of p_j d_j over j != a, it is p_i (d_i - c), and -p_a c at a.
"""

from __future__ import annotations

from typing import Any

import torch

_INFINITY = float("inf")


def split(z: Any) -> tuple[Any, Any, Any, Any, Any]:
    """Along the last dimension: whether each place is a, m, e with 0 at a, S, and p.

    Rows without a finite or infinite maximum (all -inf, not-a-number, +inf) are not-a-number in m.
    """
    m, a = z.max(-1, keepdim=True)
    m = torch.where(m.abs() == _INFINITY, float("nan"), m)
    top = torch.zeros_like(z, dtype=torch.bool).scatter(-1, a, True)
    e = torch.where(top, 0.0, torch.exp(z - m))
    s = e.sum(-1, keepdim=True)
    p = torch.where(top, 1.0, e) / (1.0 + s)
    return top, m, e, s, p


def probabilities(z: Any) -> Any:
    """Softmax over the last dimension, not empty."""
    return split(z)[4]


def log_odds(z: Any) -> Any:
    """z_i minus the log-sum-exp of the other logits; +infinity where there is no other."""
    top, m, e, s, _ = split(z)
    others = (z - m) - torch.log1p((s - e).clamp(min=0.0))
    return torch.where(top, m - _others(z, top)[0], others)


def _others(z: Any, top: Any) -> tuple[Any, Any]:
    """The log-sum-exp of all but the top logit, and the softmax of them."""
    rest = torch.where(top, -_INFINITY, z)
    second = rest.amax(-1, keepdim=True)
    # No other logit: nothing is subtracted from -infinity.
    frame = torch.where(second == -_INFINITY, 0.0, second)
    e = torch.exp(rest - frame)
    total = e.sum(-1, keepdim=True)
    return frame + torch.log(total), e / torch.where(total == 0, 1.0, total)


def probabilities_gradient(dy: Any, z: Any) -> Any:
    """In the logits, given that in the probabilities."""
    top, _, _, _, p = split(z)
    centre = torch.where(top, dy, 0.0).sum(-1, keepdim=True)
    d = torch.where(top, 0.0, dy - centre)
    # A probability of 0 shuts off whatever its gradient is.
    weighted = torch.where(p == 0, 0.0, p * d)
    c = weighted.sum(-1, keepdim=True)
    return torch.where(p == 0, 0.0, weighted - p * c)


def log_odds_gradient(dy: Any, z: Any) -> Any:
    """In the logits, given that in the log-odds.

    d l_i/d z_j = -p_j/(1 - p_i) for j != i. With w_i = dy_i/(1 - p_i) and W their sum over i != a:
    dz_j = dy_j - dy_a r_j - p_j (W - w_j) for j != a, where r is the softmax of the logits without a, and
    dz_a = dy_a - p_a W.
    """
    top, _, e, s, p = split(z)
    _, r = _others(z, top)
    dy_top = torch.where(top, dy, 0.0).sum(-1, keepdim=True)
    w = torch.where(top, 0.0, dy * ((1.0 + s) / (1.0 + (s - e).clamp(min=0.0))))
    total = w.sum(-1, keepdim=True)
    return torch.where(top, dy - p * total, dy - dy_top * r - p * (total - w))
